"""The README: its example gives what it says, its links lead somewhere, and its table counts right."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.notebook_rules import LINK
from tests.test_notebooks import CLAIMS

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_its_comments_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Each print has a comment that begins with what it prints."""
    monkeypatch.chdir(tmp_path)
    example = README.partition("```python\n")[2].partition("```")[0]
    exec(example, {})
    said = re.findall(r"^print.*# (.*)$", example, re.MULTILINE)
    printed = capsys.readouterr().out.splitlines()
    assert [promise.partition(":")[0] for promise in said] == printed == ["paused", "done", "It is 5."]


def test_links_and_pictures_are_there():
    """Every relative link leads to a file of the repository; every picture has words for who cannot see it."""
    for image, text, target in LINK.findall(README):
        assert "://" in target or (ROOT / target).exists(), target
        assert not image or len(text) > 100


def test_the_table_counts_the_claims_that_are_shown():
    """Each notebook has its row, with as many claims as its tests demand."""
    shown = dict(re.findall(r"notebooks/([\w.]+)\.ipynb\).*\| (\d+) of \d+ \|", README))
    assert shown == {name: str(len(claims)) for name, claims in CLAIMS.items()}
