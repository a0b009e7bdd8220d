"""Judge the capstones of a class: `python notebooks/judge_a_class.py FOLDER`.

In the folder is what each of them handed in: the notebook 7.3.10, or a file with `live` in it. Each
gets a line: how many of the four steps are done, and what stopped it. Each is judged in a process
of its own. (It runs their code: on a machine where you would run it by hand, too.)
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from minagent.lab.capstone.judge import STEPS, judge

PATIENCE = 180
"""Seconds that one of them may take: code that does not end is stopped."""


def code_of(path: Path) -> str:
    """Return what was handed in: a file as it is, or the exercise's cell of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = json.loads(text)["cells"]
    tag = "exercise:7.3.10-1"
    return "\n".join("".join(c["source"]) for c in cells if tag in c["metadata"].get("tags", []))


def judge_one(path: Path) -> None:
    """Print what the judge says of a file that defines `live`."""
    known: dict[str, object] = {"__name__": "handed_in"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), known)  # noqa: S102 - that is what it is for
    print(judge(known.get("live"))[0])


def said_of(path: Path) -> str:
    """Return in a line how far somebody has come."""
    with tempfile.TemporaryDirectory(prefix="minagent-") as folder:
        alone = Path(folder, "live.py")
        try:
            alone.write_text(code_of(path), encoding="utf-8")
            command = [sys.executable, __file__, "--one", str(alone)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return f"stopped after {PATIENCE} seconds: it does not end"
        except subprocess.CalledProcessError as error:
            return f"cannot be run: {error.stderr.splitlines()[-1]}"
        except (ValueError, KeyError):
            return "cannot be read: neither a notebook nor a Python file"
    lines = done.stdout.splitlines()
    passed = sum(line.startswith("step") and line.endswith("✓") for line in lines)
    return f"{passed} of {len(STEPS)}  {lines[-1]}"


def main() -> None:
    """Judge what is in a folder, in the order of the names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        judge_one(chosen.folder)
        return
    for path in sorted(chosen.folder.iterdir()):
        if path.suffix in (".py", ".ipynb"):
            print(f"{path.stem:24} {said_of(path)}")


if __name__ == "__main__":
    main()
