"""The rules that keep a stored notebook true: each is a function from a notebook to the list of its offences.

nbval compares what cells print. These rules see to it that it has something to compare, that the comparison can hold on
another machine, and that a reader who has only the stored page gets the point.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
Cell = dict[str, Any]

LONGEST_CELL = 15
LARGEST_FILE = 400_000
FIXED_TIME = "2026-01-01T00:00:00Z"
"""The time that sessions in notebooks are given; it comes from the cell, not from a clock."""

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
"""A link or a picture in Markdown: the mark of a picture, its text, its target."""

ALLOWED_TAG = re.compile(r"raises-exception|(claim|exercise|check|solution):\d\.\d\.\d+[a-z]?-\w+")

UNSTABLE = {
    "an absolute path": re.compile(r"(?<![\w:/])/(tmp|home|root|usr|var|opt|work|Users|private)\b"),
    "a process id": re.compile(r"\bpid\W{0,3}\d+", re.IGNORECASE),
    "an address": re.compile(r"\b0x[0-9a-f]{6,}", re.IGNORECASE),
    "a time or a date": re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b"),
    "a duration": re.compile(r"\b\d+(\.\d+)? ?(ms|µs|us|ns)\b"),
}

FORBIDDEN_SOURCE = {
    "a trailing semicolon, which nbval and Jupyter treat differently": re.compile(r";\s*$", re.MULTILINE),
    "clear_output, which nbval does not know": re.compile(r"\bclear_output\b"),
    "an Output widget, which nbval does not know": re.compile(r"\bOutput\("),
    "interact, whose prints nbval does not know": re.compile(r"\binteract(ive)?\("),
    "a magic or a shell command": re.compile(r"^\s*[%!]", re.MULTILINE),
    "an nbval comment: use tags": re.compile(r"NBVAL_", re.IGNORECASE),
    "the end of its own kernel, which nbval waits for": re.compile(r"\b(sys\.exit|exit|quit|os\._exit|os\.abort)\("),
    "the death of its own kernel": re.compile(r"getpid\(\)|do_shutdown"),
}


def code_cells(notebook: Notebook) -> list[Cell]:
    """Return the code cells that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and source(cell).strip()]


def source(cell: Cell) -> str:
    """Return a cell's text."""
    return "".join(cell["source"])


def tags(cell: Cell) -> list[str]:
    """Return a cell's tags."""
    return list(cell["metadata"].get("tags", []))


def printed(cell: Cell) -> str:
    """Return the text that nbval compares: streams, plain text of results, names and values of errors."""
    texts = []
    for output in cell.get("outputs", []):
        texts += [output.get("text", ""), output.get("data", {}).get("text/plain", ""), output.get("evalue", "")]
    return "\n".join("".join(text) for text in texts)


def shows(cell: Cell, mime_type: str) -> bool:
    """Return whether an output of the cell is of this type."""
    return any(mime_type in output.get("data", {}) for output in cell.get("outputs", []))


def offences(notebook: Notebook, path: Path) -> list[str]:
    """Return everything that is wrong with a notebook stored at `path`."""
    found = [*_metadata(notebook), *_order(notebook), *_sources(notebook), *_outputs(notebook)]
    return [*found, *_static_reading(notebook), *_links(notebook, path), *_exercises(notebook)]


def _metadata(notebook: Notebook) -> Iterator[str]:
    if notebook["metadata"].keys() != {"kernelspec", "language_info"}:
        yield f"metadata {sorted(notebook['metadata'])}: store the notebooks with tests.store_notebooks"
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        yield "the kernel must be python3"
    for cell in notebook["cells"]:
        for tag in tags(cell):
            if not ALLOWED_TAG.fullmatch(tag):
                yield f"cell {cell['id']}: the tag {tag!r} is not allowed"


def _order(notebook: Notebook) -> Iterator[str]:
    counts = [cell["execution_count"] for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"not executed once each, in order: {counts}"


def _sources(notebook: Notebook) -> Iterator[str]:
    for cell in code_cells(notebook):
        for what, pattern in FORBIDDEN_SOURCE.items():
            if pattern.search(source(cell)):
                yield f"cell {cell['id']}: {what}"
        if len(source(cell).splitlines()) > LONGEST_CELL and not _is_one_class(source(cell)):
            yield f"cell {cell['id']}: longer than {LONGEST_CELL} lines"


def _is_one_class(code: str) -> bool:
    """Return whether a cell is a class, and what it imports: nobody cuts one into cells, so it may be longer."""
    *imports, last = ast.parse(code).body
    return isinstance(last, ast.ClassDef) and all(isinstance(line, ast.Import | ast.ImportFrom) for line in imports)


def _outputs(notebook: Notebook) -> Iterator[str]:
    for cell in code_cells(notebook):
        for what, pattern in UNSTABLE.items():
            if pattern.search(printed(cell).replace(FIXED_TIME, "")):
                yield f"cell {cell['id']}: {what} in its output"
        for output in cell["outputs"]:
            if output.get("name") == "stderr":
                yield f"cell {cell['id']}: something on stderr"
            if output["output_type"] == "error" and "raises-exception" not in tags(cell):
                yield f"cell {cell['id']}: an error"
        if any(tag.startswith("claim:") for tag in tags(cell)) and not printed(cell).strip():
            yield f"cell {cell['id']}: a claim that prints nothing"


def _static_reading(notebook: Notebook) -> Iterator[str]:
    """Pictures are not compared and not seen by everyone, and widgets are not stored: text says what they show."""
    cells = code_cells(notebook)
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        for kind, mime_type in {"figure": "image/png", "widget": "application/vnd.jupyter.widget-view+json"}.items():
            if shows(cell, mime_type) and not _speaks(cell) and (following is None or not printed(following).strip()):
                yield f"cell {cell['id']}: the next code cell does not say in text what this {kind} shows"


def _speaks(cell: Cell) -> bool:
    """Return whether a cell's figure is compared, and comes with what it says: as SVG, with sentences for a text."""
    return shows(cell, "image/svg+xml") and printed(cell).strip().endswith(".")


def _links(notebook: Notebook, path: Path) -> Iterator[str]:
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        for image, text, target in LINK.findall(source(cell)):
            if image and not text.strip():
                yield f"cell {cell['id']}: an image without alternative text"
            if "://" not in target and not (path.parent / target.partition("#")[0]).exists():
                yield f"cell {cell['id']}: the link to {target} leads nowhere"


def _exercises(notebook: Notebook) -> Iterator[str]:
    order = [tag for cell in notebook["cells"] for tag in tags(cell)]
    for tag in order:
        kind, _, number = tag.partition(":")
        if kind == "exercise" and f"check:{number}" not in order[order.index(tag) :]:
            yield f"exercise {number} has no check after it"


def claims(notebook: Notebook) -> list[str]:
    """Return the ids of the chapter's claims that the notebook shows, in order."""
    return [tag.removeprefix("claim:") for cell in notebook["cells"] for tag in tags(cell) if tag.startswith("claim:")]
