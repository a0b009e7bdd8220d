"""How long the notebooks take: as counted, as printed, and within their limits."""

import pytest

from tests.notebook_rules import Notebook, source
from tests.reading import BESIDE, TIME, Reading, counted, is_main_path, of_the_chapter
from tests.store_notebooks import NOTEBOOKS
from tests.test_notebooks import read

READINGS = of_the_chapter()

LONGEST = {"7.3.8_how_often": 47, "7.3.5_run_crash_resume": 35}
"""Minutes; every other notebook of the main path takes at most 30. These may only fall."""

LIMITS = {"main path": (12_545, 1_458), "all": (17_346, 1_945)}
"""Words and lines of code, of the main path and of all together: they may only fall. The goal: 12,100 and 1,300; 15,500
and 1,700."""

CELLS = [
    ("markdown", "# Title\n\n**Predict.** One [two](three.md)."),
    ("code", "x = 1\n\ny = 2"),
    ("markdown", "## Exercise\n\nfour five six"),
    ("code", "z = 3"),
    ("markdown", "## Summary\n\n| seven |\n|---|\n"),
]
SMALL: Notebook = {"cells": [{"cell_type": kind, "source": [text]} for kind, text in CELLS]}


def test_words_lines_and_predictions_are_counted():
    """No addresses, no blank lines, no rules of tables, no exercises."""
    assert counted(SMALL) == Reading(words=6, lines=2, predictions=1)


def test_minutes_are_what_they_are_said_to_be():
    """150 words a minute, 5 seconds a line, 30 seconds a prediction; printed as the next multiple of five."""
    assert Reading(150, 12, 2).minutes == 3
    assert Reading(150, 12, 2).printed == 5
    assert Reading(750, 0, 0).printed == 5
    assert Reading(751, 0, 0).printed == 10


@pytest.mark.parametrize("name", READINGS)
def test_the_minutes_that_are_printed_are_those_that_are_counted(name: str):
    """`python -m tests.reading` puts them there."""
    found = TIME.findall(source(read(NOTEBOOKS / f"{name}.ipynb")["cells"][0]))
    assert found == [str(READINGS[name].printed)]


@pytest.mark.parametrize("name", [name for name in READINGS if is_main_path(name)])
def test_no_notebook_of_the_main_path_takes_too_long(name: str):
    """A sitting is half an hour at most."""
    assert READINGS[name].minutes <= LONGEST.get(name, 30)


@pytest.mark.parametrize("what", LIMITS)
def test_there_is_not_more_to_read_than_there_was(what: str):
    """Words and lines, of the main path and of everything."""
    some = [reading for name, reading in READINGS.items() if what == "all" or is_main_path(name)]
    assert sum(reading.words for reading in some) <= LIMITS[what][0]
    assert sum(reading.lines for reading in some) <= LIMITS[what][1]


def test_what_is_counted_is_the_chapter():
    """From 7.3.0 to 7.3.9c: the optional notebooks and the capstone are apart."""
    assert len(READINGS) == 15
    assert sum(map(is_main_path, READINGS)) == 10
    assert not any(name.startswith(BESIDE) for name in READINGS)
