"""One crash of the matrix, or several in a row, on real processes: SIGKILL, files, and a payment service over HTTP.

    with RealCrashes() as real:
        real.run(VARIANTS["chapter"], STANDARD, [5])       # dies at its fifth point; another one goes on

What the service was asked to do is read from its own database.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from minagent.lab.matrix.crash_matrix import Outcome, outcome
from minagent.lab.matrix.payment_service import PaymentService, sender
from minagent.lab.matrix.variants import Life, Shape, Variant
from minagent.lab.processes.crash_points import CrashPoints, die_at
from minagent.lab.processes.lives import finishes


class RealCrashes:
    """Real processes and a payment service. Use it in a `with` statement."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="minagent-")
        self.service = PaymentService(Path(self._folder.name))
        return self

    def __exit__(self, *_: object) -> None:
        self.service.close()
        self._folder.cleanup()

    def run(self, variant: Variant, shape: Shape, crashes: Sequence[int]) -> tuple[int, Outcome]:
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
                if finishes(_Order(folder, variant, shape, self.service.port, number)):
                    break
            return lives, self.service.read(lambda payments: outcome(folder, variant, shape, payments))

    def single_crashes(self, variant: Variant, shape: Shape) -> list[Outcome]:
        """Crash at each point in turn."""
        outcomes: list[Outcome] = []
        while True:
            lives, found = self.run(variant, shape, [len(outcomes) + 1])
            if lives == 1:
                return outcomes
            outcomes.append(found)


@dataclass(frozen=True)
class _Order:
    """One process: what it is to do, and at which of its points it dies."""

    folder: Path
    variant: Variant
    shape: Shape
    port: int
    die_at: int

    def live(self) -> None:
        """Be the process."""
        points = CrashPoints(die_at(self.die_at))
        Life(self.folder, self.variant, self.shape, sender(self.port), points).live()
