"""Everything that minagent raises on purpose, in one tree.

    MinagentError
    ├── InvalidValue         a value does not fit its place; names the path of the place
    ├── InvalidMessages      a message sequence contradicts itself; lists every problem of it
    ├── ScriptExhausted      a FakeModel was asked once more than its script has answers
    ├── EffectUnknown        raised by a tool that cannot tell whether it had its effect
    └── CheckpointError
        ├── CheckpointMissing    there is no checkpoint to load
        ├── CheckpointDamaged    the bytes are not a checkpoint, or not the one that was saved
        └── CheckpointTooNew     intact, but in a format that this version does not know

And one warning: CheckpointPassedOver, when a load had to take an older checkpoint than the newest. The log has errors
of its own, in `minagent.log.errors`.

Errors are raised, never asserted: `python -O` removes assertions, and with them the safety.
"""

from typing import Any


class MinagentError(Exception):
    """The root: catch this to catch whatever minagent raises on purpose. As any value, it can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python's own way is to call the class with the message, which is not what some of these take.
        return self.__class__.__new__, (self.__class__, *self.args), self.__dict__


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


class CheckpointError(MinagentError):
    """A checkpoint cannot be loaded."""


class CheckpointMissing(CheckpointError):
    """There is no checkpoint to load. Never answered by a silent fresh start."""


class CheckpointDamaged(CheckpointError):
    """The bytes are not a checkpoint, or not the one that was saved."""


class CheckpointTooNew(CheckpointError):
    """The checkpoint is intact, but its format is newer than this version of minagent."""


class CheckpointPassedOver(UserWarning):
    """The newest checkpoint could not be loaded, and an older one was. Says which, why, and how many steps are lost."""
