"""Two crashes in a row: each point, and then each point of the process that goes on from there."""

import pytest

from minagent.lab.matrix import double_crashes
from minagent.lab.variants import STANDARD, VARIANTS, Shape
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
def test_two_crashes_in_a_row_do_no_harm(name: str, shape: Shape):
    """Each point, and then each point of the process that goes on: no effect is repeated, missing or unrecorded."""
    cases = list(double_crashes(ALL[name], shape))
    assert len(cases) > 130 * shape.steps**2
    found = counts(cases)
    assert found.keys() <= {"lost", "paid_again"}
    # The model is paid again only if the process dies with an answer in its hands that is not on the disk yet.
    in_hand = ("answer", "write", "half", "insert", "commit")
    assert all(sum(point in in_hand for point in case.points) >= case.outcome.paid_again for case in cases)


@pytest.mark.parametrize(("name", "most"), [("chapter", 4), ("log, retry", 2)])
def test_two_crashes_in_a_row_do_harm_without_a_key(name: str, most: int):
    """Effects pile up."""
    cases = list(double_crashes(VARIANTS[name]))
    assert len(cases) > 1300
    assert counts(cases)["repeated"][1] == most
