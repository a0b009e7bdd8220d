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


MAX_DEPTH = 100
LARGEST_INT = 10**4300 - 1
"""Python turns no longer integer into text or back, lest an attacker keep it busy."""


def check_storable(value: Any, path: str, depth: int = 0) -> None:
    """Raise InvalidValue with the path of the first part of `value` that would not come back equal."""
    kind = type(value)
    if depth > MAX_DEPTH:
        raise InvalidValue(path, f"nested more than {MAX_DEPTH} deep, or in a circle")
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise InvalidValue(f"{path}[{key!r}]", f"a key must be str, found {type(key).__name__}")
            check_storable(item, f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]", depth + 1)
    elif kind is list:
        for index, item in enumerate(value):
            check_storable(item, f"{path}[{index}]", depth + 1)
    elif kind is float and not math.isfinite(value):
        raise InvalidValue(path, f"{value} has no place in JSON")
    elif kind is int and abs(value) > LARGEST_INT:
        raise InvalidValue(path, "an integer of more than 4300 digits")
    elif kind not in (str, int, float, bool, type(None)):
        raise InvalidValue(path, f"{kind.__name__} would not come back equal from JSON")


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
