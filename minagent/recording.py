"""Tools that run under a log: written down before and after, so that a crash between the two is told from all others.

    the model's message    is durable before any of its tools starts
    an intent              is durable before its tool runs, unless that only reads
    a result               is durable before the next tool starts, and before the model is asked again

What becomes due at the same moment shares one append: a step with k tools takes k + 1 of them.

A call of which the log has an intent and no result is *in doubt*. No disk of ours can tell whether its tool had its
effect: the process may have died just before it, or just after. So the tool decides, by what it has declared:

    read_only, idempotent    run it again, with the same key
    non_idempotent           ask it what happened, if it can be asked; else stop, and say so: InDoubt

Source: chapter 7.3.6.
"""

from collections.abc import Mapping
from typing import Protocol

from minagent.errors import InDoubt
from minagent.messages import ToolCall
from minagent.session import Session
from minagent.tools import DidNotHappen, Happened, Tool, ToolRegistry, Unknown, Verdict

INTERRUPTED = "unknown: this call was interrupted, and may or may not have had its effect"
"""The result of a call of which nobody knows what became of it."""


class Recorder(Protocol):
    """Whoever writes a step down while it happens: a SessionLog does."""

    def record(self, session: Session, model_cursor: int | None) -> None:
        """Write down what is new in the session."""

    def record_intent(self, session: Session, model_cursor: int | None, call: int) -> str:
        """Write down what is new, and that the tool of this call of the newest message is to run; return its key."""

    def in_doubt(self) -> Mapping[int, str]:
        """Return the calls of the newest message of which an intent is all that is known, with their keys."""


def run_recorded(
    registry: ToolRegistry, log: Recorder, session: Session, model_cursor: int | None, index: int, call: ToolCall
) -> str:
    """Run the call of this index, or find out what became of it. Return its result, which is not written down yet.

    Raises:
        InDoubt: the call may have happened, and nobody knows.
        BaseException: what the tool or the log raises.
    """
    key = log.in_doubt().get(index)
    if key is not None and (result := _settled(registry, call, key)) is not None:
        return result
    if registry.effects((call,)) == ("read_only",):
        log.record(session, model_cursor)
        return registry.call(call)
    return registry.call(call, log.record_intent(session, model_cursor, index))


def _settled(registry: ToolRegistry, call: ToolCall, key: str) -> str | None:
    """Return the result of a call in doubt: by running it, if that does no harm, or by asking. None: it did not run.

    (Then it begins anew, with an intent. Two processes may have asked at the same time, and got the same answer. One of
    the two appends conflicts, and only the other one's tool runs.)
    """
    tool = registry.tools.get(call.name)
    if tool is None:
        raise InDoubt(call.name, call.arguments, key, "there is no tool of this name any more")
    if tool.effect != "non_idempotent":
        return registry.call(call, key)
    verdict, why = _ask(tool, key)
    match verdict:
        case Happened(str(result)):
            return result
        case DidNotHappen():
            return None
        case _:
            raise InDoubt(call.name, call.arguments, key, why)


def _ask(tool: Tool, key: str) -> tuple[Verdict, str]:
    """Ask a tool what became of a call. Return its verdict, and the reason if it has none."""
    if tool.reconcile is None:
        return Unknown(), "the tool has no way to find out"
    try:
        verdict = tool.reconcile(key)
    except Exception as error:
        return Unknown(), f"asking the tool failed: {type(error).__name__}: {error}"
    return verdict, f"asked, the tool says {verdict!r}"
