"""One crash of the matrix, or several in a row, on real processes: SIGKILL, files, and a payment service.

    run_for_real(VARIANTS["chapter"], STANDARD, [5])       # dies at its fifth point; another one goes on

What the service was asked to do is read from its own ledger.
"""

import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from minagent.lab.matrix.crash_matrix import Harm, outcome, run
from minagent.lab.matrix.variants import STANDARD, VARIANTS, Life, Shape, Variant
from minagent.lab.processes.child_process import start
from minagent.lab.processes.crash_points import CrashPoints, die_at
from minagent.lab.world.payments import open_payments

PAYMENTS = "payments.db"


def run_for_real(variant: Variant, shape: Shape, crashes: Sequence[int]) -> tuple[int, int, Harm]:
    """Run processes: the first dies at its point number `crashes[0]`, and so on; the last one does not die.

    Returns how many there were, how many charges the service has, and the outcome. A process that ends before its point
    is the last one.
    """
    with tempfile.TemporaryDirectory(prefix="minagent-") as name:
        disk, ledger = Path(name, "disk"), Path(name, PAYMENTS)
        disk.mkdir()
        payments = open_payments(ledger)
        with closing(payments.database):
            Life(disk, variant, shape, payments, CrashPoints(die_at(0))).begin()
            lives = 0
            for number in (*crashes, 0):
                lives += 1
                if start(_live, disk, variant, shape, ledger, number).finished():
                    break
            return lives, len(payments.charges()), outcome(disk, variant, shape, payments)


def _live(disk: Path, variant: Variant, shape: Shape, ledger: Path, number: int) -> None:
    """Be a process that dies at its point of this number."""
    Life(disk, variant, shape, open_payments(ledger), CrashPoints(die_at(number))).live()


HARMS = {  # what went wrong, in words
    "lost": "results lost",
    "repeated": "charges repeated",
    "missing": "charges missing",
    "unrecorded": "charges that the session does not know",
    "unknown": "calls of which nobody knows",
    "paid_again": "model calls paid again",
}


def crash_points(variant: str) -> list[str]:
    """Return the points of the standard run, each with its number and the step it is in."""
    ((names, *_), _) = run(VARIANTS[variant], STANDARD, [])
    labels, step = [], -1
    for number, name in enumerate(names, 1):
        step += name == "model"
        labels.append(f"{number}: step {step}, {name}" if step < STANDARD.steps else f"{number}: answer, {name}")
    return labels


def replay(variant: str, number: int) -> str:
    """Crash a real process at this point, have another one go on, and say what came of it."""
    _, expected = run(VARIANTS[variant], STANDARD, [number])
    lives, charges, found = run_for_real(VARIANTS[variant], STANDARD, [number])
    agree = "as the matrix says" if found == expected else f"but the matrix says: {in_words(expected)}"
    shared = VARIANTS[variant].recording == "database"  # the service's own ledger is not used then
    ledger = "" if shared else f" The payment service's ledger has {charges} charges."
    return f"{lives} processes, the first killed by SIGKILL at point {number}.{ledger} {in_words(found)}, {agree}."


def in_words(outcome: Harm) -> str:
    """Return what went wrong, in words."""
    found = [f"{said}: {count}" for name, said in HARMS.items() if (count := getattr(outcome, name))]
    return "; ".join(found).capitalize() or "Nothing lost, nothing twice"
