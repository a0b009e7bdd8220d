"""The instructor's guide: each screen of the live demo leaves time for the class."""

import re

from tests.conftest import ROOT
from tests.notebook_rules import source
from tests.store_notebooks import NOTEBOOKS
from tests.test_notebooks import read

WORDS_A_MINUTE = 130
"""As one speaks to a class."""
GUIDE = ROOT / "notebooks" / "instructors_guide.md"
END = 10
"""The demo ends, in minutes."""


def words(text: str) -> int:
    """Return how many words one reads aloud: no mark-up, no addresses."""
    return len(re.findall(r"[\w'-]+", re.sub(r"<[^>]+>|\]\([^)]*\)", "", text)))


def plan() -> list[tuple[int, str, str]]:
    """Return the rows of the guide's table: the minute, the screen, and what is said beside the notebook's own text."""
    rows = re.findall(
        r"^\| (\d+) \| (\w+) \| [^|]*\| ([^|]*)\| ([^|]*)\|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return [(int(minute), screen, f"{ask} {point}") for minute, screen, ask, point in rows]


def screens() -> dict[str, str]:
    """Return the text of the demo by screens: "title", "1", ..., "6"."""
    cells = read(NOTEBOOKS / "live_demo.ipynb")["cells"]
    text = "\n".join(source(cell) for cell in cells if cell["cell_type"] == "markdown")
    title, *rest = re.split(r"^# (?=\d\. )", text, flags=re.MULTILINE)
    return {"title": title} | {screen[0]: screen for screen in rest}


def test_reading_aloud_leaves_time_for_the_class():
    """At most six tenths of each screen's minutes."""
    rows, texts = plan(), screens()
    assert [screen for _, screen, _ in rows] == list(texts)
    ends = [minute for minute, _, _ in rows[1:]] + [END]
    for (minute, screen, said), end in zip(rows, ends, strict=True):
        assert words(said + texts[screen]) / WORDS_A_MINUTE <= 0.6 * (end - minute), screen


def test_every_screen_asks_and_has_answers_to_choose_from():
    """Three each, and the guide asks the same."""
    for _, screen, said in plan()[1:]:
        [question] = re.findall(r"^\*\*Predict\.\*\* ([^?]*)\?", screens()[screen], re.MULTILINE)
        assert re.search(r"\bor\b", question), screen
        assert len(re.findall(r",|;|\bor\b", question)) >= 2, screen
        assert re.search(r"\bor\b.*\?", said), screen
