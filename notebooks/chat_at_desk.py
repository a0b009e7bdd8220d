"""The capstone's desk, as a chat client that speaks the usual dictionaries."""

import json
from typing import Any

from minagent.lab.capstone.desk import Desk

Chat = dict[str, Any]


class ChatClient:
    """What a provider's package gives you: it takes messages, and returns the next one."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def complete(self, messages: list[Chat]) -> Chat:
        """Return the model's next message."""
        history = []
        for message in messages:
            if message["role"] == "tool":
                history.append({"receipt": message["content"]})
            elif message.get("tool_calls"):
                calls = [
                    json.loads(call["function"]["arguments"]) for call in message["tool_calls"]
                ]
                history.append({"orders": [call["order"] for call in calls]})
        answer = self.desk.ask(history)
        calls = [_call(number, order) for number, order in enumerate(answer.get("orders", []))]
        return {"role": "assistant", "content": answer.get("answer", ""), "tool_calls": calls}


def _call(number: int, order: str) -> Chat:
    function = {"name": "charge", "arguments": json.dumps({"order": order})}
    return {"id": f"call_{number}", "type": "function", "function": function}
