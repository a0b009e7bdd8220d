"""The phases of a step, and the parts of an agent that stop before each of them.

Each phase is named for what comes next. To crash *at* a phase is to crash just before it:

    model    ask the model
    plan     write down what the model wants, before its tool runs (in some ways of recording)
    tool     run the tool that the model asked for
    result   take the result in: the tool has had its effect, and nobody knows of it yet
    save     write down what is new: a checkpoint, or records of the log
    doubt    nothing: a tool may have run, and nobody knows, so the run stops

What the world sees of it, paid model calls and effects of tools, goes into a ledger.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from minagent import FakeModel, Message, Recorder, SaveWhen, Session, ToolCall, ToolRegistry, Unsaved
from minagent.lab.world.ledger import Ledger
from minagent.models import Reply

Phase = Literal["model", "plan", "tool", "result", "save", "doubt"]
DOING: dict[Phase, str] = {
    "model": "ask the model",
    "plan": "write down what the model wants",
    "tool": "run the tool",
    "result": "take the result in",
    "save": "save",
    "doubt": "stop: a tool may have run, and nobody knows",
}
"""What each phase does, in the order of a step."""

Recording = Literal["nothing", "every step", "every 2 steps", "before side effects", "log", "log with keys"]
"""What a run writes to the disk. "before side effects": every step, and what the model wants before it is done."""
INTERVAL: dict[Recording, int] = {"every step": 1, "every 2 steps": 2, "before side effects": 1}
"""After how many steps a checkpoint is saved, where checkpoints are."""

CHECKPOINT = Path("disk", "session.json")
LEDGER = Path("world", "ledger.jsonl")


class Place(NamedTuple):
    """Where a process stands: before a phase of a step."""

    step: int  # from 0
    phase: Phase


What = Literal["began", "did", "killed", "interrupted", "asleep", "refused", "died", "gone"]


@dataclass(frozen=True)
class Event:
    """A process has begun at a place, has done what comes there, or was killed or interrupted before it had."""

    process: int  # from 1, in the order in which they began
    what: What
    at: Place
    cursor: int | None = None  # that a save has


class Report(NamedTuple):
    """Where an agent's process stands, and what it knows."""

    phase: Phase  # what it is about to do
    step: int  # the step it is in, counted from 0
    messages: int  # how many messages its session holds
    cursor: int | None
    trace: list[str]  # the kinds of the steps taken so far
    doubt: str = ""  # the key of the call in doubt, in phase "doubt"

    def __str__(self) -> str:
        return f"step {self.step}, about to {DOING[self.phase]}"


class WatchedModel(FakeModel):
    """A fake model that stops before each call, and whose calls are billed."""

    def __init__(self, script: Sequence[Message], ledger: Ledger, about_to: Callable[[Phase], None]) -> None:
        super().__init__(script)
        self._ledger = ledger
        self._about_to = about_to

    def complete(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> Reply:
        """Stop, answer, and write the bill."""
        self._about_to("model")
        reply = super().complete(messages, schemas)
        self._ledger.record_model_call(reply.usage)
        return reply


class WatchedTools(ToolRegistry):
    """Tools that stop before and after each run, and whose effects are in the ledger."""

    def __init__(self, ledger: Ledger, about_to: Callable[[Phase], None], *, honours_keys: bool = False) -> None:
        super().__init__()
        self._ledger = ledger
        self._about_to = about_to
        self._honours_keys = honours_keys

    def call(self, tool_call: ToolCall, key: str | None = None) -> str:
        """Stop, run the tool, write down its effect, and stop. A key that the world has seen gets the old result."""
        self._about_to("tool")
        key = key if self._honours_keys else None
        result = None if key is None else self._ledger.result_of(key)
        if result is None:
            result = super().call(tool_call, key)
            self._ledger.record_effect(tool_call, result, key)
        self._about_to("result")
        return result


@dataclass
class SavePlan(Recorder):
    """A recorder that saves what the model wants, before a tool with side effects runs."""

    registry: ToolRegistry
    save: Callable[[], None]

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:  # noqa: ARG002
        """Save, if one of the tools changes the world."""
        unsaved = Unsaved(about_to_run=self.registry.effects(reply.message.tool_calls))
        if SaveWhen(before_side_effects=True).due(unsaved):
            self.save()
