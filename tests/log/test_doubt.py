"""A step under a log: what is durable when, what a crash in it leaves, and how it goes on."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from minagent import (
    Agent,
    EffectUnknown,
    FakeModel,
    InvalidValue,
    Message,
    Session,
    ToolCall,
    ToolRegistry,
    add_question,
    init_session,
    step_once,
)
from minagent.agent import INTERRUPTED
from minagent.log import Conflict, DidNotHappen, Happened, InDoubt, MemoryStore, SessionLog, Unknown, run_with_log
from minagent.log.records import NO_DIGEST, Record, State, apply
from minagent.tools import Effect

WHEN = "2026-01-01T00:00:00Z"


def calling(*names: str, call_id: str = "c1") -> Message:
    """Return an answer of the model that calls these tools, each call with the same id: the hardest case."""
    return Message("assistant", "", [ToolCall(call_id, name, {"n": n}) for n, name in enumerate(names)])


DONE = Message("assistant", "Done.")


class World:
    """An agent with one tool of each kind, and what happened, in order."""

    def __init__(self, *script: Message, reconcile: Callable[[str], object] | None = None) -> None:
        self.happened: list[str] = []
        self.script = script
        self.fail: dict[str, BaseException] = {}
        """What the next run of a tool raises, after its effect."""
        self.store = WatchedStore(self.happened)
        registry = ToolRegistry()
        registry.register(effect="read_only")(self.tool("look"))
        registry.register(effect="idempotent")(self.tool("charge"))
        registry.register(effect="non_idempotent", reconcile=reconcile)(self.tool("mail"))
        self.agent = Agent(registry, "You work.")
        self.model = WatchedModel(script, self.happened)

    def tool(self, name: str) -> Callable[..., str]:
        """Return a tool that says when it ran, and with which key."""

        def run(n: int, *, idempotency_key: str | None = None) -> str:
            self.happened.append(f"{name} {n} {idempotency_key}")
            if name in self.fail:
                raise self.fail.pop(name)
            return f"{name} {n} done"

        run.__name__ = name
        return run

    def begin(self, incarnation: str = "i1") -> SessionLog:
        """Begin a session."""
        session = init_session(self.agent, "Go.", session_id="demo", created_at=WHEN)
        return SessionLog.begin(self.store, session, 0, writer="w1", incarnation=incarnation)

    def resume(self) -> SessionLog:
        """Resume it in what could be another process."""
        return SessionLog.resume(self.store, "demo", writer="w2")

    def crash_after(self, name: str) -> None:
        """Begin a session, and die in this tool, after its effect."""
        self.fail[name] = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            run_with_log(self.agent, self.begin(), self.model)
        self.happened.clear()


class WatchedStore(MemoryStore):
    """A store that says what was appended, and can refuse."""

    def __init__(self, happened: list[str]) -> None:
        super().__init__()
        self.happened = happened
        self.refuse_at = -1
        """After so many appends one is refused."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Append, and say the kinds."""
        self.refuse_at -= 1
        if self.refuse_at == -1:
            raise OSError(28, "No space left on device")
        super().append(session_id, records, expected_length)
        kinds = [record.split(b'"kind":"')[1].split(b'"')[0].decode() for record in records]
        self.happened.append(f"append {'+'.join(kinds)}")


class WatchedModel(FakeModel):
    """A model that says when it is asked."""

    def __init__(self, script: Sequence[Message], happened: list[str]) -> None:
        super().__init__(script)
        self.happened = happened

    def complete(self, messages: Any, schemas: Any) -> Any:
        """Answer."""
        self.happened.append("model")
        return super().complete(messages, schemas)


def test_the_order_that_makes_it_safe():
    """The plan before the tools, an intent before its tool, a result before the next: k + 1 appends for k tools."""
    world = World(calling("charge", "look", "mail"), calling("look"), DONE)
    log = world.begin()
    world.happened.clear()
    run_with_log(world.agent, log, world.model)
    assert world.happened == [
        "model",
        "append message+intent", "charge 0 i1-2-0",
        "append message", "look 1 None",
        "append message+intent", "mail 2 i1-2-2",
        "append message",
        "model", "append message", "look 0 None", "append message",
        "model", "append message",
    ]  # fmt: skip


def test_a_question_is_durable_before_the_model_sees_it():
    """Else the log would hold an answer to nothing."""
    world = World(DONE)
    log = world.begin()
    state = log.state
    state.session.messages.append(Message("user", "And the receipt?"))
    world.happened.clear()
    step_once(world.agent, state.session, world.model, state.steps, log=log)
    assert world.happened == ["append message", "model", "append message"]


def test_the_log_says_what_the_process_knows():
    """After each step: session, trace and cursor are equal to those that a resume brings back."""
    world = World(calling("charge", "charge", "look"), calling("mail"), DONE)
    log = world.begin()
    state = log.state
    while not state.session.answered:
        step_once(world.agent, state.session, world.model, state.steps, log=log)
        found = world.resume().state
        assert (found.session, found.steps, found.model_cursor) == (state.session, state.steps, world.model.cursor)


def test_a_run_goes_on_in_the_middle_of_a_step():
    """Finished siblings keep their results, the model is not asked again, the idempotent one gets the same key."""
    world = World(calling("mail", "charge", "charge"), DONE)
    world.crash_after("charge")
    state = run_with_log(world.agent, world.resume(), world.model)
    assert world.happened[:4] == ["charge 1 i1-2-1", "append message+intent", "charge 2 i1-2-2", "append message"]
    assert [m.content for m in state.session.messages[3:]] == ["mail 0 done", "charge 1 done", "charge 2 done", "Done."]
    assert [step.detail for step in state.steps][:2] == ["mail -> mail 0 done", "charge -> charge 1 done"]


def test_a_tool_that_only_reads_runs_again():
    """Nobody is asked, and nothing was written before it."""
    world = World(calling("look"), DONE)
    world.crash_after("look")
    run_with_log(world.agent, world.resume(), world.model)
    assert world.happened[0] == "look 0 None"


def test_an_error_of_a_tool_is_its_result():
    """As without a log: the model can react."""
    world = World(calling("mail"), DONE)
    world.fail["mail"] = ValueError("no such address")
    state = run_with_log(world.agent, world.begin(), world.model)
    assert state.session.messages[3].content == "error: ValueError: no such address"


def test_in_doubt_it_stops_and_says_everything():
    """The call, its arguments, its key, and the three ways on; nothing has run, and nothing was written."""
    world = World(calling("mail"), DONE)
    world.crash_after("mail")
    log = world.resume()
    before = log.state
    for _ in range(2):
        with pytest.raises(InDoubt) as doubt:
            run_with_log(world.agent, log, world.model)
    assert str(doubt.value) == (
        "mail(n=0) was about to run, and nobody knows whether it did:\n"
        "the tool has no way to find out. Its key is 'i1-2-0'. Find out, then go on:\n"
        "  log.resolve('i1-2-0', Happened(result))  it did, and this is its result\n"
        "  log.resolve('i1-2-0', DidNotHappen())    it did not: the next step runs it\n"
        "  log.resolve('i1-2-0', Unknown())         nobody knows: not run; the model is told"
    )
    assert (doubt.value.name, doubt.value.arguments, doubt.value.key) == ("mail", {"n": 0}, "i1-2-0")
    assert (world.happened, log.state) == ([], before)


@pytest.mark.parametrize(
    ("verdict", "ran", "result"),
    [
        (Happened("sent, says the provider"), [], "sent, says the provider"),
        (DidNotHappen(), ["append intent", "mail 0 i1-2-0"], "mail 0 done"),
        (Unknown(), [], INTERRUPTED),
    ],
)
def test_a_person_resolves_it_and_the_run_goes_on(verdict: Any, ran: list[str], result: str):
    """Either way; the tool runs with the same key; another process finds the verdict in the log."""
    world = World(calling("mail"), DONE)
    world.crash_after("mail")
    log = world.resume()
    log.resolve("i1-2-0", verdict)
    assert log.state.in_doubt == world.resume().state.in_doubt == {}
    world.happened.clear()
    state = run_with_log(world.agent, world.resume(), world.model)
    assert world.happened[: len(ran)] == ran
    assert "mail" not in "".join(world.happened[len(ran) :])
    assert [message.content for message in state.session.messages[3:]] == [result, "Done."]


def test_a_verdict_that_fits_nothing_is_refused():
    """Nothing is written."""
    world = World(calling("mail"), DONE)
    world.crash_after("mail")
    log = world.resume()
    with pytest.raises(InvalidValue, match=r"no call in doubt has the key 'i1-9-9'; in doubt: \['i1-2-0'\]"):
        log.resolve("i1-9-9", DidNotHappen())
    with pytest.raises(InvalidValue, match=r"verdict: Happened\(result\), DidNotHappen\(\) or Unknown\(\), not 'yes'"):
        log.resolve("i1-2-0", "yes")  # type: ignore[arg-type]
    for no_text in (26, None):
        with pytest.raises(InvalidValue, match="result: expected str"):
            log.resolve("i1-2-0", Happened(no_text))  # type: ignore[arg-type]
    assert world.happened == []
    assert log.state.in_doubt == {0: ("i1-2-0", "non_idempotent")}


@pytest.mark.parametrize(
    ("answer", "ran", "result"),
    [
        (Happened("it was sent"), [], "it was sent"),
        (DidNotHappen(), ["append intent", "mail 0 i1-2-0"], "mail 0 done"),
    ],
)
def test_a_tool_that_can_be_asked_is_asked(answer: Any, ran: list[str], result: str):
    """By the key, which is in the intent."""
    asked: list[str] = []

    def reconcile(key: str) -> Any:
        asked.append(key)
        return answer

    world = World(calling("mail"), DONE, reconcile=reconcile)
    world.crash_after("mail")
    state = run_with_log(world.agent, world.resume(), world.model)
    assert (asked, world.happened[: len(ran)]) == (["i1-2-0"], ran)
    assert state.session.messages[3].content == result


@pytest.mark.parametrize(
    ("reconcile", "why"),
    [
        (lambda _: Unknown(), r"asked, the tool says Unknown\(\)"),
        (lambda _: None, "asked, the tool says None"),
        (lambda _: Happened(26), r"asked, the tool says Happened\(result=26\)"),  # type: ignore[arg-type]
        (lambda _: 1 / 0, "asking the tool failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_tool_that_cannot_tell_is_not_taken_for_a_no(reconcile: Any, why: str):
    """Whatever is no clear verdict stops the run."""
    world = World(calling("mail"), DONE, reconcile=reconcile)
    world.crash_after("mail")
    with pytest.raises(InDoubt, match=f"nobody knows whether it did:\n{why}"):
        run_with_log(world.agent, world.resume(), world.model)
    assert world.happened == []


def test_a_tool_that_is_gone_is_in_doubt_too():
    """It may have run under its old name; "unknown tool" would be a lie."""
    world = World(calling("charge"), DONE)
    world.crash_after("charge")
    with pytest.raises(InDoubt, match="there is no tool of this name any more"):
        run_with_log(Agent(ToolRegistry(), ""), world.resume(), world.model)
    unknown = World(calling("fly"), DONE)
    state = run_with_log(unknown.agent, unknown.begin(), unknown.model)
    assert (state.session.messages[3].content or "").startswith("error: unknown tool 'fly'")


@pytest.mark.parametrize(
    ("tool", "then", "now"),
    [
        ("mail", "non_idempotent", "idempotent"),
        ("mail", "non_idempotent", "read_only"),
        ("charge", "idempotent", "non_idempotent"),
        ("charge", "idempotent", "read_only"),
    ],
)
def test_what_a_tool_had_declared_counts_and_a_change_is_told(tool: str, then: str, now: Effect):
    """The code is another one by now: whether to trust it, or what it was, a person decides."""
    world = World(calling(tool), DONE, reconcile=lambda _: DidNotHappen())
    world.crash_after(tool)
    world.resume().compact()
    world.agent.registry.tools[tool] = dataclasses.replace(world.agent.registry.tools[tool], effect=now)
    with pytest.raises(InDoubt, match=f"its tool declares {now} now; it was {then} when it was about to run") as doubt:
        run_with_log(world.agent, world.resume(), world.model)
    assert world.happened == []
    log = world.resume()
    log.resolve(doubt.value.key, Happened("it ran"))
    assert run_with_log(world.agent, log, world.model).session.answered


def test_a_request_whose_answer_was_lost_is_made_again_with_the_same_key():
    """No crash: the tool says that it cannot tell. Its siblings stay, and the model is not asked again."""
    world = World(calling("look", "charge"), DONE)
    world.fail["charge"] = EffectUnknown("no answer")
    log = world.begin()
    with pytest.raises(EffectUnknown):
        run_with_log(world.agent, log, world.model)
    world.happened.clear()
    run_with_log(world.agent, log, world.model)
    assert world.happened[:2] == ["charge 1 i1-2-1", "append message"]


def test_of_a_mail_whose_answer_was_lost_nobody_knows():
    """The same without a key that would help: said aloud, in the process that lives."""
    world = World(calling("mail"), DONE)
    world.fail["mail"] = EffectUnknown("no answer")
    state = world.begin().state
    log = world.resume()
    with pytest.raises(EffectUnknown):
        step_once(world.agent, state.session, world.model, state.steps, log=log)
    with pytest.raises(InDoubt):
        step_once(world.agent, state.session, world.model, state.steps, log=log)
    log.resolve("i1-2-0", Happened("sent"))
    with pytest.raises(InvalidValue, match="the log holds 4, the session 3: go on from `state`"):
        step_once(world.agent, state.session, world.model, state.steps, log=log)
    assert run_with_log(world.agent, log, world.model).session.answered


def test_every_call_has_a_key_of_its_own():
    """Ids repeat, in a message and in later turns, and the arguments do, too: keys do not."""
    world = World(calling("charge", "charge"), calling("charge", "charge"), DONE)
    run_with_log(world.agent, world.begin(), world.model)
    keys = [entry.split()[-1] for entry in world.happened if entry.startswith("charge")]
    assert keys == ["i1-2-0", "i1-2-1", "i1-5-0", "i1-5-1"]


def test_a_session_begun_again_under_the_same_id_gets_new_keys():
    """Else the payment of the new session would be taken for that of the old one."""
    world = World(calling("charge"), DONE)
    run_with_log(world.agent, world.begin("i1"), world.model)
    world.store.delete("demo")
    world.model.cursor = 0
    run_with_log(world.agent, world.begin("i2"), world.model)
    assert [entry for entry in world.happened if entry.startswith("charge")] == ["charge 0 i1-2-0", "charge 0 i2-2-0"]


@pytest.mark.parametrize("refused", range(6))
def test_a_disk_that_is_full_for_a_moment_repeats_nothing(refused: int):
    """An append is refused: the step raises, and the next one goes on; no tool ran twice, and no result is lost."""
    world = World(calling("charge", "mail"), calling("look"), DONE)
    log = world.begin()
    state = log.state
    world.happened.clear()
    world.store.refuse_at = refused
    errors = 0
    while not state.session.answered:
        try:
            step_once(world.agent, state.session, world.model, state.steps, log=log)
        except OSError:
            errors += 1
    assert errors == 1
    assert sum(entry == "model" for entry in world.happened) == 3 + (refused == 5)  # a plain answer is asked for again
    assert sum(not entry.startswith(("append", "model")) for entry in world.happened) == 3
    found = world.resume().state
    assert (found.session, found.steps) == (state.session, state.steps)


def test_an_interrupt_in_a_tool_keeps_what_has_come_to_its_end():
    """In memory, as in the log."""
    world = World(calling("charge", "mail"), DONE)
    world.fail["mail"] = KeyboardInterrupt()
    log = world.begin()
    state = log.state
    with pytest.raises(KeyboardInterrupt):
        step_once(world.agent, state.session, world.model, state.steps, log=log)
    assert [message.role for message in state.session.messages] == ["system", "user", "assistant", "tool"]
    assert (state.session, state.steps) == (log.state.session, log.state.steps)
    assert (log.state.in_doubt, world.model.cursor) == ({1: ("i1-2-1", "non_idempotent")}, 1)


@pytest.mark.parametrize("crashed", ["look", "mail"])
def test_the_next_question_after_a_crash_in_a_tool_works(crashed: str):
    """Whether or not a sibling had finished. The open calls are closed by a result that says what is known: nothing."""
    world = World(calling("look", crashed), DONE)
    world.crash_after(crashed)
    log = world.resume()
    state = log.state
    add_question(state.session, state.steps, "Never mind. What is the time?")
    world.model.cursor = state.model_cursor
    while not state.session.answered:
        step_once(world.agent, state.session, world.model, state.steps, log=log)
    closed = 2 if crashed == "look" else 1
    texts = [message.content for message in state.session.messages]
    assert texts[5 - closed : 5] == [INTERRUPTED] * closed
    assert texts[5:] == ["Never mind. What is the time?", "Done."]
    assert world.resume().state.session == state.session
    assert world.resume().state.steps == state.steps
    assert log.state.in_doubt == {}


def test_any_prefix_of_the_log_ends_in_the_same_transcript():
    """However often a crash cuts it: same answers, if the model repeats itself and the doubts are resolved."""
    world = World(calling("charge", "look"), calling("mail", "mail"), DONE)
    whole = world.begin().state
    log = world.resume()
    while not whole.session.answered:  # without compaction, which removes records
        step_once(world.agent, whole.session, world.model, whole.steps, log=log)
    lines = world.store.read("demo").lines
    assert len(lines) == 11
    for length in range(1, len(lines) + 1):
        cut = World(calling("charge", "look"), calling("mail", "mail"), DONE, reconcile=lambda _: DidNotHappen())
        MemoryStore.append(cut.store, "demo", lines[:length], 0)
        for _ in range(2):
            state = run_with_log(cut.agent, cut.resume(), cut.model)
            assert (state.session, state.steps, state.model_cursor) == (whole.session, whole.steps, 3)


def test_without_the_intent_a_crash_goes_unseen():
    """The sabotage: take the intents out, and a mail that may have been sent is sent again without a word."""
    world = World(calling("mail"), DONE)
    log = world.begin()
    log.record_intent = lambda session, cursor, *_: log.record(session, cursor)  # type: ignore[method-assign,assignment]
    world.fail["mail"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run_with_log(world.agent, log, world.model)
    run_with_log(world.agent, world.resume(), world.model)
    assert sum(entry.startswith("mail") for entry in world.happened) == 2


def test_an_intent_is_of_a_call_that_is_open():
    """A record that says otherwise is refused."""
    state = State(Session("demo", [Message("user", "Go.")], WHEN), "i1", 0, [])
    with pytest.raises(InvalidValue, match="does not fit"):
        apply(state, Record(0, "intent", "w1", {"call": 0, "key": "k", "effect": "idempotent"}), NO_DIGEST)


def test_the_tools_of_a_writer_who_is_late_do_not_run():
    """Two resume the same run: the second one's first append conflicts, and that comes before its tool."""
    world = World(calling("charge"), calling("mail"), DONE)
    first, second = world.begin(), world.resume()
    state = second.state
    run_with_log(world.agent, first, world.model)
    world.happened.clear()
    model = WatchedModel(world.script, world.happened)
    with pytest.raises(Conflict):
        step_once(world.agent, state.session, model, state.steps, log=second)
    assert world.happened == ["model"]


def test_of_two_who_ask_the_tool_at_the_same_time_one_runs_it():
    """Both are told that it did not happen; an append comes before the tool, and one of the two conflicts."""
    world = World(calling("mail"), DONE, reconcile=lambda _: asked())
    others: list[int] = []

    def asked() -> DidNotHappen:
        if not others:
            others.append(1)
            run_with_log(world.agent, world.resume(), WatchedModel(world.script, world.happened))
        return DidNotHappen()

    world.crash_after("mail")
    with pytest.raises(Conflict):
        run_with_log(world.agent, world.resume(), world.model)
    assert [entry for entry in world.happened if entry.startswith("mail")] == ["mail 0 i1-2-0"]


def test_an_interrupt_while_a_tool_is_asked_is_an_interrupt():
    """And not a doubt."""

    def interrupted(_: str) -> Any:
        raise KeyboardInterrupt

    world = World(calling("mail"), DONE, reconcile=interrupted)
    world.crash_after("mail")
    with pytest.raises(KeyboardInterrupt):
        run_with_log(world.agent, world.resume(), world.model)


def test_a_verdict_on_the_second_call_is_its_result():
    """Not that of the first: the ids differ here."""
    calls = [ToolCall("first", "look", {"n": 0}), ToolCall("second", "mail", {"n": 1})]
    world = World(Message("assistant", "", calls), DONE)
    world.crash_after("mail")
    log = world.resume()
    log.resolve("i1-2-1", Happened("sent"))
    assert log.state.session.messages[-1] == Message("tool", "sent", tool_call_id="second")


def test_a_result_survives_a_disk_that_is_full_for_a_moment_in_run_with_log():
    """The error is raised; the result is in the log, and the mail is not in doubt."""
    world = World(calling("mail"), DONE)
    log = world.begin()
    world.happened.clear()
    world.store.refuse_at = 1
    with pytest.raises(OSError, match="No space left"):
        run_with_log(world.agent, log, world.model)
    assert run_with_log(world.agent, world.resume(), world.model).session.answered
    assert [entry for entry in world.happened if entry.startswith("mail")] == ["mail 0 i1-2-0"]


def test_an_answer_is_taken_in_as_a_copy():
    """A model that uses one dictionary for all its calls does not change what was said before."""
    arguments = {"n": 0}

    class Careless(WatchedModel):
        def complete(self, messages: Any, schemas: Any) -> Any:
            arguments["n"] += 1
            return super().complete(messages, schemas)

    script = [Message("assistant", "", [ToolCall("c1", "charge", arguments)])] * 2
    world = World(*script, DONE)
    state = run_with_log(world.agent, world.begin(), Careless(world.script, world.happened))
    found = [call.arguments["n"] for message in state.session.messages for call in message.tool_calls]
    assert found == [1, 2]
    assert world.resume().state.session == state.session
