"""Run all notebooks top to bottom and store them clean.

    python3 -m uv run --group test python -m tests.store_notebooks

Names of notebooks may follow, to store only those. A cell that raises stops everything, unless it is tagged
`raises-exception`. What differs from run to run and from machine to machine is not stored: times of execution, the
Python's version, widget state (GitHub refuses to show a notebook with half of it).
"""

import base64
import io
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

from tests.conftest import ROOT

NOTEBOOKS = ROOT / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"
PNG = "image/png"
PATIENCE = 180
"""Seconds to wait for a kernel or a cell."""


def all_notebooks() -> list[Path]:
    """Return every notebook of the set, in reading order."""
    return sorted(path for path in NOTEBOOKS.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def run(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Execute all cells in a fresh kernel; a kernel that dies raises DeadKernelError at once."""
    client = NotebookClient(
        notebook,
        timeout=PATIENCE,
        startup_timeout=PATIENCE,
        coalesce_streams=True,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()


def clean(notebook: nbformat.NotebookNode) -> None:
    """Take out what differs from run to run and from machine to machine."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        for data in (output.get("data", {}) for output in cell.get("outputs", [])):
            if WIDGET in data:  # a new random id each time, of a widget that is not stored
                data[WIDGET]["model_id"] = cell.id
            if PNG in data:
                data[PNG] = smaller(data[PNG])


def smaller(picture: str) -> str:
    """Return a picture with 64 colours, in a third of the bytes; a figure has no more that one could tell apart."""
    buffer = io.BytesIO()
    Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB").quantize(64).save(buffer, "png", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


def store(path: Path) -> None:
    """Execute one notebook and write it back."""
    notebook = nbformat.read(path, as_version=4)
    run(notebook, path.parent)
    clean(notebook)
    nbformat.write(notebook, path)
    print(f"stored {path.name}")


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    for path in chosen or all_notebooks():
        store(path)
