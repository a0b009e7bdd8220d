"""The crash matrix: every crash point of a run, for every way of recording, and what each crash does.

    for case in single_crashes(VARIANTS["chapter"]):
        print(case.points, case.outcome.repeated)

An imagined process dies at one of the points of `crash_points`, another one goes on from what the disk holds, and so
on, until one finishes. Then the payment service's ledger is compared with what the session says. (The same with
real processes: see `real_crashes`.)
"""

import contextlib
import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from minagent import recover_checkpoint
from minagent.agent import INTERRUPTED
from minagent.lab.faults.damage import flip
from minagent.lab.matrix.variants import BILL, CHECKPOINT, DATABASE, STANDARD, Life, Shape, Variant, store_of
from minagent.lab.processes.crash_points import CrashPoints
from minagent.lab.world.example import SESSION
from minagent.lab.world.ledger import Ledger
from minagent.lab.world.payments import Payments, open_payments
from minagent.log import SessionLog, SqliteStore


@dataclass(frozen=True)
class Harm:
    """What went wrong in a run, when it has finished."""

    lost: int  # results that a tool gave, and that the session does not hold
    repeated: int  # charges that came again
    missing: int  # calls in the session for which nobody was charged
    unrecorded: int  # charges of which the session knows nothing
    unknown: int  # calls of which the session says that nobody knows
    paid_again: int  # model calls beyond one a step


class Case(NamedTuple):
    """One crash, or several in a row, and what came of it."""

    points: tuple[str, ...]  # where each process died
    outcome: Harm


def outcome(folder: Path, variant: Variant, shape: Shape, payments: Payments) -> Harm:
    """Compare what the session says with what the payment service and the model's provider say."""
    store = store_of(folder, variant)
    if store is None:
        session = recover_checkpoint(folder / CHECKPOINT)[0].session
    else:
        session = SessionLog.resume(store, SESSION, writer="w").state.session
        if isinstance(store, SqliteStore) and variant.recording == "database":
            payments = Payments(store.connection)
    orders = [call.arguments["order"] for message in session.messages for call in message.tool_calls]
    results = [message.content for message in session.messages if message.role == "tool"]
    charged = Counter(payments.charges())
    unknown = results.count(INTERRUPTED)
    found = Harm(
        lost=payments.requests() - (len(results) - unknown),
        repeated=sum(charged[order] - 1 for order in orders if charged[order]),
        missing=sum(not charged[order] for order in orders),
        unrecorded=sum(count for order, count in charged.items() if order not in orders),
        unknown=unknown,
        paid_again=Ledger(folder / BILL).bill().calls - (shape.steps + 1),
    )
    if store is not None:
        store.close()
    return found


class Runs:
    """All runs of a variant: what a dead process leaves, and what the next one makes of it.

    A process that begins as another one did does the same, so no beginning is lived through twice. And one life shows
    all of its crash points: what lies on the disk and in the world when it comes to a point is what a process that dies
    there leaves.
    """

    def __init__(self, variant: Variant, shape: Shape) -> None:
        self.variant, self.shape = variant, shape
        self.lived = 0  # how many processes were really run
        self._lives: dict[Remains, Lived] = {}
        self._outcomes: dict[Remains, Harm] = {}
        with laid_out(Remains()) as (folder, payments):
            Life(folder, variant, shape, payments, CrashPoints(lambda _: None, imagined=True)).begin()
            self.beginning = remains(folder, payments)

    def live(self, start: "Remains") -> "Lived":
        """Run a process that goes on from `start`, and look at each of its crash points."""
        if start not in self._lives:
            deaths: list[Remains] = []
            points, self._outcomes[start] = self._live(start, lambda *world: deaths.append(remains(*world)))
            self._lives[start] = Lived(points, deaths)
        return self._lives[start]

    def outcome(self, start: "Remains") -> Harm:
        """Run a process that goes on from `start`, and return what came of it."""
        if start not in self._outcomes:
            _, self._outcomes[start] = self._live(start, lambda *_: None)
        return self._outcomes[start]

    def changed(self, left: "Remains", change: Callable[[Path], object]) -> "Remains":
        """Return what is left after somebody has done something to the files."""
        with laid_out(left) as (folder, payments):
            change(folder)
            return remains(folder, payments)

    def _live(self, start: "Remains", look: Callable[[Path, Payments], object]) -> tuple[list[str], Harm]:
        self.lived += 1
        with laid_out(start) as (folder, payments):
            points = CrashPoints(lambda _: look(folder, payments), imagined=True)
            Life(folder, self.variant, self.shape, payments, points).live()
            return points.names, outcome(folder, self.variant, self.shape, payments)


@dataclass(frozen=True)
class Remains:
    """What is left of a process that has died: the files on its disk, and the payment service's database."""

    files: Mapping[tuple[str, ...], bytes] = field(default_factory=dict, compare=False)
    """What is under which names: a file can have two."""
    seen: frozenset[tuple[Any, ...]] = frozenset()
    """As the next process sees the files: of a temporary one the name does not matter, of a database the bytes."""
    payments: tuple[Any, ...] = ()  # its rows, each after the name of its table


class Lived(NamedTuple):
    """What a process did that nobody killed."""

    points: list[str]  # the points that it came to
    deaths: list[Remains]  # for each of them what it would have left, had it died there


@contextlib.contextmanager
def laid_out(left: Remains) -> Iterator[tuple[Path, Payments]]:
    """Lay out a disk and a payment service as a dead process left them."""
    payments = open_payments(":memory:")
    with tempfile.TemporaryDirectory(prefix="minagent-") as name, closing(payments.database) as database:
        for (first, *others), data in left.files.items():
            Path(name, first).write_bytes(data)
            for other in others:
                Path(name, other).hardlink_to(Path(name, first))
        for table, *row in left.payments:
            database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
        yield Path(name), payments


def remains(folder: Path, payments: Payments) -> Remains:
    """Return what is left of a process that dies now."""
    names: dict[int, list[str]] = {}
    for file in sorted(folder.iterdir()):
        names.setdefault(file.stat().st_ino, []).append(file.name)
    files = {tuple(same): (folder / same[0]).read_bytes() for same in names.values()}
    seen = {(re.sub(r".*\.tmp$", "*.tmp", name), data) for same, data in files.items() for name in same}
    if (folder / DATABASE).exists():
        with closing(sqlite3.connect(folder / DATABASE)) as another:
            seen = {item for item in seen if not item[0].startswith(DATABASE)} | {_rows(another)}
    return Remains(files, frozenset(seen), _rows(payments.database))


def _rows(database: sqlite3.Connection) -> tuple[Any, ...]:
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return tuple((name, *row) for name in tables for row in database.execute(f"SELECT * FROM {name}"))  # noqa: S608


def run(
    variant: Variant, shape: Shape, crashes: Sequence[int], after_crash: Callable[[Path], object] | None = None
) -> tuple[list[list[str]], Harm]:
    """Run imagined processes: the first dies at its point number `crashes[0]`, and so on; the last one does not die.

    `after_crash` gets the folder with the dead process's files, and may do something to them.

    Returns the points that each came to, and the outcome. A process that ends before its point is the last one.
    """
    runs = Runs(variant, shape)
    start, lives = runs.beginning, []
    for number in crashes:
        lived = runs.live(start)
        if number > len(lived.points):
            break
        lives.append(lived.points[:number])
        start = lived.deaths[number - 1]
        if after_crash is not None:
            start = runs.changed(start, after_crash)
    return [*lives, runs.live(start).points], runs.outcome(start)


def damage_newest_checkpoint(folder: Path) -> None:
    """Flip a bit in the newest checkpoint of a dead process (for `after_crash`)."""
    saved = [*folder.glob(CHECKPOINT), *folder.glob(f"{SESSION}.checkpoint-*.json")]
    newest = max(saved, key=lambda file: int(file.stem.rpartition("-")[2]) if "-" in file.stem else 0)
    newest.write_bytes(flip(newest.read_bytes(), 400))


def single_crashes(variant: Variant, shape: Shape = STANDARD) -> list[Case]:
    """Crash at each point in turn."""
    runs = Runs(variant, shape)
    return list(_cases(runs, runs.beginning, ()))


def double_crashes(variant: Variant, shape: Shape = STANDARD) -> Iterator[Case]:
    """Crash at each point in turn, and then at each point of the process that goes on from there."""
    runs = Runs(variant, shape)
    first = runs.live(runs.beginning)
    for point, death in zip(first.points, first.deaths, strict=True):
        yield from _cases(runs, death, (point,))


def _cases(runs: Runs, start: Remains, before: tuple[str, ...]) -> Iterator[Case]:
    lived = runs.live(start)
    for point, death in zip(lived.points, lived.deaths, strict=True):
        yield Case((*before, point), runs.outcome(death))
