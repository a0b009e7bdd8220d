"""Run a session to its end, saving on the way: a thin shell around `step_once`, and when to save (7.3.8, 7.3.9)."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Protocol

from minagent.agent import Agent, Recorder, Step, step_once
from minagent.checkpoint import save_checkpoint
from minagent.errors import InvalidValue
from minagent.models import Model, Reply
from minagent.session import Session
from minagent.tools import Effect, ToolRegistry

LIMITS = "steps", "seconds", "tokens"  # what SaveWhen sets a limit to, of Unsaved


@dataclass
class Unsaved:
    """What has happened since the newest save: what a crash would lose now."""

    steps: int = 0  # that are complete
    seconds: float = 0.0
    tokens: int = 0  # that were paid for
    about_to_run: tuple[Effect, ...] = ()  # the effects of the tools that run next; none between two steps
    save_seconds: float = 0.0  # what the newest save took


class Policy(Protocol):
    """When to save. It is asked twice in a step: before the tools run, and when the step is complete."""

    def due(self, unsaved: Unsaved) -> bool:
        """Return whether to save now."""


@dataclass(frozen=True)
class SaveWhen:
    """Save as soon as one of these is due. Begin and end of a run are always saved; SaveWhen() saves nothing else.

    Before side effects means before a tool changes the world: after a crash the model is not asked again, and cannot
    want something else. The tool may still run twice (7.3.6).
    """

    steps: float = math.inf
    seconds: float = math.inf  # since the newest save: for steps that differ in length
    tokens: float = math.inf
    before_side_effects: bool = False

    def __post_init__(self) -> None:
        for name in LIMITS:
            if type(count := getattr(self, name)) not in (int, float) or not count > 0:
                raise InvalidValue(name, f"must be a number above 0, not {count!r}")

    def __str__(self) -> str:
        said = [f"every {count:g} {name}" for name in LIMITS if (count := getattr(self, name)) != math.inf]
        said += ["before side effects"] if self.before_side_effects else []
        return " or ".join(said).replace("every 1 steps", "every step") or "at the end"

    def due(self, unsaved: Unsaved) -> bool:
        """Return whether one of them is due."""
        reached = any(getattr(unsaved, name) >= getattr(self, name) for name in LIMITS)
        return reached or (self.before_side_effects and any(effect != "read_only" for effect in unsaved.about_to_run))


def run_with_checkpoints(
    agent: Agent, session: Session, model: Model, steps: list[Step], path: str | PathLike[str],
    every: int | Policy = 2, clock: Callable[[], float] = time.monotonic,
) -> None:  # fmt: skip
    """Step until the session is answered. Save to `path` first of all, whenever `every` says so, and at the end.

    A plain number N above 0 is short for SaveWhen(steps=N); else InvalidValue. A session that is answered already takes
    no step. `clock` returns seconds; from when they count does not matter.
    """
    policy = SaveWhen(steps=every) if not hasattr(every, "due") else every
    saver = _Saver(lambda: save_checkpoint(path, session, model, steps), agent.registry, policy, clock)
    saver.save()  # whoever dies in the first step has something to come back to
    while not session.answered:
        status = step_once(agent, session, model, steps, saver)
        saver.unsaved.steps += 1
        if status == "done" or saver.is_due():
            saver.save()


@dataclass
class _Saver(Recorder):
    """Saves when the policy says so; as a Recorder it hears of an answer before the tools run."""

    write: Callable[[], None]
    registry: ToolRegistry
    policy: Policy
    clock: Callable[[], float]

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:  # noqa: ARG002
        if reply.message.tool_calls:
            self.unsaved.tokens += reply.usage.input_tokens + reply.usage.output_tokens
            self.unsaved.about_to_run = self.registry.effects(reply.message.tool_calls)
            if self.is_due():
                self.save()
            self.unsaved.about_to_run = ()

    def is_due(self) -> bool:
        self.unsaved.seconds = max(0.0, self.clock() - self.saved_at)  # a clock may be set back
        return self.policy.due(self.unsaved)

    def save(self) -> None:
        begun = self.clock()
        self.write()
        self.saved_at = self.clock()
        self.unsaved = Unsaved(save_seconds=max(0.0, self.saved_at - begun))
