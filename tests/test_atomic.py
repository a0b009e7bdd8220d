"""Replacing a file: all of the old bytes or all of the new, and no litter."""

import os
from pathlib import Path

import pytest

from minagent.atomic import replace_atomically


def test_replaces_and_leaves_nothing_else(tmp_path: Path):
    """Folders are made, the content is replaced whole, no temporary file stays, and only the owner may read."""
    path = tmp_path / "new" / "file"
    replace_atomically(path, b"old")
    replace_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """os.write may write less than it was given; the file is whole all the same."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data)[:3]))
    replace_atomically(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_refusing_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str):
    """Disk full: the error comes out, the old bytes stay, the temporary file is gone."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(OSError, match="No space left"):
        replace_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_bytes_are_forced_out_before_the_name_and_the_name_before_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The order of the system calls is the promise: write, fsync, replace, fsync of the folder."""
    seen: list[str] = []

    def watch(name: str) -> None:
        real = getattr(os, name)

        def watched(*arguments: object) -> object:
            seen.append(name)
            return real(*arguments)

        monkeypatch.setattr(os, name, watched)

    for name in ("write", "fsync", "replace"):
        watch(name)
    replace_atomically(tmp_path / "file", b"new")
    assert seen == ["write", "fsync", "replace", "fsync"]
