"""Tools: a call always yields a text, and never changes what it was given."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from minagent import EffectUnknown, InvalidValue, ToolCall, ToolRegistry


@pytest.fixture
def registry() -> ToolRegistry:
    """Three tools: one that reads, one that changes its arguments, one that is interrupted."""
    registry = ToolRegistry()

    @registry.register(effect="read_only")
    def divide(a: int, b: float = 2.0) -> float:
        """Divide a by b."""
        return a / b

    @registry.register
    def send(to: list[str], note: str, flags: Any = None, *rest: int, **more: int) -> str:
        to.append("archive")
        return f"sent {note} to {', '.join(to)}"

    @registry.register
    def interrupted() -> None:
        raise KeyboardInterrupt

    return registry


def test_schemas_describe_each_tool_to_the_model(registry: ToolRegistry):
    """The model is told names, descriptions, types, and which parameters it must give."""
    divide, send, _ = registry.schemas()
    assert divide == {
        "name": "divide",
        "description": "Divide a by b.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "number"}},
            "required": ["a"],
        },
    }
    assert send["parameters"]["properties"] == {"to": {"type": "array"}, "note": {"type": "string"}, "flags": {}}


def test_effect_is_declared_and_the_worst_is_assumed(registry: ToolRegistry):
    """A tool that says nothing about its effect is treated as one that must not run twice."""
    assert registry.tools["divide"].effect == "read_only"
    assert registry.tools["send"].effect == "non_idempotent"


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("divide", {"a": 5}, "2.5"),
        ("divide", {"a": 6, "b": 3}, "2.0"),
        ("divide", {"a": 5, "b": 0}, "error: ZeroDivisionError: division by zero"),
        ("divide", {}, "error: TypeError: missing a required argument: 'a'"),
        ("divide", {"a": 1, "c": 2}, "error: TypeError: got an unexpected keyword argument 'c'"),
        ("subtract", {}, "error: unknown tool 'subtract'; known tools: divide, send, interrupted"),
    ],
)
def test_whatever_happens_in_a_tool_is_a_text_for_the_model(
    registry: ToolRegistry, name: str, arguments: dict[str, Any], text: str
):
    """Results, exceptions, unknown names and arguments that do not fit: the model can read and react."""
    assert registry.call(ToolCall("c1", name, arguments)) == text


def test_arguments_are_copied_before_the_call(registry: ToolRegistry):
    """A tool that changes its arguments does not change the history, in which the call stands."""
    call = ToolCall("c1", "send", {"to": ["ann"], "note": "hi"})
    assert registry.call(call) == "sent hi to ann, archive"
    assert call.arguments == {"to": ["ann"], "note": "hi"}


def test_an_interrupt_is_no_result(registry: ToolRegistry):
    """A reader who presses Interrupt stops the run; the model is not told that the tool failed."""
    with pytest.raises(KeyboardInterrupt):
        registry.call(ToolCall("c1", "interrupted", {}))


def test_a_name_is_registered_once(registry: ToolRegistry):
    """A second tool of the same name would silently replace the first."""
    with pytest.raises(InvalidValue, match=r"tools\.divide: registered already"):

        @registry.register
        def divide() -> None: ...


def test_an_empty_registry_says_so():
    """The model reads that there are no tools at all."""
    assert ToolRegistry().call(ToolCall("c1", "add", {})) == "error: unknown tool 'add'; known tools: none"


async def ask() -> str:
    """Return a coroutine, not a result."""
    return "asked"


def count_up() -> Iterator[int]:
    """Return a generator, not a result."""
    yield 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (ask, "is not async or a generator"),
        (count_up, "is not async or a generator"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_at_registration(function: Any, said: str):
    """Not at the first call, when the model has asked for it."""
    with pytest.raises(InvalidValue, match=said):
        ToolRegistry().register(function)


def test_effects_of_calls_are_those_of_their_tools(registry: ToolRegistry):
    """In the order of the calls; a tool that does not exist cannot have one."""
    registry.register(effect="idempotent")(pay)
    calls = [ToolCall("c1", "pay", {}), ToolCall("c2", "divide", {}), ToolCall("c3", "fly", {})]
    assert registry.effects([*calls, ToolCall("c4", "send", {})]) == (
        "idempotent", "read_only", "read_only", "non_idempotent",
    )  # fmt: skip


def pay() -> None:
    """Pay."""


def test_an_unknown_effect_is_refused():
    """A typing error must not make a tool safe to run twice."""
    with pytest.raises(InvalidValue, match=r"tools\.by_name\.effect: expected one of"):

        @ToolRegistry().register(effect="reed_only")  # type: ignore[call-overload, untyped-decorator]
        def by_name() -> None: ...


def test_keyword_arguments_and_defaults_of_another_type_are_taken():
    """A tool may take any names, and a default may be None."""
    registry = ToolRegistry()

    @registry.register
    def note(text: str, priority: int = None, **labels: str) -> str:  # type: ignore[assignment]  # noqa: RUF013
        return f"{text} {priority} {labels}"

    call = ToolCall("c1", "note", {"text": "hi", "priority": None, "to": "ann"})
    assert registry.call(call) == "hi None {'to': 'ann'}"


def test_a_result_is_a_plain_str():
    """A subclass of str might print as one thing before a crash and as another after."""

    class Colour(str):
        __slots__ = ()

    registry = ToolRegistry()

    @registry.register
    def colour() -> Colour:
        return Colour("red")

    assert type(registry.call(ToolCall("c1", "colour", {}))) is str


def test_a_key_is_given_by_the_log_and_by_nobody_else():
    """The model never sees the parameter; if it gives the argument all the same, the tool does not run."""
    registry, ran = ToolRegistry(), list[Any]()

    @registry.register(effect="idempotent")
    def pay(amount: int, *, idempotency_key: str | None) -> str:
        ran.append(idempotency_key)
        return f"paid {amount}"

    @registry.register
    def anything(**arguments: Any) -> str:
        ran.append(arguments)
        return "done"

    parameters = registry.schemas()[0]["parameters"]
    assert (list(parameters["properties"]), parameters["required"]) == (["amount"], ["amount"])
    assert registry.call(ToolCall("c1", "pay", {"amount": 1}), "k1") == "paid 1"
    assert registry.call(ToolCall("c1", "pay", {"amount": 1})) == "paid 1"
    assert ran == ["k1", None]
    for name in ("pay", "anything"):
        said = registry.call(ToolCall("c1", name, {"amount": 1, "idempotency_key": "mine"}), "k1")
        assert said == "error: TypeError: 'idempotency_key' is not for the model to give"
    assert ran == ["k1", None]


def test_a_tool_that_cannot_tell_says_so_by_an_exception():
    """EffectUnknown is no result: the log has to know of it."""
    registry = ToolRegistry()

    @registry.register
    def pay() -> str:
        raise EffectUnknown("no answer")

    with pytest.raises(EffectUnknown):
        registry.call(ToolCall("c1", "pay", {}))


def is_async(value: int) -> object:
    """Return what an async tool returns, from a function that does not say so."""

    async def later() -> int:
        return value

    return later()


async def coroutine() -> str:
    """Be a coroutine."""
    return "x"


async def async_generator() -> AsyncIterator[str]:
    """Be an async generator."""
    yield "x"


def generator() -> Iterator[str]:
    """Be a generator."""
    yield "x"


@pytest.mark.parametrize("tool", [coroutine, async_generator, generator])
@pytest.mark.parametrize("wrapped", [0, 1, 2])
def test_a_tool_that_does_not_return_its_result_is_refused(tool: Callable[..., Any], wrapped: int):
    """However often it is decorated: what it returns would be taken for a result, and it would never have run."""
    for _ in range(wrapped):
        tool = functools.wraps(tool)(functools.partial(tool))
    with pytest.raises(InvalidValue, match="it is not async or a generator"):
        ToolRegistry().register(tool)


@pytest.mark.parametrize("tool", [is_async, lambda value: (n for n in range(value)), lambda value: async_generator()])
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_what_shows_only_when_it_is_run_is_an_error_text(tool: Callable[..., Any]):
    """The model reads that the tool has not run."""
    registry = ToolRegistry()
    registry.register(tool)
    said = registry.call(ToolCall("c1", tool.__name__, {"value": 3}))
    assert said.startswith("error: TypeError: the tool has not run: what it returned is ")
