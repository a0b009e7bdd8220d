"""Cut a notebook into slides: one at each heading, at each paragraph that asks for a prediction, and when one is full.

What answers a prediction comes with the next key: in the terms of reveal.js it is a fragment. Used by nbconvert, which
finds it through `slides/conf.json`.
"""

import base64
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor

SCREEN = 720
"""The height of a slide, in pixels of reveal.js."""
BEGINS = re.compile(r"^(?=#+ |\*\*Predict\.)", re.MULTILINE)
ONLY_HEADINGS = re.compile(r"(#+ .*\s*)+")
NOTEBOOK_BESIDE = re.compile(r"\]\(([\w.]+)\.ipynb\)")
PAGE_BESIDE = re.compile(r"\[([^\]]*)\]\([\w.]+\.md\)")
PICTURE = re.compile(r"\]\((images/\w+\.png)\)")


class Slides(Preprocessor):
    """Give each cell the slide type that nbconvert's own slides are made from."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Return the notebook, its cells cut and marked."""
        nb = deepcopy(nb)
        nb.cells = [piece for cell in nb.cells for piece in _pieces(cell)]
        for cell, slide_type in zip(nb.cells, list(_slide_types(nb.cells)), strict=True):
            cell.metadata["slideshow"] = {"slide_type": slide_type}
            if cell.cell_type == "markdown":
                cell.source = portable(cell.source, Path(resources["metadata"]["path"]), "slides.html")
        return nb, resources


def _pieces(cell: Any) -> Iterator[Any]:
    """Cut a Markdown cell where slides begin."""
    texts = BEGINS.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
    for number, text in enumerate(text for text in texts if text.strip()):
        piece = deepcopy(cell)
        piece.id = f"{cell.id}-{number}"
        piece.source = text
        yield piece


def _slide_types(cells: list[Any]) -> Iterator[str]:
    """Yield "slide" where a slide begins, "fragment" for what follows a prediction, else "-" for what goes on."""
    before, filled = "", 0
    for cell in cells:
        text = cell.source if cell.cell_type == "markdown" else ""
        begins = BEGINS.match(text) or filled + _height(cell) > SCREEN
        if begins and not ONLY_HEADINGS.fullmatch(before):
            filled = 0
            yield "slide"
        else:
            yield "fragment" if "**Predict.**" in before else "-"
        before, filled = text, filled + _height(cell)


def _height(cell: Any) -> int:
    """Return about how many pixels a cell takes."""
    if cell.cell_type == "markdown":
        return 37 * _lines(cell.source, 95)
    pictures = sum("image/png" in output.get("data", {}) for output in cell.outputs)
    printed = "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    rows = sum(output.get("data", {}).get("text/html", "").count("<tr>") for output in cell.outputs)
    return 50 + 26 * _lines(f"{cell.source}\n{printed}", 107) + 440 * pictures + 30 * rows  # a row has margins


def _lines(text: str, width: int) -> int:
    return sum(1 + len(line) // width for line in text.splitlines())


def portable(text: str, folder: Path, ending: str) -> str:
    """Put pictures into the text itself, and have links lead to other notebooks' files of this ending, or nowhere."""

    def data(picture: re.Match[str]) -> str:
        return f"](data:image/png;base64,{base64.b64encode((folder / picture[1]).read_bytes()).decode()})"

    return PICTURE.sub(data, PAGE_BESIDE.sub(r"\1", NOTEBOOK_BESIDE.sub(rf"](\1.{ending})", text)))
