"""Plain JSON: the values that every format here is made of, their bytes, and checks of their shape.

Two texts of one value: `readable` is indented, for files that a person opens; `canonical` is compact with sorted keys,
so that equal values have equal bytes, which is what a digest needs. Both are UTF-8.
"""

import json
from typing import Any

from minagent.errors import InvalidValue


def readable(value: Any) -> bytes:
    """Return `value` as indented JSON text; raise TypeError or ValueError if JSON cannot express it."""
    return _utf8(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)) + b"\n"


def canonical(value: Any) -> bytes:
    """Return `value` as compact JSON text, keys sorted; raise TypeError or ValueError if JSON cannot express it."""
    return _utf8(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")))


def parse(data: bytes) -> Any:
    """Return the value that `data` expresses; raise ValueError or RecursionError if it is no JSON text."""
    return json.loads(data.decode("utf-8", "surrogatepass"))


def _utf8(text: str) -> bytes:
    # A lone surrogate is what is left of a tool's output that was not UTF-8. Strict UTF-8 has no place for it, but the
    # tool has run: its result is kept exactly as it is rather than refused.
    return text.encode("utf-8", "surrogatepass")


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
