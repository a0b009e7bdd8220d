"""Wrong answers to the exercises, each with what its check must say: a misconception, and its name.

`notebooks/conftest.py` puts each before its check, in the notebook's own kernel; the solution comes last.
"""
# ruff: noqa: E501 - lines of an answer stand as they are

WRONG_ANSWERS: dict[str, list[tuple[str, str]]] = {}


def wrong(exercise: str, answer: str, said: str) -> None:
    """Keep an answer, and a part of the line that it gets."""
    WRONG_ANSWERS.setdefault(exercise, []).append((answer.strip("\n"), said))


def body(exercise: str, head: str, *bodies: tuple[str, str]) -> None:
    """Keep answers that are functions with the same first line."""
    for lines, said in bodies:
        wrong(exercise, head + "\n" + "\n".join(f"    {line}" for line in lines.strip("\n").splitlines()), said)


def value(exercise: str, name: str, *values: tuple[object, str]) -> None:
    """Keep answers that are values."""
    for given, said in values:
        wrong(exercise, f"{name} = {given!r}", said)


value("7.3.0-1", "tokens_paid_twice", (3, "these are calls"), ("52", "is '52', and not a whole number"), (0, "compare"))
wrong(
    "7.3.0-1",
    "_lab = CrashLab(recording='nothing', example='errand')\n_lab.run()\ntokens_paid_twice = _lab.ledger.bill().tokens",
    "so much is paid without a crash, too",
)
body(
    "7.3.1-1",
    "def suspicious(effects):",
    ("return [e['name'] for e in effects].count('charge_card') - 1", "repeat [], mails with repeat [0]: -1, and not 0"),
    ("return sum(e['repeat'] > 0 for e in effects)", "charges with repeat [0], mails with repeat [0, 1]: 1, and not 0"),
    ("return sum(e['repeat'] for e in effects if e['name'] == 'charge_card')", "mails with repeat [0, 1]: 3, and not"),
    (
        "count = 0\nwhile effects:\n    e = effects.pop()\n    count += e['name'] == 'charge_card' and e['repeat'] > 0\n"
        "return count",
        "`suspicious` changes what it is given",
    ),
    ("return sum(e['repeats'] > 0 for e in effects)", "`suspicious` raised KeyError: 'repeats'"),
    ("print(sum(e['name'] == 'charge_card' and e['repeat'] > 0 for e in effects))", "prints its answer"),
)
value(
    "7.3.1-2",
    "phases_that_charge_twice",
    ({"tool", "result", "save"}, "before `tool`, the process leaves a card that is charged 1x"),
    ({"result"}, "before `save`, the process leaves a card that is charged 2x"),
    ({"save"}, "before `result`, the process leaves a card that is charged 2x"),
    ({"result", "save", "charge"}, "{'charge'} is no phase of this step"),
    (2, "is 2, and not a set"),
)

SAVE = "def my_save(path, data):"
body(
    "7.3.2-1",
    SAVE,
    ("path.write_bytes(data)", "killed before `write`, short file over long: neither version is there"),
    (
        "f = os.open(path, os.O_WRONLY | os.O_CREAT)\nos.write(f, data)\nos.close(f)",
        "short file over long: then neither",
    ),
    (
        "f = os.open(path, os.O_WRONLY | os.O_CREAT)\nos.write(f, data)\nos.ftruncate(f, len(data))\nos.close(f)",
        "killed before `ftruncate`, short file over long: neither version is there",
    ),
    (
        "size = path.stat().st_size if path.exists() else 0\nf = os.open(path, os.O_RDWR | os.O_CREAT)\nos.write(f, data.ljust(size))\nos.close(f)",
        "it writes into the old file: it can die in the middle of a write",
    ),
    (
        "import tempfile\nf, name = tempfile.mkstemp()\nos.write(f, data)\nos.close(f)\nos.replace(name, path)",
        "the temporary file is in another folder",
    ),
    (
        "if not path.exists():\n    path.write_bytes(data)",
        "not killed at all, short file over long: then the old version",
    ),
    (
        "path.write_bytes(b'')\npath.with_suffix('.new').write_bytes(data)\nos.replace(path.with_suffix('.new'), path)",
        "killed before `open`, short file over long: neither version is there",
    ),
    ("path.write(data)", "it raised AttributeError: 'PosixPath' object has no attribute 'write'"),
)
value("7.3.2-1", "my_save", ("text", "is 'text', and not a function"))

RENAME = "temporary = path.with_suffix('.tmp')\nwith open(temporary, 'wb') as file:\n    file.write(data)\n"


def mended(lines: str, said: str, number: object = 0) -> None:
    """Keep a `my_save` and the number of unreadable disks that it is said to leave."""
    save = SAVE + "\n" + "\n".join(f"    {line}" for line in ("import os\n" + lines).splitlines())
    wrong("7.3.2-2", f"{save}\n\n\nunreadable_disks_of_my_save = {number!r}", said)


mended(RENAME + "os.replace(temporary, path)", "a power loss can leave ")
mended(
    "f = open(path, 'wb')\nf.write(data)\nf.flush()\nos.fsync(f.fileno())\nf.close()", "killed before `write`, short"
)
mended(RENAME + "os.replace(temporary, path)\nf = os.open(path, os.O_RDONLY)\nos.fsync(f)\nos.close(f)", " disks that")
mended("if not path.exists():\n    path.write_bytes(data)", "not killed at all, short file over long: then the old")
FORCED = RENAME + "    file.flush()\n    os.fsync(file.fileno())\nos.replace(temporary, path)"
mended(FORCED, "the model finds none that cannot be read, and you say 14", 14)
mended(FORCED, "the answer is '0', and not a whole number", "0")

body(
    "7.3.3-1",
    "def moments(history):",
    ("return [1, 2, 5, 7, 8]", "10 messages, cut after 9: no call is open"),
    ("return list(range(1, len(history) + 1))", "8 messages, cut after 3: a call is open"),
    ("return [n for n in range(1, len(history) + 1) if history[n - 1].role != 'assistant']", "cut after 4: a call is"),
    ("return [0, 1, 2, 5, 7, 8]", "cut after 0: that is no length to cut at"),
    ("found = [1]\nwhile history:\n    history.pop()\nreturn found", "`moments` changes what it is given"),
    ("return 5", "what `moments` returned is 5, and not a list"),
    ("return history.lengths", "`moments` raised AttributeError"),
)


def indented(lines: str) -> str:
    """Return lines one level deeper."""
    return "".join(f"    {line}\n" for line in lines.splitlines() if line)


HEAD = "def careful_step(agent, session, model, steps):"
ASK = """
messages = session.messages
if not pending_calls(messages):
    messages.append(model.complete(list(messages), agent.registry.schemas()).message)
    if not messages[-1].tool_calls:
        return "done"
"""
RUN = """
for call in pending_calls(session.messages):
    session.messages.append(Message("tool", agent.registry.call(call), tool_call_id=call.id))
    steps.append(call.name)
return "paused"
"""
IMPORT = "from minagent import pending_calls\n"
body(
    "7.3.3-2",
    HEAD,
    (
        IMPORT + "cursor = model.cursor\ntry:\n" + indented(ASK + RUN) + "finally:\n    model.cursor = cursor",
        "interrupted in tool 0: rent is paid 8x",
    ),
    (
        "try:\n    return simple_step(agent, session, model, steps)\nexcept KeyboardInterrupt:\n    model.cursor = 0\n    raise",
        "the model was asked 4x, and 1 interrupts came through",
    ),
    (
        "messages = session.messages\nmessages.append(model.complete(list(messages), agent.registry.schemas()).message)\n"
        "if not messages[-1].tool_calls:\n    return 'done'\nfor call in messages[-1].tool_calls:\n"
        "    messages.append(Message('tool', agent.registry.call(call), tool_call_id=call.id))\n    steps.append(call.name)\n"
        "return 'paused'",
        "interrupted in tool 0: rent is paid 0x",
    ),
    (
        IMPORT + ASK + "try:\n" + indented(RUN) + "except KeyboardInterrupt:\n    return 'paused'",
        "and 0 interrupts came through",
    ),
    (IMPORT + ASK + RUN.replace("    steps.append(call.name)\n", ""), "8 messages and 0 entries, and not 8 and 3"),
    ("return steps.nothing", "it raised AttributeError"),
)
