"""The checkpoint document: it comes back equal, or it is refused with a reason."""

import copy
import hashlib
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minagent import (
    Agent,
    CheckpointDamaged,
    CheckpointMissing,
    CheckpointTooNew,
    FakeModel,
    InvalidMessages,
    InvalidValue,
    Message,
    Session,
    Step,
    ToolCall,
    init_session,
    load_checkpoint,
    run_with_checkpoints,
    save_checkpoint,
    step_once,
)
from minagent.checkpoint import LoadReport, recover_checkpoint
from minagent.document import VERSION, Checkpoint, decode, encode
from minagent.errors import CheckpointPassedOver
from minagent.lab.world.example import SCRIPT, HistoryModel
from minagent.messages import ROLES
from minagent.plain_json import compact
from tests.examined import Examined


@pytest.fixture
def checkpoint(agent: Agent, session: Session, model: FakeModel, steps: list[Step]) -> Checkpoint:
    """The state after the first step."""
    step_once(agent, session, model, steps)
    return Checkpoint(session, model.cursor, steps)


def test_document_holds_the_chapter_s_blocks_readable_by_a_person(checkpoint: Checkpoint):
    """One JSON object, Chinese as Chinese."""
    data = encode(checkpoint)
    assert list(json.loads(data)) == ["version", "session", "model_cursor", "steps", "sha256"]
    lines = data.decode().splitlines()  # one for the head, one for each message, one for each step
    assert [line.partition(",")[0] for line in lines[1:]] == [*(f'{{"role":"{role}"' for role in ROLES), '{"index":0']
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
    monkeypatch.setattr("minagent.document.VERSION", 2)
    data = encode(checkpoint)
    monkeypatch.undo()
    with pytest.raises(CheckpointTooNew, match=r"format version 2.*up to 1.*update minagent"):
        decode(data)


def test_every_cut_and_every_flipped_bit_is_noticed(checkpoint: Checkpoint, examined: Examined):
    """Including those that leave good JSON: 5 to 7, c1 to c3, version 1 to 3."""
    data = encode(checkpoint)
    damaged = [data[:length] for length in range(len(data) - 1)]
    damaged += [
        data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1 :] for i in range(len(data) - 1) for bit in range(8)
    ]
    for bad in damaged:
        with pytest.raises(CheckpointDamaged):
            decode(bad)
    examined("cuts", len(data) - 1)
    examined("flipped bits", (len(data) - 1) * 8)


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


def signed(document: dict[str, Any]) -> bytes:
    """Return a document as bytes, with the digest that fits."""
    before = compact(document)[:-1]
    return before + f',"sha256":"{hashlib.sha256(before).hexdigest()}"}}\n'.encode()


@pytest.mark.parametrize("version", ["one", None, 1.5, True, -7])
def test_a_version_that_is_no_number_is_refused(checkpoint: Checkpoint, version: object):
    """Even under a good digest."""
    document = json.loads(encode(checkpoint))
    del document["sha256"]
    with pytest.raises(CheckpointDamaged, match=r"version: expected int, found|there is no format version -7"):
        decode(signed({**document, "version": version}))


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object()])
def test_what_would_not_come_back_is_refused_and_the_old_file_stays(
    tmp_path: Path, checkpoint: Checkpoint, model: FakeModel, value: object
):
    """Refused before anything is written."""
    path = tmp_path / "session.json"
    save_checkpoint(path, checkpoint.session, model, checkpoint.steps)
    before = path.read_bytes()
    checkpoint.session.metadata["x"] = value
    with pytest.raises(InvalidValue, match=r"metadata\.x: "):
        save_checkpoint(path, checkpoint.session, model, checkpoint.steps)
    assert path.read_bytes() == before


def test_a_missing_file_is_an_error_and_never_a_fresh_start(tmp_path: Path):
    """The caller decides whether to begin anew; loading does not."""
    with pytest.raises(CheckpointMissing, match="nothing was saved there yet"):
        load_checkpoint(tmp_path / "new" / "session.json", SCRIPT)


DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", ["checkpoint_v0.json", "checkpoint_v1.json"])
def test_every_format_that_was_ever_written_loads(checkpoint: Checkpoint, name: str):
    """The corpus keeps a document of each version for ever; all hold the state after the first step."""
    assert decode((DATA / name).read_bytes()) == checkpoint


def test_the_corpus_has_the_version_that_is_written_now(checkpoint: Checkpoint):
    """A change of the format needs a new version, and a new document in the corpus."""
    assert (DATA / f"checkpoint_v{VERSION}.json").read_bytes() == encode(checkpoint)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"\0" * len(data),
        lambda data: b"",
        lambda data: data + data,
        lambda data: data + b"x",
        lambda data: data[:-2],
        lambda data: data.replace(b'"content":"5"', b'"content":"6"'),
        lambda data: data.replace(b'"version":1', b'"version":2'),
    ],
    ids=["all NUL", "empty", "doubled", "trailing bytes", "cut", "a changed result", "a changed version"],
)
def test_a_damaged_newest_one_is_passed_over_and_reported(
    three_saves: Path, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
):
    """The one before is loaded; the report says which file, why, and how many steps are lost; no file changes."""
    three_saves.write_bytes(damage(three_saves.read_bytes()))
    before = {file.name: file.read_bytes() for file in three_saves.parent.iterdir()}
    reports = [recover_checkpoint(three_saves) for _ in range(2)]
    assert reports[0] == reports[1]
    checkpoint, report = reports[0]
    assert (checkpoint.session.step_count, report.loaded, report.steps_lost) == (2, "session.json.step-2", 1)
    assert [line.partition(":")[0] for line in report.passed_over] == ["session.json", "session.json.step-3"]
    assert {file.name: file.read_bytes() for file in three_saves.parent.iterdir()} == before


@pytest.mark.parametrize("too_short", [0, 1, 2])
def test_a_script_that_is_too_short_is_another_one(three_saves: Path, too_short: int):
    """Said at once, and not when the run asks for an answer that is not there."""
    with pytest.raises(InvalidValue, match=f"script: {too_short} items, and 3 are used: is it another one?"):
        load_checkpoint(three_saves, SCRIPT[:too_short])


def test_a_tilde_is_the_home_folder(
    session: Session, model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As a shell has it: no folder of that name is made."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    save_checkpoint("~/runs/session.json", session, model, [])
    assert recover_checkpoint(tmp_path / "home/runs/session.json") == recover_checkpoint("~/runs/session.json")
    assert [file.name for file in tmp_path.iterdir()] == ["home"]


@pytest.fixture
def three_saves(agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path) -> Path:
    """The path of a checkpoint with two older generations beside it."""
    path = tmp_path / "session.json"
    for _ in SCRIPT:
        step_once(agent, session, model, steps)
        save_checkpoint(path, session, model, steps)
    return path


def test_loading_an_older_one_is_never_silent(three_saves: Path):
    """load_checkpoint keeps the chapter's three values, and warns."""
    three_saves.write_bytes(b"")
    with pytest.warns(CheckpointPassedOver, match=r"loaded session\.json\.step-2; steps lost: 1") as warned:
        session, model, steps = load_checkpoint(three_saves, SCRIPT)
    assert warned[0].filename == __file__
    assert (session.step_count, model.cursor, len(steps)) == (2, 2, 2)


def test_the_next_save_sets_the_bad_one_aside(three_saves: Path, agent: Agent):
    """Renamed, not lost: what was damaged can be looked at, and what is newest is good again."""
    three_saves.write_bytes(b"damaged")
    with pytest.warns(CheckpointPassedOver):
        session, model, steps = load_checkpoint(three_saves, SCRIPT)
    step_once(agent, session, model, steps)
    save_checkpoint(three_saves, session, model, steps)
    names = sorted(file.name for file in three_saves.parent.iterdir())
    assert names == [
        "session.json",
        "session.json.bad",
        "session.json.step-1",
        "session.json.step-2",
        "session.json.step-3",
    ]
    assert (three_saves.parent / "session.json.bad").read_bytes() == b"damaged"
    _, report = recover_checkpoint(three_saves)
    assert report == LoadReport("session.json", 0, ())


def test_when_none_is_left_that_loads_it_is_an_error_that_names_them_all(three_saves: Path):
    """Never a fresh start."""
    for file in three_saves.parent.iterdir():
        file.write_bytes(b"{")
    with pytest.raises(CheckpointDamaged) as error:
        recover_checkpoint(three_saves)
    for name in ("session.json:", "session.json.step-3:", "session.json.step-2:", "session.json.step-1:"):
        assert name in str(error.value)


def test_a_name_that_vanished_is_found_again_by_its_number(three_saves: Path):
    """Somebody deletes the newest name; the generation under its number has the same bytes."""
    three_saves.unlink()
    checkpoint, report = recover_checkpoint(three_saves)
    assert (checkpoint.session.step_count, report.loaded, report.steps_lost) == (3, "session.json.step-3", 0)


def test_a_newer_document_is_not_passed_over_and_not_replaced(three_saves: Path, session: Session, model: FakeModel):
    """It is intact: whoever wrote it can still read it. Nothing older is taken in its place."""
    document = json.loads(three_saves.read_bytes())
    del document["sha256"]
    newer = signed({**document, "version": 7})
    three_saves.unlink()
    three_saves.write_bytes(newer)
    with pytest.raises(CheckpointTooNew, match=r"version 7.*up to 1"):
        recover_checkpoint(three_saves)
    with pytest.raises(CheckpointTooNew):
        save_checkpoint(three_saves, session, model, [])
    assert three_saves.read_bytes() == newer


@pytest.mark.parametrize(
    ("session_id", "created_at"),
    [("other", "2026-01-01T00:00:00Z"), ("aaa", "2026-01-01T00:00:00Z"), ("demo", "2026-01-02T00:00:00Z")],
)
def test_another_session_s_generations_are_neither_taken_nor_destroyed(
    three_saves: Path, agent: Agent, session_id: str, created_at: str
):
    """A script is started again, and the load forgotten: its first save is refused, and says what to do."""
    other = init_session(agent, "another question", session_id=session_id, created_at=created_at)
    before = {file: file.read_bytes() for file in three_saves.parent.iterdir()}
    with pytest.raises(InvalidValue, match=r"of another session, 'demo', .* or save elsewhere, or remove it"):
        save_checkpoint(three_saves, other, FakeModel(SCRIPT), [])
    with pytest.raises(InvalidValue, match="of another session"):
        run_with_checkpoints(agent, other, FakeModel(SCRIPT), [], three_saves)
    assert {file: file.read_bytes() for file in three_saves.parent.iterdir()} == before
    assert len(other.messages) == 2  # no step was taken


def test_a_link_is_followed(tmp_path: Path, session: Session, model: FakeModel):
    """What it leads to is replaced, with its generations beside it; the link stays one."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "session.json"
    link.symlink_to(Path("real", "kept.json"))
    save_checkpoint(link, session, model, [])
    session.messages.append(Message("assistant", "Done."))
    save_checkpoint(link, session, model, [])
    assert link.is_symlink()
    names = sorted(file.name for file in (tmp_path / "real").iterdir())
    assert names == ["kept.json", "kept.json.step-0", "kept.json.step-1"]
    (tmp_path / "real" / "kept.json").write_bytes(b"")
    _, report = recover_checkpoint(link)
    assert (report.loaded, report.steps_lost) == ("kept.json.step-0", 1)


def test_a_folder_is_no_checkpoint(tmp_path: Path, session: Session, model: FakeModel):
    """However its path is spelled."""
    for path in (tmp_path, f"{tmp_path}/"):
        with pytest.raises(InvalidValue, match="needs the name of a file"):
            save_checkpoint(path, session, model, [])


def test_a_load_asks_for_no_more_memory_than_the_file_is_long(three_saves: Path, monkeypatch: pytest.MonkeyPatch):
    """With the size limit as the size to read, Python asks for 256 MiB at once."""
    asked: list[int] = []

    class Watched(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            asked.append(-1 if size is None else size)
            return super().read(size) or b""

    monkeypatch.setattr("minagent.checkpoint.open", lambda file, _: Watched(file), raising=False)
    recover_checkpoint(three_saves)
    assert asked == [three_saves.stat().st_size]


def test_a_line_that_was_given_up_is_not_fallen_back_to(three_saves: Path, agent: Agent):
    """After a fallback to step 1 and a save there, the generations of steps 2 and 3 are gone."""
    checkpoint = decode((three_saves.parent / "session.json.step-1").read_bytes())
    model = FakeModel(SCRIPT)
    model.cursor = checkpoint.model_cursor
    save_checkpoint(three_saves, checkpoint.session, model, checkpoint.steps)
    assert sorted(file.name for file in three_saves.parent.iterdir()) == ["session.json", "session.json.step-1"]


def test_a_session_that_contradicts_itself_is_refused_at_save(tmp_path: Path, session: Session, model: FakeModel):
    """An orphan result, as in a session whose call message was lost (strands-agents 3651)."""
    session.messages.append(Message("tool", "5", tool_call_id="c9"))
    with pytest.raises(InvalidMessages, match="orphan result 'c9'"):
        save_checkpoint(tmp_path / "session.json", session, model, [])
    assert list(tmp_path.iterdir()) == []


def test_too_large_a_document_is_not_saved(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch):
    """What could not be loaded again."""
    monkeypatch.setattr("minagent.document.MAX_BYTES", len(encode(checkpoint)) - 1)
    with pytest.raises(InvalidValue, match="could not be loaded again: larger than"):
        encode(checkpoint)


def test_a_file_that_is_too_large_is_not_cut_and_believed(three_saves: Path, monkeypatch: pytest.MonkeyPatch):
    """A good document and white space beyond the bound: the bound is on what is there, not on what is read."""
    data = three_saves.read_bytes()
    monkeypatch.setattr("minagent.document.MAX_BYTES", len(data))
    monkeypatch.setattr("minagent.checkpoint.MAX_BYTES", len(data))
    assert "passed over: none" in str(recover_checkpoint(three_saves)[1])
    three_saves.write_bytes(data + b" ")
    _, report = recover_checkpoint(three_saves)
    assert report.loaded == "session.json.step-2"
    assert f"session.json: larger than {len(data)} bytes" in report.passed_over
    assert f"passed over: session.json: larger than {len(data)} bytes; " in str(report)


@pytest.mark.parametrize(
    ("cursor", "steps", "said"),
    [
        (-1, [], "model_cursor: counts from the script's start"),
        (10**5000, [], "model_cursor: counts from the script's start"),
        (1.0, [], "model_cursor: expected int or null, found float"),
        (object(), [], "model_cursor: expected int or null, found object"),
        (0, [Step(0, "final", {1, 2})], r"steps\[0\]\.detail: expected str, found set"),  # type: ignore[arg-type]
        (0, [Step(10**5000, "final", "")], r"steps\[0\]: an integer of more than 4300 digits"),
        (0, [(0, "final", "")], r"steps\[0\]: expected Step, found tuple"),
    ],
    ids=["negative", "endless", "float", "object", "a set", "an endless index", "a tuple"],
)
def test_a_cursor_or_a_trace_that_would_not_come_back_is_refused_by_its_path(
    session: Session, cursor: Any, steps: list[Any], said: str
):
    """Whatever is wrong, the error is one of ours, and says where."""
    with pytest.raises(InvalidValue, match=said):
        encode(Checkpoint(session, cursor, steps))


def test_messages_of_another_type_are_refused_by_their_path(session: Session):
    """Only what comes back as what it was is saved."""
    session.messages = [*session.messages, {"role": "user", "content": "hi"}]  # type: ignore[list-item]
    with pytest.raises(InvalidValue, match=r"messages\[2\]: expected Message, found dict"):
        encode(Checkpoint(session, 0, []))
    session.messages = tuple(session.messages[:2])  # type: ignore[assignment]
    with pytest.raises(InvalidValue, match="messages: expected list, found tuple"):
        encode(Checkpoint(session, 0, []))


def test_a_checkpoint_without_a_cursor_is_not_given_to_a_fake_model(tmp_path: Path, session: Session):
    """It would answer from the start of its script."""
    save_checkpoint(tmp_path / "session.json", session, HistoryModel(lambda _: SCRIPT[0]), [])
    with pytest.raises(InvalidValue, match="load it with recover_checkpoint"):
        load_checkpoint(tmp_path / "session.json", SCRIPT)
    assert recover_checkpoint(tmp_path / "session.json")[0].model_cursor is None


def test_every_fallback_is_said_not_only_the_first(three_saves: Path):
    """Python shows a warning once for each line of code; ours each time."""
    three_saves.write_bytes(b"")
    with warnings.catch_warnings(record=True) as said:
        warnings.resetwarnings()
        for _ in range(3):
            load_checkpoint(three_saves, SCRIPT)
    assert len(said) == 3


def test_arguments_of_any_storable_depth_can_be_saved_after_their_tool_has_run(
    agent: Agent, session: Session, steps: list[Step]
):
    """What is not refused before the tool runs is not refused after."""
    refused = []
    for depth in range(90, 104):
        value: Any = 0
        for _ in range(depth):
            value = [value]
        mine, model = copy.deepcopy(session), FakeModel([Message("assistant", "", [ToolCall("c1", "x", {"x": value})])])
        try:
            step_once(agent, mine, model, steps)
        except InvalidValue:
            refused.append(depth)
        else:
            encode(Checkpoint(mine, model.cursor, []))
    assert refused == [100, 101, 102, 103]


def test_a_large_document_is_checked_in_time_proportional_to_its_size(session: Session):
    """A path for each of its items would be quadratic: a 2 MB document took 17 seconds."""
    session.metadata["k" * 20_000] = [1] * 300_000
    assert decode(encode(Checkpoint(session, 0, []))).session == session


def test_too_deep_a_document_is_refused(checkpoint: Checkpoint):
    """Within the limit it comes back; beyond it is refused when it is saved, and when it is loaded."""
    deep: list[Any] = []
    for _ in range(98):
        deep = [deep]
    checkpoint.session.metadata["deep"] = deep
    assert decode(encode(checkpoint)) == checkpoint
    checkpoint.session.metadata["deep"] = [[[[[[[[[[deep]]]]]]]]]]
    with pytest.raises(InvalidValue, match="nested more than 100 deep"):
        encode(checkpoint)


@pytest.mark.parametrize(
    "result", ["a\ud83d", "\ud83d\ude00", chr(0xDC80) + chr(0xDCFF), "\0", "\u2028", "x" * 3_000_000, "先算"]
)
def test_any_tool_result_is_stored_exactly(checkpoint: Checkpoint, result: str):
    """The tool has run: whatever it returned is kept, lone surrogates and NUL included, never replaced by "?"."""
    checkpoint.session.messages[-1] = Message("tool", result, tool_call_id="c1")
    assert decode(encode(checkpoint)).session.messages[-1].content == result


def test_only_the_owner_may_read_a_checkpoint(three_saves: Path):
    """Conversations are private; that holds for every file of them."""
    assert {file.stat().st_mode & 0o777 for file in three_saves.parent.iterdir()} == {0o600}


def test_what_a_killed_save_left_goes_at_the_next(three_saves: Path, session: Session, model: FakeModel):
    """Stale temporary files do not pile up."""
    (three_saves.parent / ".session.json.step-4.k2x9f3ab.tmp").write_bytes(b"half")
    (three_saves.parent / ".session.json.newest.tmp").write_bytes(b"half")
    (three_saves.parent / ".session.json.1.step-4.k2x9f3ab.tmp").write_bytes(b"not ours")
    save_checkpoint(three_saves, session, model, [])
    left = [file.name for file in three_saves.parent.iterdir() if file.name.endswith(".tmp")]
    assert left == [".session.json.1.step-4.k2x9f3ab.tmp"]


def test_files_are_utf_8_whatever_the_locale(checkpoint: Checkpoint, tmp_path: Path):
    """A process in the C locale, without UTF-8 mode, writes and reads the same bytes (crewAI 7256)."""
    path = tmp_path / "session.json"
    path.write_bytes(encode(checkpoint))
    program = """
import sys
from minagent import FakeModel, recover_checkpoint, save_checkpoint
checkpoint, _ = recover_checkpoint(sys.argv[1])
save_checkpoint(sys.argv[1], checkpoint.session, FakeModel([]), checkpoint.steps)
"""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", program, str(path)], env=environment, check=True)
    assert recover_checkpoint(path)[0].session == checkpoint.session
    assert "先算 2+3".encode() in path.read_bytes()
