"""Tools: functions that the model may call by name; a call yields a text, never an exception (7.1, 7.3.1, 7.3.6).

A tool declares its *effect*, what running it a second time would do to the world:

    read_only        it changes nothing: run it as often as you like
    idempotent       it recognises a repeated request, by its key for instance, and does the work once
    non_idempotent   each run does the work again: a second mail, a second charge (assumed of a tool that says nothing)

A tool with a parameter `idempotency_key` is given the key of its call, which the model never sees: the same when the
call has to be made again after a crash, and never another's. (Without a log nobody could remember it: then it is None.)
A tool that can be asked whether a call has happened has a `reconcile`: it gets the key, looks, and returns a verdict.
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
JSON_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object"}
Reconcile = Callable[[str], object]
F = TypeVar("F", bound=Callable[..., Any])
# What still has to be awaited or iterated: taken for a result, it would be one of a tool that never ran.
RETURN_UNFINISHED = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction
UNFINISHED = inspect.isawaitable, inspect.isgenerator, inspect.isasyncgen
KEY = "idempotency_key"  # the name of the parameter that takes the key of a call


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
        hidden = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        named = [p for p in self.signature.parameters.values() if p.name != KEY and p.kind not in hidden]
        kinds = {p.name: JSON_TYPES.get(get_origin(p.annotation) or p.annotation) for p in named}
        properties = {name: {"type": kind} if kind else {} for name, kind in kinds.items()}
        required = [p.name for p in named if p.default is p.empty]
        parameters = {"type": "object", "properties": properties, "required": required}
        description = inspect.getdoc(self.function) or ""
        return {"name": self.function.__name__, "description": description, "parameters": parameters}

    def run(self, arguments: dict[str, Any], key: str | None) -> str:
        """Run the function on a copy of `arguments`; raise TypeError if they do not fit its signature."""
        if KEY in arguments:
            raise TypeError(f"{KEY!r} is not for the model to give")
        given = {KEY: key} if KEY in self.signature.parameters else {}
        bound = self.signature.bind(**plain(arguments, "arguments"), **given)
        result = self.function(*bound.args, **bound.kwargs)
        if any(is_unfinished(result) for is_unfinished in UNFINISHED):
            raise TypeError(f"the tool has not run: what it returned is {type(result).__name__}, not a result")
        return str(result)


class ToolRegistry:
    """The tools of one agent, by name."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}

    @overload
    def register(self, function: F, /) -> F: ...
    @overload
    def register(self, /, *, effect: Effect = ..., reconcile: Reconcile | None = ...) -> Callable[[F], F]: ...
    def register(
        self, function: Any = None, /, *, effect: Effect = "non_idempotent", reconcile: Reconcile | None = None
    ) -> Any:
        """Register a function under its own name, as `@register` or `@register(effect="read_only")`, and return it.

        Raise InvalidValue if a tool of that name is registered already, or the function cannot be a tool.
        """
        if function is None:
            return functools.partial(self.register, effect=effect, reconcile=reconcile)
        path = f"tools.{function.__name__}"
        if function.__name__ in self.tools:
            raise InvalidValue(path, "registered already; give the second function another name")
        if any(returns_unfinished(inspect.unwrap(function)) for returns_unfinished in RETURN_UNFINISHED):
            raise InvalidValue(path, "a tool returns its result: it is not async or a generator")
        if effect not in get_args(Effect):  # a typing error must not make a tool safe to run twice
            raise InvalidValue(f"{path}.effect", f"expected one of {get_args(Effect)}, found {effect!r}")
        self.tools[function.__name__] = Tool(function, effect, inspect.signature(function, eval_str=True), reconcile)
        return function

    def schemas(self) -> list[dict[str, Any]]:
        """Return the schemas of all tools, in the order of registration, as the model is given them."""
        return [plain(tool.schema, "schema") for tool in self.tools.values()]

    def effects(self, tool_calls: Sequence[ToolCall]) -> tuple[Effect, ...]:
        """Return the effect of each call. That of an unknown tool, which cannot run, is "read_only"."""
        return tuple(self.tools[call.name].effect if call.name in self.tools else "read_only" for call in tool_calls)

    def call(self, tool_call: ToolCall, key: str | None = None) -> str:
        """Run one tool call and return its result as text. `key` is for a tool that wants one.

        That a tool raises, is unknown, or gets arguments that do not fit is a result: the model reads it and can react.
        Only EffectUnknown goes through, and KeyboardInterrupt and its like.
        """
        if (tool := self.tools.get(tool_call.name)) is None:
            return f"error: unknown tool {tool_call.name!r}; known tools: {', '.join(self.tools) or 'none'}"
        try:
            return tool.run(tool_call.arguments, key)
        except EffectUnknown:
            raise
        except Exception as error:
            return f"error: {type(error).__name__}: {error}"
