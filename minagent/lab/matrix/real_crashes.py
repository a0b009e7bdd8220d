"""One crash of the matrix, or several in a row, on real processes: SIGKILL, files, and a payment service over HTTP.

    with RealCrashes() as real:
        real.run(VARIANTS["chapter"], STANDARD, [5])       # dies at its fifth point; another one goes on

What the service was asked to do is read from its own database.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from minagent.lab.matrix.crash_matrix import Harm, outcome, run
from minagent.lab.matrix.payment_service import PaymentService, sender
from minagent.lab.matrix.variants import STANDARD, VARIANTS, Life, Shape, Variant
from minagent.lab.processes.child_process import start
from minagent.lab.processes.crash_points import CrashPoints, die_at


class RealCrashes:
    """Real processes and a payment service. Use it in a `with` statement."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="minagent-")
        self.service = PaymentService(Path(self._folder.name))
        return self

    def __exit__(self, *_: object) -> None:
        self.service.close()
        self._folder.cleanup()

    def run(self, variant: Variant, shape: Shape, crashes: Sequence[int]) -> tuple[int, Harm]:
        """Run processes: the first dies at its point number `crashes[0]`, and so on; the last one does not die.

        Returns how many there were, and the outcome. A process that ends before its point is the last one.
        """
        self.service.forget()
        with tempfile.TemporaryDirectory(prefix="minagent-") as name:
            folder = Path(name)
            Life(folder, variant, shape, self.service.send, CrashPoints(die_at(0))).begin()
            lives = 0
            for number in (*crashes, 0):
                lives += 1
                if start(_live, folder, variant, shape, self.service.port, number).finished():
                    break
            return lives, self.service.read(lambda payments: outcome(folder, variant, shape, payments))

    def single_crashes(self, variant: Variant, shape: Shape) -> list[Harm]:
        """Crash at each point in turn."""
        outcomes: list[Harm] = []
        while True:
            lives, found = self.run(variant, shape, [len(outcomes) + 1])
            if lives == 1:
                return outcomes
            outcomes.append(found)


def _live(folder: Path, variant: Variant, shape: Shape, port: int, number: int) -> None:
    """Be a process that dies at its point of this number."""
    Life(folder, variant, shape, sender(port), CrashPoints(die_at(number))).live()


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
    with RealCrashes() as real:
        lives, found = real.run(VARIANTS[variant], STANDARD, [number])
        charges = len(real.service.charges())
    agree = "as the matrix says" if found == expected else f"but the matrix says: {in_words(expected)}"
    ledger = (
        "" if VARIANTS[variant].recording == "database" else f" The payment service's ledger has {charges} charges."
    )
    return f"{lives} processes, the first killed by SIGKILL at point {number}.{ledger} {in_words(found)}, {agree}."


def in_words(outcome: Harm) -> str:
    """Return what went wrong, in words."""
    found = [f"{said}: {count}" for name, said in HARMS.items() if (count := getattr(outcome, name))]
    return "; ".join(found).capitalize() or "Nothing lost, nothing twice"
