"""Models: what an agent asks for its next message (chapters 7.1 and 7.3.2).

A real model is a function of the history that it is given. FakeModel is deterministic and offline instead: it reads
its answers from a script, so it must remember how far it got. That position is its *cursor*.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from minagent.errors import ScriptExhausted
from minagent.messages import Message


@dataclass(frozen=True)
class Usage:
    """What one model call costs, in tokens."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Reply:
    """A model's answer to one call."""

    message: Message
    usage: Usage


class Model(Protocol):
    """Anything with a `complete` method and a `cursor`."""

    cursor: int | None  # the next item of a script, counted from its start; None for a model that has no script

    def complete(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> Reply:
        """Return the assistant message that follows `messages`, given the tools that `schemas` describe."""


class FakeModel:
    """A model that answers from a script: a sequence of assistant messages."""

    def __init__(self, script: Sequence[Message]) -> None:
        self.script = tuple(script)
        self.cursor: int | None = 0

    def complete(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> Reply:
        """Return the next item of the script and move the cursor past it; raise ScriptExhausted if there is none."""
        position = self.cursor or 0
        if position >= len(self.script):
            had = f"the script of this FakeModel has {len(self.script)} items and the cursor stands at {position}"
            raise ScriptExhausted(f"{had}: is it the script of this session? was step_once called again after 'done'?")
        self.cursor = position + 1
        answer, described = self.script[position], math.ceil(len(repr(schemas)) / 4)
        return Reply(answer, Usage(described + sum(map(_tokens, messages)), _tokens(answer)))


def _tokens(message: Message) -> int:
    """Estimate a message's tokens: a quarter of its text's bytes, 4 for itself, and 8 for each call and argument."""
    text = len((message.content or "").encode("utf-8", "surrogatepass"))
    return math.ceil(text / 4) + 4 + sum(8 + 8 * len(call.arguments) for call in message.tool_calls)
