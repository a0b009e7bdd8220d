"""The slides of every notebook, built by the instructor's command, in a browser that reaches nobody."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page

from tests.browser.run_pictures import descriptions
from tests.conftest import ROOT
from tests.examined import Examined
from tests.notebook_rules import code_cells, printed, shows, source
from tests.store_notebooks import NOTEBOOKS

DECKS = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))

SEEN = """() => {
    const slide = Reveal.getCurrentSlide()
    return {
        place: Reveal.getIndices(), isLast: Reveal.isLastSlide() && !Reveal.availableFragments().next,
        text: slide.innerText, tooWide: slide.scrollWidth - slide.clientWidth,
        tooTall: slide.scrollHeight > slide.clientHeight,
    }
}"""
"""Where the slide show stands, what is to be read there, by how much it is too wide, and whether it is too tall."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All decks, built as the instructor's guide says."""
    guide = (NOTEBOOKS / "instructors_guide.md").read_text(encoding="utf-8")
    command = re.search(r"uv run (jupyter nbconvert --to slides .*) build/slides notebooks/\*\.ipynb", guide)
    assert command
    built = tmp_path_factory.mktemp("slides")
    paths = [str(path.relative_to(ROOT)) for path in NOTEBOOKS.glob("*.ipynb")]
    subprocess.run([sys.executable, "-m", *shlex.split(command[1]), str(built), *paths], cwd=ROOT, check=True)
    return built


class Deck:
    """A slide show on a page without network, and what went wrong on that page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self._fetched(request.url))

    def open(self, file: Path) -> None:
        """Show another deck instead."""
        self.file = file
        self.wrong: list[str] = []
        self.too_wide: list[int] = []
        self.too_tall: list[bool] = []
        self.page.goto(file.as_uri())
        self.page.wait_for_function("Reveal.isReady()")

    def _fetched(self, url: str) -> None:
        if url != self.file.as_uri() and not url.startswith("data:"):
            self.wrong.append(url)

    def walk(self, key: str) -> Iterator[str]:
        """Yield what can be seen, key by key, to the end."""
        before = None
        while True:
            seen = self.page.evaluate(SEEN)
            assert seen["place"] != before
            self.too_wide.append(seen["tooWide"])
            self.too_tall.append(seen["tooTall"])
            yield seen["text"]
            if seen["isLast"]:
                return
            before = seen["place"]
            self.page.keyboard.press(key)


@pytest.fixture(scope="module")
def any_deck(offline: Page) -> Deck:
    """What all decks are shown with, one after the other."""
    return Deck(offline)


@pytest.fixture
def deck(request: pytest.FixtureRequest, any_deck: Deck, folder: Path) -> Deck:
    """The deck of this name."""
    any_deck.open(folder / f"{request.param}.slides.html")
    return any_deck


def one_line(text: str) -> str:
    """Return a text without its line breaks and double spaces."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("deck", "name", "key"),
    [(name, name, ["ArrowRight", "Space"][number % 2]) for number, name in enumerate(DECKS)],
    indirect=["deck"],
    ids=DECKS,
)
def test_all_of_a_notebook_is_seen_slide_by_slide(deck: Deck, name: str, key: str, examined: Examined):
    """Every heading, all code, all that it printed, and every picture; nothing is fetched, nothing complains."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    seen = [one_line(text) for text in deck.walk(key)]
    examined("slides", len(seen))
    cells = code_cells(notebook)
    assert len(set(seen)) > len(cells) / 3
    lines = [line for cell in cells for line in (source(cell) + "\n" + printed(cell)).splitlines()]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines += [line.lstrip("# ").replace("`", "") for line in source(cell).splitlines() if line.startswith("#")]
    told = [*seen, *map(one_line, descriptions(deck.page))]
    for line in lines:
        if not line.startswith("<Figure"):  # the picture is there instead
            assert any(one_line(line) in text for text in told), line
    pictures = deck.page.evaluate("[...document.images].map(image => image.naturalWidth)")
    drawn = sum(shows(cell, "image/png") for cell in cells)
    assert len(pictures) == drawn + str(notebook.cells).count("](images/")
    assert all(width > 0 for width in pictures)
    assert deck.wrong == []
    assert max(deck.too_wide) <= 0
    assert sum(deck.too_tall) <= len(seen) / 8  # they scroll; most should not have to


@pytest.mark.parametrize("deck", ["7.3.0_start_here"], indirect=True)
def test_a_long_slide_scrolls_by_keyboard(deck: Deck):
    """Down goes down in it."""
    next(text for text in deck.walk("ArrowRight") if deck.too_tall[-1])
    deck.page.keyboard.press("ArrowDown")
    deck.page.wait_for_function("Reveal.getCurrentSlide().scrollTop > 0")
