"""Tools that run under a log: written down before and after, so that a crash between the two is told from all others.

    the model's message    is durable before any of its tools starts
    an intent              is durable before its tool runs, unless that only reads
    a result               is durable before the next tool starts, and before the model is asked again

What becomes due at the same moment shares one append: a step with k tools takes k + 1 of them.

A call of which the log has an intent and no result is *in doubt*. No disk of ours can tell whether its tool had its
effect: the process may have died just before it, or just after. So the tool decides, by what it has declared:

    read_only, idempotent    run it again, with the same key
    non_idempotent           ask it what happened, if it can be asked; else stop, and say so: InDoubt

Asking gives a *verdict*, as a person's decision does:

    Happened("charged 26")   it ran, and this is its result
    DidNotHappen()           it did not run
    Unknown()                nobody can tell

Source: chapter 7.3.6.
"""

from dataclasses import dataclass

from minagent.log.errors import InDoubt
from minagent.log.records import Doubt
from minagent.messages import ToolCall
from minagent.tools import Tool, ToolRegistry


@dataclass(frozen=True)
class Happened:
    """A verdict on a call in doubt: its tool had its effect."""

    result: str


@dataclass(frozen=True)
class DidNotHappen:
    """A verdict on a call in doubt: its tool had no effect, and will have none unless it is run."""


@dataclass(frozen=True)
class Unknown:
    """A verdict on a call in doubt: nobody can tell."""


Verdict = Happened | DidNotHappen | Unknown


def settled(registry: ToolRegistry, call: ToolCall, doubt: Doubt) -> str | None:
    """Return the result of a call in doubt, by running it if that does no harm, or by asking its tool.

    None says that it did not run. It then starts over, with an intent: two processes may have asked at the same time
    and got the same answer, so one of the two appends conflicts, and only the other one's tool runs.

    Raises:
        InDoubt: the call may have happened, and nobody knows.
    """
    tool, key = registry.tools.get(call.name), doubt.key
    if tool is None or tool.effect != doubt.effect:
        now = "there is no tool of this name any more" if tool is None else f"its tool declares {tool.effect} now"
        raise InDoubt(call.name, call.arguments, key, f"{now}; it was {doubt.effect} when it was about to run")
    if tool.effect != "non_idempotent":
        return registry.call(call, key)
    verdict, why = _verdict(tool, key)
    match verdict:
        case Happened(str(result)):
            return result
        case DidNotHappen():
            return None
        case _:
            raise InDoubt(call.name, call.arguments, key, why)


def _verdict(tool: Tool, key: str) -> tuple[object, str]:
    """Ask a tool what became of a call. Return its verdict, and the reason if it has none."""
    if tool.reconcile is None:
        return Unknown(), "the tool has no way to find out"
    try:
        verdict = tool.reconcile(key)
    except Exception as error:
        return Unknown(), f"asking the tool failed: {type(error).__name__}: {error}"
    return verdict, f"asked, the tool says {verdict!r}"
