"""The table of wrong answers: enough of them, and each exercise tells them apart.

That each is refused is tested where its notebook is: `notebooks/conftest.py` runs it before the solution.
"""

import pytest

from tests.notebook_rules import tags
from tests.test_notebooks import CHAPTERS, read
from tests.wrong_answers import WRONG_ANSWERS

EXERCISES = sorted(
    tag.partition(":")[2]
    for path in CHAPTERS
    for cell in read(path)["cells"]
    for tag in tags(cell)
    if tag.startswith("exercise:")
)


def test_the_table_has_the_exercises_that_there_are():
    """None is forgotten, and none is left over."""
    assert sorted(WRONG_ANSWERS) == EXERCISES


@pytest.mark.parametrize("exercise", WRONG_ANSWERS)
def test_an_exercise_names_at_least_three_mistakes(exercise: str):
    """Each with a message of its own, none of which says that it is right, or that there is no answer."""
    answers, said = zip(*WRONG_ANSWERS[exercise], strict=True)
    assert len(set(answers)) == len(set(said)) == len(said) >= 3
    assert not [words for words in said if "✓" in words or "not answered" in words or not words]
