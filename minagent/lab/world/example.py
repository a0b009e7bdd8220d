"""The tasks that the lab's agent works on.

arithmetic: the chapter's own (7.3.5): add, then multiply, then a plain answer. The Chinese strings are the chapter's.
errand: three tools with effects in the world (7.3.1): look up a price, charge a card, send a mail.
long_task: as many steps as you like, for measurements (7.3.8).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from minagent import Agent, Checkpoint, CheckpointMissing, Message, Session, ToolCall, ToolRegistry, recover_checkpoint
from minagent.agent import init_session
from minagent.models import FakeModel, Reply
from minagent.tools import Effect

TASK = "先算 2+3，再把结果乘 4"  # first compute 2+3, then multiply the result by 4

ANSWER = "先算 2+3 得 5，再乘 4 得 20。"  # 2+3 first gives 5, times 4 then gives 20

SCRIPT = (
    Message("assistant", "", (ToolCall("c1", "add", {"a": 2, "b": 3}),)),
    Message("assistant", "", (ToolCall("c2", "multiply", {"a": 5, "b": 4}),)),
    Message("assistant", ANSWER),
)
"""What the fake model says: two tool calls, each in a message of its own, and the answer."""


def decide(messages: Sequence[Message]) -> Message:
    """Be a model for this task: look at the results in the messages, and at nothing else (7.3.2)."""
    results = [message.content for message in messages if message.role == "tool"]
    if not results:
        return Message("assistant", "", (ToolCall("c1", "add", {"a": 2, "b": 3}),))
    if len(results) == 1:
        return Message("assistant", "", (ToolCall("c2", "multiply", {"a": int(results[0] or 0), "b": 4}),))
    return Message("assistant", f"先算 2+3 得 {results[0]}，再乘 4 得 {results[1]}。")


class HistoryModel:
    """A model as real ones are: `decide` makes its answer of the messages alone, so it needs no cursor (7.3.2)."""

    cursor: int | None = None

    def __init__(self, decide: Callable[[Sequence[Message]], Message]) -> None:
        self.decide = decide

    def complete(self, messages: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> Reply:
        """Return what `decide` makes of the messages."""
        return FakeModel([self.decide(messages)]).complete(messages, schemas)


def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiply two integers."""
    return a * b


def look_up_price(item: str) -> int:
    """Return what an item costs, in dollars."""
    return 10 + 4 * len(item)


def charge_card(amount: int) -> str:
    """Charge the customer's card, in dollars."""
    return f"charged {amount}"


def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    return f"sent to {to}: {text}"


SESSION = "demo"
BEGAN = "2026-01-01T00:00:00Z"  # id and time of every session of the lab: the same on every machine

ExampleName = Literal["arithmetic", "errand"]


class Example(NamedTuple):
    """A task, the tools for it, and what the fake model says."""

    task: str
    script: Sequence[Message]
    tools: dict[Callable[..., Any], Effect]
    system_prompt: str

    def agent(self, registry: ToolRegistry) -> Agent:
        """Return the agent for this task; its tools are registered in `registry`."""
        for function, effect in self.tools.items():
            registry.register(effect=effect)(function)
        return Agent(registry, self.system_prompt)

    def begin(self, agent: Agent) -> Session:
        """Return a new session on this task."""
        return init_session(agent, self.task, session_id=SESSION, created_at=BEGAN)

    def begin_or_resume(self, agent: Agent, path: Path) -> Checkpoint:
        """Return where a run stands: as the disk has it at `path`, or before the first step if that holds nothing."""
        try:
            checkpoint, _ = recover_checkpoint(path)
        except CheckpointMissing:
            return Checkpoint(self.begin(agent), 0, [])
        return checkpoint


EXAMPLES: dict[ExampleName, Example] = {
    "arithmetic": Example(
        TASK, SCRIPT, {add: "read_only", multiply: "read_only"}, "You calculate with tools, one call at a time."
    ),
    "errand": Example(
        "Buy the lamp for Ann, and mail her the receipt.",
        (
            Message("assistant", "", (ToolCall("c1", "look_up_price", {"item": "lamp"}),)),
            Message("assistant", "", (ToolCall("c2", "charge_card", {"amount": 26}),)),
            Message("assistant", "", (ToolCall("c3", "send_mail", {"to": "Ann", "text": "lamp, 26 dollars"}),)),
            Message("assistant", "The lamp is paid, and Ann has her receipt."),
        ),
        {look_up_price: "read_only", charge_card: "non_idempotent", send_mail: "non_idempotent"},
        "You run errands with tools, one call at a time.",
    ),
}


def example_agent(registry: ToolRegistry) -> Agent:
    """Return the agent of the chapter's example."""
    return EXAMPLES["arithmetic"].agent(registry)


def read_page(number: int) -> str:
    """Read a page."""
    return f"page {number}"


def send_note(number: int) -> str:
    """Send a note."""
    return f"note {number} sent"


def long_task(steps: int, effect_every: int = 1) -> Example:
    """Return a task of this many steps with a tool, and an answer. Every `effect_every`-th step sends a note."""
    names = ["send_note" if number % effect_every == 0 else "read_page" for number in range(1, steps + 1)]
    calls = [ToolCall(f"c{number}", name, {"number": number}) for number, name in enumerate(names, 1)]
    return Example(
        f"Read {steps} pages, and send notes.",
        (*(Message("assistant", "", (call,)) for call in calls), Message("assistant", "All is read.")),
        {read_page: "read_only", send_note: "non_idempotent"},
        "You read and write notes with tools, one call at a time.",
    )
