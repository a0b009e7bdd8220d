"""The promises of `minagent.log.stores.base`, one check a number. Every store has to keep them all.

A check gets a store and a function that opens the same place once more, as another process would. It yields what it
expects, in a few words, and whether it holds. What begins with "reopened" is of two objects: for a store that cannot be
opened again it says little. Each check has sessions of its own, with plain ids, so that all can run on one store.

Source: chapter 7.3.9.
"""

import re
from collections.abc import Callable, Iterator

from minagent.errors import InvalidValue
from minagent.log.errors import Conflict
from minagent.log.stores.base import KEPT, Store

OpenStore = Callable[[], Store]
Expectation = tuple[str, bool]
Check = Callable[[Store, OpenStore], Iterator[Expectation]]

ONE, TWO, THREE = b'{"n":1}', b'{"n":2}', '{"n":"三"}'.encode()

ODD_IDS = [
    "demo", "Demo", "DEMO", "a/b", "a_b", "a%2fb", "../up", "..", ".", "", " ", "小明", "a\0b", "a\nb", "\ud83d",
    "x" * 300, "x" * 301, "x" * 600, "log.jsonl", "demo.lock", "%", "%%", "e", "\u00e9", "e\u0301", "\u00c9", "q", "q ",
]  # fmt: skip
MANY, LONG = [b"%d" % number for number in range(1_200)], b"x" * 70_000
"""More than a page of results has as a rule, and more than a column."""


def trials(check: Check, store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """Yield what a check yields. An exception ends it, and is one more that does not hold."""
    try:
        yield from check(store, reopen)
    except Exception as error:
        yield _in_words(error), False


def _in_words(error: Exception) -> str:
    """Return an exception's type, and the first line of its message, without what differs from run to run."""
    reason = (isinstance(error, OSError) and error.strerror) or str(error)  # strerror is the message without the path
    line = re.sub(r" at 0x[0-9a-fA-F]+", "", ascii(reason.partition("\n")[0])[1:-1])
    return f"{type(error).__name__}: {line[:100]}" if line else type(error).__name__


def refuses(kind: type[Exception], action: Callable[[], object]) -> bool:
    """Return whether an action raises an exception of this kind; let any other one through."""
    try:
        action()
    except kind:
        return True
    return False


def conflicts(store: Store, session_id: str, records: list[bytes], expected: int) -> bool:
    """Return whether an append is refused with Conflict."""
    return refuses(Conflict, lambda: store.append(session_id, records, expected))


def append_is_conditional(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """1: exactly the length that is expected, or Conflict, and nothing is added."""
    name, other = "promise-1", reopen()
    store.append(name, [ONE], 0)
    for expected in (0, 2, -1):
        try:
            other.append(name, [TWO], expected)
            found = None
        except Conflict as error:
            found = error.expected, error.length
        yield f"Conflict({expected}, 1): one record is there, {expected} expected", found == (expected, 1)
    other.append(name, [TWO], 1)
    yield "Conflict for the second of two writers who expect the same", conflicts(store, name, [THREE], 1)
    yield "Conflict for the very same record again", conflicts(store, name, [TWO], 1)
    yield "a conflict adds nothing", store.read(name).lines == [ONE, TWO]


def a_batch_is_all_or_nothing(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """2: one record that cannot be written, or a conflict, and none is."""
    name = "promise-2"
    store.append(name, [ONE], 0)
    for bad in (b"", b"two\nlines", b" space", b"space "):
        batch = [TWO, bad]
        refused = refuses(InvalidValue, lambda batch=batch: store.append(name, batch, 1))  # type: ignore[misc]
        yield f"InvalidValue for the record {bad!r}", refused
        yield "a batch with a bad record adds nothing", store.read(name).lines == [ONE]
    yield "InvalidValue for a bad record after many", refuses(InvalidValue, lambda: store.append(name, [*MANY, b""], 1))
    yield "a long batch with a bad record adds nothing", store.read(name).lines == [ONE]
    yield "Conflict for a batch that expects another length", conflicts(store, name, [TWO, THREE], 0)
    yield "a batch that conflicts adds nothing", store.read(name).lines == [ONE]
    store.append(name, [], 1)
    store.append(name, [TWO, THREE], 1)
    yield "reopened: all records of a batch are there", reopen().read(name).lines == [ONE, TWO, THREE]


def records_come_back(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """3: byte for byte, in order, from the number that was asked for."""
    name = "promise-3"
    lines = [b"x" * size for size in range(1, 40)] + [bytes(set(range(1, 256)) - {10, 32})]
    for number, line in enumerate(lines):
        store.append(name, [line], number)
    for since in (0, 1, 17, 39, 40, 99):
        records = store.read(name, since)
        yield f"the records from {since} on come back byte for byte", records.lines == lines[since:]
        yield f"read(since={since}) says where it begins", records.first == min(since, 40)
        yield "the length is what was ever appended, and nothing is torn", (records.length, records.torn) == (40, 0)
    for lines_at_once in ([b"\tx\t", b"\r", b"x\r", b"\0a\0", LONG], MANY):
        other = f"{name}-{len(lines_at_once)}"
        store.append(other, lines_at_once, 0)
        yield f"{len(lines_at_once)} records of one append come back", store.read(other).lines == lines_at_once
    store.read(name).lines.clear()
    yield "the list that read returns is the reader's own", store.read(name).lines == lines
    mine = [ONE]
    store.append(name, mine, 40)
    mine[0] = TWO
    yield "the list that was appended stays the writer's own", store.read(name, 39).lines == [lines[39], ONE]
    nobody = reopen().read("promise-3-nobody")
    yield "a session that never was has no records", (nobody.lines, nobody.length) == ([], 0)


def an_append_lasts(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """4: whoever opens the store next finds it."""
    name = "promise-4"
    store.append(name, [ONE, TWO], 0)
    yield "reopened: the records are there", reopen().read(name).lines == [ONE, TWO]
    reopen().append(name, [THREE], 2)
    yield "reopened: what was appended after that is there", reopen().read(name).lines == [ONE, TWO, THREE]


def length_never_goes_down(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """6: a writer who has slept through a truncation, a deletion and a new start is told so."""
    name, sleeper = "promise-6", reopen()
    sleeper.append(name, [ONE, TWO], 0)
    store.truncate_before(name, 2)
    yield "truncation leaves the length", (store.read(name).lines, store.read(name).length) == ([], 2)
    yield "Conflict for a length that is too high, after it", conflicts(sleeper, name, [THREE], 9)
    sleeper.append(name, [THREE], 2)  # nothing that it knew has changed
    yield "an append after a truncation is there", store.read(name).lines == [THREE]
    store.delete(name)
    yield "deletion raises the length by one", (store.read(name).lines, store.read(name).length) == ([], 4)
    yield "Conflict for who has slept through a deletion", conflicts(sleeper, name, [ONE], 3)
    store.append(name, [ONE], 4)
    for stale in (0, 3, 4):
        yield "Conflict for who has slept through a new start", conflicts(sleeper, name, [TWO], stale)
        yield "Conflict for an append of nothing, too", conflicts(sleeper, name, [], stale)
    yield "a conflict adds nothing", store.read(name).lines == [ONE]
    store.append(name, [TWO, THREE], 5)
    store.truncate_before(name, 5)
    store.delete(name)
    store.delete(name)
    yield "the length never goes down", store.read(name).length >= 8  # noqa: PLR2004 - 7 records, and a deletion
    store.delete("promise-6-nobody")
    yield "the deletion of a session that never was does nothing", store.read("promise-6-nobody").length == 0


def truncation_removes_what_comes_before(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """7: and nothing else; whoever has the log open from before goes on in the new one."""
    name, other, lines = "promise-7", reopen(), [ONE, TWO, THREE]
    other.append(name, lines, 0)
    for number, first in ((0, 0), (1, 1), (1, 1), (2, 2), (0, 2)):
        store.truncate_before(name, number)
        left = store.read(name)
        yield f"truncate_before({number}) leaves the rest", (left.first, left.lines) == (first, lines[first:])
    other.append(name, [ONE], 3)
    yield "reopened: the append after a truncation is there", reopen().read(name).lines == [THREE, ONE]
    store.truncate_before(name, 99)
    yield "a truncation beyond the end leaves nothing", (store.read(name).first, store.read(name).lines) == (4, [])
    store.append("promise-7-long", MANY, 0)
    store.truncate_before("promise-7-long", 1_000)
    left = store.read("promise-7-long", 1_100)
    yield "after a truncation read(since) counts on", (left.first, left.lines) == (1_100, MANY[1_100:])
    store.truncate_before("promise-7-nobody", 3)
    yield "the truncation of a session that never was does nothing", store.read("promise-7-nobody").length == 0


def deletion_removes_one_session(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """8: its records and its checkpoints, and nothing of any other."""
    name, longer, shorter, before = "promise-8", "promise-8-too", "promise", store.sessions()
    for session in (name, longer, shorter):
        store.append(session, [ONE], 0)
        store.put_checkpoint(session, 1, b"document")
    store.delete(name)
    store.delete("promise-8-nobody")
    empty = "promise-8-empty"
    store.append(empty, [ONE], 0)
    store.put_checkpoint(empty, 1, b"document")
    store.truncate_before(empty, 1)
    store.delete(empty)
    yield "so it does of a truncated one", (store.checkpoints(empty), store.read(empty).length) == ([], 2)
    yield "deletion removes records and checkpoints", (store.read(name).lines, store.checkpoints(name)) == ([], [])
    sleeper = reopen()
    sleeper.put_checkpoint(name, 1, b"of the session that is gone")
    yield "a late checkpoint of a deleted session is not shown", store.checkpoints(name) == []
    store.append(name, [TWO], store.read(name).length)
    yield "nor is it shown in the next session of that id", store.checkpoints(name) == []
    store.delete(name)
    yield "the other sessions are still there", store.sessions() == sorted([*before, longer, shorter])
    yield "the other sessions have their records", store.read(longer).lines == [ONE]
    yield "the other sessions have their checkpoints", store.checkpoints(longer) == [(1, b"document")]


def the_newest_checkpoints_are_kept(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """9: KEPT of them, by number and not by age; the same number replaces."""
    name = "promise-9"
    store.append(name, [ONE] * 12, 0)
    yield "no checkpoints before the first is put", store.checkpoints(name) == []
    for number in (9, 10, 2):
        store.put_checkpoint(name, number, b"%d" % number)
    store.put_checkpoint(name, 10, LONG)
    yield "a long document comes back", store.checkpoints(name)[0] == (10, LONG)
    store.put_checkpoint(name, 10, bytes(range(256)))
    kept = [(10, bytes(range(256))), (9, b"9")]
    yield f"the {KEPT} newest checkpoints are kept, newest first", store.checkpoints(name) == kept
    yield "reopened: and they are still there", reopen().checkpoints(name) == kept
    store.truncate_before(name, 9)
    yield "truncation leaves the checkpoints of what is left", store.checkpoints(name) == kept


def any_text_is_an_id(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """10: and two of them share nothing."""
    before = store.sessions()
    for session in ODD_IDS:
        store.append(session, [_own(session)], 0)
        store.put_checkpoint(session, 1, _own(session))
    for session in ODD_IDS:
        yield f"the session {session!a:.20} has its own records", store.read(session).lines == [_own(session)]
        own = store.checkpoints(session) == [(1, _own(session))]
        yield f"the session {session!a:.20} has its own checkpoints", own
    yield "sessions() lists them all, sorted", store.sessions() == sorted(before + ODD_IDS)
    yield "reopened: it still does", reopen().sessions() == sorted(before + ODD_IDS)


def _own(session: str) -> bytes:
    """Return a record that tells which session it is of."""
    return ascii(session).encode()


CHECKS: dict[int, Check] = {
    1: append_is_conditional,
    2: a_batch_is_all_or_nothing,
    3: records_come_back,
    4: an_append_lasts,
    6: length_never_goes_down,
    7: truncation_removes_what_comes_before,
    8: deletion_removes_one_session,
    9: the_newest_checkpoints_are_kept,
    10: any_text_is_an_id,
}
"""By the number of the promise. Promise 5 needs a disk that fails: it is tested where there is one."""
