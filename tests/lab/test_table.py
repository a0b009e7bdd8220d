"""Tables: one content, as HTML and as text."""

import re

import pytest

from minagent.lab.views.table import Table

TABLE = Table(["way", "points"], [["log, keys", 50], ["a < b", 7]])


def test_text_is_aligned():
    """Numbers to the right, under their heads."""
    assert repr(TABLE).splitlines() == [
        "way        points",
        "log, keys      50",
        "a < b           7",
    ]


def test_html_says_the_same():
    """Heads are heads, numbers stand to the right, and no text is taken for a tag."""
    html = TABLE._repr_html_()
    cells = re.findall(r'<t([hd]) style="text-align: (\w+)">(.*?)</t\1>', html)
    assert cells == [
        ("h", "left", "way"), ("h", "right", "points"),
        ("d", "left", "log, keys"), ("d", "right", "50"),
        ("d", "left", "a &lt; b"), ("d", "right", "7"),
    ]  # fmt: skip
    assert html.count("<tr>") == 3


def test_a_row_of_another_length_is_refused():
    """Before it is shown under the wrong head."""
    with pytest.raises(ValueError, match="argument"):
        Table(["way", "points"], [["log, keys"], ["chapter", 48]])
