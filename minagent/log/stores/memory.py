"""A store in memory: the contract at its shortest. It ends with the process."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from minagent.log.stores.base import KEPT, Records, check_append


@dataclass
class _Log:
    first: int = 0
    lines: list[bytes] = field(default_factory=list)
    checkpoints: dict[int, bytes] = field(default_factory=dict)


class MemoryStore:
    """Keeps records in dictionaries. Threads may share it."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}
        self._lock = threading.Lock()

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log."""
        with self._lock:
            log = self._logs.setdefault(session_id, _Log())
            check_append(records, expected_length, log.first + len(log.lines))
            log.lines += records

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left."""
        with self._lock:
            log = self._logs.get(session_id, _Log())
            return Records(log.first, log.lines).since(since)

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number."""
        with self._lock:
            log = self._logs.setdefault(session_id, _Log())
            gone = min(max(number - log.first, 0), len(log.lines))
            log.first += gone
            del log.lines[:gone]

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number."""
        with self._lock:
            log = self._logs.setdefault(session_id, _Log())
            log.checkpoints[number] = document
            for old in sorted(log.checkpoints, reverse=True)[KEPT:]:
                del log.checkpoints[old]

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first."""
        with self._lock:
            log = self._logs.get(session_id, _Log())
            return sorted(((n, document) for n, document in log.checkpoints.items() if n >= log.first), reverse=True)

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays."""
        with self._lock:
            if log := self._logs.get(session_id):
                self._logs[session_id] = _Log(first=log.first + len(log.lines) + 1)

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted."""
        with self._lock:
            return sorted(name for name, log in self._logs.items() if log.lines)
