"""What two processes do, move by move, and the picture of it."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from minagent.lab.picture.picture import Picture
from minagent.lab.picture.run_events import Effect, Run
from minagent.lab.picture.shapes import GREEN, ORANGE, Lines, Rect, Text
from minagent.lab.processes.phases import Event
from minagent.lab.two_writers.interleavings import MeetingOutcome, every_meeting
from minagent.lab.two_writers.request import Rule
from minagent.lab.two_writers.request_process import in_words, played
from tests.lab.pictures import misdrawn

ASLEEP = [*"AAAA", "A sleeps", "B", "time passes", "B ends", "A wakes", "A ends"]


def play(folder: Path, rule: Rule, moves: list[str]) -> tuple[MeetingOutcome, Run]:
    """Make these moves, and look whether the picture of them can be read."""
    met, run = played(rule, moves, folder / "meeting", f"file:{folder}/meeting")
    assert misdrawn(Picture(run, "A meeting")) == []
    return met, run


def texts(run: Run) -> set[str]:
    """Return what is written in a picture."""
    return {shape.text for shape in Picture(run, "").shapes if isinstance(shape, Text)}


def test_a_lost_update_is_marked_where_it_was_saved(tmp_path: Path):
    """Both have read the same; A's cells are dotted, its save and its charge are the harm."""
    _, run = play(tmp_path, "last write wins", [*"ABABAB"])
    assert {"A", "B", "lost", "charged A? No process knows", "charged B"} <= texts(run)
    assert [run.lost(did) for did in run.all("did")] == [False, True, False, True, False, True, False]
    shapes = Picture(run, "").shapes
    saves = [shape for shape in shapes if isinstance(shape, Rect) and (shape.width, shape.height) == (12, 14)]
    assert [(save.stroke, save.fill == GREEN) for save in saves] == [(GREEN, True), (ORANGE, False), (GREEN, False)]
    starts = {shape.lines[0][0] for shape in shapes if isinstance(shape, Lines) and shape.color == GREEN}
    assert starts == {(saves[0].x + 6, saves[0].y + 7)}
    assert run.told == (
        "A was told done, and nothing of its turn is stored. A was charged, and nothing stored says so.",
        "A was told: done. B was told: done.",
    )


def test_a_lease_runs_out_under_a_process_that_sleeps(tmp_path: Path):
    """B goes on with A's turn; A wakes, charges once more, and its append is refused."""
    met, run = play(tmp_path, "lease", ASLEEP)
    assert {"‖ asleep", "30 s pass", "charged A again", "refused"} <= texts(run)
    assert (met.endings, met.repeated, met.repeated_with_keys) == ({"A": "lease lost", "B": "done"}, 1, 0)
    assert [effect.label for effect in run.harm] == ["charged A"]


def test_a_death_is_said_in_its_row(tmp_path: Path):
    """And what it charged, which nothing stored knows, is lost."""
    _, run = play(tmp_path, "last write wins", ["A", "A", "A dies", "B ends"])
    assert {"died", "charged A? No process knows"} <= texts(run)


def test_a_chapter_s_request_that_dies_in_time_harms_nobody(tmp_path: Path):
    """Its question was never stored, nor its card charged."""
    _, run = play(tmp_path, "last write wins", ["A", "A dies", "B ends"])
    assert (run.harm, [effect.label for effect in run.effects]) == ([], ["charged B"])


@pytest.mark.parametrize("rule", get_args(Rule))
def test_the_longest_meetings_can_be_read(tmp_path: Path, rule: Rule):
    """Of those with a death or a delay, the one that takes the most moves."""
    longest = max(every_meeting(rule, deaths=True, delays=True), key=lambda met: len(met.moves))
    met, _ = play(tmp_path, rule, [move for move, _ in longest.moves])
    assert met == longest


def test_each_mark_comes_from_a_move(tmp_path: Path):
    """Without any one event it is another picture, and with an effect that had been before as well."""
    _, run = play(tmp_path, "lease", ASLEEP)
    drawn = Picture(run, "")._repr_svg_()
    for number, event in enumerate(run.events):
        others: list[Event | Effect] = [*run.events[:number], *run.events[number + 1 :]]
        assert Picture(replace(run, events=others), "")._repr_svg_() != drawn, event
        if isinstance(event, Effect):
            others.insert(number, replace(event, before=1 - min(1, event.before or 0)))
            assert Picture(replace(run, events=others), "")._repr_svg_() != drawn, event


@pytest.mark.parametrize("rule", get_args(Rule))
def test_whatever_goes_wrong_is_said(rule: Rule):
    """Each outcome of every order has its words."""
    for met in every_meeting(rule):
        wrong = bool(met.lost or met.unrecorded or met.repeated)
        assert wrong == (in_words(met) != "Nothing is lost, and nothing was done twice.")
