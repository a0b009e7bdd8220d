"""The log of a session as a file: JSON Lines, with a first line of its own. No I/O.

The first line names the session and the number of the first record:

    {"first":0,"session":"Ann"}
    {"v":1,"seq":0, ... }
    {"v":1,"seq":1, ... }␠
    {"v":1,"seq":2, ... }

A space before the line break (drawn as ␠) says that the batch goes on in the next line. What follows the last line
without one is of an append that was cut off: it counts for nothing, and the next append cuts it away.
"""

from collections.abc import Sequence
from typing import Any

from minagent.errors import InvalidValue
from minagent.log.errors import LogDamaged
from minagent.log.stores.base import Records
from minagent.plain_json import compact, parse, require_fields

HEADER = {"first": (int,), "session": (str,)}


def header(session_id: str, first: int) -> bytes:
    """Return the first line of a log."""
    return compact({"first": first, "session": session_id}) + b"\n"


def first_number(line: bytes, session_id: str) -> int:
    """Return the number of the first record, from the first line of a log.

    Raises:
        LogDamaged: the line is damaged, or of another session.
    """
    found = read_header(line, f"the log of {session_id!r}")
    if found["session"] != session_id:
        raise LogDamaged(f"the log of {session_id!r} is one of {found['session']!r}: was it copied?")
    return int(found["first"])


def read_header(line: bytes, name: str) -> dict[str, Any]:
    """Return what the first line says; raise LogDamaged, with the `name`, if it is not what `header` returns."""
    try:
        found = require_fields(parse(line), HEADER, "first line")
        intact = header(found["session"], found["first"]) == line
    except (ValueError, InvalidValue) as error:
        raise LogDamaged(f"{name}: its first line is damaged: {error}") from error
    if not intact:
        raise LogDamaged(f"{name}: its first line is damaged: {line!r}")
    return found


def batch(records: Sequence[bytes]) -> bytes:
    """Return the lines of an append."""
    return b" \n".join(records) + b"\n" if records else b""


def whole(data: bytes) -> bytes:
    """Return the whole batches with which `data` begins: up to the last line that ends in no space."""
    end = data.rfind(b"\n")
    while end > 0 and data[end - 1 : end] == b" ":
        end = data.rfind(b"\n", 0, end)
    return data[: end + 1]


def records_of(data: bytes, session_id: str, since: int) -> Records:
    """Return the records of a log file from number `since` on; raise LogDamaged if its first line is damaged."""
    line, newline, rest = data.partition(b"\n")
    first, good = first_number(line + newline, session_id), whole(rest)
    lines = [line.rstrip(b" ") for line in good.split(b"\n")[:-1]]
    return Records(first, lines, torn=len(rest) - len(good)).since(since)
