"""How long the notebooks take to read, counted; the minutes that each prints are put there by this script.

    python3 -m uv run --group test python -m tests.reading

150 words a minute, 5 seconds a line of code, 30 seconds a prediction. Exercises are apart: how long they take depends
on the reader.
"""

import json
import re
from math import ceil
from pathlib import Path
from typing import NamedTuple

from tests.notebook_rules import Notebook, source
from tests.store_notebooks import NOTEBOOKS

WORDS_A_MINUTE = 150
SECONDS_A_LINE = 5
SECONDS_A_PREDICTION = 30

BESIDE = ("7.3.9d", "7.3.9e", "7.3.9f", "7.3.10")
"""The optional notebooks, which need more than a default install, and the capstone, which is an exercise."""

TIME = re.compile(r"(?<=\*\*Time:\*\* about )\d+(?= minutes)")


class Reading(NamedTuple):
    """What there is to read in a notebook, exercises and their checks apart."""

    words: int
    lines: int  # of code, not blank
    predictions: int

    @property
    def minutes(self) -> float:
        """How long it takes."""
        seconds = self.lines * SECONDS_A_LINE + self.predictions * SECONDS_A_PREDICTION
        return self.words / WORDS_A_MINUTE + seconds / 60

    @property
    def printed(self) -> int:
        """The minutes as the notebook prints them: the next multiple of five."""
        return 5 * ceil(self.minutes / 5)


def counted(notebook: Notebook) -> Reading:
    """Count what there is to read; from "## Exercise" to the next such heading nothing counts."""
    prose, code, exercise = [], [], False
    for cell in notebook["cells"]:
        for line in source(cell).splitlines():
            if cell["cell_type"] == "code":
                code += [line] * (line.strip() != "" and not exercise)
                continue
            if line.startswith("## "):
                exercise = line.startswith("## Exercise")
            prose += [line] * (not exercise)
    text = _read_aloud("\n".join(prose))
    return Reading(len(re.findall(r"\S*\w\S*", text)), len(code), text.count("**Predict"))


def _read_aloud(markdown: str) -> str:
    """Return what of a text is read: no addresses of links, no rules of tables."""
    return re.sub(r"\]\([^)]*\)|^[|\- ]+$|\|", " ", markdown, flags=re.MULTILINE)


def of_the_chapter() -> dict[str, Reading]:
    """Return what there is to read in each notebook of the main path and its deeper parts, in order."""
    paths = sorted(path for path in NOTEBOOKS.glob("7.3.*.ipynb") if path.stem.split("_")[0] not in BESIDE)
    return {path.stem: counted(json.loads(path.read_text(encoding="utf-8"))) for path in paths}


def is_main_path(name: str) -> bool:
    """Return whether a notebook is on the main path: deeper parts have a letter."""
    return name.split("_", maxsplit=1)[0][-1].isdigit()


def _put_minutes(path: Path, minutes: int) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(TIME.sub(str(minutes), text, count=1), encoding="utf-8")


if __name__ == "__main__":
    readings = of_the_chapter()
    for name, reading in readings.items():
        print(f"{name:35} {reading.words:6} words {reading.lines:5} lines {reading.minutes:5.1f} minutes")
        _put_minutes(NOTEBOOKS / f"{name}.ipynb", reading.printed)
    for what, some in {
        "main path": [r for n, r in readings.items() if is_main_path(n)],
        "all": readings.values(),
    }.items():
        print(f"{what:35} {sum(r.words for r in some):6} words {sum(r.lines for r in some):5} lines")
