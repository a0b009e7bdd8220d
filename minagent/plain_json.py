"""Plain JSON: the values that every format here is made of, and their bytes.

A value is *plain* if it comes back equal, in value and in type: None, bool, int, finite float, str, and lists and
objects (with str keys) of these, nested at most 100 deep. JSON would refuse everything else (a set) or, worse, change
it: a tuple comes back as a list, the key 1 as "1", and NaN as text that is not JSON.

`plain` is the one walk over a value. It copies and checks at once, where a value comes in: in a model's answer, or from
a file. The bytes are UTF-8, with the keys of an object in their order.
"""

import json
import math
from collections.abc import Mapping, Set
from typing import Any

from minagent.errors import InvalidValue

MAX_DEPTH = 100
LARGEST_INT = 10**4300 - 1  # Python refuses to convert longer integers (a guard against denial of service)
UNFIT = {int: "an integer of more than 4300 digits", float: "NaN and infinity have no place in JSON"}
_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def compact(value: Any) -> bytes:
    """Return `value` as JSON text; raise TypeError or ValueError if JSON cannot express it."""
    # A lone surrogate is what is left of a tool's output that was not UTF-8. Strict UTF-8 has no place for it, but the
    # tool has run: its result is kept exactly as it is rather than refused.
    return _COMPACT.encode(value).encode("utf-8", "surrogatepass")


def parse(data: bytes) -> Any:
    """Return the value that `data` expresses; raise ValueError or RecursionError if it is not JSON text."""
    return json.loads(data.decode("utf-8", "surrogatepass"))


def plain(value: Any, path: str) -> Any:
    """Return a copy of `value`, checked on the way; raise InvalidValue with the path of the first part not plain."""
    try:
        return _plain(value, 0)
    except InvalidValue as flaw:
        raise InvalidValue(path + flaw.path, flaw.reason) from None


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:  # as most are
        return value
    if (kind is int and -LARGEST_INT <= value <= LARGEST_INT) or (kind is float and math.isfinite(value)):
        return value
    if kind is not dict and kind is not list:
        raise InvalidValue("", UNFIT.get(kind, f"{kind.__name__} would not come back equal from JSON"))
    if depth == MAX_DEPTH and value:
        raise InvalidValue("", f"nested more than {MAX_DEPTH} deep, or in a circle")
    copy: Any = {} if kind is dict else [None] * len(value)
    for key, item in value.items() if kind is dict else enumerate(value):
        if kind is dict and type(key) is not str:
            raise InvalidValue(f"[{key!r}]", f"a key must be str, found {type(key).__name__}")
        try:
            copy[key] = _plain(item, depth + 1)
        except InvalidValue as flaw:  # its path is built on the way back: one for each of a million items takes time
            place = f".{key}" if type(key) is str and key.isidentifier() else f"[{key!r}]"
            raise InvalidValue(place + flaw.path, flaw.reason) from None
    return copy


def require(value: Any, kind: type | tuple[type, ...], path: str) -> Any:
    """Return `value` if it is of exactly this `kind`; raise InvalidValue naming `path` if not. A bool is not an int."""
    kinds: tuple[type, ...] = kind if isinstance(kind, tuple) else (kind,)
    if type(value) in kinds:
        return value
    expected = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
    raise InvalidValue(path, f"expected {expected}, found {type(value).__name__}")


def require_fields(
    value: Any, kinds: Mapping[str, tuple[type, ...]], path: str, optional: Set[str] = frozenset()
) -> dict[str, Any]:
    """Return `value` if it is an object with just these fields, each of its kinds; else raise InvalidValue."""
    fields: dict[str, Any] = require(value, dict, path)
    for name, field in fields.items():
        if type(field) not in kinds.get(name, ()):  # this first: a path for each field takes time
            if name not in kinds:
                raise InvalidValue(path, f"unknown {name}")
            require(field, kinds[name], f"{path}.{name}")
    if len(fields) < len(kinds) and (missing := kinds.keys() - fields.keys() - optional):
        raise InvalidValue(path, f"missing {', '.join(sorted(missing))}")
    return fields


def items(value: Any, path: str) -> list[tuple[Any, str]]:
    """Return the items of a list, each with its path; raise InvalidValue if `value` is not a list."""
    return [(item, f"{path}[{i}]") for i, item in enumerate(require(value, list, path))]
