"""What an append and a resume cost on a store, as its log grows, and with many sessions side by side (7.3.9)."""

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from minagent.lab.servers.crashes import store_at
from minagent.lab.world.example import SESSION
from minagent.log.stores.base import Store

RECORD = b"x" * 1_500  # bytes: a step's, as a rule
BEYOND = 10**9  # records: to ask for none of them, and be told how many there are


class Cost(NamedTuple):
    """Seconds, medians."""

    append: float  # of one record
    resume: float  # opening the store, and reading all records


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def read_all(url: str) -> None:
    """Open a store, as a new process would, and read the log."""
    with store_at(url) as store:
        store.read(SESSION)


def grown(store: Store, session: str, count: int) -> list[float]:
    """Append so many records to a session, one by one; return how long each took, in seconds."""
    length = store.read(session, BEYOND).length
    numbers = range(length, length + count)
    return [seconds(partial(store.append, session, [RECORD], number)) for number in numbers]


def costs(url: str, lengths: Sequence[int], samples: int = 20) -> dict[int, Cost]:
    """Return what an append and a resume cost when the log has each of these lengths. The log is begun anew."""
    found, there = dict[int, Cost](), 0
    with store_at(url) as store:
        store.delete(SESSION)
        for length in lengths:
            grown(store, SESSION, length - there)
            resume = statistics.median(seconds(lambda: read_all(url)) for _ in range(max(samples // 4, 1)))
            found[length] = Cost(statistics.median(grown(store, SESSION, samples)), resume)
            there = length + samples
    return found


def side_by_side(url: str, sessions: int = 100, appends: int = 5, threads: int = 8) -> float:
    """Return how long an append takes when many sessions grow at once, on one store: seconds of the wall, for each."""
    names = [f"side by side {number}" for number in range(sessions)]
    with store_at(url) as store, ThreadPoolExecutor(threads) as pool:
        for name in names:
            store.delete(name)
        took = seconds(lambda: list(pool.map(lambda name: grown(store, name, appends), names)))
    return took / (sessions * appends)
