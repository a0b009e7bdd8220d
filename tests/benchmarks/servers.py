"""What the stores on servers cost, as multiples of what the file store costs in the same run.

    python3 -m uv run --group servers --all-extras python -m tests.benchmarks.servers 10 100 1000 10000

The numbers are lengths of the log. The servers are started here, on this machine, and stopped in the end.
"""

import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from minagent.lab.servers.costs import Cost, costs, side_by_side
from minagent.lab.servers.local_servers import KINDS


def table(lengths: Sequence[int], sessions: int) -> list[str]:
    """Return the lines of the table: the file store in milliseconds, the others as multiples of it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="minagent-")))
        urls = {"file": f"file:{folder / 'files'}"}
        urls |= {name: stack.enter_context(make(folder / name)).url for name, make in KINDS.items()}
        found = {name: costs(url, lengths) for name, url in urls.items()}
        many = {name: side_by_side(url, sessions) for name, url in urls.items()}
    lines = ["milliseconds of the file store, and multiples of them"]
    lines.append(f"{'':24}" + "".join(f"{name:>12}" for name in urls))
    for what in Cost._fields:
        for length in lengths:
            values = {name: getattr(found[name][length], what) for name in urls}
            lines.append(_row(f"{what} at {length:,}", values))
    return [*lines, _row(f"append, {sessions} sessions", many)]


def _row(head: str, values: dict[str, float]) -> str:
    base = values["file"]
    cells = [f"{base * 1000:.2f}", *(f"{value / base:.1f}" for name, value in values.items() if name != "file")]
    return f"{head:24}" + "".join(f"{cell:>12}" for cell in cells)


if __name__ == "__main__":
    print(*table([int(length) for length in sys.argv[1:]], 100), sep="\n")
