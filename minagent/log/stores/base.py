"""The contract of every store of records: what it promises, by number.

A store keeps, for each session, a log: records in order, numbered from 0. A record is one line of bytes, with no space
at its ends; a store knows nothing of what is in it. Beside the log it keeps checkpoints, documents that stand for the
records before a number.

 1  An append is conditional: it adds its records if exactly `expected_length` were ever appended; else it adds nothing
    and raises Conflict. Of two writers who expect the same length, one gets Conflict.
 2  A batch is all or nothing: whoever reads, now or after a crash, finds all of its records or none.
 3  What `read` returns is what was appended, byte for byte, in order, from the number that was asked for on.
 4  An append that has returned outlives the process, and where the store can, a power cut.
 5  An append that fails with OSError has added nothing. If that cannot be made sure of, it raises AppendUnknown: read
    again, and look.
 6  The length never goes down, not by truncation, and not by deletion: that raises it by one, so that an append which
    expects what was true before conflicts. A session that is begun again goes on from there.
 7  Truncation removes the records before a number, and nothing else.
 8  A deletion removes all records and checkpoints of one session, and of no other.
 9  Of the checkpoints the newest are kept, KEPT of them; one that is put under the same number replaces the other.
10  Any text can be the id of a session. Two ids never share anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from minagent.errors import InvalidValue
from minagent.log.errors import Conflict

KEPT = 2  # checkpoints of a session: the newest, and the one before, lest the newest be damaged


@dataclass(frozen=True)
class Records:
    """A part of a log."""

    first: int  # the number of the first of the lines; with no lines, the number that the next one will get
    lines: list[bytes]
    torn: int = 0  # bytes that follow and are not a whole batch: of an append that was cut off, or is under way

    @property
    def length(self) -> int:
        """How many records were ever appended."""
        return self.first + len(self.lines)

    def since(self, number: int) -> "Records":
        """Return the records from this number on, or from the first that is left: a copy."""
        start = min(max(number - self.first, 0), len(self.lines))
        return Records(self.first + start, self.lines[start:], self.torn)


class Store(Protocol):
    """What SessionLog needs; the numbers are those of the promises above."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log (1, 2, 4, 5).

        Raises:
            Conflict: another number of records was ever appended.
            InvalidValue: a record is empty, or holds a line break.
            OSError: nothing was added.
            AppendUnknown: perhaps it was.
        """

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left (2, 3)."""

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number (6, 7)."""

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number (9)."""

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first (9)."""

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays (6, 8)."""

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted."""


def check_append(records: Sequence[bytes], expected_length: int, length: int) -> None:
    """Raise what every store raises before it adds anything."""
    for index, record in enumerate(records):
        if not record or b"\n" in record or record.strip(b" ") != record:
            raise InvalidValue(f"records[{index}]", "a record is one line, not empty, with no space at its ends")
    if length != expected_length:
        raise Conflict(expected_length, length)
