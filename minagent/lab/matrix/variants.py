"""Ways of recording, and a process that works in each of them.

The standard run has 3 steps with 2 tools each, and an answer; each tool charges a customer. There is no executor here:
each way calls `step_once`, with `save_checkpoint` or with a log.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from minagent import Agent, Message, Session, ToolCall, ToolRegistry, init_session, recover_checkpoint, save_checkpoint
from minagent.agent import NOT_RECORDED, Recorder, step_once
from minagent.lab.processes.crash_points import CrashPoints
from minagent.lab.processes.phases import SavePlan
from minagent.lab.world.example import BEGAN, SESSION, HistoryModel
from minagent.lab.world.ledger import Ledger
from minagent.lab.world.payments import Payments
from minagent.log import DidNotHappen, FileStore, InDoubt, SessionLog, SqliteStore, Unknown
from minagent.log.doubt import Verdict
from minagent.models import Reply, Usage
from minagent.tools import Effect

BILL = "bill.jsonl"
CHECKPOINT = "session.json"
DATABASE = "sessions.db"


@dataclass(frozen=True)
class Variant:
    """A way of recording, and of treating a call in doubt."""

    name: str
    recording: Literal["save", "save the plan", "save each tool", "log", "log in SQLite", "database"]
    effect: Effect = "non_idempotent"  # what the tool declares. If that is idempotent, it gives the service its key
    can_be_asked: bool = False  # whether the tool can tell what happened
    verdict: Verdict = field(default_factory=Unknown)  # what a person says to a call in doubt, without looking
    checkpoints: bool = False  # whether the log is compacted after each step
    log: type[SessionLog] = SessionLog  # or one that leaves something out


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("chapter", "save"),
        Variant("plan saved first", "save the plan"),
        Variant("saved after each tool", "save each tool"),
        Variant("log, retry", "log", verdict=DidNotHappen()),
        Variant("log, skip", "log", verdict=Unknown()),
        Variant("log, ask the tool", "log", can_be_asked=True),
        Variant("log, keys", "log", "idempotent"),
        Variant("one transaction", "database", "idempotent"),
    )
}
LOG_IN_SQLITE = Variant("log in SQLite, keys", "log in SQLite", "idempotent")
"""As "log, keys"; only the place of the log is another one."""


class Shape(NamedTuple):
    """What is to be done."""

    steps: int = 3
    tools: int = 2  # in each step
    repeats_itself: bool = True  # whether the model, asked again, answers the same. If not, it orders something else


STANDARD = Shape()


@dataclass
class _SaveEachTool(Recorder):
    """A recorder without a log: it saves the whole session where a log would append."""

    save: Callable[[], None]
    saved: int  # messages that are on the disk

    def record(self, session: Session, model_cursor: int | None) -> None:  # noqa: ARG002
        if len(session.messages) > self.saved:
            self.save()
            self.saved = len(session.messages)

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:
        if not reply.message.tool_calls:
            self.record(session, model_cursor)

    def run(self, tools: ToolRegistry, session: Session, cursor: int | None, index: int, call: ToolCall) -> str:  # noqa: ARG002
        self.record(session, cursor)
        return tools.call(call, "")


class Life:
    """One process: it goes on from what the disk holds, and finishes if it does not die before."""

    def __init__(self, folder: Path, variant: Variant, shape: Shape, payments: Payments, points: CrashPoints) -> None:
        self.folder, self.variant, self.shape, self.payments, self.points = folder, variant, shape, payments, points
        self.transaction: Callable[[], AbstractContextManager[object]] = nullcontext  # what a charge is a part of
        self.model = HistoryModel(self._order)
        registry = ToolRegistry()
        reconcile = payments.what_happened if variant.can_be_asked else None
        registry.register(effect=variant.effect, reconcile=reconcile)(self.charge)
        self.agent = Agent(registry, "You place orders.")

    def _order(self, messages: Sequence[Message]) -> Message:
        """Be the model: order for each step, and answer in the end; write the bill."""
        self.points.about_to("model")
        bill, step = Ledger(self.folder / BILL), sum(message.role == "assistant" for message in messages)
        asked = "" if self.shape.repeats_itself else f", asked {bill.bill().calls}"
        orders = [f"order {step}.{number}{asked}" for number in range(self.shape.tools)]
        calls = [ToolCall(f"c{n}", "charge", {"order": order, "amount": 10}) for n, order in enumerate(orders)]
        bill.record_model_call(Usage(0, 0))
        self.points.about_to("answer")
        done = step == self.shape.steps
        return Message("assistant", "All is paid.") if done else Message("assistant", "", calls)

    def charge(self, order: str, amount: int, *, idempotency_key: str | None) -> str:
        """Charge the customer of an order."""
        self.points.about_to("tool")
        key = idempotency_key if self.variant.effect == "idempotent" else None
        with self.transaction():
            receipt = self.payments.charge(order, amount, key=key, reference=idempotency_key)
        self.points.about_to("result")
        return receipt

    def store(self) -> Any:
        """Open the store of its log; return None if it writes none."""
        return store_of(self.folder, self.variant)

    def begin(self) -> None:
        """Put a new session on the disk."""
        session = init_session(self.agent, "Place the orders.", session_id=SESSION, created_at=BEGAN)
        with self.points.watching_files():
            if (store := self.store()) is None:
                save_checkpoint(self.folder / CHECKPOINT, session, self.model, [])
            else:
                SessionLog.begin(store, session, None, writer="w", incarnation="i1")
                store.close()

    def live(self) -> None:
        """Go on to the end."""
        if (store := self.store()) is None:
            with self.points.watching_files():
                self._save_checkpoints()
            return
        try:
            if isinstance(store, SqliteStore):
                if self.variant.recording == "database":  # charges are rows in it, too, and part of its transactions
                    self.payments, self.transaction = Payments(store.connection), store.effect
                if self.points.imagined:
                    store.connection.execute("PRAGMA synchronous = OFF")
                store.connection = self.points.watched(store.connection)
            with self.points.watching_files():
                self._write_log(self.variant.log.resume(store, SESSION, writer="w"))
        finally:
            store.close()  # what was not committed is gone, as with the process

    def _save_checkpoints(self) -> None:
        path = self.folder / CHECKPOINT
        start = recover_checkpoint(path)[0]
        session, steps = start.session, start.steps
        save = partial(save_checkpoint, path, session, self.model, steps)
        recorder = {
            "save the plan": SavePlan(self.agent.registry, save),
            "save each tool": _SaveEachTool(save, len(session.messages)),
        }.get(self.variant.recording, NOT_RECORDED)
        while not session.answered:
            step_once(self.agent, session, self.model, steps, recorder)
            if not isinstance(recorder, _SaveEachTool):
                save()

    def _write_log(self, log: SessionLog) -> None:
        state = log.state
        while not state.session.answered:
            try:
                step_once(self.agent, state.session, self.model, state.steps, log=log)
                if self.variant.checkpoints:
                    log.compact()
            except InDoubt as doubt:
                log.resolve(doubt.key, self.variant.verdict)
                state = log.state


def store_of(folder: Path, variant: Variant) -> FileStore | SqliteStore | None:
    """Return the store of the log, if the variant writes one."""
    match variant.recording:
        case "log":
            return FileStore(folder)
        case "log in SQLite" | "database":
            return SqliteStore(folder / DATABASE)
    return None
