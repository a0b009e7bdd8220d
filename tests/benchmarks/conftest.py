"""What is measured is measured on a disk: the folders of the other tests are in memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ON_DISK


@pytest.fixture(autouse=True)
def tmp_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A new folder on the disk; so are those that are made in a test."""
    with tempfile.TemporaryDirectory(prefix="minagent-", dir=ON_DISK) as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)
