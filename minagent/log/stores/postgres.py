"""A store in a PostgreSQL database: three tables, and a transaction for whatever belongs together.

    minagent_sessions      session, id, first, length      one row a session; it outlives the session's deletion
    minagent_records       session, number, line
    minagent_checkpoints   session, number, document

`session` is the SHA-256 of the id, which may be of any length. An append is conditional by one statement:

    UPDATE minagent_sessions SET length = length + 3 WHERE session = '...' AND length = 5

Of two writers who expect the same length it changes the row for one. The other one waits for that transaction, finds
another length, and gets Conflict.

What is committed is on the server's disk, unless `synchronous_commit` is off there. If the connection is lost while a
commit is under way, nobody on this side knows: AppendUnknown. Before that, the server undoes all.

Source: chapter 7.3.9.
"""

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias

import psycopg

from minagent.errors import InvalidValue
from minagent.log.errors import AppendUnknown, Conflict
from minagent.log.stores.base import KEPT, Records, check_append

Rows: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

# (The lock: of two that make the same table at once, PostgreSQL refuses one.)
TABLES = """SELECT pg_advisory_xact_lock(7309);
CREATE TABLE IF NOT EXISTS minagent_sessions (session bytea PRIMARY KEY, id bytea, first bigint, length bigint);
CREATE TABLE IF NOT EXISTS minagent_records (session bytea, number bigint, line bytea, PRIMARY KEY (session, number));
CREATE TABLE IF NOT EXISTS minagent_checkpoints
    (session bytea, number bigint, document bytea, PRIMARY KEY (session, number))"""


class PostgresStore:
    """Keeps records in the PostgreSQL database at `url`. Threads may share it: each has a connection of its own.

    (A server allows 100, by its `max_connections`.) `options` are those of `psycopg.connect`: time-outs, TLS. A lost
    connection is made again by the next call; no call is made twice. After a fork, open another store.
    """

    def __init__(self, url: str, **options: Any) -> None:
        # What libpq takes apart otherwise than it was meant: its error would repeat parts of the password.
        if not re.fullmatch(r"postgresql://([^:@/]*(:[^:@/]*)?@)?[^@/]*(/[^@]*)?", url):
            raise InvalidValue("url", "escape what is special in user and password: %40 for @, %3A for :, %2F for /")
        self._connect = partial(psycopg.connect, url, autocommit=True, **options)
        self._connections = dict[int, Rows]()  # by thread
        with self._transaction() as database:
            database.execute(TABLES)

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log."""
        check_append(records, expected_length, expected_length)
        key, name = _key(session_id), session_id.encode("utf-8", "surrogatepass")
        with self._transaction() as database:
            database.execute("INSERT INTO minagent_sessions VALUES (%s, %s, 0, 0) ON CONFLICT DO NOTHING", (key, name))
            update = "UPDATE minagent_sessions SET length = length + %s WHERE session = %s AND length = %s"
            if not database.execute(update, (len(records), key, expected_length)).rowcount:
                query = "SELECT length FROM minagent_sessions WHERE session = %s"
                raise Conflict(expected_length, *database.execute(query, (key,)).fetchall()[0])
            rows = [(key, number, line) for number, line in enumerate(records, expected_length)]
            database.cursor().executemany("INSERT INTO minagent_records VALUES (%s, %s, %s)", rows)

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left."""
        # One statement sees one state of the database.
        query = """SELECT first, length, line FROM minagent_sessions LEFT JOIN minagent_records
                   ON minagent_records.session = minagent_sessions.session AND number >= %s
                   WHERE minagent_sessions.session = %s ORDER BY number"""
        rows = self._read(query, since, _key(session_id))
        first, length, _ = rows[0] if rows else (0, 0, None)
        return Records(min(max(since, first), length), [line for *_, line in rows if line is not None])

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number."""
        key = _key(session_id)
        move = "UPDATE minagent_sessions SET first = least(greatest(%s, first), length) WHERE session = %s"
        with self._transaction() as database:
            database.execute(move, (number, key))
            database.execute("DELETE FROM minagent_records WHERE session = %s AND number < %s", (key, number))

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number."""
        key = _key(session_id)
        insert = """INSERT INTO minagent_checkpoints VALUES (%s, %s, %s)
                    ON CONFLICT (session, number) DO UPDATE SET document = excluded.document"""
        delete = """DELETE FROM minagent_checkpoints WHERE session = %s AND number NOT IN
                    (SELECT number FROM minagent_checkpoints WHERE session = %s ORDER BY number DESC LIMIT %s)"""
        with self._transaction() as database:
            database.execute(insert, (key, number, document))
            database.execute(delete, (key, key, KEPT))

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first."""
        query = """SELECT number, document FROM minagent_checkpoints NATURAL LEFT JOIN minagent_sessions
                   WHERE session = %s AND number >= coalesce(first, 0) ORDER BY number DESC"""
        return [(number, document) for number, document in self._read(query, _key(session_id))]

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays, and one more."""
        move = "UPDATE minagent_sessions SET first = length + 1, length = length + 1 WHERE session = %s AND length > 0"
        with self._transaction() as database:
            database.execute(move, (_key(session_id),))
            database.execute("DELETE FROM minagent_records WHERE session = %s", (_key(session_id),))
            database.execute("DELETE FROM minagent_checkpoints WHERE session = %s", (_key(session_id),))

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted."""
        rows = self._read("SELECT id FROM minagent_sessions WHERE length > first")
        return sorted(name.decode("utf-8", "surrogatepass") for (name,) in rows)

    def close(self) -> None:
        """Close all connections."""
        for database in list(self._connections.values()):
            database.close()

    def _read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._working() as database:
            rows: list[tuple[Any, ...]] = database.execute(query, values).fetchall()
        return rows

    @contextlib.contextmanager
    def _working(self) -> Iterator[Rows]:
        """The connection of this thread, made again if it was lost."""
        me = threading.get_ident()
        try:
            if me not in self._connections or self._connections[me].closed:
                self._connections[me] = self._connect()
            yield self._connections[me]
        except psycopg.Error as error:
            if me in self._connections:  # it may be half broken, and not know it: a server died amid a batch
                self._connections[me].close()
            raise OSError(f"PostgreSQL: {type(error).__name__}: {error}") from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Rows]:
        """All or nothing of what is done in this context."""
        with self._working() as database:
            try:
                database.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
                yield database
            except BaseException:
                with contextlib.suppress(psycopg.Error):  # a server that has lost us undoes it by itself
                    database.execute("ROLLBACK")
                raise
            try:
                database.execute("COMMIT")
            except psycopg.Error as error:
                if database.closed or error.sqlstate is None:  # else the server has refused, and said so
                    raise AppendUnknown(f"the connection to PostgreSQL was lost in a commit: {error}") from error
                raise
            except BaseException:  # an interrupt: whatever the answer is, it must not be taken for that to another call
                database.close()
                raise


def _key(session_id: str) -> bytes:
    return sha256(session_id.encode("utf-8", "surrogatepass")).digest()


open_url = PostgresStore
