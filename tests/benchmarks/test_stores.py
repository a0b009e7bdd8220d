"""The table of the stores, with tiny numbers: its structure, not its times."""

import pytest

from tests.benchmarks.durable_step import PAYLOAD
from tests.benchmarks.stores import STORES, measure, table


def test_each_store_is_measured():
    """Every time is one; memory takes no bytes on the disk, and the others keep at least the payload."""
    rows = measure(history=5, resumed=(4, 40), samples=3)
    assert list(rows) == list(STORES) == ["memory", "file", "sqlite"]
    for row in rows.values():
        assert row.append > 0
        assert len(row.resumes) == 2
        assert min(row.resumes) > 0
    assert rows["memory"].on_disk == 0
    assert rows["file"].on_disk == pytest.approx(1.4, abs=0.2)
    assert 1 < rows["sqlite"].on_disk < 4


def test_the_table_has_a_row_for_each_store():
    """The file store's is the measure of the others; its own times come last."""
    title, head, *rows, times = [line.split() for line in table(history=2, resumed=(2,), samples=1)]
    assert title[:4] == ["one", "step", "of", str(len(PAYLOAD))]
    assert head == ["append", "after", "2", "resume", "2", "bytes", "on", "disk"]
    assert [row[0] for row in rows] == list(STORES)
    assert [len(row) for row in rows] == [4, 4, 4]
    assert rows[1][1:3] == ["1.00", "1.00"]
    assert (times[:2], len(times)) == (["file,", "ms"], 4)
