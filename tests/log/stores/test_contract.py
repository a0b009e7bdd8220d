"""Every store passes every check, and every store that breaks one promise on purpose is caught."""

import os
from pathlib import Path

import pytest

from minagent.log.contract import CHECKS, trials
from minagent.log.stores.file import FileStore
from minagent.log.stores.json_lines import header
from tests.log.stores.broken import BROKEN, Opener, file, memory, sqlite


def failed(number: int, opener: Opener, folder: Path) -> list[str]:
    """Return what a store does not do that its promise of this number says."""
    reopen = opener(folder)
    return [expected for expected, holds in trials(CHECKS[number], reopen(), reopen) if not holds]


@pytest.mark.parametrize("number", CHECKS)
@pytest.mark.parametrize("opener", [memory, file, sqlite])
def test_the_store_keeps_its_promises(opener: Opener, number: int, tmp_path: Path):
    """One check a promise."""
    assert failed(number, opener, tmp_path / "store") == []


@pytest.mark.parametrize(("number", "opener"), BROKEN.values(), ids=BROKEN)
def test_a_store_that_breaks_a_promise_is_caught(number: int, opener: Opener, tmp_path: Path):
    """By the check of that promise."""
    assert failed(number, opener, tmp_path / "store") != []


def test_a_log_file_is_json_lines(tmp_path: Path):
    """The literal bytes: a first line of its own, and a space before the line break within a batch."""
    store = FileStore(tmp_path)
    store.append("Ann", [b'{"n":1}'], 0)
    store.append("Ann", [b'{"n":2}', b'{"n":3}'], 1)
    assert (tmp_path / "%41nn.log.jsonl").read_bytes() == (b'{"first":0,"session":"Ann"}\n{"n":1}\n{"n":2} \n{"n":3}\n')
    store.truncate_before("Ann", 2)
    assert (tmp_path / "%41nn.log.jsonl").read_bytes() == header("Ann", 2) + b'{"n":3}\n'
    assert os.stat(tmp_path / "%41nn.log.jsonl").st_mode & 0o077 == 0
