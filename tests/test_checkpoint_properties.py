"""Whatever a session holds: it comes back equal, or it is refused with a path, and before any tool has run."""

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from minagent import Agent, FakeModel, InvalidValue, Message, Session, Step, ToolCall, ToolRegistry, step_once
from minagent.document import Checkpoint, decode, encode

texts = st.text(st.characters(exclude_categories=()), max_size=8)
"""Any code points at all: NUL, lone surrogates, line separators."""

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
odd = (
    st.sampled_from([math.nan, math.inf, -math.inf])
    | st.builds(lambda: 10**4300)  # too long for Python to print, so hypothesis must not see it before it is drawn
    | st.binary(max_size=4)
    | st.sets(st.integers(), max_size=2)
    | st.builds(object)
    | st.builds(complex)
)
"""Values that JSON refuses, or changes."""


def nested(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists, tuples and dicts of these leaves, a few deep."""
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3) | st.tuples(inner, inner),
        max_leaves=6,
    )


values = nested(plain, texts) | nested(plain | odd, texts | st.integers())
objects = st.dictionaries(texts, values, max_size=3)


def is_plain(value: Any) -> bool:
    """Return whether a value is plain JSON: the reference for what must come back, written down once more."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(is_plain(item) for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str) or (isinstance(value, int) and abs(value) < 10**4300)


def exactly(value: Any) -> str:
    """Return a form in which 1, 1.0 and True differ, and 0.0 and -0.0, too."""
    return repr(value)


@settings(max_examples=1000, deadline=None)
@given(metadata=objects, arguments=objects, text=texts, detail=texts, cursor=st.none() | st.integers(0, 99))
def test_a_session_comes_back_equal_or_is_refused_with_a_path(
    metadata: dict[str, Any], arguments: dict[str, Any], text: str, detail: str, cursor: int | None
):
    """Refused exactly if it holds something that is not plain JSON; the path says where to look."""
    messages = [Message("user", text), Message("assistant", None, [ToolCall(text, text, arguments)])]
    session = Session(text, messages, detail, metadata)
    checkpoint = Checkpoint(session, cursor, [Step(0, "tool_call", detail)])
    try:
        loaded = decode(encode(checkpoint))
    except InvalidValue as error:
        assert not (is_plain(metadata) and is_plain(arguments))
        assert error.path.startswith(("metadata", "messages[1].tool_calls[0].arguments"))
    else:
        assert is_plain(metadata)
        assert is_plain(arguments)
        assert exactly(loaded) == exactly(checkpoint)


@settings(max_examples=1000, deadline=None)
@given(arguments=objects)
def test_an_answer_is_refused_before_its_tool_runs_or_the_step_can_be_saved(arguments: dict[str, Any]):
    """There is no third way: a tool that has run, and a step that cannot be saved."""
    runs = []
    registry = ToolRegistry()

    @registry.register
    def pay(**given: Any) -> str:
        runs.append(given)
        return "paid"

    session, steps = Session("demo", [Message("user", "pay")], "now"), list[Step]()
    model = FakeModel([Message("assistant", "", [ToolCall("c1", "pay", arguments)])])
    try:
        step_once(Agent(registry, ""), session, model, steps)
    except InvalidValue as error:
        assert error.path.startswith("messages[1].tool_calls[0].arguments")
        assert (runs, steps, model.cursor, len(session.messages)) == ([], [], 0, 1)
    else:
        checkpoint = Checkpoint(session, model.cursor, steps)
        assert exactly(decode(encode(checkpoint))) == exactly(checkpoint)


@settings(max_examples=500, deadline=None)
@given(result=st.text(st.characters(exclude_categories=())), times=st.sampled_from([1, 1, 1, 100_000]))
def test_any_tool_result_is_stored_exactly(result: str, times: int):
    """Surrogates, NUL, and megabytes of them: by then the effect has happened, so the result is never refused."""
    registry = ToolRegistry()
    registry.register(tool_that_says(result * times))
    session, steps = Session("demo", [Message("user", "say")], "now"), list[Step]()
    model = FakeModel([Message("assistant", "", [ToolCall("c1", "say", {})])])
    step_once(Agent(registry, ""), session, model, steps)
    loaded = decode(encode(Checkpoint(session, model.cursor, steps)))
    assert loaded.session.messages[-1].content == result * times
    assert loaded.steps == steps


def tool_that_says(result: str) -> Any:
    """Return a tool named `say` that returns this."""

    def say() -> str:
        return result

    return say
