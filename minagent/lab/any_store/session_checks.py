"""What a session's log needs of its store: the checks of `check_store` that go through SessionLog, or several threads.

They are checks as in `store_contract`: each gets a store and a function that opens it once more, has sessions of its
own, and yields what it expects, and whether it holds.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from minagent import FakeModel, Message, Session, ToolCall, ToolRegistry, step_once
from minagent.lab.faults.damage import flip
from minagent.lab.world.example import ANSWER, BEGAN, EXAMPLES, SCRIPT
from minagent.log import Conflict, SessionLog
from minagent.log.contract import Expectation, OpenStore
from minagent.log.records import State
from minagent.log.stores.base import Store

DIFFICULT = (
    Message("system", "你用工具计算。"),
    Message("user", "🦊👩‍👩‍👧 \ud83d \0 \x7f \u2028 \r\n\t"),
    Message("assistant", None, (ToolCall("", "加", {"深": [[{"": [None, True, 1.0, -0.0, 1e300]}]], "n": 7**1000}),)),
    Message("tool", "", tool_call_id=""),
    Message("assistant", "五。"),
)
"""Values that a careless store, or a careless format, would change."""


def difficult_values_come_back(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """A session is resumed equal, field by field and type by type, from whatever is left of it."""
    name = "difficult"
    session = Session(name, list(DIFFICULT[:2]), BEGAN, {"名": [1, None]})
    log = SessionLog.begin(store, session, 10**400, writer="w1", incarnation="i1")
    session.messages += DIFFICULT[2:]
    log.record(session, None)
    yield "a session is resumed equal from its records", _equal(reopen(), log)
    log.compact()
    yield "a session is resumed equal from its checkpoint", _equal(reopen(), log)
    session.messages += [Message("user", "再\udfff"), Message("assistant", "好 🦊")]
    log.record(session, 2**64)
    yield "a session is resumed equal from checkpoint and records", _equal(reopen(), log)
    log.compact()
    number, document = store.checkpoints(name)[0]
    store.put_checkpoint(name, number, flip(document, 400))
    yield "a session is resumed equal after its newest checkpoint was damaged", _equal(reopen(), log)


def _equal(store: Store, log: SessionLog) -> bool:
    # The texts, too: else True would be as good as 1, and 1 as 1.0.
    state, wanted = SessionLog.resume(store, log.session_id, writer="w2").state, log.state
    return state == wanted and repr(state) == repr(wanted)


TIMES = 6  # how often one log is resumed


def resuming_changes_nothing(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """One log resumed many times, by different objects: the same state, nothing written, the same transcript."""
    log = begun(store, "repeated", steps=1)
    before = contents(store)
    states = []
    for number in range(TIMES):
        resumed = SessionLog.resume(reopen() if number % 2 else store, log.session_id, writer=f"w{number}")
        states.append(resumed.state)
        yield "each resume gives the same state", states[-1] == log.state
    transcripts = [_run_on(state) for state in states]
    for transcript in transcripts:
        yield "each run from there comes to the same transcript", transcript == transcripts[0]
        yield "each run from there comes to the answer", transcript[-1].content == ANSWER
    yield "resuming writes nothing", contents(store) == before


def begun(store: Store, name: str, steps: int) -> SessionLog:
    """Return the log of the chapter's example, that many steps after its start."""
    example = EXAMPLES["arithmetic"]
    agent, model = example.agent(ToolRegistry()), FakeModel(SCRIPT)
    session = Session(name, example.begin(agent).messages, BEGAN)
    log = SessionLog.begin(store, session, model.cursor, writer="w1", incarnation="i1")
    for _ in range(steps):
        step_once(agent, session, model, [], log=log)
    return log


def _run_on(state: State) -> list[Message]:
    """Go on to the end, with a model that repeats itself, and return the transcript. Nothing is written down."""
    agent, model = EXAMPLES["arithmetic"].agent(ToolRegistry()), FakeModel(SCRIPT)
    model.cursor = state.model_cursor
    while not state.session.answered:
        step_once(agent, state.session, model, state.steps)
    return state.session.messages


Contents = dict[str, tuple[int, list[bytes], list[tuple[int, bytes]]]]


def contents(store: Store) -> Contents:
    """Return all that a store holds: for each session its first number, its records, and its checkpoints."""
    found = {}
    for session in store.sessions():
        records = store.read(session)
        found[session] = (records.first, list(records.lines), list(store.checkpoints(session)))
    return found


WRITERS, APPENDS, LOOKS = 4, 25, 50


def survives_threads(store: Store) -> bool:
    """Return whether a thread can use a store that another one has opened."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(store.read, "nobody").exception() is None


def a_batch_is_seen_whole(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """While one thread appends, another one looks."""
    name, reader, batch = "seen", reopen(), [b"%d" % number for number in range(5)]

    def append_all() -> None:
        mine = reopen()
        for number in range(APPENDS):
            mine.append(name, batch, number * len(batch))

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(append_all)
        seen = [reader.read(name).length for _ in range(LOOKS)]
        writer.result()
    yield "another opener sees a batch whole, or not at all", all(length % len(batch) == 0 for length in seen)
    yield "in the end every batch is there", store.read(name).lines == batch * APPENDS


def threads_lose_nothing(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """Several threads append, each again after every Conflict."""
    name = "threads"

    def append_all(writer: int) -> int:
        mine, conflicts, number, length = reopen(), 0, 0, 0
        # A conflict says that another one's append came between: there are only APPENDS of them.
        while number < APPENDS and conflicts <= WRITERS * APPENDS:
            try:
                length = mine.read(name, length).length
                mine.append(name, [b"%d.%d" % (writer, number)], length)
                number += 1
            except Conflict:
                conflicts += 1
        return number

    with ThreadPoolExecutor(WRITERS) as pool:
        appended = list(pool.map(append_all, range(WRITERS)))
    lines = store.read(name).lines
    for writer, number in enumerate(appended):
        yield "each writer comes to its end", number == APPENDS
        own, wanted = [line for line in lines if line.startswith(b"%d." % writer)], range(APPENDS)
        yield "each writer's records are there once, in order", own == [b"%d.%d" % (writer, n) for n in wanted]
    yield "no other records are there", len(lines) == WRITERS * APPENDS
