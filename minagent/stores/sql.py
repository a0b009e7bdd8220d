"""A store in an SQLite database: three tables, and a transaction for whatever belongs together.

    sessions      session, first, length      one row a session; it outlives the session's deletion
    records       session, number, line
    checkpoints   session, number, document

Records are written in the same transaction as the length that they make, and only if that was the one expected. So of
two writers, one conflicts.

A tool whose effect is a row in the same database needs neither intent nor key. It begins a transaction on `connection`
and leaves it open: the append of its result commits both, or a crash undoes both.

Source: chapter 7.3.9.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from itertools import accumulate
from os import PathLike

from minagent.errors import AppendUnknown
from minagent.stores.base import KEPT, Records, check_append

TABLES = (
    """CREATE TABLE IF NOT EXISTS sessions
       (session BLOB PRIMARY KEY, first INTEGER NOT NULL, length INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS records
       (session BLOB, number INTEGER, line BLOB NOT NULL, PRIMARY KEY (session, number))""",
    """CREATE TABLE IF NOT EXISTS checkpoints
       (session BLOB, number INTEGER, document BLOB NOT NULL, PRIMARY KEY (session, number))""",
)
PATIENCE = 30.0
"""Seconds to wait for another process's transaction."""


class SqliteStore:
    """Keeps records in the SQLite database at `path`. Threads may share it, and processes the file.

    After a fork, open another one: a connection is of the process that has opened it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        self._lock = threading.RLock()
        # Writers append to a log beside the database, with one fsync for each transaction.
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        with self._transaction() as database:
            for table in TABLES:
                database.execute(table)

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log, and commit what was begun on `connection` before."""
        session = _key(session_id)
        with self._transaction() as database:
            first, length = self._head(session)
            check_append(records, expected_length, length)
            rows = [(session, number, line) for number, line in enumerate(records, length)]
            database.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
            self._set_head(session, first, length + len(records))

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left."""
        session = _key(session_id)
        with self._transaction() as database:
            first, length = self._head(session)
            start = min(max(since, first), length)
            query = "SELECT line FROM records WHERE session = ? AND number >= ? ORDER BY number"
            lines = [line for (line,) in database.execute(query, (session, start))]
        offsets = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
        return Records(start, lines, offsets if lines else [])

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number."""
        session = _key(session_id)
        with self._transaction() as database:
            first, length = self._head(session)
            database.execute("DELETE FROM records WHERE session = ? AND number < ?", (session, number))
            self._set_head(session, min(max(number, first), length), length)

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number."""
        session = _key(session_id)
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)", (session, number, document))
            kept = "SELECT number FROM checkpoints WHERE session = ? ORDER BY number DESC LIMIT ?"
            database.execute(
                f"DELETE FROM checkpoints WHERE session = ? AND number NOT IN ({kept})",  # noqa: S608 - no input in it
                (session, session, KEPT),
            )

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first."""
        session = _key(session_id)
        with self._transaction() as database:
            first, _ = self._head(session)
            query = "SELECT number, document FROM checkpoints WHERE session = ? AND number >= ? ORDER BY number DESC"
            return database.execute(query, (session, first)).fetchall()

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays, and one more."""
        session = _key(session_id)
        with self._transaction() as database:
            _, length = self._head(session)
            if length:
                self._set_head(session, length + 1, length + 1)
            database.execute("DELETE FROM records WHERE session = ?", (session,))
            database.execute("DELETE FROM checkpoints WHERE session = ?", (session,))

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted."""
        with self._transaction() as database:
            found = database.execute("SELECT session FROM sessions WHERE length > first")
            return sorted(session.decode("utf-8", "surrogatepass") for (session,) in found)

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    def _head(self, session: bytes) -> tuple[int, int]:
        """Return the number of the first record that is left, and how many were ever appended."""
        found = self.connection.execute("SELECT first, length FROM sessions WHERE session = ?", (session,)).fetchone()
        return found or (0, 0)

    def _set_head(self, session: bytes, first: int, length: int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)", (session, first, length))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing of what is done in this context, and of what was begun before it."""
        with self._lock:
            try:
                if not self.connection.in_transaction:
                    self.connection.execute("BEGIN IMMEDIATE")
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back(error)
                if isinstance(error, sqlite3.Error):
                    raise OSError(f"SQLite: {error}") from error
                raise

    def _roll_back(self, why: BaseException) -> None:
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise AppendUnknown(f"an append failed, and so did undoing it: {error}") from why


def _key(session_id: str) -> bytes:
    """Return an id as bytes: any text can be one, and SQLite's own text cannot hold all of them."""
    return session_id.encode("utf-8", "surrogatepass")
