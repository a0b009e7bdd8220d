"""A store in Redis: one script for each operation, which Redis runs alone, from its begin to its end.

    minagent:ID:head           hash: first, length         it outlives the session's deletion
    minagent:ID:records        list: the lines that are left
    minagent:ID:checkpoints    hash: number, document
    minagent:sessions          set: the ids that were ever appended to

A script is not undone if it fails in the middle, so the length is written last: what is beyond it was never appended,
and the next append cuts it off.

How much an acknowledged append is worth is the server's setting. With `appendonly yes` and `appendfsync always` it is
on the disk. With `everysec`, the default of the append-only file, the last second can be lost, and with neither all
since the last snapshot.

If the connection is lost after a script was sent, nobody on this side knows: AppendUnknown.

Source: chapter 7.3.9.
"""

from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from minagent.log.errors import AppendUnknown, Conflict
from minagent.log.stores.base import KEPT, Records, check_append

HEAD = """
local head, records, checkpoints, sessions = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local first = tonumber(redis.call('HGET', head, 'first') or '0')
local length = tonumber(redis.call('HGET', head, 'length') or '0')
"""
APPEND = """
if length ~= tonumber(ARGV[1]) then return length end
redis.call('LTRIM', records, 0, length - first - 1)
if length == first then redis.call('DEL', records) end
for i = 3, #ARGV do redis.call('RPUSH', records, ARGV[i]) end
redis.call('SADD', sessions, ARGV[2])
redis.call('HSET', head, 'first', first, 'length', length + #ARGV - 2)
return -1
"""
READ = """
local start = math.min(math.max(tonumber(ARGV[1]), first), length)
if start == length then return {start, {}} end
return {start, redis.call('LRANGE', records, start - first, length - first - 1)}
"""
TRUNCATE = """
local start = math.min(math.max(tonumber(ARGV[1]), first), length)
if start == first then return end
redis.call('HSET', head, 'first', start)
if start == length then redis.call('DEL', records) else redis.call('LTRIM', records, start - first, -1) end
"""
PUT = """
redis.call('HSET', checkpoints, ARGV[1], ARGV[2])
local numbers = redis.call('HKEYS', checkpoints)
table.sort(numbers, function(a, b) return tonumber(a) > tonumber(b) end)
for i = tonumber(ARGV[3]) + 1, #numbers do redis.call('HDEL', checkpoints, numbers[i]) end
"""
CHECKPOINTS = "return {first, redis.call('HGETALL', checkpoints)}"
DELETE = """
if length > 0 then redis.call('HSET', head, 'first', length + 1, 'length', length + 1) end
redis.call('DEL', records, checkpoints)
"""


class RedisStore:
    """Keeps records in the Redis at `url`. Threads may share it: each call has a connection to itself.

    `options` are those of `redis.Redis.from_url`: time-outs, TLS, `max_connections`. A connection that was lost is made
    again by the next call; no call is made twice. After a fork, open another store.
    """

    def __init__(self, url: str, **options: Any) -> None:
        self._pool = redis.ConnectionPool.from_url(url, **options, retry=Retry(NoBackoff(), 0), decode_responses=False)
        self._run("", "return first")  # so that an address where nobody answers is told at once

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log."""
        check_append(records, expected_length, expected_length)
        length = self._run(session_id, APPEND, expected_length, _name(session_id), *records, changes=True)
        if length >= 0:
            raise Conflict(expected_length, length)

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left."""
        return Records(*self._run(session_id, READ, since))

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number."""
        self._run(session_id, TRUNCATE, number, changes=True)

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number."""
        self._run(session_id, PUT, number, document, KEPT, changes=True)

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first."""
        first, found = self._run(session_id, CHECKPOINTS)
        documents = zip(map(int, found[::2]), found[1::2], strict=True)
        return sorted((item for item in documents if item[0] >= first), reverse=True)

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays, and one more."""
        self._run(session_id, DELETE, changes=True)

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted."""
        names = self._run("", "return redis.call('SMEMBERS', sessions)")
        ids = [name.decode("utf-8", "surrogatepass") for name in names]
        return sorted(session_id for session_id in ids if self._run(session_id, "return length - first"))

    def close(self) -> None:
        """Close the connections."""
        self._pool.disconnect()

    def _run(self, session_id: str, script: str, *values: Any, changes: bool = False) -> Any:
        """Run a script on the keys of a session; `changes`: it may have done something, if no answer comes."""
        parts = [b"head", b"records", b"checkpoints"]
        keys = [b"minagent:%b:%b" % (_name(session_id), part) for part in parts] + [b"minagent:sessions"]
        try:
            connection = self._pool.get_connection()  # one that was lost is made again
        except (redis.RedisError, OSError) as error:
            raise OSError(f"Redis: {type(error).__name__}: {error}") from error
        try:
            connection.send_command("EVAL", HEAD + script, len(keys), *keys, *values)
            answer = connection.read_response()
        except redis.ResponseError as error:  # the server has refused, and said so
            raise OSError(f"Redis: {error}") from error
        except redis.RedisError as error:
            connection.disconnect()
            kind = AppendUnknown if changes else OSError
            raise kind(f"the connection to Redis was lost: {error}") from error
        except BaseException:  # an interrupt: the answer must not be taken for that to another call
            connection.disconnect()
            raise
        finally:
            self._pool.release(connection)
        return answer


def _name(session_id: str) -> bytes:
    return session_id.encode("utf-8", "surrogatepass")


open_url = RedisStore
