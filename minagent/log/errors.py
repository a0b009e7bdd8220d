"""Everything that the log raises on purpose, below MinagentError.

InDoubt              a tool may have had its effect, and nobody knows: a person must decide
LogError
├── Conflict         another writer was first: read again
├── LeaseLost        another writer has the right to write in this session
├── AppendUnknown    an append failed, and may have taken effect: read again, and look
├── LogMissing       there is no session of this id
├── LogDamaged       a record is not the one that was written
└── LogTooNew        an intact record is in a format that this version does not know
"""

from typing import Any

from minagent.errors import MinagentError


class InDoubt(MinagentError):
    """A tool was about to run when its process died, and nothing says whether it did. It is not run again on a guess.

    The message has what a person needs to find out, and the three ways on: each a call of `SessionLog.resolve`.
    """

    def __init__(self, name: str, arguments: dict[str, Any], key: str, why: str) -> None:
        super().__init__(
            f"{name}({', '.join(f'{name}={value!r}' for name, value in arguments.items())}) was about to run, and "
            f"nobody knows whether it did:\n{why}. Its key is {key!r}. Find out, then go on:\n"
            f"  log.resolve({key!r}, Happened(result))  it did, and this is its result\n"
            f"  log.resolve({key!r}, DidNotHappen())    it did not: the next step runs it\n"
            f"  log.resolve({key!r}, Unknown())         nobody knows: not run; the model is told"
        )
        self.name = name
        self.arguments = arguments
        self.key = key


class LogError(MinagentError):
    """A session log cannot be read, or not be added to."""


class Conflict(LogError):
    """Another writer was first: the log has another length than was expected. Nothing was added."""

    def __init__(self, expected: int, length: int, what_to_do: str = "read again before you write") -> None:
        super().__init__(f"expected {expected} records, and {length} were appended so far: {what_to_do}")
        self.expected = expected
        self.length = length


class LeaseLost(LogError):
    """Another writer has, or had, the right to write in this session. Nothing is added; no lease reaches the tools."""

    def __init__(self, holder: str | None) -> None:
        has = "another writer had its lease meanwhile" if holder is None else f"the writer {holder!r} has its lease"
        super().__init__(f"this session is not ours to write in: {has}. Stop, or acquire the lease, and resume")
        self.holder = holder


class AppendUnknown(LogError):
    """An append failed, and so did undoing it: it may have taken effect. Read again, and look."""


class LogMissing(LogError):
    """There is no session of this id in the store. Never answered by a silent fresh start."""


class LogDamaged(LogError):
    """A record is not the one that was written; says which, and where."""


class LogTooNew(LogError):
    """A record is intact, but its format is newer than this version of minagent."""
