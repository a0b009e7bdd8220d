"""A crash lab that leaves no process behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from minagent.lab.crash_lab.crashlab import CrashLab


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[CrashLab]:
    """A lab before its start."""
    lab = CrashLab(tmp_path / "lab")
    yield lab
    lab.close()
