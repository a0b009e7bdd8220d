"""Client or server killed at every crash point of the standard run: the transcript is that of the undisturbed run."""

from collections.abc import Callable
from itertools import count

from minagent.lab.matrix.variants import STANDARD
from minagent.lab.servers.crashes import End, client_dies, server_dies, undisturbed
from minagent.lab.servers.local_servers import S3Server, Server
from tests.examined import Examined
from tests.servers.conftest import LASTING


def points_until_the_end(url: str, dies: Callable[[int], End | None], every: int = 1) -> int:
    """Return how many points a run has; at each of them, or every so many, it has to end as the undisturbed one."""
    calm = undisturbed(url)
    assert calm is not None
    assert len(calm.charges) == len(set(calm.charges)) == STANDARD.steps * STANDARD.tools
    for number in count(1, every):
        if (end := dies(number)) is None:
            return number - 1
        assert end == calm
    raise AssertionError


def test_a_client_killed_at_each_point(server: Server, examined: Examined):
    """Another process goes on: nobody is charged twice, and nothing is missing. On the slow S3 it is every third."""
    every = 3 if isinstance(server, S3Server) else 1
    points = points_until_the_end(server.url, lambda number: client_dies(server.url, number), every)
    examined("crash points of a client of a server", points // every)
    assert points > 30


@LASTING
def test_a_server_killed_at_each_point(server: Server, examined: Examined):
    """It comes back, and whoever was told of it resumes."""
    points = points_until_the_end(server.url, lambda number: server_dies(server, number))
    examined("crash points at which a server was killed", points)
    assert points > 30
