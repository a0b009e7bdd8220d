"""A small agent that survives crashes: the names a reader types.

Modules by distance from the reader: runner, policy, checkpoint, document, agent, session,
models, tools, messages, generations, atomic, plain_json, errors.
`minagent.lab` breaks things on purpose. Importing minagent starts nothing and loads the standard library alone.
"""

from minagent.agent import Agent, Step, init_session, run_turn, step_once
from minagent.checkpoint import LoadReport, load_checkpoint, recover_checkpoint, save_checkpoint
from minagent.document import Checkpoint
from minagent.errors import (
    CheckpointDamaged,
    CheckpointError,
    CheckpointMissing,
    CheckpointPassedOver,
    CheckpointTooNew,
    InvalidMessages,
    InvalidValue,
    MinagentError,
    ScriptExhausted,
)
from minagent.messages import Message, Problem, ToolCall, pending_calls, problems
from minagent.models import FakeModel, HistoryModel, Model, Reply, Usage
from minagent.policy import (
    AnyOf,
    AtEnd,
    BeforeSideEffects,
    EverySeconds,
    EverySteps,
    EveryTokens,
    Policy,
    Unsaved,
    YoungDaly,
)
from minagent.runner import run_with_checkpoints
from minagent.session import Session, validate
from minagent.tools import ToolRegistry

__all__ = [
    "Agent",
    "AnyOf",
    "AtEnd",
    "BeforeSideEffects",
    "Checkpoint",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointMissing",
    "CheckpointPassedOver",
    "CheckpointTooNew",
    "EverySeconds",
    "EverySteps",
    "EveryTokens",
    "FakeModel",
    "HistoryModel",
    "InvalidMessages",
    "InvalidValue",
    "LoadReport",
    "Message",
    "MinagentError",
    "Model",
    "Policy",
    "Problem",
    "Reply",
    "ScriptExhausted",
    "Session",
    "Step",
    "ToolCall",
    "ToolRegistry",
    "Unsaved",
    "Usage",
    "YoungDaly",
    "init_session",
    "load_checkpoint",
    "pending_calls",
    "problems",
    "recover_checkpoint",
    "run_turn",
    "run_with_checkpoints",
    "save_checkpoint",
    "step_once",
    "validate",
]
