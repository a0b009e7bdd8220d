"""What the stores cost, as multiples of what the file store costs in the same run.

    python3 -m uv run --group test python -m tests.benchmarks.stores

An append is one step of `durable_step` in a log with a history, as `SessionLog.record` does it. A resume is opening the
store, and replaying every record. The stores take turns: step by step, and resume by resume; what counts is the median.
The bytes on the disk are those of a closed store: while SQLite's is open, its own log lies beside it, of some 4 MB.
"""

import statistics
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from minagent import Session
from minagent.log import FileStore, MemoryStore, SessionLog, SqliteStore
from minagent.log.stores.base import Store
from tests.benchmarks.durable_step import PAYLOAD, SAMPLES, log_of, seconds, step

HISTORY = 1_000
RESUMED = (1_000, 3_000)

Open = Callable[[], AbstractContextManager[Store]]


def memory(_: Path) -> Open:
    """One object is the place; opening it again is taking it again."""
    store = MemoryStore()
    return lambda: nullcontext(store)


def file(folder: Path) -> Open:
    """The folder is the place."""
    return lambda: closing(FileStore(folder))


def sqlite(folder: Path) -> Open:
    """The database is the place."""
    return lambda: closing(SqliteStore(folder / "sessions.db"))


STORES = {place.__name__: place for place in (memory, file, sqlite)}


@dataclass(frozen=True)
class Row:
    """What one store costs."""

    append: float
    """Seconds."""
    resumes: list[float]
    """Seconds, for each length that was asked for."""
    on_disk: float
    """Bytes, as a multiple of the payload, in the longest log."""


def take(log: SessionLog, session: Session, number: int) -> None:
    """Take one step, and record it."""
    session.messages += step(number)
    log.record(session, number)


def appends(places: dict[str, Open], history: int, samples: int) -> dict[str, float]:
    """Return the median of the seconds that an append takes."""
    with ExitStack() as stack:
        logs = {name: log_of(stack.enter_context(place()), history) for name, place in places.items()}
        rounds = [
            {name: seconds(partial(take, *log, number)) for name, log in logs.items()}
            for number in range(history, history + samples)
        ]
    return medians(rounds)


def write(place: Open, steps: int) -> None:
    """Write a log, step by step."""
    with place() as store:
        log, session = log_of(store, 0)
        for number in range(steps):
            take(log, session, number)


def resume(place: Open) -> float:
    """Return how many seconds a resume takes."""
    with ExitStack() as stack:
        return seconds(lambda: SessionLog.resume(stack.enter_context(place()), "bench", writer="r"))


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each store."""
    return {name: statistics.median(found[name] for found in rounds) for name in rounds[0]}


def new_places(folder: Path) -> dict[str, Open]:
    """Return a place for each store."""
    for name in STORES:
        (folder / name).mkdir(parents=True)
    return {name: place(folder / name) for name, place in STORES.items()}


def measure(history: int, resumed: tuple[int, ...], samples: int) -> dict[str, Row]:
    """Return what each store costs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        append = appends(new_places(folder / "append"), history, samples)
        resumes: list[dict[str, float]] = []
        for steps in resumed:
            places = new_places(folder / f"resume {steps}")
            for place in places.values():
                write(place, steps)
            rounds = [{name: resume(place) for name, place in places.items()} for _ in range(max(samples // 6, 1))]
            resumes.append(medians(rounds))
        longest = folder / f"resume {resumed[-1]}"
        size = {name: sum(file.stat().st_size for file in (longest / name).iterdir()) for name in STORES}
    payload = resumed[-1] * len(PAYLOAD)
    return {name: Row(append[name], [found[name] for found in resumes], size[name] / payload) for name in STORES}


def table(history: int, resumed: tuple[int, ...], samples: int) -> list[str]:
    """Return the lines of the table."""
    rows = measure(history, resumed, samples)
    base = rows["file"]
    heads = [f"append after {history:,}", *(f"resume {steps:,}" for steps in resumed), "bytes on disk"]
    lines = [f"one step of {len(PAYLOAD)} bytes; times as multiples of the file store's, bytes of the payload's"]
    lines.append(" " * 8 + "".join(f"{head:>20}" for head in heads))
    for name, row in rows.items():
        ratios = [row.append / base.append, *(a / b for a, b in zip(row.resumes, base.resumes, strict=True))]
        lines.append(f"{name:8}" + "".join(f"{ratio:20.2f}" for ratio in [*ratios, row.on_disk]))
    times = [base.append, *base.resumes]
    lines.append("file, ms" + "".join(f"{time * 1000:20.2f}" for time in times))
    return lines


if __name__ == "__main__":
    print(*table(HISTORY, RESUMED, SAMPLES), sep="\n")
