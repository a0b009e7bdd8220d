"""The chapter's example: add, then multiply, then a plain answer (7.3.5). The Chinese strings are its own."""

from minagent import Agent, Message, ToolCall, ToolRegistry

TASK = "先算 2+3，再把结果乘 4"
"""First compute 2+3, then multiply the result by 4."""

ANSWER = "先算 2+3 得 5，再乘 4 得 20。"
"""2+3 first gives 5, times 4 then gives 20."""

SCRIPT = (
    Message("assistant", "", (ToolCall("c1", "add", {"a": 2, "b": 3}),)),
    Message("assistant", "", (ToolCall("c2", "multiply", {"a": 5, "b": 4}),)),
    Message("assistant", ANSWER),
)
"""What the fake model says: two tool calls, each in a message of its own, and the answer."""


def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiply two integers."""
    return a * b


def example_agent(registry: ToolRegistry) -> Agent:
    """Return the example's agent; its two tools are registered in `registry`."""
    registry.register(effect="read_only")(add)
    registry.register(effect="read_only")(multiply)
    return Agent(registry, "You calculate with tools, one call at a time.")
