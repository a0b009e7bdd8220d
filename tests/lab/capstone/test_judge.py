"""The judge of the capstone: it counts what the matrix counts, and stops each half solution where it stops."""

from collections.abc import Callable

import pytest

from minagent.lab.capstone.judge import NOTHING, SHAPES, STEPS, drawn, judge, killed, killed_for_real, lives_of, trouble
from minagent.lab.matrix.crash_matrix import single_crashes
from minagent.lab.matrix.variants import VARIANTS
from minagent.lab.processes.child_process import text_of
from tests.examined import Examined
from tests.lab.capstone.attempts import (
    HALF_SOLUTIONS,
    MISTAKES,
    each_result,
    not_answered,
    plan_first,
    saves_each_step,
    with_keys,
)

Live = Callable[..., object]


def text(live: Live) -> str:
    """Return what is sent to a process."""
    return f"{text_of(live)}\nlive = {live.__name__}"


@pytest.mark.parametrize(("number", "live"), [*enumerate(HALF_SOLUTIONS, 1)])
def test_a_half_solution_stops_at_its_step(number: int, live: Live):
    """All steps before are done, and the run that did harm is drawn."""
    says, picture = judge(live)
    *passed, stopped, why = says.splitlines()
    assert passed == [f"step {n} of 4, {name}: ✓" for n, name in enumerate(STEPS[: number - 1], 1)]
    assert stopped == f"step {number} of 4, {STEPS[number - 1]}: ✗"
    assert picture is not None
    assert picture.title == why
    assert picture.run.harm


def test_what_each_half_solution_is_told():
    """The point, and the mistake."""
    assert [judge(live)[0].splitlines()[-1] for live in HALF_SOLUTIONS] == [
        "killed before `model` at point 7: the charge for lamp came again, though its step was over",
        "killed before `result` at point 4: lamp was charged, and is in no history: asked again, the model wanted"
        " something else",
        "killed before `tool` at point 8: the charge for lamp came again, though its result was known",
        "killed before `result` at point 7: the charge for lamp came again",
    ]


@pytest.mark.parametrize("live", MISTAKES)
def test_a_mistake_is_named(live: Live):
    """Each in a line, and none by a traceback."""
    says, _ = judge(live)
    assert MISTAKES[live] in says
    assert says.count("✗") == 1


def test_the_solution_holds(examined: Examined):
    """At each point, at each pair of points of a run of one step, and at ten kills of real processes; in good time."""
    assert judge(with_keys) == (
        "\n".join([*(f"step {n} of 4, {s}: ✓" for n, s in enumerate(STEPS, 1)), "✓ right"]),
        None,
    )
    for shape in SHAPES:
        runs = [*killed(lives_of(text(with_keys), shape), 2 if shape.steps == 1 else 1)]
        examined("runs at the capstone's desk", len(runs))
        assert len(runs) == (251 if shape.steps == 1 else 1 + 50)
        assert [found for found in map(trouble, runs) if found] == []


def test_unsolved_it_is_not_answered():
    """The one agreed line; what is no function is told so."""
    assert judge(not_answered) == ("not answered yet", None)
    assert judge(3) == ("✗ live is no function: 3", None)


@pytest.mark.parametrize(("live", "variant"), [(each_result, "log, retry"), (with_keys, "log, keys")])
def test_it_does_harm_where_the_matrix_says(live: Live, variant: str):
    """Point by point, as what the reader meets in 7.3.6b under another name."""
    _, *runs = killed(lives_of(text(live), SHAPES[2]), 1)
    found = [(run[0][0].points[run[0][1] - 1], trouble(run) is not None) for run in runs]
    matrix = [(case.points[-1], case.outcome.repeated > 0) for case in single_crashes(VARIANTS[variant])]
    assert found == matrix


def test_a_save_for_each_step_does_harm_at_fifteen_points():
    """Of 32: after each first charge until the line is written."""
    _, *runs = killed(lives_of(text(saves_each_step), SHAPES[2]), 1)
    harm = [run[0][0].points[run[0][1] - 1] for run in runs if trouble(run)]
    assert (len(runs), harm) == (32, ["result", "tool", "result", "write", "half"] * 3)


@pytest.mark.parametrize("live", [each_result, plan_first])
def test_real_processes_end_as_imagined_ones(live: Live):
    """Killed by SIGKILL at ten points: the same trouble, or none."""
    imagined = {run[0][1]: trouble(run) for run in killed(lives_of(text(live), SHAPES[2]), 1)}
    real = {run[0][1]: trouble(run) for run in killed_for_real(text(live), SHAPES[2])}
    assert len(real) == 10
    assert real == {number: imagined[number] for number in real}
    assert any(real.values())


def test_the_picture_is_of_that_run():
    """Another place of death, another picture; a run that nobody disturbed shows no harm."""
    _, *runs = killed(lives_of(text(each_result), SHAPES[0]), 1)
    svgs = {drawn(run, "").__repr__() + drawn(run, "")._repr_svg_() for run in runs}
    assert len(svgs) > len(runs) / 2
    quiet, _ = lives_of(text(with_keys), SHAPES[0])(NOTHING, False)
    picture = drawn(((quiet, 0),), "Undisturbed")
    assert repr(picture) == ("The customer paid 20 dollars: charged twice. The model was asked 2 times for 2 steps.")
    assert not picture.run.harm


def test_a_key_that_is_known_charges_nobody():
    """So it is in the picture."""
    run = next(run for run in killed(lives_of(text(with_keys), SHAPES[0]), 1) if run[0][1] == 7)
    picture = drawn(run, "")
    assert [effect.before for effect in picture.run.effects] == [0, None, 0]
