"""The second floor: a session as an append-only log of records, and the stores that keep it. This is its one door.

Read session_log first; then new_records, replay and records, which are its parts; doubt, for what a crash leaves
unknown; lease, for two writers; stores/base, for what a store promises.
"""

from minagent.log.doubt import DidNotHappen, Happened, Unknown
from minagent.log.errors import AppendUnknown, Conflict, InDoubt, LeaseLost, LogDamaged, LogError, LogMissing, LogTooNew
from minagent.log.lease import Lease
from minagent.log.records import State
from minagent.log.replay import ResumeReport, load
from minagent.log.runner import run_with_log
from minagent.log.session_log import SessionLog
from minagent.log.stores.base import Store
from minagent.log.stores.file import FileStore
from minagent.log.stores.memory import MemoryStore
from minagent.log.stores.open_store import open_store
from minagent.log.stores.sqlite import SqliteStore

__all__ = [
    "AppendUnknown",
    "Conflict",
    "DidNotHappen",
    "FileStore",
    "Happened",
    "InDoubt",
    "Lease",
    "LeaseLost",
    "LogDamaged",
    "LogError",
    "LogMissing",
    "LogTooNew",
    "MemoryStore",
    "ResumeReport",
    "SessionLog",
    "SqliteStore",
    "State",
    "Store",
    "Unknown",
    "load",
    "open_store",
    "run_with_log",
]
