"""The crash matrix: every crash point of a run, for every way of recording, and what each crash does.

    for case in single_crashes(VARIANTS["chapter"]):
        print(case.points, case.outcome.repeated)

An imagined process dies at one of the points of `crash_points`, another one goes on from what the disk holds, and so
on, until one comes to the end. Then the payment service's ledger is compared with what the session says. (The same with
real processes: see `real_crashes`.)

Source: chapter 7.3.6.
"""

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from minagent import SessionLog, SqliteStore, recover_checkpoint
from minagent.lab.crash_points import Crash, CrashPoints, die_by_exception
from minagent.lab.damage import flip
from minagent.lab.example import SESSION
from minagent.lab.ledger import Ledger
from minagent.lab.payments import Payments
from minagent.lab.variants import BILL, CHECKPOINT, STANDARD, Life, Shape, Variant, store_of
from minagent.recording import INTERRUPTED


@dataclass(frozen=True)
class Outcome:
    """What went wrong in a run that has come to its end."""

    lost: int
    """Results that a tool gave, and that the session does not hold."""
    repeated: int
    """Charges that came again."""
    missing: int
    """Calls in the session for which nobody was charged."""
    unrecorded: int
    """Charges of which the session knows nothing."""
    unknown: int
    """Calls of which the session says that nobody knows."""
    paid_again: int
    """Model calls beyond one a step."""


@dataclass(frozen=True)
class Case:
    """One crash, or several in a row, and what came of it."""

    points: tuple[str, ...]
    """Where each process died."""
    outcome: Outcome


def outcome(folder: Path, variant: Variant, shape: Shape, payments: Payments) -> Outcome:
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
    charged = Counter(charge["order"] for charge in payments.charges())
    unknown = results.count(INTERRUPTED)
    found = Outcome(
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


def run(
    variant: Variant, shape: Shape, crashes: Sequence[int], after_crash: Callable[[Path], object] = lambda _: None
) -> tuple[list[list[str]], Outcome]:
    """Run imagined processes: the first dies at its point number `crashes[0]`, and so on; the last one does not die.

    `after_crash` gets the folder with the dead process's files, and may do something to them.

    Returns the points that each came to, and the outcome. A process that ends before its point is the last one.
    """
    with tempfile.TemporaryDirectory(prefix="minagent-") as name:
        folder, payments = Path(name), Payments(sqlite3.connect(":memory:"))
        Life(folder, variant, shape, payments.answer, CrashPoints(0, die_by_exception)).begin()
        lives: list[list[str]] = []
        for die_at in (*crashes, 0):
            points = CrashPoints(die_at, die_by_exception)
            try:
                Life(folder, variant, shape, payments.answer, points).live()
                finished = True
            except Crash:
                finished = False
                after_crash(folder)
            lives.append(points.names)
            if finished:
                break
        return lives, outcome(folder, variant, shape, payments)


def damage_newest_checkpoint(folder: Path) -> None:
    """Flip a bit in the newest checkpoint of a dead process (for `after_crash`)."""
    saved = [*folder.glob(CHECKPOINT), *folder.glob(f"{SESSION}.checkpoint-*.json")]
    newest = max(saved, key=lambda file: int(file.stem.rpartition("-")[2]) if "-" in file.stem else 0)
    newest.write_bytes(flip(newest.read_bytes(), 400))


def single_crashes(variant: Variant, shape: Shape = STANDARD) -> list[Case]:
    """Crash at each point in turn."""
    return list(_cases(variant, shape, ()))


def double_crashes(variant: Variant, shape: Shape = STANDARD) -> Iterator[Case]:
    """Crash at each point in turn, and then at each point of the process that goes on from there."""
    lives, _ = run(variant, shape, ())
    for number in range(1, len(lives[0]) + 1):
        yield from _cases(variant, shape, (number,))


def _cases(variant: Variant, shape: Shape, before: tuple[int, ...]) -> Iterator[Case]:
    number = 1
    while True:
        lives, found = run(variant, shape, (*before, number))
        if len(lives) == len(before) + 1:  # the last one came to its end: there is no such point
            return
        yield Case(tuple(names[-1] for names in lives[:-1]), found)
        number += 1
