"""The checkpoint document: it comes back equal, or it is refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from minagent import (
    Agent,
    CheckpointDamaged,
    CheckpointMissing,
    CheckpointTooNew,
    FakeModel,
    InvalidValue,
    Session,
    Step,
    load_checkpoint,
    save_checkpoint,
    step_once,
)
from minagent.checkpoint import Checkpoint, decode, encode
from minagent.lab.example import SCRIPT


@pytest.fixture
def checkpoint(agent: Agent, session: Session, model: FakeModel, steps: list[Step]) -> Checkpoint:
    """The state after the first step."""
    step_once(agent, session, model, steps)
    return Checkpoint(session, model.cursor, steps)


def test_document_holds_the_chapter_s_blocks_readable_by_a_person(checkpoint: Checkpoint):
    """One JSON object, Chinese as Chinese."""
    data = encode(checkpoint)
    assert list(json.loads(data)) == ["session", "model_cursor", "steps", "version", "sha256"]
    assert "先算 2+3" in data.decode()


def test_decode_is_the_inverse_of_encode(checkpoint: Checkpoint):
    """Session, cursor and trace come back equal field by field (7.3.4)."""
    assert decode(encode(checkpoint)) == checkpoint


def test_equal_states_have_equal_bytes(checkpoint: Checkpoint):
    """Nothing of the moment or the machine is in the document."""
    assert encode(checkpoint) == encode(decode(encode(checkpoint)))


def test_save_and_load_over_a_process_life(tmp_path: Path, checkpoint: Checkpoint, model: FakeModel):
    """The loaded model stands in the whole script, not in what is left of it."""
    path = tmp_path / "session.json"
    save_checkpoint(path, checkpoint.session, model, checkpoint.steps)
    session, loaded, steps = load_checkpoint(path, SCRIPT)
    assert (session, loaded.cursor, loaded.script, steps) == (checkpoint.session, 1, SCRIPT, checkpoint.steps)


def test_the_chapter_s_own_document_is_version_0(checkpoint: Checkpoint):
    """Exactly three keys and no digest: it loads, and its next save has both fields."""
    document = json.loads(encode(checkpoint))
    del document["version"], document["sha256"]
    loaded = decode(json.dumps(document).encode())
    assert loaded == checkpoint
    assert json.loads(encode(loaded))["version"] == 1


def test_a_newer_document_is_refused_with_both_numbers(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch):
    """Intact but newer: not damaged, and not understood."""
    monkeypatch.setattr("minagent.checkpoint.VERSION", 2)
    data = encode(checkpoint)
    monkeypatch.undo()
    with pytest.raises(CheckpointTooNew, match=r"format version 2.*up to 1.*update minagent"):
        decode(data)


def test_every_cut_and_every_flipped_bit_is_noticed(checkpoint: Checkpoint):
    """Including those that leave good JSON: 5 to 7, c1 to c3, version 1 to 3."""
    data = encode(checkpoint)
    damaged = [data[:length] for length in range(len(data) - 1)]
    damaged += [
        data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1 :] for i in range(len(data) - 1) for bit in range(8)
    ]
    for bad in damaged:
        with pytest.raises(CheckpointDamaged):
            decode(bad)


@pytest.mark.parametrize("data", [b"", b"\0" * 900, b"[]", b"null", b"{}", b"[" * 100_000, b'{"session": 1}'])
def test_what_is_no_checkpoint_is_called_damaged(data: bytes):
    """Whatever the bytes, one kind of error; never a crash of the decoder."""
    with pytest.raises(CheckpointDamaged):
        decode(data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_cursor": "1"}, "model_cursor: expected int or null, found str"),
        ({"steps": [{"index": 0, "kind": "final"}]}, r"steps\[0\]: missing detail"),
        ({"steps": [{"index": "0", "kind": "final", "detail": ""}]}, r"steps\[0\].index: expected int, found str"),
        ({"session": []}, "session: expected dict, found list"),
    ],
)
def test_a_version_0_document_that_does_not_fit_is_refused_with_the_place(
    checkpoint: Checkpoint, change: dict[str, Any], said: str
):
    """Version 0 has no digest; its shape is checked all the same."""
    document = json.loads(encode(checkpoint))
    blocks = {key: document[key] for key in ("session", "model_cursor", "steps")}
    with pytest.raises(CheckpointDamaged, match=said):
        decode(json.dumps({**blocks, **change}).encode())


def test_a_version_that_is_no_number_is_refused(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch):
    """Even under a good digest."""
    monkeypatch.setattr("minagent.checkpoint.VERSION", "one")
    data = encode(checkpoint)
    monkeypatch.undo()
    with pytest.raises(CheckpointDamaged, match="version must be an integer, found 'one'"):
        decode(data)


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object()])
def test_what_json_cannot_express_is_refused_and_the_old_file_stays(
    tmp_path: Path, checkpoint: Checkpoint, model: FakeModel, value: object
):
    """Refused before anything is written."""
    path = tmp_path / "session.json"
    save_checkpoint(path, checkpoint.session, model, checkpoint.steps)
    before = path.read_bytes()
    checkpoint.session.metadata["x"] = value
    with pytest.raises(InvalidValue, match="cannot be written as JSON"):
        save_checkpoint(path, checkpoint.session, model, checkpoint.steps)
    assert path.read_bytes() == before


def test_a_missing_file_is_an_error_and_never_a_fresh_start(tmp_path: Path):
    """The caller decides whether to begin anew; loading does not."""
    with pytest.raises(CheckpointMissing, match="nothing was saved there yet"):
        load_checkpoint(tmp_path / "session.json", SCRIPT)
