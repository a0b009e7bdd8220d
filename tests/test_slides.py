"""Slides from a notebook: where they begin, what waits for the next key, and that nothing gets lost."""

import base64
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from slides.cut import Slides
from tests.notebook_rules import source
from tests.store_notebooks import NOTEBOOKS

SLIDES = Slides()  # type: ignore[no-untyped-call]  # the constructor is nbconvert's


def cut(*cells: nbformat.NotebookNode, folder: Path = NOTEBOOKS) -> list[tuple[str, str]]:
    """Return the slide type and the text of each cell of the slides."""
    notebook = new_notebook()
    notebook.cells = list(cells)
    slides, _ = SLIDES.preprocess(notebook, {"metadata": {"path": str(folder)}})
    return [(cell.metadata.slideshow.slide_type, cell.source.strip()) for cell in slides.cells]


def test_a_slide_begins_at_each_heading_and_each_prediction():
    """What stands before a heading in its cell belongs to the slide before; headings alone are not a slide."""
    comment = "So it was.\n\n## Next\n\n### Part\n\nSome words.\n\n**Predict.** What?"
    cells = cut(new_markdown_cell("# Title"), new_code_cell("1"), new_markdown_cell(comment))
    assert cells == [
        ("slide", "# Title"), ("-", "1"), ("-", "So it was."),
        ("slide", "## Next"), ("-", "### Part\n\nSome words."), ("slide", "**Predict.** What?"),
    ]  # fmt: skip


def test_the_answer_to_a_prediction_waits_for_the_next_key():
    """All of it, until the next slide."""
    cells = cut(new_markdown_cell("Now think. **Predict.** What?"), new_code_cell("1"), new_markdown_cell("One."))
    assert [kind for kind, _ in cells] == ["-", "fragment", "-"]


@pytest.mark.parametrize(
    "cell",
    [
        new_code_cell("a = 1\n" * 8, outputs=[new_output("stream", text="1\n" * 8)]),
        new_code_cell("plot()", outputs=[new_output("display_data", {"image/png": ""})]),
        new_markdown_cell("word " * 200),
        new_code_cell("print()", outputs=[new_output("stream", text="x" * 1500)]),
    ],
    ids=["code", "picture", "words", "a long line"],
)
def test_what_does_not_fit_any_more_begins_a_slide(cell: nbformat.NotebookNode):
    """Code with what it printed, pictures, and words each take their room: here, more than half of a slide."""
    line = new_markdown_cell("One line.")
    assert [kind for kind, _ in cut(line, cell, line, cell, line)] == ["-", "-", "-", "slide", "-"]


def test_pictures_are_in_the_slides_and_links_lead_to_slides(tmp_path: Path):
    """A slide show is one file, that can be carried away; its neighbours are other slide shows."""
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(b"picture")
    text = "![words](images/a.png) [next](7.3.1_what.ipynb) [guide](guide.md) [far](https://example.org/a.ipynb)"
    data = base64.b64encode(b"picture").decode()
    ((_, changed),) = cut(new_markdown_cell(text), folder=tmp_path)
    assert changed == (
        f"![words](data:image/png;base64,{data}) [next](7.3.1_what.slides.html) guide [far](https://example.org/a.ipynb)"
    )


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: str(path.stem))
def test_no_cell_gets_lost_and_no_name_is_given_twice(path: Path):
    """Cut, and put together again, each notebook is what it was, pictures and links apart."""
    notebook = nbformat.read(path, as_version=4)
    slides, _ = SLIDES.preprocess(notebook, {"metadata": {"path": str(path.parent)}})
    for cell in notebook.cells:
        pieces = [piece.source for piece in slides.cells if piece.id.rpartition("-")[0] == cell.id]
        assert "".join(pieces) == source(cell) or "](" in source(cell)
    assert len({cell.id for cell in slides.cells}) == len(slides.cells) >= len(notebook.cells)
