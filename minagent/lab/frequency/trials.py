"""Real runs of real processes, killed by SIGKILL at moments that are drawn in time.

    trial = run_trial(SaveWhen(steps=10), steps=37, lives=[41.7])
    trial.lost                                      # (6,): one crash; it lost 6 steps

The time is virtual, so that nobody waits and every number is exact: a model call takes 2 seconds, a tool half a second,
and a save half a second, half of it before each of its two renames. When the time comes the process kills itself where
it stands: in a model call, in a tool, or between two file calls of a save. All else is real: the process, the signal,
`run_with_checkpoints`, the files. What was done is read from the ledger, what was saved from the disk.

Each process is a child, forked in a few milliseconds (see `child_process`).
"""

import json
import math
import os
import signal
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from minagent import CheckpointMissing, recover_checkpoint, run_with_checkpoints
from minagent.lab.processes.lives import finishes
from minagent.lab.processes.phases import Phase, WatchedModel, WatchedTools
from minagent.lab.world.example import long_task
from minagent.lab.world.ledger import Ledger
from minagent.runner import Policy

SECONDS: dict[Phase, float] = {"model": 2.0, "tool": 0.5, "result": 0.0}
STEP_SECONDS = sum(SECONDS.values())
SAVE_SECONDS = 0.5

CHECKPOINT = "session.json"
LEDGER = "ledger.jsonl"
MOMENTS = "moments.json"

PATIENCE = 20  # crashes in a row without a new step on the disk after which a run is given up: it gets nowhere


@dataclass(frozen=True)
class Trial:
    """What became of a run, through all its crashes."""

    finished: bool  # false if it was left before its end, or given up
    lost: tuple[int, ...]  # for each crash: the steps that were complete, and were not on the disk
    repeated_notes: int  # notes that were sent again
    model_calls: int  # model calls that were paid for

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
            finished = finishes(Life(folder, steps, effect_every, policy, ends_at))
            if finished:
                break
            states.append((len(ledger.effects()), _saved_steps(folder)))
            if _gets_nowhere(states):
                break
        notes = [effect for effect in ledger.effects() if effect["name"] == "send_note"]
        return Trial(
            finished=finished,
            lost=tuple(saved + done - before - now for (before, saved), (done, now) in pairwise(states)),
            repeated_notes=sum(effect["repeat"] > 0 for effect in notes),
            model_calls=ledger.bill().calls,
        )


def crash_points(policy: Policy, steps: int, effect_every: int = 1) -> list[float]:
    """Return a moment in each model call, in each tool, and before each rename, of a run that nobody kills."""
    with tempfile.TemporaryDirectory(prefix="minagent-") as name:
        finishes(Life(Path(name), steps, effect_every, policy, math.inf))
        ends = json.loads(Path(name, MOMENTS).read_bytes())
    return [(begin + end) / 2 for begin, end in pairwise([0.0, *ends]) if end > begin]


def _gets_nowhere(states: list[tuple[int, int]]) -> bool:
    return len(states) > PATIENCE and len({saved for _, saved in states[-PATIENCE - 1 :]}) == 1


def _saved_steps(folder: Path) -> int:
    try:
        checkpoint, _ = recover_checkpoint(folder / CHECKPOINT)
    except CheckpointMissing:
        return 0
    return sum(message.role == "tool" for message in checkpoint.session.messages)


@dataclass
class Life:
    """One process: what it is to do, and when it dies."""

    folder: Path
    steps: int
    effect_every: int
    policy: Policy
    ends_at: float
    now: float = 0.0  # the virtual clock
    moments: list[float] = field(default_factory=list)  # when each model call, tool and rename ended

    def spend(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        if self.now > self.ends_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.moments.append(self.now)

    def live(self) -> None:
        """Begin, or go on from the disk, and run to the end if there is the time."""
        os.replace = self._slow(os.replace)
        ledger = Ledger(self.folder / LEDGER)
        example = long_task(self.steps, self.effect_every)
        agent = example.agent(WatchedTools(ledger, self._about_to))
        model = WatchedModel(example.script, ledger, self._about_to)
        start = example.begin_or_resume(agent, self.folder / CHECKPOINT)
        model.cursor = start.model_cursor
        path = self.folder / CHECKPOINT
        run_with_checkpoints(agent, start.session, model, start.steps, path, self.policy, clock=lambda: self.now)
        (self.folder / MOMENTS).write_text(json.dumps(self.moments))

    def _about_to(self, phase: Phase) -> None:
        self.spend(SECONDS[phase])

    def _slow(self, rename: Callable[..., None]) -> Callable[..., None]:
        def slow_rename(*names: Any) -> None:
            self.spend(SAVE_SECONDS / 2)
            rename(*names)

        return slow_rename
