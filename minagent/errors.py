"""Everything that minagent raises on purpose, in one tree. The log has errors of its own, in `minagent.log.errors`.

Errors are raised, never asserted: `python -O` removes assertions, and with them the safety.
"""

from typing import Any


class MinagentError(Exception):
    """The root: catch this to catch whatever minagent raises on purpose. As any value, it can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python's own way is to call the class with the message, which is not what some of these take.
        return self.__class__.__new__, (self.__class__, *self.args), self.__dict__


class InvalidValue(MinagentError):
    """A value does not fit its place; the error names the path of the place."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class InvalidMessages(MinagentError):
    """A message sequence contradicts itself; the error lists every problem of it."""


class ScriptExhausted(MinagentError):
    """A FakeModel was asked once more than its script has answers."""


class EffectUnknown(MinagentError):
    """Raised by a tool that got no answer to its request: its call is in doubt, as after a crash."""


class CheckpointError(MinagentError):
    """A checkpoint cannot be loaded."""


class CheckpointMissing(CheckpointError):
    """There is no checkpoint to load. Never answered by a silent fresh start."""


class CheckpointDamaged(CheckpointError):
    """The bytes are not a checkpoint, or not the one that was saved."""


class CheckpointTooNew(CheckpointError):
    """The checkpoint is intact, but in a newer format than this version of minagent knows."""


class CheckpointPassedOver(UserWarning):
    """The newest checkpoint could not be loaded, and an older one was. Says which, why, and how many steps are lost."""
