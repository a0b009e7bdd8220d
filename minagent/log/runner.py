"""Run a session to its end with a log: what `runner` does with checkpoints.

Source: chapter 7.3.6.
"""

from minagent.agent import Agent, step_once
from minagent.log.records import State
from minagent.log.session_log import SessionLog
from minagent.models import Model


def run_with_log(agent: Agent, log: SessionLog, model: Model) -> State:
    """Go on from what the log holds until the session is answered, and return what it holds then.

    Raises:
        InDoubt: a tool may have run, and nobody knows: see `SessionLog.resolve`, then call this again.
        Whatever `step_once` raises; call this again to go on. (After a disk that was full twice, a call is in doubt.)
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
