"""The table of costs, with tiny numbers: its structure, not its times."""

from minagent.lab.servers.costs import costs, side_by_side
from minagent.lab.servers.local_servers import Server
from minagent.lab.world.example import SESSION
from minagent.log import open_store
from tests.benchmarks.servers import table


def test_each_length_is_measured_at_that_length(server: Server):
    """And what was there before is gone."""
    for _ in range(2):
        found = costs(server.url, [2, 9], samples=3)
        assert [min(cost) > 0 for cost in found.values()] == [True, True]
        assert list(found) == [2, 9]
        assert len(open_store(server.url).read(SESSION).lines) == 12


def test_sessions_side_by_side_have_their_own_records(server: Server):
    """As many as were asked for."""
    assert side_by_side(server.url, sessions=5, appends=2, threads=3) > 0
    store = open_store(server.url)
    assert [len(store.read(f"side by side {number}").lines) for number in range(5)] == [2] * 5


def test_the_table_has_a_row_for_each_length():
    """The file store is the measure."""
    _, head, *rows = table([1, 3], 4)
    assert head.split() == ["file", "PostgreSQL", "Redis", "S3"]
    assert [row[:24].strip() for row in rows] == [
        "append at 1",
        "append at 3",
        "resume at 1",
        "resume at 3",
        "append, 4 sessions",
    ]
    assert all(len(row[24:].split()) == 4 for row in rows)
