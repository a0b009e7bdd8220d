"""The button that kills the kernel one sits in asks first. That it does kill is tested in the browser."""

from pathlib import Path

import pytest

from minagent.lab.kernel.environment import demo_folder
from minagent.lab.views.own_kernel import WARNING, OwnKernelView


def test_nothing_dies_before_a_yes():
    """Neither by the first button, nor by a yes that nobody was asked for, nor after a no."""
    killed: list[str] = []
    view = OwnKernelView(lambda: killed.append("killed"))
    view.buttons["Yes, kill it"].click()
    assert "Press Crash this notebook's kernel first" in view.status.said
    view.buttons["Crash this notebook's kernel"].click()
    assert view.status.said == WARNING
    view.buttons["No, keep it"].click()
    view.buttons["Yes, kill it"].click()
    assert killed == []
    view.buttons["Crash this notebook's kernel"].click()
    view.buttons["Yes, kill it"].click()
    assert killed == ["killed"]
    assert repr(view) == "Own kernel: Killed."


def test_the_folder_is_there_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """For this user and this notebook alone; fresh means empty."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("JPY_SESSION_NAME", "live_demo.ipynb")
    folder = demo_folder(fresh=True)
    (folder / "a").write_text("kept")
    assert (demo_folder() / "a").read_text() == "kept"
    assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("JPY_SESSION_NAME", "another copy of it")
    assert list(demo_folder(fresh=True).iterdir()) == []
    assert (folder / "a").exists()
    monkeypatch.setenv("JPY_SESSION_NAME", "live_demo.ipynb")
    assert list(demo_folder(fresh=True).iterdir()) == []
