"""Tools: a call always yields a text, and never changes what it was given."""

from typing import Any

import pytest

from minagent import InvalidValue, ToolCall, ToolRegistry


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
        ("divide", {"a": "5"}, "error: TypeError: argument 'a' must be integer, not '5'"),
        ("divide", {"a": True}, "error: TypeError: argument 'a' must be integer, not True"),
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
