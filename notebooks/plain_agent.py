"""An agent as one finds it: a loop over a chat client. It knows no log, and survives no crash."""

import json
from collections.abc import Callable

from chat_at_desk import ChatClient
from minagent.lab.capstone.desk import Desk


def run(client: ChatClient, tools: dict[str, Callable[..., str]], question: str) -> str:
    """Ask, run the tools, ask again; return the answer."""
    messages = [{"role": "user", "content": question}]
    while True:
        answer = client.complete(messages)
        messages.append(answer)
        if not answer["tool_calls"]:
            return answer["content"]
        for call in answer["tool_calls"]:
            function = call["function"]
            result = tools[function["name"]](**json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def live(desk: Desk) -> str:
    """Start it at the desk."""

    def charge(order: str) -> str:
        return desk.charge(order)["receipt"]

    return run(ChatClient(desk), {"charge": charge}, "Buy what is on the list.")
