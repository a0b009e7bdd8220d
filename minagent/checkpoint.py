"""Saving a checkpoint, and finding it again: a file, and the generations before it beside it (7.3.2, 7.3.4, 7.3.7).

    session.json           the newest: another name of session.json.step-3
    session.json.step-3
    session.json.step-2
    session.json.step-1
    session.json.bad       a newest one that could not be loaded; the save after it has set it aside

A save first writes the new generation, whole and durable, under its number, which is its count of steps. Then it moves
the name of the newest onto it. At no moment is that name missing, or on half a file: whoever reads it, now or after a
crash, finds the generation before or the new one.

A load changes no file. Where the newest checkpoint is damaged, it takes the one before, and says which, why, and how
many steps are lost: the names tell, even where the bytes do not. An intact document that is newer than this version of
minagent is refused; nothing older is taken in its place, and no save replaces it.
A path has one writer at a time. Hard links are needed, as the file systems of Linux and macOS have them.
"""

import contextlib
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from minagent.agent import Step
from minagent.atomic import rename_durably, replace_atomically
from minagent.document import MAX_BYTES, VERSION, Checkpoint, decode, encode
from minagent.errors import CheckpointDamaged, CheckpointMissing, CheckpointPassedOver, InvalidValue
from minagent.messages import Message
from minagent.models import FakeModel, Model
from minagent.plain_json import compact
from minagent.session import Session

KEPT = 3  # how many generations stay, the newest among them
NUMBERED = r"%s\.step-(?:0|[1-9][0-9]*)"  # names of files; %s stands for that of the newest
LEFT_BY_A_KILLED_SAVE = r"\.%s\.(?:step-[0-9]+\.[a-z0-9_]{8}|newest)\.tmp"


def save_checkpoint(path: str | PathLike[str], session: Session, model: Model, steps: Sequence[Step]) -> None:
    """Save the state of a run to `path`, atomically and durably. The generations before it stay.

    Raises:
        InvalidValue: a value would not come back equal; or `path` holds checkpoints of another session (was the load
            forgotten?). Nothing was written.
        InvalidMessages: the messages contradict themselves. Nothing was written.
        CheckpointTooNew: a checkpoint there is newer than this version of minagent; it was not replaced.
        OSError: the disk refused. The newest is still what it was, unless the error says that it is new.
    """
    if not os.path.basename(path) or os.path.isdir(os.path.expanduser(path)):
        raise InvalidValue("path", "a checkpoint needs the name of a file")
    path = os.path.realpath(os.path.expanduser(path))  # a link stays a link; what it leads to is replaced
    data = encode(Checkpoint(session, model.cursor, list(steps)))
    number = session.step_count
    for left in _beside(path, LEFT_BY_A_KILLED_SAVE):
        os.unlink(left)
    there = numbered(path)
    older = {n: file for n, file in there.items() if _is_of(session, file) and n < number}
    _keep_newest(path, session, older)
    replace_atomically(f"{path}.step-{number}", data)
    # A higher number is from a line that was given up: the run fell back, and has gone on otherwise. It goes before
    # the new one can become the newest, lest a later fallback take it for the state before.
    for given_up in [file for n, file in there.items() if n > number]:
        os.unlink(given_up)
    link = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.newest.tmp")
    os.link(f"{path}.step-{number}", link)  # a link cannot replace a name, but a rename can
    rename_durably(link, path)
    kept = [older[n] for n in sorted(older, reverse=True)[: KEPT - 1]]
    with contextlib.suppress(OSError):  # the save is done; what cannot be tidied up now is tidied up by the next one
        for old in [file for n, file in there.items() if n < number and file not in kept]:
            os.unlink(old)


def _is_of(session: Session, file: str) -> bool:
    """Return whether a file is a checkpoint of this session, by its beginning if that tells; raise as `_good` does."""
    begins = compact({"version": VERSION, "session": {"id": session.id, "created_at": session.created_at}})[:-2]
    with open(file, "rb") as opened:
        return opened.read(len(begins)) == begins or _good(session, file) is not None


def _good(session: Session, file: str) -> Checkpoint | None:
    """Return a checkpoint of this session, or None if it is damaged; raise InvalidValue if it is one of another."""
    try:
        found = _read(file)
    except CheckpointDamaged:
        return None
    if (found.session.id, found.session.created_at) != (session.id, session.created_at):
        other = f"{file} is of another session, {found.session.id!r}, begun at {found.session.created_at}"
        raise InvalidValue("path", f"{other}: go on from there, or save elsewhere, or remove it")
    return found


def _keep_newest(path: str, session: Session, older: dict[int, str]) -> None:
    """Make sure that the newest keeps a name: it has no other if it came from elsewhere, or if the run fell back."""
    if not os.path.exists(path) or _is_one_of(older, path):
        return
    good = _good(session, path)
    if good is None or (count := good.session.step_count) < session.step_count:
        name = f"{path}.bad" if good is None else older.setdefault(count, f"{path}.step-{count}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        os.link(path, name)


def numbered(path: str | PathLike[str]) -> dict[int, str]:
    """Return the generations of `path` by their numbers, the highest first."""
    found = {int(file.rpartition("-")[2]): file for file in _beside(path, NUMBERED)}
    return dict(sorted(found.items(), reverse=True))


def _beside(path: str | PathLike[str], pattern: str) -> list[str]:
    """Return the files in the folder of `path` whose names fit."""
    folder, name = os.path.split(path)
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    files = [os.path.join(folder, found) for found in names if re.fullmatch(pattern % re.escape(name), found)]
    return [file for file in files if os.path.isfile(file)]


def _is_one_of(numbered: dict[int, str], path: str) -> bool:
    return any(os.path.samefile(path, file) for file in numbered.values())


@dataclass(frozen=True)
class LoadReport:
    """What loading found."""

    loaded: str  # the name of the file
    steps_lost: int | None  # behind the newest that was saved, as the names of the files tell; None if no name tells
    passed_over: tuple[str, ...]  # the newer files that could not be loaded, each with the reason

    def __str__(self) -> str:
        lost = "unknown" if self.steps_lost is None else self.steps_lost
        return f"loaded {self.loaded}; steps lost: {lost}; passed over: {'; '.join(self.passed_over) or 'none'}"


def load_checkpoint(path: str | PathLike[str], script: Sequence[Message]) -> tuple[Session, FakeModel, list[Step]]:
    """Load session, model and trace from `path`; the model's cursor stands where it stood, in the whole `script`.

    Where the newest checkpoint is damaged, the one before it is taken, with the warning CheckpointPassedOver. Raises as
    `recover_checkpoint` does, and InvalidValue if the checkpoint is of a model without a script, or of a longer one.
    """
    checkpoint, report = recover_checkpoint(path)
    if report.passed_over:
        with warnings.catch_warnings():
            # By default Python shows a warning once for each line of code: the second fallback would be silent.
            warnings.filterwarnings("always", category=CheckpointPassedOver, append=True)
            warnings.warn(str(report), CheckpointPassedOver, stacklevel=2)
    if checkpoint.model_cursor is None:
        raise InvalidValue("model_cursor", "saved with a model that has no script: load it with recover_checkpoint")
    if checkpoint.model_cursor > len(script):
        raise InvalidValue("script", f"{len(script)} items, and {checkpoint.model_cursor} are used: is it another one?")
    model = FakeModel(script)
    model.cursor = checkpoint.model_cursor
    return checkpoint.session, model, checkpoint.steps


def recover_checkpoint(path: str | PathLike[str]) -> tuple[Checkpoint, LoadReport]:
    """Load the newest good checkpoint of `path`, and report what was found. No file is changed.

    Raises:
        CheckpointMissing: nothing was ever saved at `path`.
        CheckpointDamaged: nothing that is left can be loaded; the error says why, file by file.
        CheckpointTooNew: the newest good one is newer than this version of minagent.
    """
    path = os.path.realpath(os.path.expanduser(path))
    older = numbered(path)
    if not os.path.exists(path) and not older:
        raise CheckpointMissing(f"no checkpoint at {path}: nothing was saved there yet")
    passed_over: list[str] = []
    for file in (path, *older.values()):
        try:
            checkpoint = _read(file)
        except (CheckpointDamaged, OSError) as error:
            passed_over.append(f"{os.path.basename(file)}: {error}")
            continue
        # The newest that was saved has the highest number, unless the newest file has none.
        told = not os.path.exists(path) or _is_one_of(older, path)
        lost = max(0, max(older, default=0) - checkpoint.session.step_count) if told else None
        return checkpoint, LoadReport(os.path.basename(file), lost if passed_over else 0, tuple(passed_over))
    raise CheckpointDamaged(f"no checkpoint at {path} can be loaded: {'; '.join(passed_over)}")


def _read(file: str) -> Checkpoint:
    if (size := os.path.getsize(file)) > MAX_BYTES:
        raise CheckpointDamaged(f"larger than {MAX_BYTES} bytes")
    with open(file, "rb") as opened:
        return decode(opened.read(size))
