"""Tools: plain functions that the model may call by name. A call always yields a text, never an exception.

A tool declares its *effect*, what running it a second time would do to the world:

    read_only        it changes nothing: run it as often as you like
    idempotent       it recognises a repeated request, by its key for instance, and does the work once
    non_idempotent   each run does the work again: a second mail, a second charge (assumed of a tool that says nothing)

A tool with a parameter `idempotency_key` is given the key of its call, which the model never sees. It stays the same
when a call has to be made again after a crash, and no other call ever has it. (Without a log nobody could remember it:
then it is None.)

After a crash, a non_idempotent tool may or may not have run. Some can be asked: `reconcile` is a function that gets the
key, looks, and returns a verdict (see `minagent.log.doubt`).

Source: chapters 7.1, 7.3.1 and 7.3.6.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin, overload

from minagent.errors import EffectUnknown, InvalidValue
from minagent.messages import ToolCall
from minagent.plain_json import plain

Effect = Literal["read_only", "idempotent", "non_idempotent"]
ToolFunction = TypeVar("ToolFunction", bound=Callable[..., Any])

JSON_TYPES: dict[Any, str] = {
    int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object",
}  # fmt: skip


KEY = "idempotency_key"
"""The name of the parameter that takes the key of a call."""


Reconcile = Callable[[str], object]
"""Tells, by the key of a call, whether it has happened: with a verdict of `minagent.log`."""


@dataclass(frozen=True)
class Tool:
    """A registered function and what is declared about it."""

    function: Callable[..., Any]
    effect: Effect
    signature: inspect.Signature
    reconcile: Reconcile | None = None

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """What the model is told: name, description, and parameters as JSON schema."""
        parameters = [p for p in self.signature.parameters.values() if p.name != KEY]
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        return {
            "name": self.function.__name__,
            "description": inspect.getdoc(self.function) or "",
            "parameters": {
                "type": "object",
                "properties": {p.name: _json_schema(p.annotation) for p in named},
                "required": [p.name for p in named if p.default is p.empty],
            },
        }

    @property
    def takes_key(self) -> bool:
        """Whether the function wants to know the key of its call."""
        return KEY in self.signature.parameters

    def run(self, arguments: dict[str, Any], key: str | None) -> str:
        """Run the function on a copy of `arguments`; raise TypeError if they do not fit its signature."""
        if KEY in arguments:
            raise TypeError(f"{KEY!r} is not for the model to give")
        bound = self.signature.bind(**plain(arguments, "arguments"), **({KEY: key} if self.takes_key else {}))
        for name, value in bound.arguments.items():
            if name != KEY:
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
    def register(
        self, *, effect: Effect = "non_idempotent", reconcile: Reconcile | None = None
    ) -> Callable[[ToolFunction], ToolFunction]: ...
    def register(
        self, function: Any = None, *, effect: Effect = "non_idempotent", reconcile: Reconcile | None = None
    ) -> Any:
        """Register a function under its own name, as `@register` or `@register(effect="read_only")`.

        `reconcile` tells of a non_idempotent tool, by the key of a call, whether that has happened.

        Raises:
            InvalidValue: a tool of that name is registered already, or the function cannot be a tool.
        """
        if function is None:
            return lambda decorated: self._add(decorated, effect, reconcile)
        return self._add(function, effect, reconcile)

    def _add(self, function: ToolFunction, effect: Effect, reconcile: Reconcile | None) -> ToolFunction:
        name = getattr(function, "__name__", None)
        if name is None:
            raise InvalidValue("tools", f"{function!r} has no name: wrap it in a function of its own")
        if name in self.tools:
            raise InvalidValue(f"tools.{name}", "registered already; give the second function another name")
        if effect not in get_args(Effect):
            raise InvalidValue(f"tools.{name}.effect", f"expected one of {get_args(Effect)}, found {effect!r}")
        tool = Tool(function, effect, _signature(function, f"tools.{name}"), reconcile)
        if reconcile is not None and (effect != "non_idempotent" or not tool.takes_key):
            said = f"is for a non_idempotent tool with a parameter {KEY!r}, by which it can find the call again"
            raise InvalidValue(f"tools.{name}.reconcile", said)
        self.tools[name] = tool
        return function

    def schemas(self) -> list[dict[str, Any]]:
        """Return the schemas of all tools, in the order of registration, as the model is given them."""
        return [plain(tool.schema, "schema") for tool in self.tools.values()]

    def effects(self, tool_calls: Sequence[ToolCall]) -> tuple[Effect, ...]:
        """Return the effect of each call. That of an unknown tool, which cannot run, is "read_only"."""
        return tuple(self.tools[call.name].effect if call.name in self.tools else "read_only" for call in tool_calls)

    def call(self, tool_call: ToolCall, key: str | None = None) -> str:
        """Run one tool call and return its result as text. `key` is for a tool that wants one.

        A tool that raises, is unknown, or gets arguments that do not fit gives a result that says so: the model
        reads it and can react. Only EffectUnknown, and what is no Exception, such as KeyboardInterrupt, goes through.
        """
        tool = self.tools.get(tool_call.name)
        if tool is None:
            return f"error: unknown tool {tool_call.name!r}; known tools: {', '.join(self.tools) or 'none'}"
        try:
            return tool.run(tool_call.arguments, key)
        except EffectUnknown:
            raise
        except Exception as error:
            return _complaint(error)


def _complaint(error: Exception) -> str:
    # The tool may have had its effect before it raised: whatever happens here, the model must get an answer.
    try:
        return f"error: {type(error).__name__}: {error}"
    except Exception:
        return f"error: {type(error).__name__}"
