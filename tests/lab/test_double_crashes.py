"""Two crashes in a row: each point, and then each point of the process that goes on from there."""

import random

import pytest

from minagent.lab.matrix.crash_matrix import Runs, double_crashes, run
from minagent.lab.matrix.variants import STANDARD, VARIANTS, Shape
from tests.examined import Examined
from tests.lab.test_matrix import ALL, OTHER_ANSWER, counts

SHORT_OTHER_ANSWER = Shape(steps=2, repeats_itself=False)
"""A commit takes longer than an append."""


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("log, keys", STANDARD),
        ("log, keys", OTHER_ANSWER),
        ("log, ask the tool", STANDARD),
        ("log in SQLite, keys", STANDARD),
        ("log in SQLite, keys", SHORT_OTHER_ANSWER),
        ("one transaction", STANDARD),
        ("one transaction", SHORT_OTHER_ANSWER),
    ],
)
def test_two_crashes_in_a_row_do_no_harm(name: str, shape: Shape, examined: Examined):
    """Each point, and then each point of the process that goes on: no effect is repeated, missing or unrecorded."""
    cases = list(double_crashes(ALL[name], shape))
    assert len(cases) > 130 * shape.steps**2
    examined("pairs of crashes", len(cases))
    found = counts(cases)
    assert found.keys() <= {"lost", "paid_again"}
    # The model is paid again only if the process dies with an answer in its hands that is not on the disk yet.
    in_hand = ("answer", "write", "half", "insert", "commit")
    assert all(sum(point in in_hand for point in case.points) >= case.outcome.paid_again for case in cases)


@pytest.mark.parametrize(("name", "most"), [("chapter", 4), ("log, retry", 2)])
def test_two_crashes_in_a_row_do_harm_without_a_key(name: str, most: int, examined: Examined):
    """Effects pile up."""
    cases = list(double_crashes(VARIANTS[name]))
    assert len(cases) > 1300
    examined("pairs of crashes", len(cases))
    assert counts(cases)["repeated"][1] == most


@pytest.mark.parametrize("name", ["chapter", "log, retry", "log in SQLite, keys", "one transaction"])
def test_what_is_remembered_is_what_would_happen_again(name: str):
    """Drawn pairs, each run once more from the start, with nothing remembered."""
    shape = Shape(steps=2, tools=1)
    cases = iter(double_crashes(ALL[name], shape))
    first = Runs(ALL[name], shape)
    deaths = first.live(first.beginning).deaths
    pairs = [(one, two) for one, death in enumerate(deaths, 1) for two, _ in enumerate(first.live(death).points, 1)]
    found = dict(zip(pairs, cases, strict=True))
    for pair in random.Random(736).sample(pairs, 15):  # noqa: S311 - no secret
        lives, outcome = run(ALL[name], shape, pair)
        assert (found[pair].points, found[pair].outcome) == (tuple(names[-1] for names in lives[:-1]), outcome)


def test_pairs_of_crashes_begin_in_few_states():
    """Many crashes leave the same behind: a fraction of the processes is run."""
    runs = Runs(VARIANTS["log, keys"], STANDARD)
    pairs = [death for first in runs.live(runs.beginning).deaths for death in runs.live(first).deaths]
    assert len({runs.outcome(death) for death in pairs}) < runs.lived < len(pairs) / 5


@pytest.mark.parametrize("change", ["bytes", "name", "payments"])
def test_a_state_that_differs_is_another_one(change: str):
    """In a byte, a name, or a charge."""
    runs = Runs(VARIANTS["log, keys"], STANDARD)
    start = runs.beginning
    ((name, *_), data), *_ = [item for item in start.files.items() if item[1]]
    changes = {
        "bytes": lambda folder: (folder / name).write_bytes(data[:-1]),
        "name": lambda folder: (folder / name).rename(folder / "other"),
        "payments": lambda _: None,
    }
    other = runs.changed(start, changes[change])
    if change == "payments":
        other = next(death for death in runs.live(start).deaths if death.payments != start.payments)
    assert other != start
    assert runs.changed(start, lambda _: None) == start
