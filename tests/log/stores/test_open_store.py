"""A store by its address."""

from pathlib import Path

import pytest

from minagent import InvalidValue
from minagent.log import FileStore, MemoryStore, SqliteStore, open_store


@pytest.mark.parametrize(("kind", "store"), [("file", FileStore), ("sqlite", SqliteStore)])
@pytest.mark.parametrize("form", ["{kind}:{path}", "{kind}://{path}"])
def test_an_address_opens_the_same_place_again(tmp_path: Path, kind: str, store: type, form: str):
    """Whoever opens it next finds what was written."""
    url = form.format(kind=kind, path=tmp_path / "Ann's sessions 100%")
    opened = open_store(url)
    assert isinstance(opened, store)
    opened.append("demo", [b"{}"], 0)
    assert open_store(url).read("demo").lines == [b"{}"]
    assert (tmp_path / "Ann's sessions 100%").exists()


def test_a_relative_path_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It begins at the current folder."""
    monkeypatch.chdir(tmp_path)
    open_store("file:sessions").append("demo", [b"{}"], 0)
    assert (tmp_path / "sessions" / "demo.log.jsonl").exists()


def test_memory_is_new_each_time():
    """Nothing of it can be found again."""
    open_store("memory:").append("demo", [b"{}"], 0)
    assert isinstance(open_store("memory:"), MemoryStore)
    assert open_store("memory:").sessions() == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sessions",
        "file",
        "memory",
        "memory:x",
        "s3:bucket/prefix",
        "postgresql:h/d",
        "File:x",
        "file:",
        "sqlite://",
        "sqlite::memory:",
    ],
)
def test_what_is_no_address_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With what it should be; nothing is made."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidValue, match=r"url: (expected memory:, file:FOLDER|.* names no place that lasts)"):
        open_store(url)
    assert list(tmp_path.iterdir()) == []
