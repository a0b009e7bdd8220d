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

Source: chapters 7.3.2, 7.3.4 and 7.3.7.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from minagent.agent import Step
from minagent.atomic import replace_atomically
from minagent.errors import CheckpointDamaged, CheckpointMissing, CheckpointTooNew, InvalidValue
from minagent.messages import Message
from minagent.models import FakeModel, Model
from minagent.plain_json import canonical, parse, readable, require, require_keys
from minagent.session import Session

VERSION = 1
BLOCKS = {"session", "model_cursor", "steps"}


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run between two steps."""

    session: Session
    model_cursor: int | None
    steps: list[Step]


def encode(checkpoint: Checkpoint) -> bytes:
    """Return the document as bytes.

    Raises:
        InvalidValue: the checkpoint holds something that JSON cannot express.
    """
    document = {
        "session": checkpoint.session.snapshot(),
        "model_cursor": checkpoint.model_cursor,
        "steps": [asdict(step) for step in checkpoint.steps],
        "version": VERSION,
    }
    try:
        return readable({**document, "sha256": _digest(document)})
    except (TypeError, ValueError) as error:
        raise InvalidValue("checkpoint", f"cannot be written as JSON: {error}") from error


def decode(data: bytes) -> Checkpoint:
    """Return the checkpoint that `data` holds; the inverse of `encode`.

    Raises:
        CheckpointDamaged: the bytes are not a checkpoint, or not the one that was encoded.
        CheckpointTooNew: the document is intact, but newer than this version of minagent.
    """
    document = _migrate(_verified(_parse(data)))
    try:
        fields = require_keys(document, BLOCKS, set(), "checkpoint")
        steps = require(fields["steps"], list, "steps")
        return Checkpoint(
            session=Session.restore(fields["session"]),
            model_cursor=require(fields["model_cursor"], (int, type(None)), "model_cursor"),
            steps=[_restore_step(step, f"steps[{i}]") for i, step in enumerate(steps)],
        )
    except InvalidValue as error:
        raise CheckpointDamaged(f"not a checkpoint: {error}") from error


def _parse(data: bytes) -> dict[str, Any]:
    try:
        document = parse(data)
    except (ValueError, RecursionError) as error:
        raise CheckpointDamaged(f"not a JSON document: {error}") from error
    if not isinstance(document, dict):
        raise CheckpointDamaged(f"not a checkpoint: expected an object, found {type(document).__name__}")
    return document


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
    version = document.pop("version", None)
    if not isinstance(version, int):
        raise CheckpointDamaged(f"the version must be an integer, found {version!r}")
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
    """Save the state of a run to `path`, atomically and durably.

    Raises:
        InvalidValue: the state holds something that JSON cannot express; nothing was written.
        OSError: the disk refused; what was there before is still there.
    """
    replace_atomically(Path(path), encode(Checkpoint(session, model.cursor, list(steps))))


def load_checkpoint(path: str | PathLike[str], script: Sequence[Message]) -> tuple[Session, FakeModel, list[Step]]:
    """Load session, model and trace from `path`; the model's cursor stands where it stood, in the whole `script`.

    Raises:
        CheckpointMissing: there is no file at `path`.
        CheckpointDamaged: the file is not a checkpoint, or not the one that was saved.
        CheckpointTooNew: the file is newer than this version of minagent.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise CheckpointMissing(f"no checkpoint at {path}: nothing was saved there yet") from error
    checkpoint = decode(data)
    model = FakeModel(script)
    model.cursor = checkpoint.model_cursor
    return checkpoint.session, model, checkpoint.steps
