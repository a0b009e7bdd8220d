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

A document may be compressed with gzip as a whole. Its first two bytes tell.

The digest is checked first, so that a damaged version number is not mistaken for a newer format. It tells accidents,
not attacks: who can write the file can write a digest.

Source: chapters 7.3.2, 7.3.4 and 7.3.7.
"""

import gzip
import hashlib
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from minagent.agent import Step
from minagent.errors import CheckpointDamaged, CheckpointTooNew, InvalidMessages, InvalidValue
from minagent.messages import check_sequence
from minagent.plain_json import LARGEST_INT, canonical, check_storable, parse, readable, require, require_keys
from minagent.session import Session

VERSION = 1
BLOCKS = {"session", "model_cursor", "steps"}
MAX_BYTES = 256 * 2**20
"""No larger document is read, or written, compressed or not."""
GZIP = b"\x1f\x8b"
"""How gzip begins, and JSON does not."""
ARGUMENTS_DEPTH = 6
"""How deep in the document a call's arguments lie, which by themselves may be as deep as plain JSON may be."""


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
        "model_cursor": check_cursor(checkpoint.model_cursor),
        "steps": [asdict(_check_step(step, f"steps[{i}]")) for i, step in enumerate(checkpoint.steps)],
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
        check_sequence(session.messages)
        return Checkpoint(
            session=session,
            model_cursor=check_cursor(fields["model_cursor"]),
            steps=[_restore_step(step, f"steps[{i}]") for i, step in enumerate(steps)],
        )
    except (InvalidValue, InvalidMessages) as error:
        raise CheckpointDamaged(f"not a checkpoint: {error}") from error


def compressed(document: bytes) -> bytes:
    """Return a document compressed with gzip; `decode` takes it as well. Equal documents give equal bytes."""
    return gzip.compress(document, mtime=0)


def _decompressed(data: bytes) -> bytes:
    # A few megabytes of gzip can hold gigabytes of blanks: no more than a document may have is ever taken out.
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        document = stream.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise CheckpointDamaged(f"not whole gzip: {error}") from error
    if len(document) <= MAX_BYTES and (not stream.eof or stream.unused_data):
        raise CheckpointDamaged("not whole gzip: it is cut off, or goes on after its end")
    return document


def _parse(data: bytes) -> dict[str, Any]:
    if data.startswith(GZIP):
        data = _decompressed(data)
    if len(data) > MAX_BYTES:
        raise CheckpointDamaged(f"larger than {MAX_BYTES} bytes")
    try:
        document: dict[str, Any] = require(parse(data), dict, "document")
        check_storable(document, "document", -ARGUMENTS_DEPTH)
    except (ValueError, RecursionError) as error:
        raise CheckpointDamaged(f"not a JSON document: {error}") from error
    return document


def _verified(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without its digest, once that is found right. Version 0 has none."""
    if document.keys() == BLOCKS:
        return {**document, "version": 0}
    found = document.pop("sha256", None)
    if found is None:
        raise CheckpointDamaged("no digest: the field sha256 is missing")
    if found != (expected := _digest(document)):
        said = str(found)[: len(expected)]
        raise CheckpointDamaged(f"the digest does not fit: the file says {said!r}, its content gives {expected!r}")
    return document


def _migrate(document: dict[str, Any]) -> dict[str, Any]:
    """Return the three blocks as version 1 has them. Version 0 differs by the two fields alone."""
    version = require(document.pop("version", None), int, "version")
    if version < 0:
        raise CheckpointDamaged(f"there is no format version {version}")
    if version > VERSION:
        raise CheckpointTooNew(
            f"this checkpoint has format version {version}, and this minagent knows versions up to {VERSION}: "
            "update minagent to load it"
        )
    return document


def check_cursor(cursor: Any) -> int | None:
    """Return a model's cursor; raise InvalidValue if it is none."""
    value: int | None = require(cursor, (int, type(None)), "model_cursor")
    if value is not None and not 0 <= value <= LARGEST_INT:
        raise InvalidValue("model_cursor", "counts from the script's start, so it is never negative, nor endless")
    return value


def _check_step(step: Any, path: str) -> Step:
    if type(step) is not Step:
        raise InvalidValue(path, f"expected Step, found {type(step).__name__}")
    return _restore_step(vars(step), path)


def _restore_step(value: Any, path: str) -> Step:
    fields = require_keys(value, {"index", "kind", "detail"}, set(), path)
    check_storable(fields, path)
    return Step(
        require(fields["index"], int, f"{path}.index"),
        require(fields["kind"], str, f"{path}.kind"),
        require(fields["detail"], str, f"{path}.detail"),
    )


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(document)).hexdigest()
