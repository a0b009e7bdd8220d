"""Saving a checkpoint and finding it again: a file with one document in it, and the generations before it beside it.

A save proves that what it writes can be loaded, before it replaces anything. A load changes no file: where the newest
checkpoint is damaged, it takes the one before, and says which, why, and how many steps are lost. An intact document
that is newer than this version of minagent is refused; nothing older is taken in its place, and no save replaces it.

Source: chapters 7.3.2, 7.3.4 and 7.3.7.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from minagent.agent import Step
from minagent.document import MAX_BYTES, Checkpoint, compressed, decode, encode
from minagent.errors import CheckpointDamaged, CheckpointMissing, CheckpointPassedOver, InvalidValue
from minagent.generations import Verdict, numbered, save_generation
from minagent.messages import Message
from minagent.models import FakeModel, Model
from minagent.session import Session


def save_checkpoint(path: str | PathLike[str], session: Session, model: Model, steps: Sequence[Step]) -> None:
    """Save the state of a run to `path`, atomically and durably. The generations before it stay.

    A name that ends in `.gz` has it compressed.

    Raises:
        InvalidValue: a value would not come back equal; nothing was written.
        InvalidMessages: the messages contradict themselves; nothing was written.
        CheckpointTooNew: a checkpoint there is newer than this version of minagent; it was not replaced.
        OSError: the disk refused; the newest checkpoint is still there.
    """
    path = Path(path)
    if not path.name:
        raise InvalidValue("path", "a checkpoint needs the name of a file")
    data = encode(Checkpoint(session, model.cursor, list(steps)))
    if path.suffix == ".gz":
        data = compressed(data)
    save_generation(path, data, session.step_count, _verdict(path, session))


def _verdict(path: Path, session: Session) -> Verdict:
    """Look at all files that are there: a session never falls back to the state of another that had its path."""
    found = {file: _session_in(file) for file in numbered(path).values()}
    exists = path.exists()
    # The newest has two names as a rule: it is read once.
    twin = next((file for file in found if exists and path.samefile(file)), None)
    newest = found[twin] if twin is not None else _session_in(path) if exists else None
    return Verdict(
        newest_is_bad=exists and newest is None,
        newest_number=newest.step_count if newest is not None and _same(newest, session) else None,
        unwanted=tuple(file for file, held in found.items() if held is None or not _same(held, session)),
    )


def _session_in(file: Path) -> Session | None:
    try:
        return _read(file).session
    except CheckpointDamaged:
        return None


def _same(one: Session, other: Session) -> bool:
    return (one.id, one.created_at) == (other.id, other.created_at)


@dataclass(frozen=True)
class LoadReport:
    """What loading found."""

    loaded: str
    """The name of the file that was loaded."""
    steps_lost: int | None
    """How many steps it is behind the newest that was saved, as the names tell; None if no name tells."""
    passed_over: tuple[str, ...]
    """The newer files that could not be loaded, each with the reason."""

    def __str__(self) -> str:
        lost = "unknown" if self.steps_lost is None else self.steps_lost
        return f"loaded {self.loaded}; steps lost: {lost}; passed over: {'; '.join(self.passed_over) or 'none'}"


def load_checkpoint(path: str | PathLike[str], script: Sequence[Message]) -> tuple[Session, FakeModel, list[Step]]:
    """Load session, model and trace from `path`; the model's cursor stands where it stood, in the whole `script`.

    Where the newest checkpoint is damaged, the one before it is taken, with the warning CheckpointPassedOver.

    Raises:
        InvalidValue: the checkpoint is of a model without a script; use recover_checkpoint.
        CheckpointMissing, CheckpointDamaged, CheckpointTooNew: as `recover_checkpoint`.
    """
    checkpoint, report = recover_checkpoint(path)
    if report.passed_over:
        with warnings.catch_warnings():
            # By default Python shows a warning once for each line of code: the second fallback would be silent.
            warnings.filterwarnings("always", category=CheckpointPassedOver, append=True)
            warnings.warn(str(report), CheckpointPassedOver, stacklevel=2)
    if checkpoint.model_cursor is None:
        raise InvalidValue("model_cursor", "saved with a model that has no script: load it with recover_checkpoint")
    model = FakeModel(script)
    model.cursor = checkpoint.model_cursor
    return checkpoint.session, model, checkpoint.steps


def recover_checkpoint(path: str | PathLike[str]) -> tuple[Checkpoint, LoadReport]:
    """Load the newest good checkpoint of `path`, and report what was found. No file is changed.

    Raises:
        CheckpointMissing: nothing was ever saved at `path`.
        CheckpointDamaged: no checkpoint that is left can be loaded; the error says why, file by file.
        CheckpointTooNew: the newest good one is newer than this version of minagent.
    """
    path = Path(path)
    older = numbered(path)
    if not path.exists() and not older:
        raise CheckpointMissing(f"no checkpoint at {path}: nothing was saved there yet")
    passed_over: list[str] = []
    for file in (path, *older.values()):
        try:
            checkpoint = _read(file)
        except (CheckpointDamaged, OSError) as error:
            passed_over.append(f"{file.name}: {error}")
        else:
            lost = _steps_lost(path, older, checkpoint.session.step_count) if passed_over else 0
            return checkpoint, LoadReport(file.name, lost, tuple(passed_over))
    raise CheckpointDamaged(f"no checkpoint at {path} can be loaded: {'; '.join(passed_over)}")


def _steps_lost(path: Path, older: dict[int, Path], loaded: int) -> int | None:
    """Return how far the newest that was saved was ahead: the highest number, unless the newest file has none."""
    if path.exists() and not any(path.samefile(file) for file in older.values()):
        return None
    return max(max(older, default=loaded) - loaded, 0)


def _read(path: Path) -> Checkpoint:
    with path.open("rb") as file:
        return decode(file.read(MAX_BYTES + 1))
