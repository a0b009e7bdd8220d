"""Run a session to its end, saving on the way. A thin shell around `step_once`.

Source: chapter 7.3.8.
"""

import time
from collections.abc import Callable
from os import PathLike

from minagent.agent import Agent, NotRecorded, Step, step_once
from minagent.checkpoint import save_checkpoint
from minagent.models import Model, Reply
from minagent.policy import EverySteps, Policy, Unsaved
from minagent.session import Session


def run_with_checkpoints(
    agent: Agent,
    session: Session,
    model: Model,
    steps: list[Step],
    path: str | PathLike[str],
    every: int | Policy = 2,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Step until the session is answered. Save to `path` first of all, whenever the policy says so, and at the end.

    `every` is the policy; a plain number N is short for EverySteps(N). A session that is answered already takes no
    step. `clock` returns seconds; from when they count does not matter.

    Raises:
        ValueError: `every` is no policy and no whole number of at least 1.
    """
    policy = every if isinstance(every, Policy) else EverySteps(every)
    saver = _Saver(agent, model, steps, path, policy, clock)
    saver.save(session)  # whoever dies in the first step has something to come back to
    while not session.answered:
        status = step_once(agent, session, model, steps, saver)
        saver.unsaved.steps += 1
        if status == "done" or saver.is_due():
            saver.save(session)


class _Saver(NotRecorded):
    """Saves when the policy says so; as a Recorder it hears of an answer before the tools run."""

    def __init__(
        self, agent: Agent, model: Model, steps: list[Step], path: str | PathLike[str], policy: Policy,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._agent, self._model, self._steps, self._path = agent, model, steps, path
        self._policy, self._clock = policy, clock
        self.unsaved, self._saved_at = Unsaved(), 0.0

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:  # noqa: ARG002
        """Save the answer, if that is due before its tools run."""
        if reply.message.tool_calls:
            self.unsaved.tokens += reply.usage.input_tokens + reply.usage.output_tokens
            self.unsaved.about_to_run = self._agent.registry.effects(reply.message.tool_calls)
            if self.is_due():
                self.save(session)
            self.unsaved.about_to_run = ()

    def is_due(self) -> bool:
        """Ask the policy."""
        self.unsaved.seconds = max(0.0, self._clock() - self._saved_at)  # a clock may be set back
        return self._policy.due(self.unsaved)

    def save(self, session: Session) -> None:
        """Save, and begin to count again."""
        begun = self._clock()
        save_checkpoint(self._path, session, self._model, self._steps)
        self._saved_at = self._clock()
        self.unsaved = Unsaved(save_seconds=max(0.0, self._saved_at - begun))
