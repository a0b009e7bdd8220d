"""The checkpoint document: what a run needs in order to go on in another process, in one JSON file.

    {
      "session": {"id": "demo", "created_at": "2026-01-01T00:00:00Z", "metadata": {}, "messages": [...]},
      "model_cursor": 1,
      "steps": [{"index": 0, "kind": "tool_call", "detail": "add -> 5"}],
      "version": 1,
      "sha256": "fbcb0a9fc1e1c5a0..."
    }

    session         the conversation, as Session.snapshot gives it; what the tools returned is in its messages
    model_cursor    the script item that comes next, counted from the script's start; null for a model without a script
    steps           the trace so far
    version         the version of this format, an integer
    sha256          64 hex digits: SHA-256 of everything else in canonical form (compact JSON, keys sorted, UTF-8)

Version history:

    0   the chapter's own document: exactly `session`, `model_cursor` and `steps`; no version, no digest
    1   adds `version` and `sha256`

The digest is checked first, so that a damaged version number is not mistaken for a newer format. It tells accidents,
not attacks: who can write the file can write a digest.

Older generations stay beside the newest (see generations.py). Loading changes no file: where the newest is damaged, it
takes the one before, and says so. An intact document that is newer than this module is refused, and nothing is taken in
its place.

Source: chapters 7.3.2, 7.3.4 and 7.3.7.
"""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from minagent.agent import Step
from minagent.errors import (
    CheckpointDamaged,
    CheckpointMissing,
    CheckpointPassedOver,
    CheckpointTooNew,
    InvalidMessages,
    InvalidValue,
)
from minagent.generations import numbered, save_generation
from minagent.messages import Message
from minagent.models import FakeModel, Model
from minagent.plain_json import canonical, check_storable, parse, readable, require, require_keys
from minagent.session import Session

VERSION = 1
BLOCKS = {"session", "model_cursor", "steps"}
MAX_BYTES = 256 * 2**20
"""No larger file is read, or written."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run between two steps."""

    session: Session
    model_cursor: int | None
    steps: list[Step]


def encode(checkpoint: Checkpoint) -> bytes:
    """Return the document as bytes, once they are proven to decode to an equal checkpoint.

    Raises:
        InvalidValue: a value would not come back equal; the error has its path.
        InvalidMessages: the messages contradict themselves; the error lists every problem.
    """
    checkpoint.session.check_storable()
    document = {
        "session": checkpoint.session.snapshot(),
        "model_cursor": checkpoint.model_cursor,
        "steps": [asdict(step) for step in checkpoint.steps],
        "version": VERSION,
    }
    data = readable({**document, "sha256": _digest(document)})
    try:
        came_back = decode(data)
    except CheckpointDamaged as error:
        raise InvalidValue("checkpoint", f"could not be loaded again: {error}") from error
    if came_back != checkpoint:
        raise InvalidValue("checkpoint", "would not come back equal")
    return data


def decode(data: bytes) -> Checkpoint:
    """Return the checkpoint that `data` holds; the inverse of `encode`.

    Raises:
        CheckpointDamaged: the bytes are not a checkpoint, or not the one that was encoded.
        CheckpointTooNew: the document is intact, but newer than this version of minagent.
    """
    try:
        document = _migrate(_verified(_parse(data)))
        fields = require_keys(document, BLOCKS, set(), "checkpoint")
        steps = require(fields["steps"], list, "steps")
        session = Session.restore(fields["session"])
        session.check_storable()
        return Checkpoint(
            session=session,
            model_cursor=require(fields["model_cursor"], (int, type(None)), "model_cursor"),
            steps=[_restore_step(step, f"steps[{i}]") for i, step in enumerate(steps)],
        )
    except (InvalidValue, InvalidMessages) as error:
        raise CheckpointDamaged(f"not a checkpoint: {error}") from error


def _parse(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise CheckpointDamaged(f"larger than {MAX_BYTES} bytes")
    try:
        document = require(parse(data), dict, "document")
        check_storable(document, "document")
    except (ValueError, RecursionError) as error:
        raise CheckpointDamaged(f"not a JSON document: {error}") from error
    return dict(document)


def _verified(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without its digest, once that is found right. Version 0 has none."""
    if document.keys() == BLOCKS:
        return {**document, "version": 0}
    found = document.pop("sha256", None)
    if found is None:
        raise CheckpointDamaged("no digest: the field sha256 is missing")
    if found != (expected := _digest(document)):
        raise CheckpointDamaged(f"the digest does not fit: the file says {found!r}, its content gives {expected!r}")
    return document


def _migrate(document: dict[str, Any]) -> dict[str, Any]:
    """Return the three blocks as version 1 has them. Version 0 differs by the two fields alone."""
    version = require(document.pop("version", None), int, "version")
    if version > VERSION:
        raise CheckpointTooNew(
            f"this checkpoint has format version {version}, and this minagent knows versions up to {VERSION}: "
            "update minagent to load it"
        )
    return document


def _restore_step(value: Any, path: str) -> Step:
    fields = require_keys(value, {"index", "kind", "detail"}, set(), path)
    return Step(
        require(fields["index"], int, f"{path}.index"),
        require(fields["kind"], str, f"{path}.kind"),
        require(fields["detail"], str, f"{path}.detail"),
    )


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(document)).hexdigest()


def save_checkpoint(path: str | PathLike[str], session: Session, model: Model, steps: Sequence[Step]) -> None:
    """Save the state of a run to `path`, atomically and durably. The generations before it stay.

    Raises:
        InvalidValue: a value would not come back equal; nothing was written.
        InvalidMessages: the messages contradict themselves; nothing was written.
        CheckpointTooNew: what is there now is newer than this version of minagent; it was not replaced.
        OSError: the disk refused; the newest checkpoint is still there.
    """
    path = Path(path)
    data = encode(Checkpoint(session, model.cursor, list(steps)))
    newest_is_bad = forget_others = False
    if path.exists():
        try:
            newest = _read(path).session
            forget_others = (newest.id, newest.created_at) != (session.id, session.created_at)
        except (CheckpointDamaged, OSError):
            newest_is_bad = True
    save_generation(path, data, session.step_count, newest_is_bad=newest_is_bad, forget_others=forget_others)


def load_checkpoint(path: str | PathLike[str], script: Sequence[Message]) -> tuple[Session, FakeModel, list[Step]]:
    """Load session, model and trace from `path`; the model's cursor stands where it stood, in the whole `script`.

    Where the newest checkpoint is damaged, the one before it is taken, with the warning CheckpointPassedOver.

    Raises:
        CheckpointMissing, CheckpointDamaged, CheckpointTooNew: as `recover_checkpoint`.
    """
    checkpoint, report = recover_checkpoint(path)
    if report.passed_over:
        warnings.warn(str(report), CheckpointPassedOver, stacklevel=2)
    model = FakeModel(script)
    model.cursor = checkpoint.model_cursor
    return checkpoint.session, model, checkpoint.steps


@dataclass(frozen=True)
class LoadReport:
    """What loading found."""

    loaded: str
    """The name of the file that was loaded."""
    steps_lost: int
    """How many steps it is behind the newest that was saved, as the names tell."""
    passed_over: tuple[str, ...]
    """The newer files that could not be loaded, each with the reason."""

    def __str__(self) -> str:
        return (
            f"loaded {self.loaded}; steps lost: {self.steps_lost}; passed over: {'; '.join(self.passed_over) or 'none'}"
        )


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
            lost = max(older, default=0) - checkpoint.session.step_count if passed_over else 0
            return checkpoint, LoadReport(file.name, max(lost, 0), tuple(passed_over))
    raise CheckpointDamaged(f"no checkpoint at {path} can be loaded: {'; '.join(passed_over)}")


def _read(path: Path) -> Checkpoint:
    with path.open("rb") as file:
        return decode(file.read(MAX_BYTES + 1))
