"""The same crashes on real processes: SIGKILL, real files with real fsyncs, a payment service with a database."""

import random

import pytest

from minagent.lab.matrix.crash_matrix import Harm, Runs, single_crashes
from minagent.lab.matrix.real_crashes import run_for_real
from minagent.lab.matrix.variants import STANDARD, Shape, Variant
from tests.examined import Examined
from tests.lab.test_matrix import ALL, OTHER_ANSWER


def real_single_crashes(variant: Variant, shape: Shape) -> list[Harm]:
    """Crash at each point in turn."""
    outcomes: list[Harm] = []
    while True:
        lives, _, found = run_for_real(variant, shape, [len(outcomes) + 1])
        if lives == 1:
            return outcomes
        outcomes.append(found)


@pytest.mark.parametrize("name", ALL)
def test_every_crash_point_does_what_the_matrix_says(name: str, examined: Examined):
    """Point by point, as the payment service's own ledger and the disk have it."""
    found = real_single_crashes(ALL[name], STANDARD)
    examined("crash points on real processes", len(found))
    assert found == [case.outcome for case in single_crashes(ALL[name])]


def imagined(runs: Runs, crashes: list[int]) -> tuple[int, Harm]:
    """Return how many lives the matrix has for these crashes, and the outcome: as its `run`, with what it remembers."""
    start, lives = runs.beginning, 1
    for number in crashes:
        lived = runs.live(start)
        if number > len(lived.points):
            break
        start, lives = lived.deaths[number - 1], lives + 1
    return lives, runs.outcome(start)


@pytest.mark.parametrize("name", ["log, keys", "log in SQLite, keys", "one transaction", "log, retry"])
def test_crashes_in_a_row_do_what_the_matrix_says(name: str, examined: Examined):
    """Some pairs and triples, drawn with a seed; with keys or one transaction nobody is charged twice."""
    rng = random.Random(736)  # noqa: S311 - no secret
    for shape in (STANDARD, OTHER_ANSWER):
        runs = Runs(ALL[name], shape)
        for _ in range(15):
            crashes = [rng.randint(1, 50) for _ in range(rng.choice([2, 3]))]
            lives, _, outcome = run_for_real(ALL[name], shape, crashes)
            examined("rows of crashes on real processes", 1)
            assert (lives, outcome) == imagined(runs, crashes), crashes
            assert name == "log, retry" or (outcome.repeated, outcome.missing, outcome.unrecorded) == (0, 0, 0)
