"""A notebook as a page, with no network and no kernel: everything that a cell printed, and every picture, is there."""

from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Page

from tests.browser.run_pictures import descriptions
from tests.examined import Examined
from tests.notebook_rules import printed, shows
from tests.store_notebooks import NOTEBOOKS, all_notebooks


@pytest.fixture(scope="module")
def exporter() -> HTMLExporter:
    """What makes the pages. It reads its templates once."""
    return HTMLExporter()


@pytest.mark.parametrize(
    "path", [path for path in all_notebooks() if path.parent == NOTEBOOKS], ids=lambda path: str(path.stem)
)
def test_the_exported_page_reads_completely_offline(
    offline: Page, exporter: HTMLExporter, tmp_path: Path, path: Path, examined: Examined
):
    """What a reader without Jupyter sees, in a browser that reaches nobody."""
    notebook = nbformat.read(path, as_version=4)
    page_file = tmp_path / "page.html"
    page_file.write_text(exporter.from_notebook_node(notebook)[0], encoding="utf-8")
    offline.goto(page_file.as_uri(), wait_until="domcontentloaded")
    drawn = descriptions(offline)
    seen = " ".join([*offline.locator("body").inner_text().split(), *drawn])
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        for line in printed(cell).splitlines():
            if not line.startswith("<Figure"):  # the picture is there instead
                assert " ".join(line.split()) in seen, line
    assert len(drawn) == sum(shows(cell, "image/svg+xml") for cell in cells)
    pictures = sum(shows(cell, "image/png") for cell in cells) - len(drawn)
    assert offline.locator("img[src^='data:image/png']").count() == pictures
    examined("exported pages", 1)
