"""The picture of a run: each mark comes from an event, and each text can be read."""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from unittest.mock import ANY
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from PIL import Image

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.picture.picture import LOOKS, Picture
from minagent.lab.picture.run_events import Effect, Run
from minagent.lab.picture.shapes import BLUE, GREEN, INK, ORANGE, PALE, WHITE, YELLOW, Lines, Rect, Text, to_svg, width
from minagent.lab.processes.phases import Event, Phase, Place, Recording
from minagent.log import DidNotHappen, Happened, Unknown
from minagent.log.doubt import Verdict
from tests.examined import Examined
from tests.lab.pictures import misdrawn


def played(folder: Path, recording: Recording, *crashes: tuple[int, Phase]) -> CrashLab:
    """Return the lab of an errand that was killed at these places, and resumed each time; a doubt is left open."""
    lab = CrashLab(folder, recording, "errand")
    for step, phase in crashes:
        lab.run_to(step, phase)
        lab.crash()
        lab.resume()
    if lab.state != "in doubt":
        lab.run()
    lab.close()
    return lab


def svg(run: Run) -> str:
    """Return the picture of a run."""
    return Picture(run, "A run")._repr_svg_()


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The errand with a save after each step, killed after the charge and before its save."""
    return played(tmp_path_factory.mktemp("twice"), "every step", (1, "result")).tally.run


def texts(run: Run) -> list[str]:
    """Return what is written in a picture."""
    return [shape.text for shape in Picture(run, "A run").shapes if isinstance(shape, Text)]


def test_the_errand_of_the_first_notebooks(twice: Run):
    """What happened, and what it cost: in words, in the picture, and as what a cell shows as text."""
    assert repr(Picture(twice, "")) == (
        "The customer paid 52 dollars: charged twice. The model was asked 5 times for 4 steps."
    )
    assert {"killed", "charged 26", "charged 26 again", "The customer paid 52 dollars: charged twice."} <= set(
        texts(twice)
    )
    assert "starts over" not in texts(twice)


def test_cells_are_done_lost_or_done_again(twice: Run):
    """The call that was lost is dotted, and in the next process hatched."""
    looks = [LOOKS[twice.again(did), twice.lost(did)] for did in twice.all("did")]
    assert looks == ["done"] * 4 + ["lost"] * 2 + ["done again"] * 2 + ["done"] * 8
    shapes = Picture(twice, "").shapes
    cells = [shape for shape in shapes if isinstance(shape, Rect) and shape.height == 24]
    assert [cell.fill for cell in cells].count(BLUE) == 12 + 1  # and one in the key
    assert [cell.dashed for cell in cells].count(True) == 2 + 1
    assert [cell.stroke for cell in cells].count(ORANGE) == 2 + 1


def test_the_arrow_comes_from_the_save_that_was_loaded(twice: Run):
    """That save is filled; it ends at the first cell of the process."""
    shapes = Picture(twice, "").shapes
    marks = [shape for shape in shapes if isinstance(shape, Rect) and (shape.width, shape.stroke) == (12, GREEN)]
    assert [mark.fill == GREEN for mark in marks] == [True, False, False, False]
    (arrow,) = [shape for shape in shapes if isinstance(shape, Lines) and shape.color == GREEN]
    (start, _, end), _ = arrow.lines
    assert start == (marks[0].x + 6, marks[0].y + 7)
    (again, *_) = [shape for shape in shapes if isinstance(shape, Rect) and shape.stroke == ORANGE]
    assert end == (again.x - 1, again.y + 12)


def changed(event: Event | Effect) -> Iterator[Event | Effect]:
    """Yield the event with one of its values changed, for each that can be seen."""
    if isinstance(event, Event):
        if event != Event(1, "began", Place(0, "model")):  # of it, the row is there: it has no arrow
            yield replace(event, at=Place(0, "tool") if event.at != (0, "tool") else Place(0, "result"))
        return
    yield replace(event, label="something else")
    yield replace(event, at=Place(0, "save"))
    yield replace(event, before=None)
    if event.changes:
        yield replace(event, before=1 - min(1, event.before or 0))
    if event.dollars:
        yield replace(event, dollars=27)


def test_each_mark_comes_from_an_event(twice: Run, examined: Examined):
    """Without any one event, or with any one changed, it is another picture."""
    drawn = svg(twice)
    assert drawn == svg(twice)
    tried = 0
    for number, event in enumerate(twice.events):
        before, after = twice.events[:number], twice.events[number + 1 :]
        for others in ([], *([other] for other in changed(event))):
            assert svg(replace(twice, events=(*before, *others, *after))) != drawn, (event, others)
            tried += 1
    examined("changes of events in a picture", tried)
    assert tried > 40


def outcome(folder: Path, recording: Recording, *crashes: tuple[int, Phase]) -> tuple[str, bool]:
    """Return what the world has of a run, and whether that is harm."""
    run = played(folder, recording, *crashes).tally.run
    return run.outcome, bool(run.harm)


def test_what_the_world_has_of_it_is_said(tmp_path: Path):
    """Once, twice, three times; mails, too; and what no process knows of."""
    once = "The customer paid 26 dollars: charged once."
    assert outcome(tmp_path / "1", "every step") == (once, False)
    assert outcome(tmp_path / "2", "log with keys", (1, "result")) == (once, False)
    assert outcome(tmp_path / "3", "log", (1, "result")) == (f"{once} No process knows: charged 26.", True)
    assert outcome(tmp_path / "4", "nothing", (1, "result"), (1, "result")) == (
        "The customer paid 78 dollars: charged 3 times.", True
    )  # fmt: skip
    assert outcome(tmp_path / "5", "every step", (2, "save")) == (f"{once} Done again: sent to Ann.", True)
    assert CrashLab(tmp_path / "6").tally.run.outcome == "Nothing in the world was changed twice."


def test_a_known_key_is_said_at_the_effect(tmp_path: Path):
    """The tool was run again, and nothing happened."""
    run = played(tmp_path, "log with keys", (1, "result")).tally.run
    assert "same key: nothing charged" in texts(run)
    assert "charged 26 again" not in texts(run)


def test_without_a_save_the_next_process_starts_over(tmp_path: Path):
    """Said in words, since there is no arrow to come from anywhere."""
    run = played(tmp_path, "nothing", (2, "model")).tally.run
    assert "starts over" in texts(run)
    assert not [shape for shape in Picture(run, "").shapes if isinstance(shape, Lines) and shape.color == GREEN]


def test_a_doubt_stands_in_its_row_until_somebody_decides(tmp_path: Path):
    """Until then no process knows of the charge; the decision is on the disk, and the next process goes on from it."""
    lab = CrashLab(tmp_path / "happened", "log", "errand")
    lab.run_to(1, "result")
    lab.crash()
    assert "charged 26? No process knows" in texts(lab.tally.run)
    lab.resume()
    assert "?\u00a0\u00a0 in doubt" in texts(lab.tally.run)
    lab.resolve(Happened("charged 26"))
    lab.run()
    run = lab.tally.run
    assert (run.outcome, run.harm) == ("The customer paid 26 dollars: charged once.", [])
    assert run.loaded(run.all("began")[2]) == Event(2, "did", Place(1, "doubt"))
    assert run.all("began")[2].at == (2, "model")


def decided(folder: Path, verdict: Verdict) -> CrashLab:
    """Return the lab after a charge that was in doubt, until somebody has said what became of it."""
    lab = CrashLab(folder, "log", "errand")
    lab.run_to(1, "result")
    lab.crash()
    lab.resume()
    lab.resolve(verdict)
    lab.run()
    return lab


def test_a_wrong_decision_charges_twice(tmp_path: Path):
    """The process that goes on from it runs the tool once more."""
    lab = decided(tmp_path, DidNotHappen())
    assert lab.tally.run.outcome == "The customer paid 52 dollars: charged twice."
    assert misdrawn(lab.picture("A wrong decision")) == []


def test_what_nobody_knows_stays_unknown(tmp_path: Path):
    """The run goes on to its end, and the picture does not say that all is well."""
    lab = decided(tmp_path, Unknown())
    assert lab.state == "done"
    assert lab.tally.run.outcome == "The customer paid 26 dollars: charged once. No process knows: charged 26."


def test_a_doubt_about_what_did_not_happen_is_said_in_orange(tmp_path: Path):
    """Until somebody has decided: then all is well."""
    lab = CrashLab(tmp_path, "log", "errand")
    lab.run_to(1, "tool")
    lab.crash()
    lab.resume()
    assert lab.tally.run.outcome == "In doubt: charge_card."
    assert Text((12.0, ANY), "In doubt: charge_card.", 13, ORANGE, bold=True) in lab.picture("A doubt").shapes
    lab.resolve(DidNotHappen())
    lab.run()
    assert (lab.tally.run.outcome, lab.tally.run.undecided) == ("The customer paid 26 dollars: charged once.", [])


def test_what_nobody_resumed_is_lost(tmp_path: Path):
    """All after the newest save; what the world has of it, no process knows."""
    lab = CrashLab(tmp_path, "every step", "errand")
    lab.run_to(1, "result")
    assert not any(map(lab.tally.run.lost, lab.tally.run.all("did")))
    lab.crash()
    run = lab.tally.run
    assert [did.at for did in run.all("did") if run.lost(did)] == [(1, "model"), (1, "tool")]
    assert run.outcome.endswith("No process knows: charged 26.")


def windows(lab: CrashLab, step: int) -> list[tuple[float, float]]:
    """Return where the shading of a step's picture begins and ends."""
    picture = lab.picture("One step", step)
    assert misdrawn(picture) == []
    assert ("The window: " in repr(picture)) == ("window" in texts(picture.run)) == (picture.run.window is not None)
    return [(s.x, s.x + s.width) for s in picture.shapes if isinstance(s, Rect) and s.fill == YELLOW]


def marked(lab: CrashLab, step: int, color: str) -> list[float]:
    """Return where the middles of the marks of this colour are in a step's picture."""
    marks = [s for s in lab.picture("One step", step).shapes if isinstance(s, Rect) and s.stroke == color]
    return [mark.x + mark.width / 2 for mark in marks if mark.width < 20]


@pytest.mark.parametrize("recording", ["every step", "before side effects", "log"])
def test_the_window_of_one_step_is_from_its_effect_to_its_save(tmp_path: Path, recording: Recording):
    """A plan on the disk does not know of the effect; a step that only reads has no window, and a whole run none."""
    lab = played(tmp_path, recording)
    assert windows(lab, 1) == [(marked(lab, 1, INK)[0], marked(lab, 1, GREEN)[-1])]
    assert windows(lab, 0) == windows(lab, 3) == []
    assert "window" not in texts(lab.tally.run)


def test_a_step_is_shown_with_all_that_were_in_it(tmp_path: Path):
    """Who was killed there, and who went on; the save that it went on from is in another step."""
    lab = played(tmp_path, "every step", (1, "result"))
    picture = lab.picture("One step", 1)
    assert {"process 1", "process 2", "killed", "charged 26 again", "window"} <= set(texts(picture.run))
    assert "starts over" not in texts(picture.run)
    assert "process 1" not in texts(lab.tally.one_step(2))
    assert lab.picture("One step", 1).run.outcome == lab.tally.run.outcome


def test_without_a_save_there_is_no_end_of_a_window(tmp_path: Path):
    """So none is drawn."""
    assert windows(played(tmp_path, "nothing"), 1) == []


def imagined(steps: int, every: int, crashes: tuple[int, ...]) -> Run:
    """Return a run of so many steps, with a save after every so many, that dies at these places in turn."""
    phases: list[Phase] = ["model", "tool", "result", "save"]
    saved = [(step + 1) % every == 0 or step == steps - 1 for step in range(steps)]
    places = [Place(step, phase) for step in range(steps) for phase in phases[: 3 + saved[step]]]
    events: list[Event | Effect] = []
    stand = 0
    for process, death in enumerate((*crashes, len(places)), 1):
        events.append(Event(process, "began", places[stand]))
        for at in places[stand:death]:
            events.append(Event(process, "did", at, at.step + 1 if at.phase == "save" else None))
            if at.phase == "tool":
                before = sum(isinstance(e, Effect) and e.at == at for e in events)
                events.append(Effect(process, at, f"note {at.step} sent", changes=True, dollars=0, before=before))
        if death < len(places):
            events.append(Event(process, "killed", places[death]))
        saves = [number for number, at in enumerate(places[: max(death, stand)]) if at.phase == "save"]
        stand = saves[-1] + 1 if saves else 0
    return Run(["send_note"] * steps, places, events)


def test_what_is_imagined_here_is_what_a_process_does(twice: Run):
    """Otherwise the long runs below would prove nothing of real ones."""
    run = imagined(3, 1, (6,))
    here = [e for e in run.events if isinstance(e, Event)]
    real = [e for e in twice.events if isinstance(e, Event) and e.at.step < 3]
    assert here == real


@pytest.mark.parametrize(("steps", "every"), [(3, 1), (6, 2), (8, 3), (12, 1), (12, 5), (30, 1), (30, 10)])
def test_long_runs_and_chains_of_crashes_can_be_read(steps: int, every: int, examined: Examined):
    """Chains of up to three crashes, wherever; a step is one column where its phases' names have no room."""
    places = len(imagined(steps, every, ()).places)
    some = sorted({*range(1, places, max(1, places // 4)), places - 1})
    chains = [chain for n in range(4) for chain in combinations_with_replacement(some, n)]
    for chain in chains:
        picture = Picture(imagined(steps, every, chain), f"{steps} steps, with a save after every {every} of them")
        assert misdrawn(picture) == [], chain
        assert picture.by_phase == (steps == 3), chain
    examined("pictures of long runs", len(chains))


def test_of_many_effects_the_number_is_said():
    """And at each that came again only that: its column tells which it was."""
    run = imagined(12, 12, (30,))
    assert run.outcome == "Done again: 10 effects."
    assert texts(run).count("again") == 10


def test_what_cannot_be_read_is_caught(twice: Run):
    """The check above can fail: with longer names, and with a text that was moved."""
    long = replace(twice, steps=["a_tool_with_a_very_long_name"] * 4)
    assert any("is on" in found for found in misdrawn(Picture(long, "")))
    picture = Picture(twice, "A title")
    picture.shapes.append(Text((690, 10), "too far to the right"))
    assert any(found.startswith("outside") for found in misdrawn(picture))


def test_a_text_is_not_wider_than_it_is_taken_for(twice: Run):
    """Measured in the font of the PNG, which is wider than those of browsers."""
    for shape in Picture(replace(twice, steps=["look_up_price", "add, multiply", "send_mail", "answer"]), "").shapes:
        if isinstance(shape, Text):
            font = FontProperties(family="DejaVu Sans", weight="bold" if shape.bold else "normal")
            real = TextPath((0, 0), shape.text, size=shape.size, prop=font).get_extents().width
            assert real <= width(shape.text, shape.size, bold=shape.bold) <= 1.4 * real + 4, shape


def brightness(color: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_each_word_can_be_read(twice: Run, tmp_path: Path):
    """4.5 to 1, on white and in a lane."""
    once = played(tmp_path, "log with keys", (1, "result")).tally.run
    colors = set(re.findall(r'<text [^>]*fill="(#\w+)"', svg(twice) + svg(once)))
    assert len(colors) == 4
    for color in colors:
        assert (brightness(PALE) + 0.05) / (brightness(color) + 0.05) >= 4.5, color


def test_the_svg_stands_by_itself(twice: Run):
    """It is XML with a title and a description, has a white ground, and nothing that could meet another picture's."""
    drawn = Picture(twice, "A <title> & more")._repr_svg_()
    root = ElementTree.fromstring(drawn)  # noqa: S314 - it is our own
    named = {child.tag.rpartition("}")[2]: child.text for child in root}
    assert (root.get("role"), named["title"]) == ("img", "A <title> & more")
    assert named["desc"] == repr(Picture(twice, ""))
    ground = next(child for child in root if child.tag.endswith("rect"))
    assert (ground.get("width"), ground.get("fill")) == (root.get("width"), WHITE)
    assert not re.search(r"\b(id|class|style|href)=|<(style|defs|script)|url\(", drawn)


def test_the_png_shows_the_same(twice: Run):
    """Twice as many pixels, the same width on the page, and a shape where the SVG has one."""
    picture = Picture(twice, "A run")
    file, shown = picture._repr_png_()
    image = np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))
    wide, high = picture.size
    assert (image.shape[1], image.shape[0]) == (round(2 * wide), int(2 * high))
    assert (shown["width"], shown["height"]) == picture.size
    for shape in picture.shapes:
        if isinstance(shape, Rect) and shape.fill in (BLUE, GREEN, INK):
            middle = image[int(2 * shape.y + shape.height), int(2 * shape.x + shape.width)]
            assert "#" + bytes(middle).hex().upper() == shape.fill.upper(), shape


def test_matplotlib_is_loaded_for_a_png_alone():
    """The crash lab answers at once."""
    program = "import sys, minagent.lab.crash_lab.crashlab; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_shapes_are_drawn_one_by_one():
    """The smallest picture."""
    drawn = to_svg([Text((1, 2), "a < b", centered=True), Rect(0, 0, 4, 4, INK, "none", round=True)], (10, 5), "t", "d")
    assert '<text x="1" y="2" font-size="11" fill="#1f2328" text-anchor="middle">a &lt; b</text>' in drawn
    assert '<rect x="0" y="0" width="4" height="4" rx="2" fill="#1f2328" stroke="none" stroke-width="1.5"/>' in drawn
