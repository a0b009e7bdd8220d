"""A small agent that survives crashes: the names of chapter 7.3.

Begin to read with agent, then checkpoint. The second floor, `minagent.log`, and `minagent.lab`, which breaks things on
purpose, have doors of their own. Importing minagent starts nothing, and loads neither of them.
"""

from minagent.agent import Agent, Recorder, Step, add_question, init_session, run_turn, step_once
from minagent.checkpoint import load_checkpoint, recover_checkpoint, save_checkpoint
from minagent.document import Checkpoint
from minagent.errors import (
    CheckpointDamaged,
    CheckpointError,
    CheckpointMissing,
    CheckpointTooNew,
    EffectUnknown,
    InvalidMessages,
    InvalidValue,
    MinagentError,
    ScriptExhausted,
)
from minagent.messages import Message, ToolCall, pending_calls, problems
from minagent.models import FakeModel
from minagent.runner import SaveWhen, Unsaved, run_with_checkpoints
from minagent.session import Session, validate
from minagent.tools import ToolRegistry

__all__ = [
    "Agent", "Checkpoint", "CheckpointDamaged", "CheckpointError", "CheckpointMissing", "CheckpointTooNew",
    "EffectUnknown", "FakeModel", "InvalidMessages", "InvalidValue", "Message", "MinagentError",
    "Recorder", "SaveWhen", "ScriptExhausted", "Session", "Step", "ToolCall", "ToolRegistry", "Unsaved", "add_question",
    "init_session", "load_checkpoint", "pending_calls", "problems", "recover_checkpoint", "run_turn",
    "run_with_checkpoints", "save_checkpoint", "step_once", "validate",
]  # fmt: skip
