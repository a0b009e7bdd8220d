"""Real processes, killed at drawn moments: against the closed form, and against the simulation, crash by crash."""

import itertools
import math
import os
import random
import signal
import tempfile
import time
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest

from minagent import SaveWhen, recover_checkpoint, validate
from minagent.lab.frequency.simulate import Outcome, Workload, failures_at_random, simulate
from minagent.lab.frequency.theory import YoungDaly, lost_at_a_moment
from minagent.lab.frequency.trials import (
    CHECKPOINT,
    LEDGER,
    PATIENCE,
    SAVE_SECONDS,
    STEP_SECONDS,
    attempt,
    crash_points,
    run_trial,
)
from minagent.lab.world.ledger import Ledger
from minagent.runner import Policy
from tests.examined import Examined
from tests.lab.closed_forms import executed_steps
from tests.lab.failures import recorded_failures
from tests.lab.test_child_process import interrupted


@pytest.mark.parametrize("every", [2, 5, 10, 20, 37])
def test_real_crashes_agree_with_the_exact_expectation(every: int, examined: Examined):
    """Sixty processes each, killed at any moment of a run of 37 steps: within 3 standard errors."""
    rng = np.random.default_rng(73)
    end = SAVE_SECONDS + 37 * STEP_SECONDS + 36 // every * SAVE_SECONDS
    examined("crashes at drawn moments", 60)
    lost = [run_trial(SaveWhen(steps=every), 37, [moment]).lost[0] for moment in rng.uniform(0, end, 60)]
    error = stdev(lost) / math.sqrt(len(lost))
    assert abs(fmean(lost) - lost_at_a_moment(37, every, STEP_SECONDS, SAVE_SECONDS)) < 3 * error


def test_real_runs_to_the_end_agree_with_the_closed_form(examined: Examined):
    """Twenty steps, saved each five; each step crashes with 5 percent: how many are begun until all are done?"""
    p = 0.05
    rng = np.random.default_rng(73)
    begun = []
    for _ in range(40):
        # A life counts in steps; saves take no part in it. So the moment of death is put on the clock of the run.
        gaps = (life for life in iter(lambda: float(rng.exponential(-1 / math.log1p(-p))), None))
        trial = run_trial(SaveWhen(steps=5), 20, (on_the_clock(life, every=5) for life in gaps))
        assert trial.finished
        examined("crashes at drawn moments", trial.crashes)
        begun.append(20 + trial.crashes + sum(trial.lost))
    error = stdev(begun) / math.sqrt(len(begun))
    assert abs(fmean(begun) - executed_steps(20, 5, p)) < 3 * error


def on_the_clock(steps: float, every: int) -> float:
    """Return when so many steps have been taken, a save before the first and after each `every` included."""
    return steps * STEP_SECONDS + (1 + math.floor(steps) // every) * SAVE_SECONDS


POLICIES: list[Policy] = [
    SaveWhen(steps=1),
    SaveWhen(steps=4),
    SaveWhen(seconds=7.3),
    SaveWhen(before_side_effects=True),
    SaveWhen(steps=3, before_side_effects=True),
    YoungDaly(40),
    SaveWhen(),
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_simulation_is_what_real_processes_do(policy: Policy, seed: int, examined: Examined):
    """The same failures at the same moments: the same steps lost, the same notes sent again, the same calls paid."""
    work = Workload(np.full(13, STEP_SECONDS), effect_every=3)
    lives = np.random.default_rng(seed).exponential(18.0, 8).tolist()

    def simulated() -> Outcome:
        return simulate(work, policy, recorded_failures(np.cumsum(lives).tolist()), SAVE_SECONDS, SAVE_SECONDS)

    # The thirteenth step is the answer. It has no tool, so it takes less time: failures count up to there.
    reached = simulated().fell_back_to // 2 + simulated().lost_steps
    lives = [life for life, steps in zip(lives, reached.tolist(), strict=False) if steps < 12]
    outcome = simulated()
    # A process saves before its first step. The simulation counts that as a part of each restart.
    trial = run_trial(policy, 12, [lives[0] + SAVE_SECONDS, *lives[1:], math.inf], effect_every=3)
    assert trial.finished
    examined("crashes at drawn moments", trial.crashes)
    assert list(trial.lost) == outcome.lost_steps.tolist()
    assert trial.repeated_notes == outcome.repeated_effects.sum()
    assert trial.model_calls == 13 + outcome.repeated_calls.sum()


def test_saving_before_side_effects_saves_paid_calls_and_no_repeats():
    """Killed at every point: as many repeats; a call is paid again in the new save, not in the tool and its save."""
    points, repeats, paid = {}, {}, {}
    for policy in (SaveWhen(steps=1), SaveWhen(steps=1, before_side_effects=True)):
        moments = crash_points(policy, 4)
        runs = [run_trial(policy, 4, [moment, math.inf]) for moment in moments]
        assert all(run.finished and run.crashes == 1 for run in runs)
        points[policy] = len(runs)
        repeats[policy] = sum(run.repeated_notes for run in runs)
        paid[policy] = sum(run.model_calls - 5 for run in runs)
    # Two renames at the start; model, tool and the renames of each step; model and renames of the answer.
    assert list(points.values()) == [2 + 4 * 4 + 3, 2 + 4 * 6 + 3]
    assert list(repeats.values()) == [4 * 2, 4 * 2]
    assert list(paid.values()) == [4 * 3 + 2, 4 * 2 + 2]


def test_a_policy_that_gets_nowhere_is_given_up():
    """It saves each ten steps, and no process lives that long: whatever it does is lost, again and again."""
    lives = iter(lambda: 9 * STEP_SECONDS, None)
    trial = run_trial(SaveWhen(steps=10), 20, lives)
    assert (trial.finished, trial.crashes, set(trial.lost)) == (False, PATIENCE, {8})
    assert trial.model_calls == PATIENCE * 9
    assert run_trial(SaveWhen(steps=5), 20, lives).finished


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_killed_by_the_real_clock_at_any_moment(tmp_path: Path, examined: Examined):
    """No virtual time here: the parent kills a fork whenever it pleases. What loads is whole, the loss is bounded."""
    moments = random.Random(73)  # noqa: S311 - nobody is to be kept from guessing them
    every, steps = 3, 30
    for number in range(40):
        examined("crashes at drawn moments", 1)
        folder = tmp_path / str(number)
        child = os.fork()
        if child == 0:
            attempt(folder, steps, 1, SaveWhen(steps=every), math.inf)
            os._exit(0)
        # A moment of real time, not a wait for something: the child is killed wherever it happens to be.
        time.sleep(moments.uniform(0, 0.06))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        done = len(Ledger(folder / LEDGER).effects())
        if not (folder / CHECKPOINT).exists():
            assert done == 0
            continue
        checkpoint, report = recover_checkpoint(folder / CHECKPOINT)
        saved = sum(step.kind == "tool_call" for step in checkpoint.steps)
        assert report.passed_over == ()
        assert validate(checkpoint.session)
        assert done - every - 1 <= saved <= done


def test_a_run_that_came_on_and_then_gets_nowhere_is_given_up():
    """Twenty crashes in a row without a step; the first of all had saved some."""
    trial = run_trial(SaveWhen(steps=1), 20, itertools.chain([15.6], itertools.repeat(1.0)))
    assert (trial.finished, trial.crashes) == (False, 1 + PATIENCE)


def test_an_error_in_a_trial_is_told():
    """Not a crash to be counted."""
    with pytest.raises(RuntimeError, match=r"ended with code 1\.(?s:.*)ZeroDivisionError"):
        run_trial(SaveWhen(steps=2), 1, [math.inf], effect_every=0)
    assert run_trial(SaveWhen(steps=2), 2, [math.inf]).finished


def test_an_interrupt_takes_the_process_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """It writes to a folder that goes. The next trial is told of its own process."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        interrupted(lambda: run_trial(SaveWhen(steps=1), 3000, [math.inf]))
    assert list(tmp_path.iterdir()) == []
    assert run_trial(SaveWhen(steps=1), 2, [math.inf]).finished


def test_failures_at_random_do_not_end():
    """They are drawn in portions; the portions do not repeat."""
    failures = failures_at_random(1.0, np.random.default_rng(1))
    first = [next(failures) for _ in range(3000)]
    assert len(set(first)) == 3000
