"""The phases of a step, and an agent that stops before each of them.

Each phase is named for what comes next. To crash *at* a phase is to crash just before it:

    model    ask the model
    tool     run the tool that the model asked for: so far its answer is in the process alone
    result   take the result in: the tool has had its effect, and nobody knows of it yet
    save     write the checkpoint: the step is complete, in the process alone

What the world sees of it, paid model calls and effects of tools, goes into a ledger.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from minagent import FakeModel, Message, Reply, ToolCall, ToolRegistry
from minagent.lab.ledger import Ledger

Phase = Literal["model", "tool", "result", "save"]


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

    def __init__(self, ledger: Ledger, about_to: Callable[[Phase], None]) -> None:
        super().__init__()
        self._ledger = ledger
        self._about_to = about_to

    def call(self, tool_call: ToolCall, key: str | None = None) -> str:
        """Stop, run the tool, write down its effect, and stop."""
        self._about_to("tool")
        result = super().call(tool_call, key)
        self._ledger.record_effect(tool_call, result)
        self._about_to("result")
        return result
