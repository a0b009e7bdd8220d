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
        "killed before `close`, short file over long: neither version is there",
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

value(
    "7.3.4-1",
    "surviving",
    ({"left"}, 'with "answers" the tools that ran are c0, c1, c2'),
    ({"left", "answers", "results"}, 'with "results" the tools that ran are c0, c1, c4'),
    ({"left", "answers", "pairs"}, 'with "pairs" the tools that ran are'),
    ({"answers"}, 'with "left" the tools that ran are c0, c1, c2'),
    (True, "is True, and not a set"),
)
body(
    "7.3.4-2",
    "def drifts(load):",
    ("return 'sliced' in load.__name__", "it says False of a way that is wrong from the 7th process on"),
    ("return True", "it says True of a way that is wrong in name alone"),
    ("return one_step_per_process(load, LONG, 3)[0] != saved['absolute'][:3]", "wrong from the 7th process on"),
    ("return one_step_per_process(load, LONG, 8)[0]", "returned is [1, 2, 3, 4, 5, 6, 7, 7], and not True or False"),
    ("return load.cursor", "`drifts` raised AttributeError"),
)
value(
    "7.3.5-1",
    "phase",
    ("model", "killed before `model`: 0 tools run twice, and 3 model calls paid"),
    ("result", "killed before `result`: 1 tools run twice, and 4 model calls paid"),
    ("save", "killed before `save`: 1 tools run twice, and 4 model calls paid"),
    ("Tool", "the phases are model, tool, result, save"),
    (1, "is 1, and not a text"),
)
body(
    "7.3.5-2",
    "def count_repeats(messages):",
    ("return len(messages) - 7", "two tools that both return 5: -5, and not 0"),
    (
        "texts = [m.content for m in messages if m.role == 'tool']\nreturn len(texts) - len(set(texts))",
        "two tools that both return 5: 1, and not 0",
    ),
    (
        "ids = [(m.tool_call_id, m.content) for m in messages if m.role == 'tool']\nreturn len(ids) - len(set(ids))",
        "one call, answered by 5 and by 6: 0, and not 1",
    ),
    ("return [m for m in messages if m.role == 'tool']", "and not a whole number"),
    ("return len(messages[0])", "`count_repeats` raised TypeError"),
)
value(
    "7.3.6-1",
    "appends",
    (5, "the model's message comes before the tools"),
    (9, "an intent shares its append"),
    (4, "a tool that reads has a result, too"),
    (10, "count the moments at which something is due"),
    ("six", "is 'six', and not a whole number"),
)
body(
    "7.3.6-2",
    "def place_order(what: str, *, idempotency_key: str):",
    ("orders[idempotency_key] = what\nreturn f'ordered {what}'", "after cup with k1, `orders` holds {'k1': 'cup'"),
    ("orders.setdefault(idempotency_key, what)\nreturn 7", "a lamp and tea get the same answer, 7"),
    ("orders.setdefault(idempotency_key, what)\nreturn f'ordered {what}'", "cup with k1 gets the answer 'ordered cup'"),
    ("orders[what] = idempotency_key\nreturn what", "after lamp with k1, `orders` holds {'lamp': 'k1'}"),
    ("return orders[idempotency_key]", "`place_order` raised KeyError: 'k1'"),
    ("orders[idempotency_key] = what\nprint('ordered', what)", "`place_order` prints its answer"),
)
EFFECTS = '{{"post_to_chat": "{}", "read_weather": "{}", "create_order": "{}"}}'
for effects, said in (
    (("idempotent", "read_only", "idempotent"), "a second post is a second post, even if one can look"),
    (("read_only", "read_only", "idempotent"), "post_to_chat is not 'read_only'"),
    (("non_idempotent", "idempotent", "idempotent"), "read_weather is not 'idempotent': it changes nothing"),
    (("non_idempotent", "read_only", "non_idempotent"), "create_order is not 'non_idempotent': the shop knows"),
):
    wrong("7.3.6-3", "declared = " + EFFECTS.format(*effects), said)
value("7.3.6-3", "declared", (["non_idempotent"], "is ['non_idempotent'], and not a dictionary"))
value(
    "7.3.6-4",
    "points",
    (42, "so many are there with two tools"),
    (21, "that is one step of three"),
    (3, "that is a window a tool"),
    (10, "10 is not a number of whole windows"),
    (63.0, "is 63.0, and not a whole number"),
)

body(
    "7.3.7-1",
    "def orphans(messages):",
    (
        "pairs = zip([None, *messages], messages)\nreturn [m.tool_call_id for before, m in pairs if m.role == 'tool' and "
        "(before is None or m.tool_call_id not in [c.id for c in before.tool_calls])]",
        "two calls in one message, and their results: ['c2'], and not []",
    ),
    ("return ['c1' for m in messages if m.role == 'tool']", "a call and its result: ['c1'], and not []"),
    (
        "pending, found = set(), []\nfor m in messages:\n    pending |= {c.id for c in m.tool_calls}\n"
        "    if m.role == 'tool' and m.tool_call_id not in pending:\n        found.append(m.tool_call_id)\n"
        "    pending.discard(m.tool_call_id)\nreturn found",
        "a call and two results for it: ['c1'], and not []",
    ),
    (
        "ids = {c.id for m in messages for c in m.tool_calls}\n"
        "return [m.tool_call_id for m in messages if m.role == 'tool' and m.tool_call_id not in ids]",
        "a result before its call: ['c2'], and not ['c1', 'c2']",
    ),
    ("return len(messages)", "what `orphans` returned is 2, and not a list"),
    ("return [m['role'] for m in messages]", "`orphans` raised TypeError"),
)
for digest, notices, said in (
    ("len(data)", False, "of b'ab' it is 2, and the sum is 195"),
    ("sum(data) % 256", False, "of b'\\xff\\x01' it is 0, and the sum is 256"),
    ("sum(data)", True, "it is the same number before the swap and after it"),
    ("hash(data)", False, "of b'' it is 0, and"),
    ("sum(data)", "no", "is 'no', and not True or False"),
    ("data.sum()", False, "`weak_digest` raised AttributeError"),
):
    if digest != "hash(data)":
        wrong("7.3.7-2", f"def weak_digest(data):\n    return {digest}\n\n\nnotices_swapped = {notices!r}", said)
body(
    "7.3.8-1",
    "def mean_lost(steps, every):",
    ("return (every - 1) / 2", "37 steps, saved every 10: 4.5, and not"),
    ("return every / 2", "100 steps, saved every 10: 5, and not 4.5"),
    ("return sum(k % every for k in range(steps)) // steps", "100 steps, saved every 10: 4, and not 4.5"),
    ("return sum(k % every for k in range(1, steps + 1)) / (steps + 1)", "100 steps, saved every 10: 4.45"),
    ("return '4.5'", "what `mean_lost` returned is '4.5', and not a number"),
    ("return [k % every for k in range(steps)]", "and not a number"),
)
for seconds, times, said in (
    ((2 * 0.04 * 8) ** 0.5, 2, "8 hours are 28,800 seconds"),
    ((2 * 40 * 28800) ** 0.5, 2, "40 ms are 0.04 seconds"),
    ((0.04 * 28800) ** 0.5, 2, "there is a 2 under the root"),
    (48, 4, "four times the price is not four times the interval"),
    (48, 1, "a save that costs more is made less often"),
    ("48", 2, "is '48', and not a number"),
    (float("nan"), 2, "seconds from save to save is not near"),
):
    text = "float('nan')" if str(seconds) == "nan" else repr(seconds)
    wrong("7.3.8-2", f"seconds = {text}\ntimes_as_long = {times}", said)
BOTH = "class Both:\n    def due(self, unsaved):\n        "
for lines, said in (
    ("return unsaved.steps >= 3 or unsaved.seconds >= 10", "2 steps and 60.0 seconds unsaved: `due` says True"),
    ("return unsaved.seconds >= 10 and unsaved.steps != 2", "1 steps and 60.0 seconds unsaved: `due` says True"),
    ("return unsaved.steps > 3 and unsaved.seconds > 10", "3 steps and 10.0 seconds unsaved: `due` says False"),
    ("return unsaved.steps == 3 and unsaved.seconds >= 10", "9 steps and 60.0 seconds unsaved: `due` says False"),
    ("return unsaved.minutes", "it raised AttributeError"),
    ("return 'yes'", "3 steps and 10.0 seconds unsaved: `due` says 'yes'"),
):
    wrong("7.3.8-3", BOTH + lines, said)
wrong("7.3.8-3", "Both = 3", "is 3, and not a class")
value(
    "7.3.8-4",
    "kilobytes",
    (2 * 4935, "twice as many steps, and each save is twice as long, too"),
    (4 * 4935 * 1000, "these are bytes; asked for are thousands of them"),
    (8 * 4935, "more than the square of the steps"),
    ("19740", "is '19740', and not a number"),
)
SHA = "import hashlib\n"
body(
    "7.3.9-4",
    "def slim(content):",
    (SHA + "return hashlib.sha256(content.encode()).hexdigest()", "the digest of it all"),
    (
        SHA + "a, mark, b = content.partition('base64,')\nreturn a + mark + hashlib.sha256(b.encode()).hexdigest()",
        "a text without a picture changes",
    ),
    (
        SHA + "a, mark, b = content.partition('base64,')\n"
        "return a + hashlib.sha256(b.encode()).hexdigest() if mark else content",
        "`base64,` is gone",
    ),
    ("return content.partition('base64,')[0]", "nothing tells which picture it was"),
    (
        SHA + "a, mark, b = content.partition('base64,')\n"
        "return a + mark + hashlib.md5(b.encode()).hexdigest() if mark else content",
        "32 characters stand for the picture, and not 64",
    ),
    ("return [content]", "and not a text"),
    ("return content.part('x')", "`slim` raised AttributeError"),
)
body(
    "7.3.9-2",
    "def add_line(store, line: bytes):",
    ("store.append('notes', [line], store.read('notes').length)", "it raised Conflict"),
    (
        "from minagent.log import Conflict\nfor _ in range(4):\n    try:\n"
        "        return store.append('notes', [line], store.read('notes').length)\n"
        "    except Conflict:\n        pass",
        "7 other writers were faster, and [b'4', b'5', b'7'] is all that came",
    ),
    (
        "from minagent.log import Conflict\nwhile True:\n    try:\n        return store.append('notes', [line], 0)\n"
        "    except Conflict:\n        pass",
        "it raised RuntimeError: it tries again and again, and never ends",
    ),
    (
        "store.others = 0\nstore.append('notes', [line], store.read('notes').length)",
        "the others wrote 0 lines, and not 10: they are not yours to stop",
    ),
    (
        "from minagent.log import MemoryStore\nMemoryStore.append(store, 'notes', [line], store.read('notes').length)",
        "it writes past the store's `append`",
    ),
)
value(
    "7.3.9-3",
    "lease_seconds",
    (40, "the slowest tool takes as long, and a slow day longer"),
    (30, "a holder in its slowest tool would lose it"),
    (120, "after a crash nobody goes on within two minutes"),
    (300, "nobody goes on within two minutes"),
    ("100", "is '100', and not a number"),
    (True, "is True, and not a number"),
)
value(
    "7.3.9-1",
    "breaks",
    ("idempotent", "`check_store` says of idempotent: kept"),
    ("atomic", "`check_store` says of atomic: kept"),
    ("versioned", "`check_store` says of versioned: kept"),
    ("durable", "the rows are recoverable, idempotent"),
    (1, "is 1, and not a text"),
)
wrong(
    "7.3.10-1",
    "def live(desk):\n    history = []\n    while True:\n        history.append(desk.ask(history))\n"
    "        if 'answer' in history[-1]:\n            return history[-1]['answer']\n"
    "        history += [desk.charge(order) for order in history[-1]['orders']]",
    "though its step was over",
)
wrong("7.3.10-1", "def live(desk):\n    return desk.ask([])", "it returned {'orders': ['lamp', 'tea']}, not the answer")
wrong(
    "7.3.10-1",
    "def live(desk):\n    return 'All is paid.' + desk.nothing",
    "it raised AttributeError: 'Desk' object has no",
)
wrong("7.3.10-1", "live = 3", "✗ live is no function: 3")
wrong("7.3.10-2", "from plain_agent import live as my_live", "though its step was over")
wrong("7.3.10-2", "my_live = 'my_agent.py'", "✗ live is no function: 'my_agent.py'")
wrong(
    "7.3.10-2", "def my_live(desk):\n    return desk.charge('lamp')", "it returned {'receipt': 'charged 10 for lamp'}"
)

body(
    "7.3.9d-1",
    "def send_again(told, look):",
    ("return told != 'done'", "told 'unknown', 1 records were there, and in the end 2"),
    ("return told == 'not added'", "told 'unknown', 0 records were there, and in the end 0"),
    ("return True", "told 'done', 1 records were there, and in the end 2"),
    ("return told.unknown", "`send_again` raised AttributeError"),
)
