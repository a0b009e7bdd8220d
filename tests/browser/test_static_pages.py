"""All notebooks as pages, made by the guide's command: with no network and no kernel, everything is there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, ViewportSize

from tests.browser.run_pictures import descriptions
from tests.conftest import ROOT
from tests.examined import Examined
from tests.notebook_rules import printed, shows
from tests.store_notebooks import NOTEBOOKS

NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
PHONE = ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, built as the instructor's guide says."""
    guide = (NOTEBOOKS / "instructors_guide.md").read_text(encoding="utf-8")
    command = re.search(r"uv run (jupyter nbconvert --to html .*) build/pages notebooks/\*\.ipynb", guide)
    assert command
    built = tmp_path_factory.mktemp("pages")
    paths = [str(Path("notebooks", f"{name}.ipynb")) for name in NAMES]
    subprocess.run([sys.executable, "-m", *shlex.split(command[1]), str(built), *paths], cwd=ROOT, check=True)
    return built


@pytest.mark.parametrize("name", NAMES)
def test_a_page_reads_completely_offline(offline: Page, folder: Path, name: str, examined: Examined):
    """What a reader without Jupyter sees, in a browser that reaches nobody; also on a phone. Its links lead on."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    page_file, fetched = folder / f"{name}.html", list[str]()
    offline.on("request", lambda request: fetched.append(request.url))
    offline.goto(page_file.as_uri(), wait_until="domcontentloaded")
    drawn = descriptions(offline)
    seen = " ".join([*offline.locator("body").inner_text().split(), *drawn])
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        for line in printed(cell).splitlines():
            if not line.startswith("<Figure"):  # the picture is there instead
                assert " ".join(line.split()) in seen, line
    assert len(drawn) == sum(shows(cell, "image/svg+xml") for cell in cells)
    pictures = sum(shows(cell, "image/png") for cell in cells) - len(drawn) + str(notebook.cells).count("](images/")
    assert offline.locator("img[src^='data:image/png']").count() == pictures
    links = offline.evaluate("[...document.links].map(link => link.getAttribute('href'))")
    beside = {link.partition("#")[0] for link in links if not re.match(r"https?:|#", link)}
    assert beside
    assert beside <= {file.name for file in folder.iterdir()}
    assert [url for url in fetched if not url.startswith(("data:", page_file.as_uri()))] == []
    before = offline.viewport_size
    assert before
    offline.set_viewport_size(PHONE)
    assert offline.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    offline.set_viewport_size(before)
    examined("exported pages", 1)
