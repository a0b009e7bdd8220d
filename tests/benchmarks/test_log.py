"""The durable step: what it costs at any length of history. The table with the ratios is in `durable_step`."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from minagent.log import FileStore, SessionLog
from tests.benchmarks.durable_step import HISTORIES, cost_of_exactly_once, cost_of_log, log_of, step


@pytest.mark.parametrize("history", HISTORIES)
def test_a_durable_step(benchmark: Callable[..., Any], tmp_path: Path, history: int):
    """One append, one fsync."""
    log, session = log_of(FileStore(tmp_path), history)
    numbers: Iterator[int] = count(history)

    def take() -> None:
        number = next(numbers)
        session.messages += step(number)
        log.record(session, number)

    benchmark(take)
    assert log.state.session == session


def test_a_resume_of_3000_steps(benchmark: Callable[..., Any], tmp_path: Path):
    """By replaying every record: the goal is 200 ms."""
    log, session = log_of(FileStore(tmp_path), 0)
    for number in range(3_000):
        session.messages += step(number)
    log.record(session, 3_000)
    resumed = benchmark(lambda: SessionLog.resume(FileStore(tmp_path), "bench", writer="r"))
    assert resumed.state == log.state


def test_a_step_costs_as_many_fsyncs_and_bytes_in_every_session():
    """One fsync, and the same bytes, whatever came before."""
    costs = [cost_of_log(history) for history in (10, 1_000)]
    assert [cost.fsyncs for cost in costs] == [1, 1]
    assert costs[0].written == pytest.approx(costs[1].written, rel=0.02)
    assert costs[0].written < 1.6


def test_exactly_once_costs_one_more_append():
    """For a step with one tool: message and intent, then the result."""
    costs = [cost_of_exactly_once(history) for history in (10, 1_000)]
    assert [cost.fsyncs for cost in costs] == [2, 2]
    assert costs[0].written == pytest.approx(costs[1].written, rel=0.02)
    assert costs[0].written < 1.9
