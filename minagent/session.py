"""A session: everything that a conversation is, as one object that can leave the process.

`snapshot` gives plain JSON, `restore` is its inverse:

    {"id": "demo", "created_at": "2026-01-01T00:00:00Z", "metadata": {}, "messages": [...]}

Source: chapter 7.2; the invariant: 7.3.7.
"""

from dataclasses import dataclass, field
from typing import Any

from minagent.errors import InvalidMessages
from minagent.messages import Message, pending_calls, problems
from minagent.plain_json import plain, require, require_keys

KEYS = frozenset({"id", "created_at", "metadata", "messages"})


@dataclass
class Session:
    """One conversation."""

    id: str
    messages: list[Message]
    created_at: str
    """When the session began: ISO 8601, UTC."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Whatever the application wants to keep with the session; plain JSON."""

    @property
    def step_count(self) -> int:
        """How many steps are complete: each one adds one message of the model, with a result for each of its calls."""
        return sum(message.role == "assistant" for message in self.messages) - bool(pending_calls(self.messages))

    @property
    def answered(self) -> bool:
        """Whether the newest message is a plain answer of the model: there is nothing left to do."""
        return bool(self.messages) and self.messages[-1].role == "assistant" and not self.messages[-1].tool_calls

    def snapshot(self) -> dict[str, Any]:
        """Return the session as plain JSON, which shares nothing with this object.

        Raises:
            InvalidValue: a value would not come back equal; the error has its path.
        """
        listed = enumerate(require(self.messages, list, "messages"))
        return {
            "id": require(self.id, str, "id"),
            "created_at": require(self.created_at, str, "created_at"),
            "metadata": plain(require(self.metadata, dict, "metadata"), "metadata"),
            "messages": [require(m, Message, f"messages[{i}]").to_json(f"messages[{i}]") for i, m in listed],
        }

    @classmethod
    def restore(cls, value: Any) -> "Session":
        """Build a session from its snapshot; raise InvalidValue with the path of what does not fit."""
        fields = require_keys(value, KEYS, KEYS, "session")
        listed = enumerate(require(fields["messages"], list, "messages"))
        return cls(
            id=require(fields["id"], str, "id"),
            messages=[Message.from_json(m, f"messages[{i}]") for i, m in listed],
            created_at=require(fields["created_at"], str, "created_at"),
            metadata=plain(require(fields["metadata"], dict, "metadata"), "metadata"),
        )


def validate(session: Session) -> bool:
    """Check the chapter's invariant: every tool result answers a call that was made (7.3.7).

    Returns:
        True if also every call has its result; False if a call is still open.

    Raises:
        InvalidMessages: the sequence contradicts itself; the error lists every problem.
    """
    found = problems(session.messages)
    if any(problem.kind != "dangling call" for problem in found):
        raise InvalidMessages("; ".join(map(str, found)))
    return not found and not pending_calls(session.messages)
