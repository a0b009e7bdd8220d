"""The chapter's five requirements, and two writers, tried on any store: yours, too.

    print(check_store(FileStore("new folder"), reopen=lambda: FileStore("new folder")))

Each row is one requirement. What is tried for it are the promises of `minagent.log.stores.base` that it needs, and
what a session's log makes of them. Two things are not tried here, since they need a disk that fails: promise 5, and the
power cut of promise 4.
"""

import contextlib
import textwrap
from itertools import zip_longest
from typing import NamedTuple

from minagent.errors import InvalidValue
from minagent.lab.any_store import damage_checks, session_checks
from minagent.log.contract import CHECKS, Check, Expectation, OpenStore, trials
from minagent.log.stores.base import Store

REQUIREMENTS: dict[str, tuple[str, list[Check]]] = {
    "recoverable": (
        "logs, checkpoints, ids",
        [*(CHECKS[number] for number in (3, 4, 7, 8, 9, 10)), session_checks.difficult_values_come_back],
    ),
    "idempotent": ("one log, many resumes", [session_checks.resuming_changes_nothing]),
    "atomic": ("bad and stale batches", [CHECKS[2], session_checks.a_batch_is_seen_whole]),
    "verifiable": (
        "each character damaged, each line",
        [damage_checks.damaged_records_are_told, damage_checks.damaged_checkpoints_are_told],
    ),
    "versioned": ("versions 1 and 2", [damage_checks.old_data_is_read, damage_checks.newer_data_is_refused]),
    "two writers": ("stale appends, threads", [CHECKS[1], CHECKS[6], session_checks.threads_lose_nothing]),
}
"""What is tried for each requirement, in a few words and as checks."""

THREADED = (session_checks.a_batch_is_seen_whole, session_checks.threads_lose_nothing)
WIDTHS = (11, 36, 5, 42)  # of the table's columns, with two spaces between them


class Row(NamedTuple):
    """One requirement."""

    requirement: str
    tried: str
    times: int  # how many trials there were
    verdict: str  # `kept`, or `BROKEN: ` and what was expected in the first trial that failed


class Table(NamedTuple):
    """What a store keeps, and what not. The text of it has at most 100 columns, and is the same each time."""

    rows: list[Row]

    @property
    def kept(self) -> bool:
        """Whether every requirement is kept."""
        return all(row.verdict == "kept" for row in self.rows)

    def __str__(self) -> str:
        rows = [("requirement", "tried", "times", "verdict")]
        rows += [(row.requirement, row.tried, f"{row.times:5}", row.verdict) for row in self.rows]
        return "\n".join(line for row in rows for line in _lines(row))


def _lines(cells: tuple[str, ...]) -> list[str]:
    """Return the lines of one row: a cell that is too long for its column goes on below."""
    columns = [textwrap.wrap(cell, width) for cell, width in zip(cells, WIDTHS, strict=True)]
    return [
        "  ".join(part.ljust(width) for part, width in zip(parts, WIDTHS, strict=True)).rstrip()
        for parts in zip_longest(*columns, fillvalue="")
    ]


def check_store(store: Store, reopen: OpenStore | None = None) -> Table:
    """Try each requirement on a store, which has to be empty. The sessions of the trials stay in it.

    `reopen` opens the same place once more, as another process would. Without it the one object stands for both, and
    trials that begin with "reopened" are not counted. What was opened is closed in the end, if it can be closed.

    An exception of the store is a verdict like any other.

    Raises:
        InvalidValue: there are sessions in the store.
    """
    if _sessions(store):
        raise InvalidValue("store", "it holds sessions already: give it a new, empty one")
    opened: list[Store] = []

    def open_once_more() -> Store:
        opened.append(reopen() if reopen else store)
        return opened[-1]

    def row(requirement: str) -> Row:
        tried, checks = REQUIREMENTS[requirement]
        before, found, notes = len(opened), list[Expectation](), [tried]
        for check in checks:
            if check in THREADED and reopen is None and not session_checks.survives_threads(store):
                notes.append("not by threads")
            else:
                found += trials(check, store, open_once_more)
        if reopen is None and len(opened) > before:
            notes.append("not reopened")
        counted = [what for what, _ in found if reopen or not what.startswith("reopened")]
        broken = [f"BROKEN: {what}" for what, holds in found if not holds]
        return Row(requirement, "; ".join(notes), len(counted), [*broken, "kept"][0])

    try:
        return Table([row(requirement) for requirement in REQUIREMENTS])
    finally:
        for other in opened:
            if other is not store and hasattr(other, "close"):
                with contextlib.suppress(Exception):  # closing is not part of the contract
                    other.close()


def _sessions(store: Store) -> list[str]:
    """Return the sessions of a store; none of one that cannot tell, of which a row will say so."""
    try:
        return store.sessions()
    except Exception:
        return []
