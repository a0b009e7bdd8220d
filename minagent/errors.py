"""Everything that minagent raises on purpose, in one tree.

    MinagentError
    ├── InvalidValue         a value does not fit its place; names the path of the place
    ├── InvalidMessages      a message sequence contradicts itself; lists every problem of it
    ├── ScriptExhausted      a FakeModel was asked once more than its script has answers
    ├── EffectUnknown        raised by a tool that cannot tell whether it had its effect
    ├── InDoubt              a tool may have had its effect, and nobody knows: a person must decide
    ├── CheckpointError
    │   ├── CheckpointMissing    there is no checkpoint to load
    │   ├── CheckpointDamaged    the bytes are not a checkpoint, or not the one that was saved
    │   └── CheckpointTooNew     intact, but in a format that this version does not know
    └── LogError
        ├── Conflict             another writer was first: read again
        ├── LeaseLost            another writer has the right to write in this session
        ├── AppendUnknown        an append failed, and may have taken effect: read again, and look
        ├── LogMissing           there is no session of this id
        ├── LogDamaged           a record is not the one that was written
        └── LogTooNew            an intact record is in a format that this version does not know

And one warning: CheckpointPassedOver, when a load had to take an older checkpoint than the newest.

Errors are raised, never asserted: `python -O` removes assertions, and with them the safety.
"""

from typing import Any


class MinagentError(Exception):
    """The root: catch this to catch whatever minagent raises on purpose."""


class InvalidValue(MinagentError):
    """A value does not fit its place."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class InvalidMessages(MinagentError):
    """A message sequence contradicts itself."""


class ScriptExhausted(MinagentError):
    """A FakeModel was asked once more than its script has answers."""


class EffectUnknown(MinagentError):
    """Raised by a tool that has sent its request and got no answer: it cannot tell whether it had its effect.

    Such a tool gives no result. Its call is in doubt, as after a crash, and the next step finds out.
    """


class InDoubt(MinagentError):
    """A tool was about to run when its process died, and nothing says whether it did. It is not run again on a guess.

    The message has what a person needs to find out, and the three ways on, of which each is a call of
    `SessionLog.resolve`.
    """

    def __init__(self, name: str, arguments: dict[str, Any], key: str, why: str) -> None:
        super().__init__(
            f"{name}({', '.join(f'{name}={value!r}' for name, value in arguments.items())}) was about to run, and "
            f"nobody knows whether it did: {why}. Its key is {key!r}. Find out, then go on in one of three ways:\n"
            f"    log.resolve({key!r}, Happened(result))    it did, and this is its result\n"
            f"    log.resolve({key!r}, DidNotHappen())      it did not: the next step runs it\n"
            f"    log.resolve({key!r}, Unknown())           nobody can tell: the model is told so, and it is not run"
        )
        self.name = name
        self.arguments = arguments
        self.key = key


class CheckpointError(MinagentError):
    """A checkpoint cannot be loaded."""


class CheckpointMissing(CheckpointError):
    """There is no checkpoint to load. Never answered by a silent fresh start."""


class CheckpointDamaged(CheckpointError):
    """The bytes are not a checkpoint, or not the one that was saved."""


class CheckpointTooNew(CheckpointError):
    """The checkpoint is intact, but its format is newer than this version of minagent."""


class LogError(MinagentError):
    """A session log cannot be read, or not be added to."""


class Conflict(LogError):
    """Another writer was first: the log has another length than was expected. Nothing was added."""

    def __init__(self, expected: int, length: int) -> None:
        super().__init__(f"expected {expected} records, and {length} were appended so far: read again before you write")
        self.expected = expected
        self.length = length


class LeaseLost(LogError):
    """Another writer has, or had, the right to write in this session. Nothing was added, and nothing will be.

    Tools that have run meanwhile have had their effects: no lease reaches them.
    """

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


class CheckpointPassedOver(UserWarning):
    """The newest checkpoint could not be loaded, and an older one was. Says which, why, and how many steps are lost."""
