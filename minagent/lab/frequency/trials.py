"""Real runs of real processes, killed by SIGKILL at moments that are drawn in time.

    trial = run_trial(SaveWhen(steps=10), steps=37, lives=[41.7])
    trial.lost                                      # (6,): one crash; it lost 6 steps

The time is virtual, so that nobody waits and every number is exact: a model call takes 2 seconds, a tool half a second,
and a save half a second, half of it before each of its two renames. When the time comes the process kills itself where
it stands: in a model call, in a tool, or between two file calls of a save. All else is real: the process, the signal,
`run_with_checkpoints`, the files. What was done is read from the ledger, what was saved from the disk.
"""

import json
import math
import tempfile
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from minagent import CheckpointMissing, recover_checkpoint, run_with_checkpoints
from minagent.lab.processes.child_process import start
from minagent.lab.processes.crash_points import CrashPoints, die
from minagent.lab.processes.phases import WatchedModel, WatchedTools
from minagent.lab.world.example import long_task
from minagent.lab.world.ledger import Ledger
from minagent.runner import Policy

STEP_SECONDS, SAVE_SECONDS = 2.5, 0.5
SECONDS = {"model": 2.0, "tool": 0.5, "rename": SAVE_SECONDS / 2}
"""What it takes to come past a point; other points take no time."""

CHECKPOINT = "session.json"
LEDGER = "ledger.jsonl"
MOMENTS = "moments.json"

PATIENCE = 20  # crashes in a row without a new step on the disk after which a run is given up: it gets nowhere


class Trial(NamedTuple):
    """What became of a run, through all its crashes."""

    finished: bool  # false if it was left before its end, or given up
    states: tuple[tuple[int, int], ...]  # at the start and after each process: tools run so far, steps on the disk
    repeated_notes: int  # notes that were sent again
    model_calls: int  # model calls that were paid for

    @property
    def lost(self) -> tuple[int, ...]:
        """For each crash: the steps that were complete, and were not on the disk."""
        pairs = [*pairwise(self.states)][: -1 if self.finished else None]
        return tuple(saved + done - before - now for (before, saved), (done, now) in pairs)

    @property
    def crashes(self) -> int:
        """How many processes were killed."""
        return len(self.lost)


def run_trial(policy: Policy, steps: int, lives: Iterable[float], effect_every: int = 1) -> Trial:
    """Run `long_task(steps, effect_every)`, in as many processes as it takes to finish it.

    The first process is killed after the first of `lives`, in virtual seconds, and so on. After the last of them
    the run is left as it is; a life of math.inf is long enough for every run.
    """
    with tempfile.TemporaryDirectory(prefix="minagent-") as name:
        folder, finished = Path(name), False
        ledger = Ledger(folder / LEDGER)
        states = [(0, 0)]
        for ends_at in map(float, lives):  # for numpy's, each process would have to import numpy
            finished = start(attempt, folder, steps, effect_every, policy, ends_at).finished()
            states.append((len(ledger.effects()), _saved_steps(folder)))
            if finished:
                break
            if len(states) > PATIENCE and len({saved for _, saved in states[-PATIENCE - 1 :]}) == 1:
                break
        notes = [effect for effect in ledger.effects() if effect["name"] == "send_note"]
        return Trial(
            finished=finished,
            states=tuple(states),
            repeated_notes=sum(effect["repeat"] > 0 for effect in notes),
            model_calls=ledger.bill().calls,
        )


def crash_points(policy: Policy, steps: int, effect_every: int = 1) -> list[float]:
    """Return a moment in each model call, in each tool, and before each rename, of a run that nobody kills."""
    with tempfile.TemporaryDirectory(prefix="minagent-") as name:
        start(attempt, Path(name), steps, effect_every, policy, math.inf).finished()
        ends = json.loads(Path(name, MOMENTS).read_bytes())
    return [(begin + end) / 2 for begin, end in pairwise([0.0, *ends]) if end > begin]


def _saved_steps(folder: Path) -> int:
    try:
        checkpoint, _ = recover_checkpoint(folder / CHECKPOINT)
    except CheckpointMissing:
        return 0
    return sum(message.role == "tool" for message in checkpoint.session.messages)


def attempt(folder: Path, steps: int, effect_every: int, policy: Policy, ends_at: float) -> None:
    """Be a process: begin, or go on from the disk, and run to the end if there is the time."""
    now = 0.0  # the virtual clock
    moments: list[float] = []  # when each model call, tool and rename ended

    def spend(_: int) -> None:
        nonlocal now
        now += SECONDS.get(points.names[-1], 0.0)
        if now > ends_at:
            die()
        moments.append(now)

    points = CrashPoints(spend)
    ledger = Ledger(folder / LEDGER)
    example = long_task(steps, effect_every)
    agent = example.agent(WatchedTools(ledger, points.about_to))
    model = WatchedModel(example.script, ledger, points.about_to)
    began = example.begin_or_resume(agent, folder / CHECKPOINT)
    model.cursor = began.model_cursor
    with points.watching_files():
        run_with_checkpoints(agent, began.session, model, began.steps, folder / CHECKPOINT, policy, clock=lambda: now)
    (folder / MOMENTS).write_text(json.dumps(moments))
