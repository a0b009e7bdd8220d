"""A store in an SQLite database: three tables, and a transaction for whatever belongs together.

    sessions      session, first, length      one row a session; it outlives the session's deletion
    records       session, number, line
    checkpoints   session, number, document

Records are written in the same transaction as the length that they make, and only if that was the one expected. So of
two writers, one conflicts.

A tool whose effect is a row in the same database needs neither intent nor key. It writes the row in the context of
`effect`, which leaves its transaction open: the append of its result commits both, or a crash undoes both. Reads in
between commit nothing. (This is for one thread: another one's append would commit it.)

Source: chapter 7.3.9.
"""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from os import PathLike

from minagent.log.errors import AppendUnknown
from minagent.log.stores.base import KEPT, Records, check_append

TABLES = (
    """CREATE TABLE IF NOT EXISTS sessions
       (session BLOB PRIMARY KEY, first INTEGER NOT NULL, length INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS records
       (session BLOB, number INTEGER, line BLOB NOT NULL, PRIMARY KEY (session, number))""",
    """CREATE TABLE IF NOT EXISTS checkpoints
       (session BLOB, number INTEGER, document BLOB NOT NULL, PRIMARY KEY (session, number))""",
)
PATIENCE = 120.0  # seconds to wait for another process's transaction


class SqliteStore:
    """Keeps records in the SQLite database at `path`. Threads may share it, and processes the file.

    After a fork, open another one: a connection is of the process that has opened it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._lock = threading.RLock()
        self._has_effect = False
        """Whether a tool's effect waits in an open transaction."""
        self._lost_effect = False
        self._path = os.path.abspath(path)
        with _as_os_error(f"SQLite cannot open {path}"):
            self.connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            self._use_write_ahead_log()
            self.connection.execute("PRAGMA synchronous = FULL")  # one fsync for each transaction, of that log
        self._file = os.stat(self._path)
        with self._transaction() as database:
            for table in TABLES:
                database.execute(table)

    def _use_write_ahead_log(self) -> None:
        """Switch the database to write-ahead logging (WAL); the setting stays in the file."""
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                # A and B open a new database. A is about to change it, and B is refused, at once: for this statement
                # SQLite does not wait. For a transaction it does. After A's, there is nothing left to change.
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                self.connection.execute("BEGIN IMMEDIATE")
                self.connection.execute("ROLLBACK")
            else:
                return

    @contextlib.contextmanager
    def effect(self) -> Iterator[sqlite3.Connection]:
        """A transaction for what a tool does in this database. The next append commits it; an exception undoes it."""
        with self._lock:
            self._clean_up()
            if self._has_effect:  # of a tool that was interrupted
                self.connection.execute("ROLLBACK")
            self.connection.execute("BEGIN IMMEDIATE")
            self._has_effect = True
            try:
                yield self.connection
            except BaseException:
                self.connection.execute("ROLLBACK")
                self._has_effect = False
                raise

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log, and commit the effect of a tool that waits for it."""
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
        with self._reading() as database:
            first, length = self._head(session)
            start = min(max(since, first), length)
            query = "SELECT line FROM records WHERE session = ? AND number >= ? ORDER BY number"
            lines = [line for (line,) in database.execute(query, (session, start))]
        return Records(start, lines)

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
        with self._reading() as database:
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
        with self._reading() as database:
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
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One view of the database for all that is read in this context. It commits nothing."""
        with self._lock, _as_os_error():
            self._clean_up()
            if self._has_effect:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self.connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing of what is done in this context, together with the effect of a tool."""
        with self._lock, _as_os_error():
            self._clean_up()
            self.connection.execute("SAVEPOINT changes" if self._has_effect else "BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                self._undo()
                raise
            try:
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                # It may be in the file, though it could not be forced to the disk.
                self._undo()
                raise AppendUnknown(f"SQLite could not commit: {error}") from error
            except BaseException:  # an interrupt, before the commit or after it
                if self.connection.in_transaction:
                    self._undo()
                else:
                    self._has_effect = False
                raise
            self._has_effect = False

    def _undo(self) -> None:
        """Undo what was done in a transaction, and keep the effect that waits, if the database has kept it."""
        if not self._has_effect:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        elif self.connection.in_transaction:
            self.connection.execute("ROLLBACK TO changes")
            self.connection.execute("RELEASE changes")
        else:
            # A full disk makes SQLite roll back everything. The tool has said that it did its work, and its result may
            # be in a session in memory: nothing must be written down there any more.
            self._lost_effect = True

    def _clean_up(self) -> None:
        """Undo what two interrupts, one after the other, have left; refuse to go on after a lost effect or database."""
        if not os.path.samestat(os.stat(self._path), self._file):
            raise OSError(f"{self._path} is another file by now: open the store again")
        if self._lost_effect:
            raise OSError("a tool's effect was undone with the append of its result: open the store again, and resume")
        if self.connection.in_transaction and not self._has_effect:
            self.connection.execute("ROLLBACK")


@contextlib.contextmanager
def _as_os_error(what: str = "SQLite") -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"{what}: {error}") from error


def _key(session_id: str) -> bytes:
    """Return an id as bytes: any text can be one, and SQLite's own text cannot hold all of them."""
    return session_id.encode("utf-8", "surrogatepass")
