"""Run a session to its end, saving on the way. A thin shell around `step_once`.

Source: chapter 7.3.8.
"""

from os import PathLike

from minagent.agent import Agent, Step, step_once
from minagent.checkpoint import save_checkpoint
from minagent.models import Model
from minagent.session import Session


def run_with_checkpoints(
    agent: Agent, session: Session, model: Model, steps: list[Step], path: str | PathLike[str], every: int = 2
) -> None:
    """Step until the session is done, saving to `path` after each `every` steps, and always at the end.

    Raises:
        ValueError: `every` is less than 1.
    """
    if every < 1:
        raise ValueError(f"every must be at least 1 (save after each step), not {every}")
    taken = 0
    status = "paused"
    while status == "paused":
        status = step_once(agent, session, model, steps)
        taken += 1
        if status == "done" or taken % every == 0:
            save_checkpoint(path, session, model, steps)
