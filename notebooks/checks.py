"""How a check speaks: in one line, whatever the answer does.

    @judged(my_answer, int)
    def check(answer):
        if answer != 3:
            return "what is wrong with it"

A check returns what is wrong, or None. It prints "✓ right", "✗ not yet: ..." or "not answered yet".
"""

import contextlib
import copy
import io
from collections.abc import Callable
from types import FunctionType
from typing import Any

UNANSWERED = "not answered yet"
KINDS = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    set: "a set",
    dict: "a dictionary",
    type: "a class",
    FunctionType: "a function",
    callable: "a function",
}


class Refused(Exception):
    """The answer cannot be judged any further; the message is what the check says."""


def judged(
    answer: Any, kind: Any, returns: Any = object
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Try an answer of this kind; a `callable` one is called on copies, and returns this."""

    def run(check: Callable[..., Any]) -> Callable[..., Any]:
        print(_said(check, answer, kind, returns))
        return check

    return run


def _said(check: Callable[..., Any], answer: Any, kind: Any, returns: Any) -> str:
    try:
        value = _of(kind, answer, "the answer")
        wrong = check(_Asked(value, returns) if kind is callable else value)
    except Refused as refused:
        return str(refused)
    except NotImplementedError:
        return UNANSWERED
    except Exception as error:
        return f"✗ not yet: it raised {_in_a_line(error)}"
    return "✓ right" if wrong is None else wrong if wrong == UNANSWERED else f"✗ not yet: {wrong}"


def _in_a_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _of(kind: Any, value: Any, what: str) -> Any:
    """Return a value of this kind; refuse another one. A whole number is a number; True is none."""
    if value is None or value is ...:
        raise Refused(UNANSWERED)
    wanted = {float: (int, float), callable: Callable}.get(kind, kind)
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind in (int, float)):
        raise Refused(f"✗ not yet: {what} is {value!r}, and not {KINDS[kind]}")
    return value


class _Asked:
    """The reader's function: what it raises is said in a line."""

    def __init__(self, function: Callable[..., Any], returns: Any) -> None:
        self.function, self.returns = function, returns
        self.name = getattr(function, "__name__", "it")

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Return what the function makes of copies of these."""
        copies, printed = copy.deepcopy(given), io.StringIO()
        before = repr(copies)
        try:
            with contextlib.redirect_stdout(printed):
                found = self.function(*copies, **named)
        except Exception as error:
            raise Refused(f"✗ not yet: `{self.name}` raised {_in_a_line(error)}") from None
        if found is None and printed.getvalue():
            raise Refused(f"✗ not yet: `{self.name}` prints its answer; it has to return it")
        if repr(copies) != before:
            raise Refused(f"✗ not yet: `{self.name}` changes what it is given")
        return _of(self.returns, found, f"what `{self.name}` returned")
