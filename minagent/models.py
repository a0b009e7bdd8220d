"""Models: what an agent asks for its next message.

A real model is a function of the history that it is given. FakeModel is deterministic and offline instead: it reads
its answers from a script, so it must remember how far it got. That position is its *cursor*.

Source: chapters 7.1 and 7.3.2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from minagent.errors import ScriptExhausted
from minagent.messages import Message
from minagent.plain_json import canonical


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

    cursor: int | None
    """The next item of a script, counted from its start; None for a model that has no script."""

    def complete(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> Reply:
        """Return the assistant message that follows `messages`, given the tools that `schemas` describe."""


class FakeModel:
    """A model that answers from a script: a sequence of assistant messages."""

    def __init__(self, script: Sequence[Message]) -> None:
        self.script = tuple(script)
        self.cursor: int | None = 0

    def complete(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> Reply:
        """Return the next item of the script and move the cursor past it.

        Raises:
            ScriptExhausted: the script has no more items.
        """
        position = self.cursor or 0
        if position >= len(self.script):
            raise ScriptExhausted(
                f"the script of this FakeModel has {len(self.script)} items and the cursor stands at {position}: "
                "there is no answer left (was step_once called again after 'done'?)"
            )
        self.cursor = position + 1
        message = self.script[position]
        given = [message.to_json() for message in messages]
        return Reply(message, Usage(_tokens([given, schemas]), _tokens(message.to_json())))


def _tokens(value: Any) -> int:
    """Estimate tokens as a quarter of the JSON text's UTF-8 bytes, rounded up: crude, and the same everywhere."""
    return math.ceil(len(canonical(value)) / 4)
