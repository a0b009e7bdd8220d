"""Saves struck at each of their file calls, and replayed against a power loss: old or new, never anything else."""

import errno
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from minagent import Checkpoint, FakeModel, Message, Session, Step, ToolRegistry, init_session, step_once
from minagent.document import encode
from minagent.lab.faults.file_calls import NO_STRIKE, Fault, run
from minagent.lab.faults.power_loss import count, killed, record, survivors
from minagent.lab.faults.protocols import ATOMIC, IN_PLACE, MINAGENT, PROTOCOLS, Protocol, Struck, load_json, survey
from minagent.lab.world.example import SCRIPT, TASK, example_agent
from tests.examined import Examined


def checkpoints() -> list[bytes]:
    """Return the documents after the first, the second and the third step of the example."""
    agent = example_agent(ToolRegistry())
    session = init_session(agent, TASK, session_id="demo", created_at="2026-01-01T00:00:00Z")
    model, steps, documents = FakeModel(SCRIPT), list[Step](), list[bytes]()
    for _ in SCRIPT:
        step_once(agent, session, model, steps)
        documents.append(encode(Checkpoint(session, model.cursor, list(steps))))
    return documents


VERSIONS = checkpoints()
SAVES = {"first save": VERSIONS[:1], "later save": VERSIONS[:2], "with older generations": VERSIONS}


@pytest.mark.parametrize("versions", SAVES.values(), ids=SAVES)
def test_a_save_killed_before_any_file_call_leaves_the_old_or_the_new(versions: list[bytes], examined: Examined):
    """Never anything else, no exception at load, and the next save works."""
    outcomes = survey(MINAGENT, versions, "kill")
    examined("file calls struck", len(outcomes) - 1)
    assert {outcome.found for outcome in outcomes} == {"old", "new"}
    assert {outcome.found_next for outcome in outcomes} == {"new"}
    assert [outcome.ended for outcome in outcomes] == ["killed"] * (len(outcomes) - 1) + ["finished"]


@pytest.mark.parametrize("versions", SAVES.values(), ids=SAVES)
def test_the_chapter_s_save_in_place_leaves_files_that_cannot_be_read(versions: list[bytes]):
    """The proof that the harness can see damage."""
    assert Counter(outcome.found for outcome in survey(IN_PLACE, versions, "kill"))["unreadable"] == 1


SYSTEM_CALLS = "openat,write,fsync,close,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat"


def calls_seen_by_strace(versions: list[bytes], folder: Path) -> int:
    """Count the system calls of a save that concern its folder, as the kernel saw them; a listing counts once."""
    path, data = folder / "checkpoints" / "session.json", folder / "data"
    path.parent.mkdir()
    data.write_bytes(versions[-1])
    for version in versions[:-1]:
        run(MINAGENT.save, path, version, NO_STRIKE)
    program = "import sys; from pathlib import Path; from minagent.lab.faults.protocols import MINAGENT; "
    program += "MINAGENT.save(Path(sys.argv[1]), Path(sys.argv[2]).read_bytes())"
    trace = ["strace", "-y", "-o", str(folder / "trace"), "-e", f"trace={SYSTEM_CALLS}"]
    subprocess.run([*trace, sys.executable, "-c", program, str(path), str(data)], check=True)
    lines = [line for line in (folder / "trace").read_text().splitlines() if str(path.parent) in line]
    listings = sum("O_DIRECTORY" in line for line in lines)  # each is an open and a close, for the kernel
    return len(lines) - listings


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace on this machine")
@pytest.mark.parametrize("versions", SAVES.values(), ids=SAVES)
def test_the_kernel_counts_as_many_file_calls_as_were_killed(versions: list[bytes], tmp_path: Path):
    """An independent count: no call of the save escaped the harness."""
    assert len(survey(MINAGENT, versions, "kill")) - 1 == calls_seen_by_strace(versions, tmp_path)


FAULTS: list[tuple[Fault, int]] = [
    ("fail once", errno.EIO),
    ("fail once", errno.ENOSPC),
    ("fail always", errno.EIO),
    ("fail always", errno.ENOSPC),
    ("short once", errno.EIO),
    ("short always", errno.EIO),
]


def says_that_it_is_the_new_one(outcome: Struck) -> bool:
    """Return whether the error says so: only the folder's fsync can fail when the new name is there already."""
    return "session.json is new now, but a power cut may bring back what it was before" in outcome.error


@pytest.mark.parametrize(("fault", "error"), FAULTS)
@pytest.mark.parametrize("versions", [VERSIONS[:2], VERSIONS], ids=["later save", "with older generations"])
def test_a_disk_that_fails_or_writes_short_leaves_the_old_one_and_says_so(
    versions: list[bytes], fault: Fault, error: int, examined: Examined
):
    """Raised: the error has the reason, the old one loads. Not raised: the new one loads. The next save works."""
    outcomes = survey(MINAGENT, versions, fault, error)
    examined("file calls struck", len(outcomes) - 1)
    assert {outcome.found_next for outcome in outcomes} == {"new"}
    for outcome in outcomes:
        if outcome.ended == "raised":
            assert os.strerror(error) in outcome.error
            assert outcome.found == ("new" if says_that_it_is_the_new_one(outcome) else "old")
        else:
            assert outcome.found == "new"
    ended = Counter(outcome.ended for outcome in outcomes)
    assert ended["raised"] == 0 if fault.startswith("short") else ended["raised"] >= 14


@pytest.mark.parametrize(("fault", "error"), FAULTS)
def test_a_first_save_that_fails_leaves_nothing_or_the_new_one(fault: Fault, error: int, examined: Examined):
    """There is no old one: what loads is the new one, whole, or nothing was ever saved."""
    outcomes = survey(MINAGENT, VERSIONS[:1], fault, error)
    examined("file calls struck", len(outcomes) - 1)
    assert {outcome.found for outcome in outcomes} <= {"old", "new"}
    assert {outcome.found_next for outcome in outcomes} == {"new"}


def test_a_short_write_that_is_not_looped_is_seen():
    """The proof that short writes bite: a save that ignores what os.write returns leaves half a file."""
    outcomes = survey(Protocol("careless", save_carelessly, load_json), VERSIONS[:2], "short once")
    assert Counter(outcome.found for outcome in outcomes)["unreadable"] == 1


def save_carelessly(path: Path, data: bytes) -> None:
    """Write once, and believe that all was written."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(descriptor, data)
    os.close(descriptor)


def save_by_unlinking_first(path: Path, data: bytes) -> None:
    """Write a temporary file, delete the old one, and only then rename: a moment with none."""
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(data)
    path.unlink(missing_ok=True)
    temporary.rename(path)


def test_a_save_that_deletes_the_old_file_first_is_caught():
    """By kills and by the model: rename and unlink are file calls, whichever function of os they come from."""
    protocol = Protocol("unlink first", save_by_unlinking_first, load_json)
    outcomes = survey(protocol, VERSIONS[:2], "kill")
    assert [outcome.call for outcome in outcomes] == ["open", "write", "close", "unlink", "rename", "none"]
    assert Counter(outcome.found for outcome in outcomes)["unreadable"] == 1
    assert count(protocol, VERSIONS[:2], killed(record(protocol, VERSIONS[:2])))["unreadable"] == 1


def test_a_save_that_a_reader_wrote_in_a_notebook_can_be_struck():
    """Its source is sent to the helper; it may use os, json and Path."""
    save_carelessly.__module__ = "__main__"
    try:
        outcomes = survey(Protocol("mine", save_carelessly, load_json), VERSIONS[:2], "kill")
    finally:
        save_carelessly.__module__ = __name__
    assert [outcome.call for outcome in outcomes] == ["open", "write", "close", "none"]
    assert Counter(outcome.found for outcome in outcomes)["unreadable"] == 1


def unlike_documents() -> list[bytes]:
    """Return two checkpoints of equal length that share no block: as hard as it gets for a save in place."""
    sessions = [Session("s", [Message("user", letter * 1700)], "t") for letter in "ab"]
    return [encode(Checkpoint(session, 0, [])) for session in sessions]


COUNTED = {
    "in place": ((3, 5), (24, 31), (13, 16)),
    "in place + fsync": ((3, 6), (24, 32), (0, 1)),
    "rename": ((0, 6), (14, 63), (14, 32)),
    "rename + fsync": ((0, 7), (0, 37), (0, 4)),
    "rename + both fsyncs": ((0, 8), (0, 38), (0, 1)),
    "minagent": ((0, 11), (0, 45), (0, 1)),
}
"""Unreadable, of all: killed process; power loss at any moment; power loss after the save has returned."""


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)
def test_bad_states_of_each_protocol_under_the_page_cache_model(protocol: Protocol, examined: Examined):
    """A rename is enough for a killed process; a power loss needs the file's fsync; durability, the folder's."""
    versions = unlike_documents()
    recording = record(protocol, versions)
    disks = list(survivors(recording))
    examined("disks after a power cut", len(disks))
    returned = [disk for disk in disks if disk[0] == len(recording.changes)]
    tables = [count(protocol, versions, some) for some in (killed(recording), disks, returned)]
    assert tuple((table["unreadable"], table.total()) for table in tables) == COUNTED[protocol.name]
    if protocol in (ATOMIC, MINAGENT):
        assert set(tables[2]) == {"new"}


def save_and_force_the_renamed_file(path: Path, data: bytes) -> None:
    """Force the file out once more, after the rename, instead of the folder."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        os.replace(temporary, path)
        os.fsync(file.fileno())


def test_the_fsync_of_a_renamed_file_is_not_one_of_the_folder():
    """The new name may still be lost."""
    protocol = Protocol("twice", save_and_force_the_renamed_file, load_json)
    recording = record(protocol, VERSIONS[:2])
    returned = [disk for disk in survivors(recording) if disk[0] == len(recording.changes)]
    assert set(count(protocol, VERSIONS[:2], returned)) == {"old", "new"}


def save_twice_over(path: Path, data: bytes) -> None:
    """Write the file, write it again, and append nothing."""
    path.write_bytes(b"x")
    path.write_bytes(data[:9])
    with path.open("ab") as file:
        file.write(data[9:])


def test_offsets_are_those_of_the_open_file():
    """A second open begins at 0 again; an append at the end."""
    protocol = Protocol("twice", save_twice_over, load_json)
    recording = record(protocol, VERSIONS[:2])
    assert list(killed(recording))[-1][1].files()["session.json"] == VERSIONS[1]


def save_by_way_of_another_folder(path: Path, data: bytes) -> None:
    """Put the temporary file where the harness does not look."""
    elsewhere = path.parent.with_suffix(".elsewhere")
    elsewhere.write_bytes(data)
    os.replace(elsewhere, path)


def save_with_an_error(path: Path, data: bytes) -> None:
    """Raise, and save nothing."""
    raise SystemExit(f"no room for {len(data)} bytes")


@pytest.mark.parametrize(
    ("save", "said"),
    [(save_by_way_of_another_folder, "cannot be followed"), (save_with_an_error, "raised SystemExit: no room")],
)
def test_a_save_that_cannot_be_followed_is_refused_and_not_praised(save: Callable[[Path, bytes], None], said: str):
    """No count at all, rather than one that says 0 unreadable."""
    with pytest.raises(ValueError, match=said):
        record(Protocol("odd", save, load_json), VERSIONS[:2])


def test_a_save_in_place_may_leave_new_text_with_an_old_tail():
    """The truncation is lost and the writes are not: one of the disks that the model finds (as in tinydb)."""
    recording = record(IN_PLACE, [b'{"n": 1, "long": "tail"}', b'{"n": 2}'])
    assert b'{"n": 2} "long": "tail"}' in [dict(disk.files())["session.json"] for _, disk in survivors(recording)]


def test_a_save_that_ends_its_process_in_another_way_is_told(tmp_path: Path):
    """Not a kill to be counted, and not a good end."""
    with pytest.raises(RuntimeError, match="ended with code 3"):
        run(save_and_leave, tmp_path / "session.json", b"x", NO_STRIKE)


def save_and_leave(path: Path, data: bytes) -> None:
    """End the process in mid-save."""
    os._exit(3)


def test_what_a_save_prints_does_not_get_among_the_answers(tmp_path: Path):
    """A reader's save may print what it does."""
    assert run(save_talking, tmp_path / "session.json", b"x", NO_STRIKE).ended == "finished"


def save_talking(path: Path, data: bytes) -> None:
    """Save, and say so."""
    print("saving", flush=True)
    save_carelessly(path, data)


def test_what_the_harness_cannot_reach_is_an_error_and_not_a_good_result(tmp_path: Path):
    """A save that raises for a reason of its own is reported as raised, with its words."""
    done = run(save_carelessly, tmp_path / "missing" / "file", b"x", NO_STRIKE)
    assert (done.ended, done.error.partition(":")[0]) == ("raised", "FileNotFoundError")
