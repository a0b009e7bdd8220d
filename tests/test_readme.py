"""The README: its example gives what it says, its links lead somewhere, and its table counts right."""

import contextlib
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from minagent.lab.crash_lab.crashlab import CrashLab
from tests.conftest import ROOT
from tests.notebook_rules import LINK
from tests.readme_pictures import IMAGES, PICTURES, drawn
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


PAY = """
import os, signal, sqlite3

def pay(amount, key):
    with sqlite3.connect("payments.db", timeout=120) as service:
        service.execute("CREATE TABLE IF NOT EXISTS charges (key PRIMARY KEY, session, amount)")
        service.execute("INSERT OR IGNORE INTO charges VALUES (?, ?, ?)", (key, SESSION, amount))
    if DIES:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"charged {amount}"
"""
"""A payment service that knows keys, and a process that dies when it has been charged."""


def with_a_service(example: str, session: str, dies: bool) -> str:
    """Return the README's example with a payment service where its comment says so, for a session of this name."""
    example, changes = re.subn(r"return f\"charged \{amount\}\".*", "return pay(amount, idempotency_key)", example)
    assert changes == 1
    return f"SESSION, DIES = {session!r}, {dies}\n{PAY}\n" + example.replace('"demo"', "SESSION")


def test_the_example_with_a_log_charges_each_session_once(tmp_path: Path):
    """Copied as it stands: killed in its tool, then in two processes at once, then once more; for two sessions."""
    example = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[-1]

    def start(session: str, dies: bool = False) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", with_a_service(example, session, dies)]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    for killed in [start(session, dies=True) for session in ("ann", "bob")]:
        assert killed.wait() == -signal.SIGKILL
        killed.communicate()
    for started in [start(session) for session in ("ann", "bob", "ann", "bob")]:
        said, complaints = started.communicate()
        assert said == "Paid.\n" or "Conflict: " in complaints  # who was second is told, and has charged nothing anew
    for session in ("ann", "bob"):
        assert start(session).communicate() == ("Paid.\n", "")
    with contextlib.closing(sqlite3.connect(tmp_path / "payments.db")) as service:
        charges = service.execute("SELECT session, amount FROM charges ORDER BY session").fetchall()
    assert charges == [("ann", 26), ("bob", 26)]


def test_the_sizes_are_the_honest_ones():
    """Of both floors, in total lines: docstrings, comments and blank lines included."""
    said = re.findall(r"floor,.*? ([\d,]+) lines", README)
    first, second = (ROOT / "minagent").glob("*.py"), (ROOT / "minagent" / "log").rglob("*.py")
    extras = "postgres", "redis", "object_store"
    floors = [*first], [path for path in second if path.stem not in extras]
    counted = [sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) for files in floors]
    assert said == [f"{count:,}" for count in counted]


def test_links_and_pictures_are_there():
    """Every relative link leads to a file of the repository; every picture has words for who cannot see it."""
    for image, text, target in LINK.findall(README):
        assert "://" in target or (ROOT / target).exists(), target
        assert not image or len(text) > 100


@pytest.mark.parametrize("name", PICTURES)
def test_it_opens_with_what_the_code_draws_now(name: str, tmp_path: Path):
    """The stored picture is that of a run made now, and its sentence is in the words for who cannot see it."""
    picture = drawn(name, tmp_path / "lab")
    assert (IMAGES / f"{name}.svg").read_text(encoding="utf-8") == picture._repr_svg_() + "\n"
    words = next(text for image, text, target in LINK.findall(README) if image and name in target)
    assert words.endswith(repr(picture))


def test_another_run_is_another_picture(tmp_path: Path):
    """So the test above can fail."""
    stored = {(IMAGES / f"{name}.svg").read_text(encoding="utf-8") for name in PICTURES}
    lab = CrashLab(tmp_path, example="errand")
    lab.run()
    assert lab.picture(PICTURES["charged_twice"][1])._repr_svg_() + "\n" not in stored
    assert len(stored) == len(PICTURES)


def test_the_table_counts_the_claims_that_are_shown():
    """Each notebook has its row, with as many claims as its tests demand."""
    shown = dict(re.findall(r"notebooks/([\w.]+)\.ipynb\).*\| (\d+) of \d+ \|", README))
    assert shown == {name: str(len(claims)) for name, claims in CLAIMS.items() if claims}
