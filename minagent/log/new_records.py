"""What is to be appended to a session's log: records that are not there yet, as kind and body. No I/O.

A log cannot change what it holds. So what is new in a session is what comes after what the log knows, and the rest has
to be as it was.

Source: chapter 7.3.6.
"""

from typing import Any

from minagent.agent import INTERRUPTED
from minagent.document import check_cursor
from minagent.errors import InvalidValue
from minagent.log.doubt import DidNotHappen, Happened, Unknown, Verdict
from minagent.log.records import Kind, State
from minagent.messages import Message, check_sequence, newest_exchange
from minagent.plain_json import compact, plain, require
from minagent.session import Session

Draft = tuple[Kind, dict[str, Any]]
"""A record that is not in the log yet: its kind and its body."""


def drafts_of_what_is_new(known: Session, session: Session, model_cursor: int | None) -> list[Draft]:
    """Return the drafts for what is new in a session: its new messages, and its metadata if they are others.

    Raises:
        InvalidValue: what the log knows already was changed, or a value would not come back equal.
        InvalidMessages: the messages contradict themselves; the error lists every problem.
    """
    count = len(known.messages)
    if (session.id, session.created_at) != (known.id, known.created_at):
        raise InvalidValue("session", f"this log is of the session {known.id!r}")
    if (length := len(session.messages)) < count:
        raise InvalidValue("messages", f"the log holds {count}, the session {length}: go on from `state`")
    new = session.messages[count:]
    has_metadata = session.metadata != {} or known.metadata != {}
    if not new and not has_metadata:
        return []  # as at the beginning of most steps
    places = [(message, f"messages[{index}]") for index, message in enumerate(new, count)]
    forms = [require(message, Message, path).to_json(path) for message, path in places]
    check_sequence([*newest_exchange(known.messages), *new])
    drafts: list[Draft] = [("message", {"message": form}) for form in forms]
    answers = [body for _, body in drafts if body["message"]["role"] == "assistant"]
    for body in answers[-1:]:
        body["model_cursor"] = check_cursor(model_cursor)
    if has_metadata:
        metadata = plain(session.metadata, "metadata")
        if compact(metadata) != compact(known.metadata):
            drafts.append(("metadata", {"metadata": metadata}))
    return drafts


def drafts_of_verdict(known: State, key: str, verdict: Verdict) -> list[Draft]:
    """Return the drafts for what was found out about the call in doubt that has this key.

    Raises:
        InvalidValue: no call in doubt has this key, or this is not a verdict.
    """
    call = next((call for call, doubt in known.in_doubt.items() if doubt.key == key), None)
    if call is None:
        keys = [doubt.key for doubt in known.in_doubt.values()]
        raise InvalidValue("key", f"no call in doubt has the key {key!r}; in doubt: {keys}")
    resolved: Draft = ("resolved", {"call": call})
    match verdict:
        case Happened(result):
            return [resolved, _result(known, call, require(result, str, "result"))]
        case Unknown():
            return [resolved, _result(known, call, INTERRUPTED)]
        case DidNotHappen():
            return [resolved]
        case _:
            raise InvalidValue("verdict", f"Happened(result), DidNotHappen() or Unknown(), not {verdict!r}")


def _result(state: State, call: int, text: str) -> Draft:
    """Return the draft for the result of a call of the newest message."""
    asker = newest_exchange(state.session.messages)[0]
    return "message", {"message": Message("tool", text, tool_call_id=asker.tool_calls[call].id).to_json()}
