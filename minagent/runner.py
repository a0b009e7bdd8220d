"""Run a session to its end, saving on the way. Thin shells around `step_once`.

Source: chapters 7.3.6 and 7.3.8.
"""

import time
from collections.abc import Callable
from os import PathLike

from minagent.agent import Agent, Step, step_once
from minagent.checkpoint import save_checkpoint
from minagent.log.records import State
from minagent.log.session_log import SessionLog
from minagent.models import Model, Reply
from minagent.policy import EverySteps, Policy, Unsaved
from minagent.session import Session


def run_with_checkpoints(
    agent: Agent,
    session: Session,
    model: Model,
    steps: list[Step],
    path: str | PathLike[str],
    every: int | Policy = 2,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Step until the session is answered. Save to `path` first of all, whenever the policy says so, and at the end.

    `every` is the policy; a plain number N is short for EverySteps(N). A session that is answered already takes no
    step. `clock` returns seconds; from when they count does not matter.

    Raises:
        ValueError: `every` is no policy and no whole number of at least 1.
    """
    policy = every if isinstance(every, Policy) else EverySteps(every)
    unsaved = Unsaved()
    saved_at = 0.0

    def save() -> None:
        nonlocal unsaved, saved_at
        begun = clock()
        save_checkpoint(path, session, model, steps)
        saved_at = clock()
        unsaved = Unsaved(save_seconds=max(0.0, saved_at - begun))  # a clock may be set back

    def due() -> bool:
        unsaved.seconds = max(0.0, clock() - saved_at)
        return policy.due(unsaved)

    def before_tools(reply: Reply) -> None:
        unsaved.tokens += reply.usage.input_tokens + reply.usage.output_tokens
        unsaved.about_to_run = agent.registry.effects(reply.message.tool_calls)
        if due():
            save()

    save()  # whoever dies in the first step has something to come back to
    while not session.answered:
        status = step_once(agent, session, model, steps, before_tools)
        unsaved.steps += 1
        unsaved.about_to_run = ()
        if status == "done" or due():
            save()


def run_with_log(agent: Agent, log: SessionLog, model: Model) -> State:
    """Go on from what the log holds until the session is answered, and return what it holds then.

    Raises:
        InDoubt: a tool may have run, and nobody knows: see `SessionLog.resolve`, then call this again.
        Whatever `step_once` raises. What has come to its end is in the log, and calling this again goes on from there.
    """
    state = log.state
    session, model.cursor, steps = state.session, state.model_cursor, state.steps
    while not session.answered:
        try:
            step_once(agent, session, model, steps, log=log)
        except OSError:
            # The disk was full for a moment, perhaps. What a tool has said must not be forgotten with this session.
            log.record(session, model.cursor)
            raise
        log.compact_if_grown()
    return log.state
