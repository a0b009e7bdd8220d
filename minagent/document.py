"""The checkpoint document: what a run needs to go on in another process, as JSON (7.3.2, 7.3.4, 7.3.7). No I/O.

    {"version":1,"session":{"id":"demo","created_at":"2026-01-01T00:00:00Z","metadata":{},"messages":[
    {"role":"system","content":"You calculate with tools."},
    {"role":"user","content":"2+3?"}]},"model_cursor":0,"steps":[
    {"index":0,"kind":"tool_call","detail":"add -> 5"}],"sha256":"fbcb0a9fc1e1c5a0..."}

    version         of this format, an integer. Version 0 is the chapter's own: its three blocks, nothing else
    session         the conversation, as Session.snapshot gives it; what the tools returned is in its messages
    model_cursor    the script item that comes next, counted from the script's start; null for a model without a script
    steps           the trace so far
    sha256          64 hex digits: SHA-256 of all bytes of the file before this field, as they are. The last field

The digest is checked first, so that a damaged version number is not mistaken for a newer format. It tells accidents,
not attacks: whoever can write the file can write a digest.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

from minagent.agent import Step
from minagent.errors import CheckpointDamaged, CheckpointTooNew, InvalidMessages, InvalidValue
from minagent.messages import check_sequence
from minagent.plain_json import LARGEST_INT, compact, items, parse, plain, require, require_fields
from minagent.session import Session

VERSION = 1
BLOCKS = {"session": (dict,), "model_cursor": (int, type(None)), "steps": (list,)}
STEP = {"index": (int,), "kind": (str,), "detail": (str,)}
MAX_BYTES = 256 * 2**20  # no larger document is read, or written
SIGNATURE_BYTES = 78


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run between two steps."""

    session: Session
    model_cursor: int | None
    steps: list[Step]


def encode(checkpoint: Checkpoint) -> bytes:
    """Return the document as bytes, once they are proven to decode to an equal checkpoint.

    Raise InvalidValue with the path of what would not come back equal; InvalidMessages as `check_sequence` does.
    """
    document = {
        "version": VERSION,
        "session": checkpoint.session.snapshot(),
        "model_cursor": check_cursor(checkpoint.model_cursor),
        "steps": [require_fields(vars(require(s, Step, at)), STEP, at) for s, at in items(checkpoint.steps, "steps")],
    }
    plain([step.index for step in checkpoint.steps], "steps")  # none is endless
    check_sequence(checkpoint.session.messages)
    unsigned = _lines(compact(document))[:-1]
    data = unsigned + signature(unsigned)
    if len(data) > MAX_BYTES:
        raise InvalidValue("checkpoint", f"could not be loaded again: larger than {MAX_BYTES} bytes")
    if parse(unsigned + b"}") != document:
        raise InvalidValue("checkpoint", "would not come back equal")
    return data


def _lines(text: bytes) -> bytes:
    """Return compact JSON text with a line for each message and step: for a person who opens the file."""
    # (The encoder's own indentation is slow.) These four texts cannot be part of a string, in which a quote never comes
    # after a brace; and between two values a line break means nothing.
    for first in (b'{"role":"', b'{"index":'):
        text = text.replace(b"[" + first, b"[\n" + first).replace(b"}," + first, b"},\n" + first)
    return text


def signature(before: bytes) -> bytes:
    """Return the end of a document: the digest of all that comes before it."""
    return f',"sha256":"{hashlib.sha256(before).hexdigest()}"}}\n'.encode()


def decode(data: bytes) -> Checkpoint:
    """Return the checkpoint that `data` holds; the inverse of `encode`.

    Raise CheckpointDamaged if it is not the one that was encoded, CheckpointTooNew if it is, in a newer format.
    """
    try:
        blocks = require_fields(_verified(data), BLOCKS, "checkpoint")
        session = Session.restore(blocks["session"])
        check_sequence(session.messages)
        steps = [Step(**require_fields(step, STEP, place)) for step, place in items(blocks["steps"], "steps")]
        return Checkpoint(session, check_cursor(blocks["model_cursor"]), steps)
    except (InvalidValue, InvalidMessages) as error:
        raise CheckpointDamaged(f"not a checkpoint: {error}") from error


def _verified(data: bytes) -> dict[str, Any]:
    """Return the three blocks, once the digest is found right and the version known."""
    try:
        document: dict[str, Any] = require(parse(data), dict, "document")
    except (ValueError, RecursionError) as error:
        raise CheckpointDamaged(f"not a JSON document: {error}") from error
    if document.keys() == BLOCKS.keys():
        return document
    right = signature(data[:-SIGNATURE_BYTES])
    if data[-SIGNATURE_BYTES:] != right:
        said, digest = str(document.get("sha256", "nothing"))[:64], right[11:75].decode()
        raise CheckpointDamaged(f"the digest does not fit: the file says {said!r}, its content gives {digest!r}")
    if (version := require(document.get("version"), int, "version")) > VERSION:
        raise CheckpointTooNew(f"format version {version}, and this minagent knows up to {VERSION}: update minagent")
    if version < 1:
        raise CheckpointDamaged(f"there is no format version {version} with a digest")
    return {name: value for name, value in document.items() if name not in ("version", "sha256")}


def check_cursor(cursor: Any) -> int | None:
    """Return a model's cursor; raise InvalidValue if it cannot be one."""
    value: int | None = require(cursor, (int, type(None)), "model_cursor")
    if value is not None and not 0 <= value <= LARGEST_INT:
        raise InvalidValue("model_cursor", "counts from the script's start: neither negative nor endless")
    return value
