"""The promises of `minagent.stores.base`, one check a number. Every store has to pass them all.

A check gets a function that opens the store: called twice, it opens the same place twice, as two processes would.
"""

import itertools
from collections.abc import Callable

import pytest

from minagent.errors import Conflict, InvalidValue
from minagent.stores.base import KEPT, Store

OpenStore = Callable[[], Store]
Check = Callable[[OpenStore], None]

ONE, TWO, THREE = b'{"n":1}', b'{"n":2}', '{"n":"三"}'.encode()

ODD_IDS = [
    "demo", "Demo", "DEMO", "a/b", "a_b", "a%2fb", "../up", "..", ".", "", " ", "小明", "a\0b", "a\nb", "\ud83d",
    "x" * 300, "x" * 301, "log.jsonl", "demo.lock", "%", "%%",
]  # fmt: skip


def check_append_is_conditional(open_store: OpenStore) -> None:
    """1: exactly the length that is expected, or Conflict, and nothing is added."""
    store, other = open_store(), open_store()
    store.append("demo", [ONE], 0)
    for expected in (0, 2, -1):
        with pytest.raises(Conflict) as error:
            other.append("demo", [TWO], expected)
        assert (error.value.expected, error.value.length) == (expected, 1)
    other.append("demo", [TWO], 1)
    with pytest.raises(Conflict):
        store.append("demo", [THREE], 1)
    assert store.read("demo").lines == [ONE, TWO]


def check_a_batch_is_all_or_nothing(open_store: OpenStore) -> None:
    """2: one record that cannot be written, and none is."""
    store = open_store()
    store.append("demo", [ONE], 0)
    for bad in (b"", b"two\nlines", b" space", b"space "):
        with pytest.raises(InvalidValue):
            store.append("demo", [TWO, bad], 1)
        assert store.read("demo").lines == [ONE]
    store.append("demo", [], 1)
    store.append("demo", [TWO, THREE], 1)
    assert open_store().read("demo").lines == [ONE, TWO, THREE]


def check_records_come_back(open_store: OpenStore) -> None:
    """3: byte for byte, in order, from the number that was asked for."""
    store = open_store()
    lines = [b"x" * size for size in range(1, 40)] + [bytes(set(range(1, 256)) - {10, 32})]
    for number, line in enumerate(lines):
        store.append("demo", [line], number)
    for since in (0, 1, 17, 39, 40, 99):
        records = store.read("demo", since)
        assert records.lines == lines[since:]
        assert records.first == min(since, 40)
        assert (records.length, records.torn, len(records.offsets)) == (40, 0, len(records.lines))
        assert [after - before for before, after in itertools.pairwise(records.offsets)] == [
            len(line) + 1 for line in records.lines[:-1]
        ]
    store.read("demo").lines.clear()
    mine = [ONE]
    store.append("demo", mine, 40)
    mine[0] = TWO
    assert store.read("demo", 39).lines == [lines[39], ONE]
    assert (open_store().read("nobody").lines, open_store().read("nobody").length) == ([], 0)


def check_an_append_lasts(open_store: OpenStore) -> None:
    """4: whoever opens the store next finds it."""
    open_store().append("demo", [ONE, TWO], 0)
    assert open_store().read("demo").lines == [ONE, TWO]
    open_store().append("demo", [THREE], 2)
    assert open_store().read("demo").lines == [ONE, TWO, THREE]


def check_length_never_goes_down(open_store: OpenStore) -> None:
    """6: a writer who has slept through a truncation, a deletion and a new start is told so."""
    store, sleeper = open_store(), open_store()
    sleeper.append("demo", [ONE, TWO], 0)
    store.truncate_before("demo", 2)
    assert (store.read("demo").lines, store.read("demo").length) == ([], 2)
    sleeper.append("demo", [THREE], 2)  # nothing that he knew has changed
    assert store.read("demo").lines == [THREE]
    store.delete("demo")
    assert (store.read("demo").lines, store.read("demo").length) == ([], 4)
    with pytest.raises(Conflict):
        sleeper.append("demo", [ONE], 3)
    store.append("demo", [ONE], 4)
    for stale in (0, 3, 4):
        with pytest.raises(Conflict):
            sleeper.append("demo", [TWO], stale)
        with pytest.raises(Conflict):
            sleeper.append("demo", [], stale)
    assert store.read("demo").lines == [ONE]
    store.append("demo", [TWO, THREE], 5)
    store.truncate_before("demo", 5)
    store.delete("demo")
    store.delete("demo")
    assert store.read("demo").length >= 8
    store.delete("nobody")
    assert store.read("nobody").length == 0


def check_truncation_removes_what_comes_before(open_store: OpenStore) -> None:
    """7: and nothing else; whoever has the log open from before goes on in the new one."""
    store, other = open_store(), open_store()
    other.append("demo", [ONE, TWO, THREE], 0)
    for number, first in ((0, 0), (1, 1), (1, 1), (2, 2), (0, 2)):
        store.truncate_before("demo", number)
        assert (store.read("demo").first, store.read("demo").lines) == (first, [ONE, TWO, THREE][first:])
    other.append("demo", [ONE], 3)
    assert open_store().read("demo").lines == [THREE, ONE]
    store.truncate_before("demo", 99)
    assert (store.read("demo").first, store.read("demo").lines) == (4, [])
    store.truncate_before("nobody", 3)
    assert store.read("nobody").length == 0


def check_deletion_removes_one_session(open_store: OpenStore) -> None:
    """8: its records and its checkpoints, and nothing of any other."""
    store = open_store()
    for session in ("demo", "demo2", "dem"):
        store.append(session, [ONE], 0)
        store.put_checkpoint(session, 1, b"document")
    store.delete("demo")
    store.delete("nobody")
    assert (store.read("demo").lines, store.checkpoints("demo")) == ([], [])
    sleeper = open_store()
    sleeper.put_checkpoint("demo", 1, b"of the session that is gone")
    assert store.checkpoints("demo") == []
    store.append("demo", [TWO], store.read("demo").length)
    assert store.checkpoints("demo") == []
    store.delete("demo")
    assert store.sessions() == ["dem", "demo2"]
    assert store.read("demo2").lines == [ONE]
    assert store.checkpoints("demo2") == [(1, b"document")]


def check_the_newest_checkpoints_are_kept(open_store: OpenStore) -> None:
    """9: KEPT of them, by number and not by age; the same number replaces."""
    store = open_store()
    store.append("demo", [ONE] * 12, 0)
    assert store.checkpoints("demo") == []
    for number in (2, 10, 9):
        store.put_checkpoint("demo", number, b"%d" % number)
    store.put_checkpoint("demo", 10, "十\0".encode())
    assert open_store().checkpoints("demo") == [(10, "十\0".encode()), (9, b"9")]
    assert len(store.checkpoints("demo")) == KEPT
    store.truncate_before("demo", 9)
    assert [number for number, _ in store.checkpoints("demo")] == [10, 9]


def check_any_text_is_an_id(open_store: OpenStore) -> None:
    """10: and two of them share nothing."""
    store = open_store()
    for session in ODD_IDS:
        store.append(session, [canonical_id(session)], 0)
        store.put_checkpoint(session, 1, canonical_id(session))
    for session in ODD_IDS:
        assert store.read(session).lines == [canonical_id(session)]
        assert store.checkpoints(session) == [(1, canonical_id(session))]
    assert store.sessions() == sorted(ODD_IDS)


def canonical_id(session: str) -> bytes:
    """Return a record that tells which session it is of."""
    return repr(session).encode("ascii", "backslashreplace")


CHECKS: dict[int, Check] = {
    1: check_append_is_conditional,
    2: check_a_batch_is_all_or_nothing,
    3: check_records_come_back,
    4: check_an_append_lasts,
    6: check_length_never_goes_down,
    7: check_truncation_removes_what_comes_before,
    8: check_deletion_removes_one_session,
    9: check_the_newest_checkpoints_are_kept,
    10: check_any_text_is_an_id,
}
"""By the number of the promise. Promise 5 needs a disk that fails: it is tested where there is one."""
