"""What nbval needs to know here: its patience, where files may be left, fonts, and solutions."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.font_manager
import nbformat
import pytest
from nbval.plugin import IPyNbCell

from minagent.lab.servers.ready import missing

PATIENCE = 180.0
"""Seconds to wait for a kernel, a cell, or its output. A busy machine is slow, and not wrong."""

# nbval ends a kernel by killing it, so that nothing in it can tidy up: what it left goes with this.
# So do pytest's own folders: of runs at the same time, one would take away another's.
_left = tempfile.TemporaryDirectory(prefix="minagent-", ignore_cleanup_errors=True)
os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = _left.name

if sys.dont_write_bytecode:
    # Containers are often set so. But then each of hundreds of processes compiles all that it
    # imports, for seconds. So here compiled modules are kept for as long as the run lasts.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(_left.name, "pycache"))

# On its first import on a machine matplotlib builds its font cache, and says so on stderr if that
# takes long: nbval would compare that line.
__all__ = ["matplotlib"]


OPTIONAL = {"7.3.9d_real_servers": missing}
"""Notebooks that need more than a default install, and what says what is missing."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out a notebook whose servers or packages are not here."""
    return True if OPTIONAL.get(collection_path.stem, dict)() else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which were left out, and why."""
    for name, lacks in OPTIONAL.items():
        if lacking := lacks():
            terminalreporter.line(
                f"not run: {name}, which is optional; not here: {', '.join(lacking)}"
            )


def pytest_configure(config: pytest.Config) -> None:
    """Let nbval wait for long enough."""
    config.option.nbval_cell_timeout = PATIENCE
    config.option.nbval_kernel_startup_timeout = PATIENCE


class SolvedExercise(IPyNbCell):  # type: ignore[misc] # nbval has no types
    """An exercise and its check once more, solved this time; the check must end in "✓ right"."""

    def compare_outputs(self, test: list[Any], ref: list[Any], _: object = None) -> bool:
        """Return whether the last line that was printed is the wanted one."""
        said = "".join(output.get("text", "") for output in test).splitlines()[-1:]
        self.comparison_traceback = [f"the check says {said}"]
        return said == ref[0].text.splitlines()


def _solved(check: IPyNbCell, number: str) -> SolvedExercise:
    here = Path(check.path)
    solutions = nbformat.read(here.parent / "solutions" / here.name, as_version=4).cells
    answers = [cell.source for cell in solutions if f"solution:{number}" in _tags(cell)]
    cell = nbformat.v4.new_code_cell(
        "\n".join([*answers, check.cell.source]),
        execution_count=1,
        outputs=[nbformat.v4.new_output("stream", text="✓ right\n")],
    )
    place = {"cell_num": check.cell_num, "options": check.options}
    solved: SolvedExercise = SolvedExercise.from_parent(
        check.parent, name=f"Exercise {number} solved", cell=cell, **place
    )
    return solved


def _tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


PRESSED_ONCE = (
    "7.3.0_start_here",
    "7.3.1_what_a_crash_loses",
    "7.3.3_one_step_at_a_time",
    "7.3.5_run_crash_resume",
    "7.3.9d_real_servers",
    "live_demo",
)
"""Notebooks with a cell that cannot be run twice: it kills what the cell before has started."""


def _again(item: IPyNbCell) -> IPyNbCell:
    """Return the same cell once more."""
    place = {"cell_num": item.cell_num, "cell": item.cell, "options": item.options}
    again: IPyNbCell = type(item).from_parent(item.parent, name=f"Again {item.name}", **place)
    return again


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """After each check of an exercise, run it again with the solution; and run each cell twice.

    So a notebook is run in one kernel, as it stands, by a reader who solves each exercise where it
    is asked, and who runs each cell once more before going on: it must print the same again.
    """
    found, items[:] = list(items), []
    for item in found:
        items.append(item)
        if isinstance(item, IPyNbCell):
            numbers = (tag.partition("check:")[2] for tag in _tags(item.cell))
            items += [_solved(item, number) for number in numbers if number]
    twice = [
        (item, _again(item))
        if isinstance(item, IPyNbCell) and Path(item.path).stem not in PRESSED_ONCE
        else (item,)
        for item in items
    ]
    items[:] = [item for pair in twice for item in pair]
    for item in items:
        if isinstance(item, IPyNbCell):
            item.output_timeout = PATIENCE
