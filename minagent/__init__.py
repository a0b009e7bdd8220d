"""A small agent that survives crashes: the names a reader types.

Modules by distance from the reader: runner, lease, policy, log, replay, checkpoint, records, document, agent,
recording, session, models, tools, messages, stores, generations, atomic, plain_json, errors.
`minagent.lab` breaks things on purpose. Importing minagent starts nothing and loads the standard library alone.
"""

from minagent.agent import Agent, Step, add_question, init_session, run_turn, step_once
from minagent.checkpoint import LoadReport, load_checkpoint, recover_checkpoint, save_checkpoint
from minagent.document import Checkpoint
from minagent.errors import (
    AppendUnknown,
    CheckpointDamaged,
    CheckpointError,
    CheckpointMissing,
    CheckpointPassedOver,
    CheckpointTooNew,
    Conflict,
    EffectUnknown,
    InDoubt,
    InvalidMessages,
    InvalidValue,
    LeaseLost,
    LogDamaged,
    LogError,
    LogMissing,
    LogTooNew,
    MinagentError,
    ScriptExhausted,
)
from minagent.log.doubt import DidNotHappen, Happened, Unknown
from minagent.log.lease import Lease
from minagent.log.replay import ResumeReport
from minagent.log.runner import run_with_log
from minagent.log.session_log import SessionLog
from minagent.log.stores.file import FileStore
from minagent.log.stores.memory import MemoryStore
from minagent.log.stores.open_store import open_store
from minagent.log.stores.sqlite import SqliteStore
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
    "AppendUnknown",
    "AtEnd",
    "BeforeSideEffects",
    "Checkpoint",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointMissing",
    "CheckpointPassedOver",
    "CheckpointTooNew",
    "Conflict",
    "DidNotHappen",
    "EffectUnknown",
    "EverySeconds",
    "EverySteps",
    "EveryTokens",
    "FakeModel",
    "FileStore",
    "Happened",
    "HistoryModel",
    "InDoubt",
    "InvalidMessages",
    "InvalidValue",
    "Lease",
    "LeaseLost",
    "LoadReport",
    "LogDamaged",
    "LogError",
    "LogMissing",
    "LogTooNew",
    "MemoryStore",
    "Message",
    "MinagentError",
    "Model",
    "Policy",
    "Problem",
    "Reply",
    "ResumeReport",
    "ScriptExhausted",
    "Session",
    "SessionLog",
    "SqliteStore",
    "Step",
    "ToolCall",
    "ToolRegistry",
    "Unknown",
    "Unsaved",
    "Usage",
    "YoungDaly",
    "add_question",
    "init_session",
    "load_checkpoint",
    "open_store",
    "pending_calls",
    "problems",
    "recover_checkpoint",
    "run_turn",
    "run_with_checkpoints",
    "run_with_log",
    "save_checkpoint",
    "step_once",
    "validate",
]
