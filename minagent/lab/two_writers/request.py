"""A request to a session: somebody asks it something, and a process of its own answers. Two of them are two writers.

Each asks to charge its own customer. That is a turn of two steps: the tool is run, and the model says that it is done.
A request that finds a turn open which another has begun finishes that one first. How it writes is its *rule*:

    last write wins    load a checkpoint, take the turn, save: the chapter's way
    version            a session log, whose appends expect a length: the version number
    lease              the same, and a lease is taken first: the mark that somebody is at work

Before each thing that others can see or disturb it says what it is about to do:

    read       read what is stored, once at the start
    save       replace the checkpoint
    append     add to the log
    charge     run the tool
    wait       come back after a while, since another has the lease
"""

import contextlib
from collections.abc import Callable, Sequence
from hashlib import sha256
from os.path import exists
from pathlib import Path
from typing import Literal

from minagent import Agent, Message, Session, ToolCall, ToolRegistry, recover_checkpoint, save_checkpoint
from minagent.agent import NOT_RECORDED, Recorder, Step, add_question, step_once
from minagent.lab.processes.crash_points import first, instead
from minagent.lab.world.example import BEGAN, SESSION, HistoryModel
from minagent.lab.world.ledger import Ledger
from minagent.log import Conflict, Lease, LeaseLost, SessionLog
from minagent.log.stores.base import Store

Rule = Literal["last write wins", "version", "lease"]
Ending = Literal["done", "conflict", "lease lost", "turned away"]  # what a request tells whoever made it

LEASE_SECONDS = 30.0


def answer(customer: str) -> str:
    """Return what it is answered."""
    return f"{customer} is charged."


def result(customer: str) -> str:
    """Return what the tool says."""
    return f"charged {customer}"


def _decide(messages: Sequence[Message]) -> Message:
    """A model that does what it was asked last."""
    asked = next(message.content for message in reversed(messages) if message.role == "user")
    customer = str(asked).removeprefix("Charge ").removesuffix(".")
    if messages[-1].role == "tool":
        return Message("assistant", answer(customer))
    return Message("assistant", "", (ToolCall("c1", "charge", {"customer": customer}),))


class Place:
    """What requests share: a checkpoint or a store of logs, the world in which tools have effects, and the time."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.checkpoint = folder / "session.json"
        self.store = store
        self.ledger = Ledger(folder / "ledger.jsonl")
        self._clock = folder / "seconds"

    def begin(self, rule: Rule) -> None:
        """Write a session in which nothing was asked yet."""
        session = Session(SESSION, [Message("system", "You charge customers.")], BEGAN)
        if rule == "last write wins":
            save_checkpoint(self.checkpoint, session, HistoryModel(_decide), [])
        else:
            SessionLog.begin(self.store, session, None, writer="front door", incarnation="i1")

    def stored(self, rule: Rule) -> tuple[list[Message], set[str]]:
        """Return what whoever comes next would go on with: the messages, and the keys of calls in doubt."""
        if rule == "last write wins":
            return recover_checkpoint(self.checkpoint)[0].session.messages, set()
        state = SessionLog.resume(self.store, SESSION, writer="reader").state
        return state.session.messages, {doubt.key for doubt in state.in_doubt.values()}

    def charges(self) -> list[tuple[str, str | None]]:
        """Return each run of the tool: the customer, and the key of the call."""
        return [(effect["arguments"]["customer"], effect.get("key")) for effect in self.ledger.effects()]

    def seen_by(self, operation: str) -> bytes:
        """Return a digest of all that a request can see when it does this: a tool and a save look at nothing."""
        return b"" if operation in ("charge", "save") else self._digest(self.checkpoint, self._clock)

    def contents(self) -> bytes:
        """Return a digest of all that is there."""
        return self._digest(self.checkpoint, self._clock, self.ledger.path)

    def _digest(self, *paths: Path) -> bytes:
        files = [path.read_bytes() if exists(path) else b"" for path in paths]
        records = self.store.read(SESSION)
        return sha256(repr((files, records.first, records.lines)).encode()).digest()

    def time(self) -> float:
        """Return how many seconds have passed."""
        return float(self._clock.read_text()) if self._clock.exists() else 0.0

    def let_time_pass(self) -> None:
        """Let as much time pass as a lease lasts."""
        self._clock.write_text(str(self.time() + LEASE_SECONDS))


class Request:
    """One request of `customer`."""

    def __init__(self, customer: str, rule: Rule, place: Place, about_to: Callable[[str], None]) -> None:
        self.customer, self.rule, self.place, self.about_to = customer, rule, place, about_to
        self.model = HistoryModel(_decide)
        registry = ToolRegistry()
        registry.register(effect="idempotent")(self.charge)
        self.agent = Agent(registry, "")

    def charge(self, customer: str, *, idempotency_key: str | None) -> str:
        """Charge a customer's card."""
        self.about_to("charge")
        call = ToolCall("c1", "charge", {"customer": customer})
        self.place.ledger.record_effect(call, result(customer), idempotency_key)
        return result(customer)

    def run(self) -> Ending:
        """Take the turn, and return how it ended."""
        try:
            return self._with_checkpoint() if self.rule == "last write wins" else self._with_log()
        except LeaseLost:
            return "lease lost"
        except Conflict:
            return "conflict"

    def _with_checkpoint(self) -> Ending:
        self.about_to("read")
        checkpoint, _ = recover_checkpoint(self.place.checkpoint)
        self._take_turn(checkpoint.session, checkpoint.steps, NOT_RECORDED)
        self.about_to("save")
        save_checkpoint(self.place.checkpoint, checkpoint.session, self.model, checkpoint.steps)
        return "done"

    def _with_log(self) -> Ending:
        self.about_to("read")
        store = self.place.store
        watched = instead(store, append=first(lambda *_: self.about_to("append"), store.append))
        log = SessionLog.resume(watched, SESSION, writer=self.customer)
        lease = Lease(log, LEASE_SECONDS, self.place.time) if self.rule == "lease" else None
        if lease is not None and not lease.acquire():
            self.about_to("wait")
            if not lease.acquire():
                return "turned away"
        state = log.state
        self._take_turn(state.session, state.steps, log)
        if lease is not None:
            with contextlib.suppress(LeaseLost):  # the turn is in the log already, whoever has the lease by now
                lease.release()
        return "done"

    def _take_turn(self, session: Session, steps: list[Step], log: Recorder) -> None:
        if session.messages[-1].role != "system" and not session.answered:
            self._answer(session, steps, log)  # what another has begun
        add_question(session, steps, f"Charge {self.customer}.")
        self._answer(session, steps, log)

    def _answer(self, session: Session, steps: list[Step], log: Recorder) -> None:
        while not session.answered:
            step_once(self.agent, session, self.model, steps, log=log)
