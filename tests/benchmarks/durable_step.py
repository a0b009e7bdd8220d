"""What a durable step costs, as a multiple of one bare append and fsync of the same bytes, in the same run.

    python3 -m uv run --group test python -m tests.benchmarks.durable_step

A step is two messages, 1,550 bytes as compact JSON, half of it Chinese. Between two steps a bare append of as many
bytes is taken, to a file beside. Disks are noisy: medians, and a ratio to what the same disk did in the same second.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from minagent import Agent, FakeModel, Message, Session, Step, ToolCall, ToolRegistry, save_checkpoint, step_once
from minagent.log.session_log import SessionLog
from minagent.log.stores.base import Store
from minagent.log.stores.file import FileStore
from minagent.models import Reply, Usage
from minagent.plain_json import compact

HISTORIES = (10, 100, 1_000, 10_000)
SAMPLES = 60
TEXT = "检查点与快照。" * 37 + "checkpoints and snapshots. " * 23


def step(number: int) -> list[Message]:
    """Return the two messages of a step."""
    call = ToolCall(f"c{number}", "look_up", {"page": number})
    return [Message("assistant", "", (call,)), Message("tool", TEXT, tool_call_id=call.id)]


PAYLOAD = b"".join(compact(message.to_json()) for message in step(0))


def log_of(store: Store, steps: int) -> tuple[SessionLog, Session]:
    """Return a log with a history of so many steps, and the session that it is of."""
    session = Session("bench", [Message("user", "Read on.")], "2026-01-01T00:00:00Z")
    for number in range(steps):
        session.messages += step(number)
    return SessionLog.begin(store, session, 0, writer="w", incarnation="i"), session


@dataclass
class Calls:
    """What the file system was asked to do."""

    fsyncs: int = 0
    written: int = 0
    seconds: float = 0.0
    """How long it took for both."""


@contextmanager
def counted() -> Iterator[Calls]:
    """Count the fsyncs and the bytes that are written."""
    calls, fsync, write = Calls(), os.fsync, os.write

    def counting_fsync(descriptor: int) -> None:
        calls.fsyncs += 1
        calls.seconds += seconds(lambda: fsync(descriptor))

    def counting_write(descriptor: int, data: bytes) -> int:
        calls.written += len(data)
        begun = time.perf_counter()
        written = write(descriptor, data)
        calls.seconds += time.perf_counter() - begun
        return written

    os.fsync, os.write = counting_fsync, counting_write  # type: ignore[assignment]
    try:
        yield calls
    finally:
        os.fsync, os.write = fsync, write


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


@dataclass(frozen=True)
class Cost:
    """Of one step at one length of history."""

    ratio: float
    """Its time, as a multiple of the bare append and fsync."""
    disk: float
    """How much of that the disk took. The rest is Python, which no faster or slower disk changes."""
    fsyncs: float
    written: float
    """Bytes, as a multiple of the payload."""


def cost(history: int, save: Callable[[int], object], folder: Path, samples: int = SAMPLES) -> Cost:
    """Measure `save`, which is given the number of the step, beside bare appends."""
    bare = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def append_and_fsync() -> None:
        os.write(bare, PAYLOAD)
        os.fsync(bare)

    numbers = range(history, history + samples)
    pairs = [(seconds(partial(save, number)), seconds(append_and_fsync)) for number in numbers]
    os.close(bare)
    counts = []
    for number in range(history + samples, history + 2 * samples):
        with counted() as calls:
            save(number)
        counts.append(calls)
    one = statistics.median(theirs for _, theirs in pairs)
    return Cost(
        ratio=statistics.median(ours for ours, _ in pairs) / one,
        disk=statistics.median(calls.seconds for calls in counts) / one,
        fsyncs=statistics.mean(calls.fsyncs for calls in counts),
        written=statistics.mean(calls.written for calls in counts) / len(PAYLOAD),
    )


def cost_of_log(history: int) -> Cost:
    """Measure a step that is recorded in a session log."""
    with tempfile.TemporaryDirectory() as folder:
        log, session = log_of(FileStore(folder), history)

        def save(number: int) -> None:
            session.messages += step(number)
            log.record(session, number)

        return cost(history, save, Path(folder))


class PageModel:
    """Asks for the next page, whatever the history is."""

    cursor: int | None = 0

    def complete(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> Reply:
        """Answer at once, so that what is measured is the recording."""
        self.cursor = (self.cursor or 0) + 1
        return Reply(step(self.cursor)[0], Usage(0, 0))


def cost_of_exactly_once(history: int) -> Cost:
    """Measure a whole step under a log: message and intent, the tool, its result."""
    with tempfile.TemporaryDirectory() as folder:
        log, session = log_of(FileStore(folder), history)
        registry = ToolRegistry()

        @registry.register(effect="idempotent")
        def look_up(page: int, *, idempotency_key: str) -> str:
            return TEXT

        agent, model, trace = Agent(registry, ""), PageModel(), list[Step]()
        return cost(history, lambda _: step_once(agent, session, model, trace, log=log), Path(folder))


def cost_of_checkpoint(history: int) -> Cost:
    """Measure a step after which the whole session is saved."""
    with tempfile.TemporaryDirectory() as folder:
        session, model = log_of(FileStore(Path(folder, "log")), history)[1], FakeModel([])

        def save(number: int) -> None:
            session.messages += step(number)
            save_checkpoint(Path(folder, "session.json"), session, model, [])

        return cost(history, save, Path(folder), samples=5)


def main() -> None:
    """Print the table."""
    print(f"one step of {len(PAYLOAD)} bytes, as a multiple of one bare append and fsync of them")
    print(f"{'':18}       recorded after it              recorded exactly once             checkpoint after it")
    print(f"{'':18}{'    time   disk  fsyncs   bytes ' * 3}")
    for history in HISTORIES:
        costs = [cost_of_log(history), cost_of_exactly_once(history)]
        costs += [cost_of_checkpoint(history)] if history <= 1_000 else []
        print(f"after {history:6} steps", *map(cells, costs), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        log, session = log_of(FileStore(folder), 0)
        for number in range(3_000):
            session.messages += step(number)
            log.record(session, number)
        size = Path(folder, "bench.log.jsonl").stat().st_size
        replay = min(seconds(lambda: SessionLog.resume(FileStore(folder), "bench", writer="r")) for _ in range(5))
        log.checkpoint()
        shortcut = min(seconds(lambda: SessionLog.resume(FileStore(folder), "bench", writer="r")) for _ in range(5))
    with tempfile.TemporaryDirectory() as folder:
        log, session = log_of(FileStore(folder), 0)
        for number in range(3_000):
            session.messages += step(number)
            log.record(session, number)
            log.compact_if_grown()
        compacted = sum(file.stat().st_size for file in Path(folder).iterdir())
    print(f"3,000 steps on the disk: {size / 3_000 / len(PAYLOAD):.2f} times their bytes;", end=" ")
    print(f"compacted when grown: {compacted / 3_000 / len(PAYLOAD):.2f} times")
    print(f"to resume 3,000 steps: {replay * 1000:.0f} ms by replay, {shortcut * 1000:.0f} ms from a checkpoint")


def cells(found: Cost) -> str:
    """Return a cost as four columns of the table."""
    return f"{found.ratio:8.2f} {found.disk:6.2f} {found.fsyncs:7.1f} {found.written:7.2f} "


if __name__ == "__main__":
    main()
