"""The notebooks as stored: true on another machine, readable without a kernel, and not true by accident.

nbval itself runs beside these tests: pytest collects every cell of notebooks/ (see pyproject.toml).
"""

import copy
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import DeadKernelError

from tests.conftest import ROOT
from tests.notebook_rules import LARGEST_FILE, Notebook, claims, offences, source, tags
from tests.store_notebooks import NOTEBOOKS, all_notebooks, clean, run

CLAIMS = {
    "7.3.0_start_here": ["7.3.0-a", "7.3.0-b"],
    "7.3.1_what_a_crash_loses": [f"7.3.1-{letter}" for letter in "abc"],
    "7.3.2_checkpoint": [f"7.3.2-{letter}" for letter in "abcdefg"],
    "7.3.2b_power_loss": ["7.3.2-h"],
    "7.3.3_one_step_at_a_time": [f"7.3.3-{letter}" for letter in "abcde"],
    "7.3.4_load": [f"7.3.4-{letter}" for letter in "abc"],
    "7.3.5_run_crash_resume": [f"7.3.5-{letter}" for letter in "abcdefgh"],
    "7.3.6_nothing_twice": [f"7.3.6-{letter}" for letter in "abc"],
    "7.3.6b_crash_matrix": ["7.3.6-d", "7.3.6-e"],
    "7.3.7_checking_what_was_restored": [f"7.3.7-{letter}" for letter in "abcdefg"],
    "7.3.8_how_often": [f"7.3.8-{letter}" for letter in "acdeh"],
    "7.3.8b_how_big": [f"7.3.8-{letter}" for letter in "bfg"],
    "7.3.9_with_a_real_model": [f"7.3.9-{letter}" for letter in "abdj"],
    "7.3.9b_two_writers": ["7.3.9-c"],
    "7.3.9c_five_requirements": [f"7.3.9-{letter}" for letter in "efghi"],
    "7.3.9d_real_servers": [],
    "7.3.10_build_one_that_survives": [],
}
"""The claims of the chapter that each notebook owes its reader."""

CHAPTERS = [path for path in all_notebooks() if path.parent == NOTEBOOKS and path.stem.startswith("7.3")]
PARTS = ("**Time:**", "**Predict", "## Exercise", "## Common mistakes", "## In real systems", "## Summary")


def read(path: Path) -> Notebook:
    """Return a stored notebook."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def name(path: Path) -> str:
    """Return what a test of this notebook is called."""
    return str(path.relative_to(NOTEBOOKS).with_suffix(""))


@pytest.mark.parametrize("path", all_notebooks(), ids=name)
def test_stored_notebook_keeps_every_rule(path: Path):
    """Executed in order, stable, short, with text beside every picture, and links that lead somewhere."""
    assert offences(read(path), path) == []
    assert path.stat().st_size <= LARGEST_FILE


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_every_claim_of_the_section_is_shown_once(path: Path):
    """Each in a cell of its own, tagged with its id."""
    assert sorted(claims(read(path))) == CLAIMS[path.stem]


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_notebook_has_all_its_parts(path: Path):
    """Where you are, predictions, exercises, common mistakes, real systems, summary."""
    text = "\n".join(source(cell) for cell in read(path)["cells"])
    assert [part for part in PARTS if part not in text] == []


GOOD: Notebook = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["[the set](7.3.0_start_here.ipynb)"]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"tags": ["claim:7.3.5-a"]},
            "execution_count": 1,
            "source": ["print(1 + 1)"],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["2\n"]}],
        },
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {},
            "execution_count": 2,
            "source": ["draw()"],
            "outputs": [{"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<Figure>"}}],
        },
        {
            "cell_type": "code",
            "id": "d",
            "metadata": {},
            "execution_count": 3,
            "source": ["print('the line rises')"],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["the line rises\n"]}],
        },
    ],
    "metadata": {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}},
}


def text_of(cell: int, text: str) -> Callable[[Notebook], None]:
    """Return a change that makes a cell print something else."""

    def change(notebook: Notebook) -> None:
        notebook["cells"][cell]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [text]}]

    return change


def put(cell: int, key: str, value: Any) -> Callable[[Notebook], None]:
    """Return a change of one entry of a cell."""

    def change(notebook: Notebook) -> None:
        notebook["cells"][cell][key] = value

    return change


WRONG: dict[str, Callable[[Notebook], None]] = {
    "not executed": put(1, "execution_count", None),
    "executed out of order": put(1, "execution_count", 7),
    "a tag that hides output": put(1, "metadata", {"tags": ["nbval-ignore-output"]}),
    "a comment that hides output": put(1, "source", ["# NBVAL_IGNORE_OUTPUT\n", "print(1 + 1)"]),
    "a trailing semicolon": put(1, "source", ["1 + 1;"]),
    "a magic": put(1, "source", ["%pip install x"]),
    "a shell command": put(1, "source", ["!ls"]),
    "clear_output": put(1, "source", ["clear_output()"]),
    "an Output widget": put(1, "source", ["with Output():\n", "    print(1)"]),
    "interact": put(1, "source", ["interact(f, x=3)"]),
    "exit": put(1, "source", ["exit()"]),
    "its own death": put(1, "source", ["os.kill(os.getpid(), 9)"]),
    "too long a cell": put(1, "source", ["x = 1\n"] * 16),
    "a path": text_of(1, "/var/x.json"),
    "a pid": text_of(1, "pid 4711"),
    "an address": text_of(1, "<object at 0x7f0c1234abcd>"),
    "a time": text_of(1, "12:30:01"),
    "a date": text_of(1, "2026-03-01"),
    "a duration": text_of(1, "took 12.5 ms"),
    "stderr": put(1, "outputs", [{"output_type": "stream", "name": "stderr", "text": ["warning"]}]),
    "an error": put(1, "outputs", [{"output_type": "error", "ename": "E", "evalue": "x", "traceback": []}]),
    "a claim that prints nothing": put(1, "outputs", []),
    "a figure without a sentence": put(3, "outputs", []),
    "a picture of a run whose text is no sentence": put(
        3,
        "outputs",
        [{"output_type": "execute_result", "data": {"image/png": "", "image/svg+xml": "<svg/>", "text/plain": "<P>"}}],
    ),
    "a widget without a sentence": put(
        3,
        "outputs",
        [{"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "w"}}],
    ),
    "a link that leads nowhere": put(0, "source", ["[x](nowhere.ipynb)"]),
    "an image without alternative text": put(0, "source", ["![](7.3.0_start_here.ipynb)"]),
    "an exercise without a check": put(1, "metadata", {"tags": ["exercise:7.3.5-1"]}),
    "widget state": lambda notebook: notebook["metadata"].update(widgets={}),
    "another kernel": lambda notebook: notebook["metadata"].update(kernelspec={"name": "julia"}),
}


def test_the_rules_let_a_good_notebook_pass():
    """Otherwise the next test would prove nothing."""
    assert offences(GOOD, NOTEBOOKS / "x.ipynb") == []


@pytest.mark.parametrize("wrong", WRONG)
def test_the_rules_catch_a_notebook_made_wrong_on_purpose(wrong: str):
    """One change to a good notebook, one offence."""
    notebook = copy.deepcopy(GOOD)
    WRONG[wrong](notebook)
    assert len(offences(notebook, NOTEBOOKS / "x.ipynb")) == 1


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [("from a import b\n", "", 0), ("", "C()\n", 1), ("x = 1\n", "", 1)],
)
def test_only_a_class_may_be_longer_than_a_cell(before: str, after: str, wrong: int):
    """With its imports, and nothing else: nobody cuts a class into pieces."""
    notebook = copy.deepcopy(GOOD)
    notebook["cells"][1]["source"] = [before + "class C:\n" + "    x = 1\n" * 20 + after]
    assert len(offences(notebook, NOTEBOOKS / "x.ipynb")) == wrong


def new_notebook(code: str) -> nbformat.NotebookNode:
    """Return a notebook of one code cell that has not run."""
    notebook: nbformat.NotebookNode = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    clean(notebook)
    return notebook


def with_exercise(folder: Path, number: str = "7.3.0-1") -> nbformat.NotebookNode:
    """Return a notebook with an exercise, not solved, and its check."""
    notebook = new_notebook("x = None")
    notebook.cells.append(nbformat.v4.new_code_cell("print('✓ right' if x == 2 else '✗ not yet')"))
    run(notebook, folder)
    notebook.cells[1].metadata.tags = [f"check:{number}"]
    return notebook


DRAWN = """from minagent.lab.crash_lab.crashlab import CrashLab

lab = CrashLab(example="errand")
lab.run_to(1, "result")
lab.crash()
lab.resume()
lab.run()
lab.picture("Killed after the charge")
"""


def with_pictures(folder: Path) -> dict[str, nbformat.NotebookNode]:
    """Return a notebook with the picture of a run, and one whose stored picture has another place of death.

    What it says is the same: charged twice.
    """
    right, other = new_notebook(DRAWN), new_notebook(DRAWN.replace("result", "save"))
    for notebook in (right, other):
        run(notebook, folder)
    assert right.cells[0].outputs[0].data["text/plain"] == other.cells[0].outputs[0].data["text/plain"]
    other.cells[0].source = right.cells[0].source
    return {"drawn": right, "drawn_otherwise": other}


FIGURE = """import matplotlib.pyplot as plt

figure, axes = plt.subplots()
axes.plot([0, 1], [0, 1])
axes.annotate("a name", (0.5, 0.9))
"""


def with_figures(folder: Path) -> dict[str, nbformat.NotebookNode]:
    """Return a notebook with a figure that can be read, and some that cannot, stored without being looked at."""
    change = {
        "figure": FIGURE,
        "figure_with_a_name_on_another": FIGURE + 'axes.annotate("another", (0.55, 0.9))\n',
        "figure_with_a_name_on_a_curve": FIGURE.replace("0.9", "0.5"),
        "figure_with_a_name_on_a_tick": FIGURE.replace("(0.5, 0.9)", "(-0.1, 0)"),
    }
    stored = new_notebook(FIGURE)
    run(stored, folder)
    found = {name: copy.deepcopy(stored) for name in change}
    for name, code in change.items():
        found[name].cells[0].source = code
    return found


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Let nbval run small notebooks under the set's own options and conftest; return for each how many cells fail."""
    folder = tmp_path_factory.mktemp("notebooks")
    right = new_notebook("print(1 + 1)")
    run(right, folder)
    wrong = copy.deepcopy(right)
    wrong.cells[0].outputs[0].text = "3\n"
    notebooks = {"right": right, "wrong": wrong, **with_pictures(folder), **with_figures(folder)}
    notebooks["counting"] = new_notebook("n = globals().get('n', 0) + 1\nprint(n)")
    run(notebooks["counting"], folder)
    (folder / "solutions").mkdir()
    exercise = with_exercise(folder)
    answers = {"solved": "x = 2", "solved_wrongly": "x = 3", "solved_with_an_error": "x = y"}
    for name, answer in (answers | {"mistake_named": "x = 2", "mistake_accepted": "x = 2"}).items():
        number = f"7.3.0-{name}" if name.startswith("mistake") else "7.3.0-1"
        solutions = new_notebook(answer)
        solutions.cells[0].metadata.tags = [f"solution:{number}"]
        nbformat.write(solutions, folder / "solutions" / f"{name}.ipynb")
        notebooks[name] = exercise if name in answers else with_exercise(folder, number)
    (folder.parent / "tests").mkdir()
    (folder.parent / "tests" / "wrong_answers.py").write_text(
        "WRONG_ANSWERS = {f'7.3.0-mistake_{n}': [(f'x = {x}', 'not yet')] for n, x in (('named', 3), ('accepted', 2))}"
    )
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")
    shutil.copy(NOTEBOOKS / "conftest.py", folder)
    options = ["-q", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *(str(folder / f"{name}.ipynb") for name in notebooks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failed = re.findall(r"^FAILED .*?(\w+)\.ipynb::", done.stdout, re.MULTILINE)
    assert f"{len(failed)} failed, {45 - len(failed)} passed" in done.stdout, done.stdout
    return {name: failed.count(name) for name in notebooks}


@pytest.mark.parametrize(("name", "failures"), [("right", 0), ("wrong", 2), ("drawn", 0), ("drawn_otherwise", 2)])
def test_nbval_fails_a_notebook_whose_stored_output_is_wrong(judged: dict[str, int], name: str, failures: int):
    """The same notebook passes with the right output and fails with a wrong one, each of the two times it is run."""
    assert judged[name] == failures


@pytest.mark.parametrize(
    ("name", "failures"),
    [
        ("figure", 0),
        ("figure_with_a_name_on_another", 2),
        ("figure_with_a_name_on_a_curve", 2),
        ("figure_with_a_name_on_a_tick", 2),
    ],
)
def test_nbval_fails_a_figure_that_cannot_be_read(judged: dict[str, int], name: str, failures: int):
    """Names on each other, on a curve, on the number at a tick. Each is drawn twice; its stored text is the same."""
    assert judged[name] == failures


@pytest.mark.parametrize(("name", "failures"), [("solved", 0), ("solved_wrongly", 1), ("solved_with_an_error", 1)])
def test_a_solution_that_is_wrong_fails_its_notebook(judged: dict[str, int], name: str, failures: int):
    """The exercise passes as it stands, not answered; then it is run once more with the solution."""
    assert judged[name] == failures


def test_a_cell_that_prints_something_else_when_it_is_run_twice_fails(judged: dict[str, int]):
    """The first time it is right."""
    assert judged["counting"] == 1


@pytest.mark.parametrize(("name", "failures"), [("mistake_named", 0), ("mistake_accepted", 1)])
def test_a_check_that_accepts_a_known_wrong_answer_fails_its_notebook(judged: dict[str, int], name: str, failures: int):
    """It is run before the solution, and must get the words that the table has for it."""
    assert judged[name] == failures


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_every_exercise_has_a_solution_and_a_check(path: Path):
    """`notebooks/conftest.py` runs them together, as a part of the notebook."""
    numbers = {
        kind: [tag.partition(":")[2] for cell in read(place)["cells"] for tag in tags(cell) if tag.startswith(kind)]
        for place, kind in (
            (path, "exercise:"),
            (path, "check:"),
            (NOTEBOOKS / "solutions" / path.name, "solution:"),
        )
    }
    assert numbers["exercise:"] == numbers["check:"] == numbers["solution:"] != []


def test_a_kernel_that_dies_is_noticed_at_once(tmp_path: Path):
    """Nbval would wait for the dead until its timeout; the second executor does not."""
    suicide = new_notebook("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(DeadKernelError):
        run(suicide, tmp_path)
