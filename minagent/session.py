"""A session: everything that a conversation is, as one object that can leave the process (7.2, 7.3.7).

`snapshot` gives plain JSON, `restore` is its inverse:

    {"id": "demo", "created_at": "2026-01-01T00:00:00Z", "metadata": {}, "messages": [...]}
"""

from dataclasses import dataclass, field
from typing import Any

from minagent.errors import InvalidMessages
from minagent.messages import Message, pending_calls, problems
from minagent.plain_json import items, plain, require, require_fields

SESSION = {"id": (str,), "created_at": (str,), "metadata": (dict,), "messages": (list,)}


@dataclass
class Session:
    """One conversation."""

    id: str
    messages: list[Message]
    created_at: str  # ISO 8601, UTC
    metadata: dict[str, Any] = field(default_factory=dict)  # what the application keeps with the session; plain JSON

    @property
    def step_count(self) -> int:
        """How many steps are complete: each one adds one message of the model, with a result for each of its calls."""
        return sum(message.role == "assistant" for message in self.messages) - bool(pending_calls(self.messages))

    @property
    def answered(self) -> bool:
        """Whether the newest message is a plain answer of the model: there is nothing left to do."""
        return bool(self.messages) and self.messages[-1].role == "assistant" and not self.messages[-1].tool_calls

    def snapshot(self) -> dict[str, Any]:
        """Return the session as plain JSON, which shares nothing with this object; raise InvalidValue if it cannot."""
        fields = {name: vars(self)[name] for name in SESSION}
        require_fields(fields, SESSION, "session")
        messages = [require(m, Message, place).to_json(place) for m, place in items(self.messages, "messages")]
        return {**fields, "metadata": plain(self.metadata, "metadata"), "messages": messages}

    @classmethod
    def restore(cls, value: Any) -> "Session":
        """Build a session from its snapshot; raise InvalidValue with the path of what does not fit."""
        fields = require_fields(value, SESSION, "session")
        messages = [Message.from_json(m, place) for m, place in items(fields["messages"], "messages")]
        return cls(fields["id"], messages, fields["created_at"], plain(fields["metadata"], "metadata"))


def validate(session: Session) -> bool:
    """Check the chapter's invariant: every tool result answers a call that was made (7.3.7).

    Return True if also every call has its result, False if one is still open. Raise InvalidMessages, with every
    problem, if the sequence contradicts itself.
    """
    found = problems(session.messages)
    if any(problem.kind != "dangling call" for problem in found):
        raise InvalidMessages("; ".join(map(str, found)))
    return not found and not pending_calls(session.messages)
