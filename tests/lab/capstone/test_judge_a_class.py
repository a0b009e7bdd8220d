"""The command that judges a class: a line for each, whatever was handed in."""

import inspect
import subprocess
import sys
from pathlib import Path

from tests.lab.capstone import attempts
from tests.store_notebooks import NOTEBOOKS

NOTEBOOK = "7.3.10_build_one_that_survives.ipynb"


def handed_in(name: str) -> str:
    """Return the attempts as a file in which one of them is `live`."""
    return f"{inspect.getsource(attempts)}\n\ndef live(desk):\n    return {name}(desk)\n"


def test_each_gets_a_line(tmp_path: Path):
    """Solved, half solved, not begun, not Python, no notebook: none of them stops the others."""
    (tmp_path / "ann.py").write_text(handed_in("with_keys"), encoding="utf-8")
    (tmp_path / "bob.py").write_text(handed_in("each_result"), encoding="utf-8")
    (tmp_path / "cid.ipynb").write_bytes((NOTEBOOKS / NOTEBOOK).read_bytes())
    (tmp_path / "dan.py").write_text("def live(desk:", encoding="utf-8")
    (tmp_path / "eve.ipynb").write_text("a page", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not handed in", encoding="utf-8")
    command = [sys.executable, str(NOTEBOOKS / "judge_a_class.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split(None, 1) for line in done.stdout.splitlines()] == [
        ["ann", "4 of 4  ✓ right"],
        ["bob", "3 of 4  killed before `result` at point 7: the charge for lamp came again"],
        ["cid", "0 of 4  not answered yet"],
        ["dan", "cannot be run: SyntaxError: '(' was never closed"],
        ["eve", "cannot be read: neither a notebook nor a Python file"],
    ]
