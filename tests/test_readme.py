"""The README: its example gives what it says, its links lead somewhere, and its table counts right."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.notebook_rules import LINK
from tests.test_notebooks import CLAIMS

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_examples_print_what_their_comments_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Each line that is printed is promised by a comment, in order."""
    monkeypatch.chdir(tmp_path)
    for example in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(example, {})
    promised = [said.partition(":")[0] for said in re.findall(r"^ *print.*# (.*)$", README, re.MULTILINE)]
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["paused", "done", "It is 5.", "Paid."]
    assert [promise for promise in promised if promise in printed] == printed


def test_links_and_pictures_are_there():
    """Every relative link leads to a file of the repository; every picture has words for who cannot see it."""
    for image, text, target in LINK.findall(README):
        assert "://" in target or (ROOT / target).exists(), target
        assert not image or len(text) > 100


def test_the_table_counts_the_claims_that_are_shown():
    """Each notebook has its row, with as many claims as its tests demand."""
    shown = dict(re.findall(r"notebooks/([\w.]+)\.ipynb\).*\| (\d+) of \d+ \|", README))
    assert shown == {name: str(len(claims)) for name, claims in CLAIMS.items()}
