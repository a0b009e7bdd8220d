"""What an acknowledged append is worth: counted when the server dies, and when the power would."""

import os
from itertools import count
from pathlib import Path

import pytest

from minagent.lab.servers.local_servers import DURABLE, RedisServer, Server
from minagent.lab.servers.settings import TracedRedis, gone_after_a_kill, gone_after_a_power_cut, most_unforced
from tests.conftest import OF_THE_RUN

EVERY_SECOND = "--appendonly", "yes", "--save", ""
NUMBERS = count()
NO_COMMIT_WAITS = "&options=-c%20synchronous_commit%3Doff"


@pytest.fixture
def folder(running: object) -> Path:
    """A place for a server of this test's own, where the user `nobody` may come, too."""
    return OF_THE_RUN / f"{os.getpid()}-{next(NUMBERS)}"


@pytest.mark.parametrize(("settings", "gone"), [((), 200), (EVERY_SECOND, 0), (DURABLE, 0)])
def test_what_a_killed_redis_has_forgotten(folder: Path, settings: tuple[str, ...], gone: int):
    """As it comes it writes a snapshot now and then; its append-only file has everything."""
    with RedisServer(folder, settings) as server:
        assert gone_after_a_kill(server, server.url, 200) == gone


@pytest.mark.parametrize(("settings", "least", "most"), [((), 200, 200), (EVERY_SECOND, 20, 200), (DURABLE, 0, 0)])
def test_what_a_power_cut_could_take_of_redis(folder: Path, settings: tuple[str, ...], least: int, most: int):
    """In its worst moment."""
    assert least <= gone_after_a_power_cut(TracedRedis(folder, settings), 200) <= most


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_postgres_forgets_only_if_it_is_told_not_to_wait(server: Server):
    """By `synchronous_commit=off`, which may stand in the address."""
    assert gone_after_a_kill(server, server.url, 200) == 0
    server.forget_everything()
    assert gone_after_a_kill(server, server.url + NO_COMMIT_WAITS, 200) > 0


WRITE, TELL, BEGIN = (
    '7 write(9, "*1\\r"..., 20) = 20',
    '7 write(8, ":-1\\r"..., 5) = 5',
    "8 fdatasync(9 <unfinished ...>",
)
END, FORCE = "8 <... fdatasync resumed>)        = 0", "7 fdatasync(9)      = 0"


@pytest.mark.parametrize(
    ("calls", "worst"),
    [
        ([WRITE, TELL, WRITE, TELL], 2),
        ([WRITE, FORCE, TELL, WRITE, FORCE, TELL], 0),
        ([WRITE, TELL, FORCE, WRITE, TELL, FORCE], 1),
        ([WRITE, TELL, BEGIN, WRITE, TELL, END, WRITE, TELL], 2),
        ([TELL], 1),
        ([], 0),
    ],
)
def test_what_is_forced_is_what_was_written_before_the_call_began(calls: list[str], worst: int):
    """A literal trace."""
    assert most_unforced(calls) == worst
