"""The ledger: what the outside world saw of an agent. It outlives every process that writes to it.

One JSON line for each thing that happened, in a file that is only appended to:

    {"what": "model", "tokens": 137, "seconds": 2.0}
    {"what": "tool", "name": "add", "arguments": {"a": 2, "b": 3}, "result": "5"}
    {"what": "tool", "name": "send_mail", "arguments": {...}, "result": "sent to Ann", "key": "i1-6-0"}

what        "model": the provider of the model billed a call; "tool": a tool had its effect
key         by which a tool knows a repeated request; left out where it knows none
tokens      input and output tokens of the call, together
seconds     what the call took, on a virtual clock: nobody waits for it, and it is the same on every machine
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

from minagent.messages import ToolCall
from minagent.models import Usage
from minagent.plain_json import compact, parse

SECONDS_PER_MODEL_CALL = 2.0


class Bill(NamedTuple):
    """What the model's provider asks to be paid for."""

    calls: int
    tokens: int
    seconds: float


class Ledger:
    """A ledger in the file `path`, which need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def record_model_call(self, usage: Usage) -> None:
        """Write down that a model call was answered and is owed for."""
        tokens = usage.input_tokens + usage.output_tokens
        self._append({"what": "model", "tokens": tokens, "seconds": SECONDS_PER_MODEL_CALL})

    def record_effect(self, call: ToolCall, result: str, key: str | None = None) -> None:
        """Write down that a tool had its effect."""
        entry = {"what": "tool", "name": call.name, "arguments": call.arguments, "result": result}
        self._append(entry if key is None else {**entry, "key": key})

    def result_of(self, key: str) -> str | None:
        """Return the result of the effect that has this key, if there is one."""
        return next((entry["result"] for entry in self.entries() if entry.get("key") == key), None)

    def newest(self, name: str) -> dict[str, Any] | None:
        """Return the newest effect of the tool of this name, if there is one."""
        return next((effect for effect in reversed(self.effects()) if effect["name"] == name), None)

    def entries(self) -> list[dict[str, Any]]:
        """Return all entries, oldest first."""
        if not self.path.exists():
            return []
        return [parse(line) for line in self.path.read_bytes().splitlines()]

    def effects(self) -> list[dict[str, Any]]:
        """Return the tools' effects, oldest first. Each says in `repeat` how often the same one came before."""
        effects: list[dict[str, Any]] = []
        for entry in self.entries():
            if entry["what"] == "tool":
                same = [e for e in effects if (e["name"], e["arguments"]) == (entry["name"], entry["arguments"])]
                effects.append({**entry, "repeat": len(same)})
        return effects

    def bill(self) -> Bill:
        """Return the sum of all model calls."""
        calls = [entry for entry in self.entries() if entry["what"] == "model"]
        return Bill(len(calls), sum(c["tokens"] for c in calls), sum(c["seconds"] for c in calls))

    def _append(self, entry: dict[str, Any]) -> None:
        # One write of one line to a descriptor in append mode: a process killed at any moment leaves whole lines only.
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, compact(entry) + b"\n")
        finally:
            os.close(descriptor)
