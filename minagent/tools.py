"""Tools: plain functions that the model may call by name. A call always yields a text, never an exception.

A tool declares its *effect*, what running it a second time would do to the world:

    read_only        it changes nothing: run it as often as you like
    idempotent       it recognises a repeated request by its key, and does the work once
    non_idempotent   each run does the work again: a second mail, a second charge (assumed of a tool that says nothing)

Source: chapters 7.1 and 7.3.1.
"""

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin, overload

from minagent.errors import InvalidValue
from minagent.messages import ToolCall

Effect = Literal["read_only", "idempotent", "non_idempotent"]
ToolFunction = TypeVar("ToolFunction", bound=Callable[..., Any])

JSON_TYPES: dict[Any, str] = {
    int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object",
}  # fmt: skip


@dataclass(frozen=True)
class Tool:
    """A registered function and what is declared about it."""

    function: Callable[..., Any]
    effect: Effect
    signature: inspect.Signature

    def schema(self) -> dict[str, Any]:
        """Return what the model is told: name, description, and parameters as JSON schema."""
        named = [p for p in self.signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        return {
            "name": self.function.__name__,
            "description": inspect.getdoc(self.function) or "",
            "parameters": {
                "type": "object",
                "properties": {p.name: _json_schema(p.annotation) for p in named},
                "required": [p.name for p in named if p.default is p.empty],
            },
        }

    def run(self, arguments: dict[str, Any]) -> str:
        """Run the function on a copy of `arguments`; raise TypeError if they do not fit its signature."""
        bound = self.signature.bind(**copy.deepcopy(arguments))
        for name, value in bound.arguments.items():
            _check_type(self.signature.parameters[name], value)
        return str(self.function(*bound.args, **bound.kwargs))


def _json_type(annotation: Any) -> Any:
    """Return the plain type behind an annotation, or None if JSON schema has no simple name for it."""
    plain = get_origin(annotation) or annotation
    return plain if isinstance(plain, type) and plain in JSON_TYPES else None


def _json_schema(annotation: Any) -> dict[str, str]:
    plain = _json_type(annotation)
    return {} if plain is None else {"type": JSON_TYPES[plain]}


def _check_type(parameter: inspect.Parameter, value: Any) -> None:
    plain = _json_type(parameter.annotation)
    if plain is None or parameter.kind is parameter.VAR_KEYWORD or value is parameter.default:
        return
    fits = isinstance(value, (int, float) if plain is float else plain)
    if not fits or (isinstance(value, bool) and plain is not bool):
        raise TypeError(f"argument {parameter.name!r} must be {JSON_TYPES[plain]}, not {value!r}")


def _signature(function: Callable[..., Any], path: str) -> inspect.Signature:
    """Return the signature of a function that can be a tool; raise InvalidValue if it cannot."""
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise InvalidValue(path, "a tool is a plain function: it returns its result, and is not async or a generator")
    try:
        signature = inspect.signature(function, eval_str=True)
    except (TypeError, ValueError, NameError) as error:
        raise InvalidValue(path, f"the function's signature cannot be read: {error}") from error
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise InvalidValue(path, f"{parameter.name!r} is positional-only, and a model gives arguments by name")
    return signature


class ToolRegistry:
    """The tools of one agent, by name."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}

    @overload
    def register(self, function: ToolFunction) -> ToolFunction: ...
    @overload
    def register(self, *, effect: Effect) -> Callable[[ToolFunction], ToolFunction]: ...
    def register(self, function: Any = None, *, effect: Effect = "non_idempotent") -> Any:
        """Register a function under its own name, as `@register` or `@register(effect="read_only")`.

        Raises:
            InvalidValue: a tool of that name is registered already, or the function cannot be a tool.
        """
        if function is None:
            return lambda decorated: self._add(decorated, effect)
        return self._add(function, effect)

    def _add(self, function: ToolFunction, effect: Effect) -> ToolFunction:
        name = getattr(function, "__name__", None)
        if name is None:
            raise InvalidValue("tools", f"{function!r} has no name: wrap it in a function of its own")
        if name in self.tools:
            raise InvalidValue(f"tools.{name}", "registered already; give the second function another name")
        if effect not in get_args(Effect):
            raise InvalidValue(f"tools.{name}.effect", f"expected one of {get_args(Effect)}, found {effect!r}")
        self.tools[name] = Tool(function, effect, _signature(function, f"tools.{name}"))
        return function

    def schemas(self) -> list[dict[str, Any]]:
        """Return the schemas of all tools, in the order of registration, as the model is given them."""
        return [tool.schema() for tool in self.tools.values()]

    def effects(self, tool_calls: Sequence[ToolCall]) -> tuple[Effect, ...]:
        """Return the effect of each call. That of an unknown tool, which cannot run, is "read_only"."""
        return tuple(self.tools[call.name].effect if call.name in self.tools else "read_only" for call in tool_calls)

    def call(self, tool_call: ToolCall) -> str:
        """Run one tool call and return its result as text.

        A tool that raises, is unknown, or gets arguments that do not fit gives a result that says so: the model
        reads it and can react. Only what is no Exception, such as KeyboardInterrupt, goes through.
        """
        tool = self.tools.get(tool_call.name)
        if tool is None:
            return f"error: unknown tool {tool_call.name!r}; known tools: {', '.join(self.tools) or 'none'}"
        try:
            return tool.run(tool_call.arguments)
        except Exception as error:
            return _complaint(error)


def _complaint(error: Exception) -> str:
    # The tool may have had its effect before it raised: whatever happens here, the model must get an answer.
    try:
        return f"error: {type(error).__name__}: {error}"
    except Exception:
        return f"error: {type(error).__name__}"
