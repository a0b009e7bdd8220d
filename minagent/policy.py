"""When to save: a policy is a value that looks at what is not saved yet, and says whether to save now.

    EverySteps(10)                            after each tenth step: the chapter's every=10
    EverySeconds(30) | BeforeSideEffects()    as soon as one of the two is due
    YoungDaly(3600)                           as often as pays, for one failure an hour

A policy is asked twice in a step: when the model has answered and its tools are about to run, and when the step is
complete. It keeps nothing itself, so one policy can serve many runs. Begin and end of a run are saved in any case.

Source: chapters 7.3.8 and 7.3.9; Young 1974 (doi 10.1145/361147.361115); Daly 2006 (doi 10.1016/j.future.2004.11.016).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from minagent.tools import Effect


@dataclass
class Unsaved:
    """What has happened since the newest save: what a crash would lose now."""

    steps: int = 0
    """Steps that are complete."""
    seconds: float = 0.0
    """Time that has passed."""
    tokens: int = 0
    """Tokens that were paid for."""
    about_to_run: tuple[Effect, ...] = ()
    """The effects of the tools that run next; none between two steps."""
    save_seconds: float = 0.0
    """What the newest save took."""


class Policy(ABC):
    """When to save. Policies are combined by `|`."""

    @abstractmethod
    def due(self, unsaved: Unsaved) -> bool:
        """Return whether to save now."""

    def __or__(self, other: "Policy") -> "AnyOf":
        return AnyOf((self, other)) if isinstance(other, Policy) else NotImplemented


@dataclass(frozen=True)
class EverySteps(Policy):
    """Save after each `count` steps."""

    count: int

    def __post_init__(self) -> None:
        _check_count("steps", self.count)

    def __str__(self) -> str:
        return f"every {self.count} steps" if self.count > 1 else "every step"

    def due(self, unsaved: Unsaved) -> bool:
        """Say yes once `count` steps are complete."""
        return unsaved.steps >= self.count


@dataclass(frozen=True)
class EverySeconds(Policy):
    """Save as soon as `seconds` have passed since the newest save: for steps that differ in length."""

    seconds: float

    def __post_init__(self) -> None:
        _check_seconds("seconds", self.seconds)

    def __str__(self) -> str:
        return f"every {self.seconds:g} seconds"

    def due(self, unsaved: Unsaved) -> bool:
        """Say yes once `seconds` have passed."""
        return unsaved.seconds >= self.seconds


@dataclass(frozen=True)
class EveryTokens(Policy):
    """Save as soon as this many tokens were paid for since the newest save."""

    tokens: int

    def __post_init__(self) -> None:
        _check_count("tokens", self.tokens)

    def __str__(self) -> str:
        return f"every {self.tokens} tokens"

    def due(self, unsaved: Unsaved) -> bool:
        """Say yes once `tokens` were paid for."""
        return unsaved.tokens >= self.tokens


@dataclass(frozen=True)
class BeforeSideEffects(Policy):
    """Save the model's answer before a tool runs that changes the world.

    After a crash the model is not asked again, and cannot want something else. The tool may still run twice (7.3.6).
    """

    def __str__(self) -> str:
        return "before side effects"

    def due(self, unsaved: Unsaved) -> bool:
        """Say yes if a tool that runs next is not read-only."""
        return any(effect != "read_only" for effect in unsaved.about_to_run)


@dataclass(frozen=True)
class AtEnd(Policy):
    """Save at the end only."""

    def __str__(self) -> str:
        return "at the end"

    def due(self, unsaved: Unsaved) -> bool:  # noqa: ARG002 - whatever there is
        """Say no."""
        return False


@dataclass(frozen=True)
class AnyOf(Policy):
    """Save as soon as one of several policies says so. `a | b` is short for it."""

    policies: tuple[Policy, ...]

    def __post_init__(self) -> None:
        given = self.policies
        if not isinstance(given, tuple) or not given or not all(isinstance(policy, Policy) for policy in given):
            raise ValueError(f"AnyOf takes a tuple of policies, not {given!r}")

    def __str__(self) -> str:
        return " or ".join(map(str, self.policies))

    def due(self, unsaved: Unsaved) -> bool:
        """Say yes if one of them does."""
        return any(policy.due(unsaved) for policy in self.policies)


@dataclass(frozen=True)
class YoungDaly(Policy):
    """Save as often as pays: the interval follows from what the newest save cost and from how often processes die.

    A guess of `mean_time_between_failures` (in seconds) will do: wrong by a factor of two, it costs little. The
    interval stays between `at_least` and `at_most` seconds.
    """

    mean_time_between_failures: float
    at_least: float = 0.0
    at_most: float = math.inf

    def __post_init__(self) -> None:
        _check_seconds("mean_time_between_failures", self.mean_time_between_failures)
        if not 0 <= self.at_least <= self.at_most:
            raise ValueError(f"at_least is {self.at_least!r} and at_most is {self.at_most!r}: needs 0 <= least <= most")

    def __str__(self) -> str:
        return f"Young/Daly for a failure in {self.mean_time_between_failures:g} seconds"

    def due(self, unsaved: Unsaved) -> bool:
        """Say yes once the best interval has passed."""
        best = daly_interval(unsaved.save_seconds, self.mean_time_between_failures)
        # The next chance comes a step later, as steps have been so far. Now is nearer to the best interval, as a ratio,
        # if the geometric mean of the two times is past it.
        middle = unsaved.seconds * math.sqrt(1 + 1 / unsaved.steps) if unsaved.steps else unsaved.seconds
        return unsaved.seconds >= self.at_least and middle >= min(max(best, self.at_least), self.at_most)


def daly_interval(save: float, between_failures: float) -> float:
    """Return the best time between two saves, without that of the saves: Daly 2006, equation 37.

    `save` is the time that a save takes, `between_failures` the mean time between failures, in the same unit. The
    failures come at random; whether a restart is slow or fast makes no difference.
    """
    if save >= 2 * between_failures:
        return between_failures
    ratio = save / (2 * between_failures)
    young = math.sqrt(2 * save * between_failures)
    return young * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save


def _check_count(what: str, count: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"every so many {what}: needs a policy, or a whole number of at least 1, not {count!r}")


def _check_seconds(name: str, seconds: float) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ValueError(f"{name} must be a number above 0, not {seconds!r}")
