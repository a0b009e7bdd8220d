"""Plain JSON: the values that every format here is made of, their bytes, and checks of them.

A value is *storable* if it comes back equal, in value and in type: None, bool, int, finite float, str, and lists and
objects (with str keys) of these, nested at most 100 deep. Everything else would be refused by JSON (a set), or worse,
changed on the way: a tuple comes back as a list, the key 1 as "1", NaN as something that is no JSON.

Two texts of one value: `readable` is indented, for files that a person opens; `canonical` is compact with sorted keys,
so that equal values have equal bytes, which is what a digest needs. Both are UTF-8.
"""

import json
import math
from typing import Any

from minagent.errors import InvalidValue

_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def readable(value: Any) -> bytes:
    """Return `value` as indented JSON text; raise TypeError or ValueError if JSON cannot express it."""
    return _utf8(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)) + b"\n"


def canonical(value: Any) -> bytes:
    """Return `value` as compact JSON text, keys sorted; raise TypeError or ValueError if JSON cannot express it."""
    return _utf8(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")))


def compact(value: Any) -> bytes:
    """Return `value` as compact JSON text, keys in their order; raise TypeError or ValueError as above."""
    return _utf8(_COMPACT.encode(value))


def parse(data: bytes) -> Any:
    """Return the value that `data` expresses; raise ValueError or RecursionError if it is no JSON text."""
    return json.loads(data.decode("utf-8", "surrogatepass"))


def _utf8(text: str) -> bytes:
    # A lone surrogate is what is left of a tool's output that was not UTF-8. Strict UTF-8 has no place for it, but the
    # tool has run: its result is kept exactly as it is rather than refused.
    return text.encode("utf-8", "surrogatepass")


MAX_DEPTH = 100
LARGEST_INT = 10**4300 - 1
"""Python turns no longer integer into text or back, lest an attacker keep it busy."""


def check_storable(value: Any, path: str, depth: int = 0) -> None:
    """Raise InvalidValue with the path of the first part of `value` that would not come back equal.

    `depth` is how deep `value` itself lies in what is nested at most 100 deep.
    """
    if flaw := _flaw(value, depth):
        where, reason = flaw
        raise InvalidValue(path + where, reason)


def _flaw(value: Any, depth: int) -> tuple[str, str] | None:
    """Return where in `value` its first flaw is, and what it is.

    The path is built on the way back, if there is a flaw: a path for each of a million items would take its time.
    """
    if depth > MAX_DEPTH:
        return "", f"nested more than {MAX_DEPTH} deep, or in a circle"
    if type(value) is str:  # as most are
        return None
    if type(value) is dict:
        return _flaw_in_dict(value, depth)
    if type(value) is list:
        flaws = ((index, _flaw(item, depth + 1)) for index, item in enumerate(value))
        return next(((f"[{index}]{flaw[0]}", flaw[1]) for index, flaw in flaws if flaw), None)
    reason = _flaw_of_leaf(value)
    return None if reason is None else ("", reason)


def _flaw_in_dict(value: dict[Any, Any], depth: int) -> tuple[str, str] | None:
    for key, item in value.items():
        if type(key) is not str:
            return f"[{key!r}]", f"a key must be str, found {type(key).__name__}"
        if flaw := _flaw(item, depth + 1):
            return (f".{key}" if key.isidentifier() else f"[{key!r}]") + flaw[0], flaw[1]
    return None


def _flaw_of_leaf(value: Any) -> str | None:
    if type(value) not in (int, float, bool, type(None)):
        return f"{type(value).__name__} would not come back equal from JSON"
    if type(value) is float and not math.isfinite(value):
        return f"{value} has no place in JSON"
    if type(value) is int and abs(value) > LARGEST_INT:
        return "an integer of more than 4300 digits"
    return None


def copied(value: Any) -> Any:
    """Return a copy of plain JSON that shares nothing with it: what copy.deepcopy does, at a tenth of its time."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def require(value: Any, kind: type | tuple[type, ...], path: str) -> Any:
    """Return `value` if it is of `kind`; raise InvalidValue naming `path` if not. A bool is not an int."""
    if isinstance(value, kind) and (not isinstance(value, bool) or kind is bool):
        return value
    kinds = kind if isinstance(kind, tuple) else (kind,)
    expected = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
    raise InvalidValue(path, f"expected {expected}, found {type(value).__name__}")


def require_keys(value: Any, needed: set[str], optional: set[str], path: str) -> dict[str, Any]:
    """Return `value` if it is an object with all `needed` keys and none beyond `optional`; else raise InvalidValue."""
    keys = set(require(value, dict, path))
    if missing := needed - keys:
        raise InvalidValue(path, f"missing {', '.join(sorted(missing))}")
    if unknown := keys - needed - optional:
        raise InvalidValue(path, f"unknown {', '.join(sorted(unknown))}")
    return dict(value)
