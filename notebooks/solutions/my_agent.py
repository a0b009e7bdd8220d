"""The plain agent with minagent's log in it: what is new is written down first."""

import json

from chat_at_desk import Chat, ChatClient
from minagent import Message, Session, ToolCall, ToolRegistry, pending_calls
from minagent.lab.capstone.desk import Desk
from minagent.log import FileStore, LogMissing, SessionLog
from minagent.messages import open_calls
from minagent.models import Reply, Usage


def as_chat(message: Message) -> Chat:
    """Return one of the log's messages as the client knows it."""
    calls = [
        {"id": call.id, "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": message.content, "tool_calls": calls}


def as_message(answer: Chat) -> Message:
    """Return the client's answer as one of the log's messages."""
    calls = [(call["id"], call["function"]) for call in answer["tool_calls"]]
    calls = [ToolCall(name, f["name"], json.loads(f["arguments"])) for name, f in calls]
    return Message("assistant", answer["content"], calls)


def opened(store: FileStore, question: str) -> SessionLog:
    """Go on with the session, or begin it."""
    try:
        return SessionLog.resume(store, "mine")
    except LogMissing:
        session = Session("mine", [Message("user", question)], "2026-01-01T00:00:00Z")
        return SessionLog.begin(store, session)


def run(client: ChatClient, tools: ToolRegistry, question: str, store: FileStore) -> str:
    """Ask, run the tools, ask again; return the answer."""
    log = opened(store, question)
    session = log.state.session
    while not session.answered:
        if not pending_calls(session.messages):
            answer = as_message(client.complete([as_chat(message) for message in session.messages]))
            session.messages.append(answer)
            log.answered(session, None, Reply(answer, Usage(0, 0)))
        for index, call in open_calls(session.messages):
            result = log.run(tools, session, None, index, call)
            session.messages.append(Message("tool", result, tool_call_id=call.id))
        log.record(session, None)
    return session.messages[-1].content or ""


def live(desk: Desk) -> str:
    """Start it at the desk; what the log writes comes to the points of the matrix."""

    def charge(order: str, *, idempotency_key: str) -> str:
        return desk.charge(order, idempotency_key)["receipt"]

    tools = ToolRegistry()
    tools.register(effect="idempotent")(charge)
    with desk.points.watching_files():
        return run(ChatClient(desk), tools, "Buy what is on the list.", FileStore(desk.folder))
