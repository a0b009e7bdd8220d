"""What nbval needs to know here: its patience, where files may be left, fonts, and solutions."""

import os
import runpy
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


_known = Path(__file__).parents[1] / "tests" / "wrong_answers.py"
WRONG_ANSWERS: dict[str, list[tuple[str, str]]] = (
    runpy.run_path(str(_known))["WRONG_ANSWERS"] if _known.exists() else {}
)
"""For each exercise answers that are wrong, each with what its check must say."""


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


class WrongAnswer(SolvedExercise):
    """An exercise answered wrongly, and its check: what it prints last must name the mistake."""

    def compare_outputs(self, test: list[Any], ref: list[Any], _: object = None) -> bool:
        """Return whether the mistake is named, in a line of its own, and without a traceback."""
        said = "".join(output.get("text", "") for output in test).splitlines()[-1:]
        self.comparison_traceback = [f"the check says {said}, and not {ref[0].text!r}"]
        return all(output.output_type != "error" for output in test) and ref[0].text in "".join(
            said
        )


def _tried(
    kind: type[SolvedExercise], check: IPyNbCell, name: str, answers: list[str], said: str
) -> SolvedExercise:
    """Return a cell that puts answers before a check, and what it must say."""
    cell = nbformat.v4.new_code_cell(
        "\n".join([*answers, check.cell.source]),
        execution_count=1,
        outputs=[nbformat.v4.new_output("stream", text=said)],
    )
    place = {"cell_num": check.cell_num, "options": check.options}
    tried: SolvedExercise = kind.from_parent(check.parent, name=name, cell=cell, **place)
    return tried


def _answered(check: IPyNbCell, number: str) -> list[SolvedExercise]:
    """Return the check after each known wrong answer, and at last after the solution."""
    here = Path(check.path)
    solutions = nbformat.read(here.parent / "solutions" / here.name, as_version=4).cells
    right = [cell.source for cell in solutions if f"solution:{number}" in _tags(cell)]
    wrong = enumerate(WRONG_ANSWERS.get(number, []), 1)
    return [
        *(
            _tried(WrongAnswer, check, f"Exercise {number} wrong {n}", [a], said)
            for n, (a, said) in wrong
        ),
        _tried(SolvedExercise, check, f"Exercise {number} solved", right, "✓ right\n"),
    ]


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
    """Run each cell twice, and each check of an exercise with wrong answers and a right one.

    All in one kernel. So a notebook is run as it stands, by a reader who solves each exercise where
    it is asked, and who runs each cell once more before going on: it must print the same again.
    """
    found, items[:] = list(items), []
    for item in found:
        items.append(item)
        if isinstance(item, IPyNbCell):
            if Path(item.path).stem not in PRESSED_ONCE:
                items.append(_again(item))
            numbers = (tag.partition("check:")[2] for tag in _tags(item.cell))
            items += [tried for number in numbers if number for tried in _answered(item, number)]
    for item in items:
        if isinstance(item, IPyNbCell):
            item.output_timeout = PATIENCE
