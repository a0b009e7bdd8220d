"""The page "Find it": each link leads to a section that is there, each term to a notebook that uses it."""

import itertools
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import minagent
from minagent import log
from tests.notebook_rules import LINK, source
from tests.reading import is_main_path
from tests.store_notebooks import NOTEBOOKS, all_notebooks
from tests.test_notebooks import CHAPTERS, name, read

PAGE = (NOTEBOOKS / "find_it.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", PAGE, re.MULTILINE))


def rows(section: str) -> list[list[str]]:
    """Return the cells of a section's table, without its head."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def prose(path: Path) -> str:
    """Return what a notebook says, without its code."""
    return "\n".join(source(cell) for cell in read(path)["cells"] if cell["cell_type"] == "markdown")


def dead_links(text: str) -> list[str]:
    """Return the relative links of a text that lead to no file, or to no heading of a notebook."""
    dead = []
    for _, _, target in LINK.findall(text):
        file, _, anchor = target.partition("#")
        if "://" in target or (not file and not anchor):
            continue
        path = NOTEBOOKS / file
        there = path.exists() and (not anchor or anchor in anchors(path))
        dead += [] if there else [target]
    return dead


def anchors(path: Path) -> set[str]:
    """Return the anchors that JupyterLab gives to the headings of a notebook."""
    return {heading.replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)}


def test_every_link_of_the_page_leads_to_a_section():
    """Files, and headings in them."""
    assert dead_links(unquote(PAGE)) == []


@pytest.mark.parametrize("path", all_notebooks(), ids=name)
def test_every_link_of_a_notebook_leads_to_a_section(path: Path):
    """Of the solutions, too, which are a folder deeper."""
    text = prose(path)
    if path.parent != NOTEBOOKS:
        text = re.sub(r"\]\((?!\.\./|https:)", f"]({path.parent.name}/", text).replace("](../", "](")
    assert dead_links(text) == []


def test_a_dead_link_is_found():
    """The two tests above can fail."""
    good, gone = "[x](7.3.4_load.ipynb#There-and-back)", "[x](7.3.4_load.ipynb#There-and-gone) [y](7.3.4.ipynb)"
    assert dead_links(good) == []
    assert dead_links(gone) == ["7.3.4_load.ipynb#There-and-gone", "7.3.4.ipynb"]


@pytest.mark.parametrize("row", rows("Terms"), ids=lambda row: row[0])
def test_a_term_is_used_where_its_link_leads(row: list[str]):
    """In the words of the notebook, and not in its code alone."""
    term, chinese, meaning, link = row
    file = LINK.findall(link)[0][2]
    assert term in prose(NOTEBOOKS / file).lower()
    assert chinese
    assert meaning


def test_terms_and_errors_are_complete():
    """No term twice; each error that minagent can raise over a saved state is among the symptoms."""
    terms = [term for term, *_ in rows("Terms")]
    assert len(set(terms)) == len(terms) >= 40
    seen = " ".join(what for what, *_ in rows("What you see, and where it is explained"))
    for error in ("CheckpointDamaged", "CheckpointTooNew"):
        assert error in seen
        assert hasattr(minagent, error)
    for error in ("InDoubt", "Conflict", "LeaseLost", "LogMissing", "LogTooNew"):
        assert error in seen
        assert hasattr(log, error)


def test_previous_and_next_are_true():
    """On the main path each notebook leads to the one after it, and that one leads back."""
    main = [path for path in CHAPTERS if is_main_path(path.stem)]
    for here, after in itertools.pairwise(sorted(main, key=number)):
        assert f"]({after.name})" in prose(here)
        assert f"**Previous:** [{title(here)}]({here.name})" in prose(after)


def number(path: Path) -> int:
    """Return a notebook's place on the main path: 7.3.10 comes after 7.3.9."""
    return int(path.stem.split("_", maxsplit=1)[0].rpartition(".")[2])


def title(path: Path) -> str:
    """Return a notebook's title, up to a colon."""
    found = re.match(r"# (.*?)(:.*)?$", prose(path), re.MULTILINE)
    assert found
    return found[1]
