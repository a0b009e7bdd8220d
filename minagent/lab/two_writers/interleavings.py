"""Every order in which two requests to one session can get in each other's way.

The requests are real ones, in threads of which one goes on at a time, from one operation to the next (`request` lists
them). So an order of operations can be chosen; all of them can be tried; and the one that loses something can be drawn,
and be played again on real processes. In such an order, each *move* is one of these:

    A              the request A does what it is about to do, and whatever follows, up to its next operation
    A dies         its process dies before it does that
    time passes    as much as a lease lasts

A request that sleeps is one that makes no move while others do.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

from minagent.lab.two_writers.request import Ending, Place, Request, Rule, answer, result
from minagent.log import MemoryStore

Moves = tuple[tuple[str, str], ...]
CUSTOMERS = ("A", "B")
TIME_PASSES = "time passes"


class Crash(BaseException):
    """A request in a thread is dead. Nothing on its way catches this."""


class Runner(Protocol):
    """Whatever runs a request, operation by operation: a thread, or a process."""

    next: str | None  # the operation before which the request waits; None if it has ended
    ending: Ending | None  # what it has told; None if it has died, or goes on

    def go(self) -> None:
        """Let it do that operation."""

    def die(self) -> None:
        """Kill it."""


class InThread:
    """Runs a request in a thread that waits before each operation."""

    def __init__(self, customer: str, rule: Rule, place: Place) -> None:
        self.next: str | None = None
        self.ending: Ending | None = None
        self._request = Request(customer, rule, place, self._about_to)
        self._dying = False
        self._error: BaseException | None = None
        self._go, self._waits = SimpleQueue[None](), SimpleQueue[None]()
        threading.Thread(target=self._run, daemon=True).start()
        self._wait()

    def _run(self) -> None:
        try:
            self.ending = self._request.run()
        except Crash:
            pass
        except BaseException as error:  # nobody would see it in a thread
            self._error = error
        finally:
            self.next = None
            self._waits.put(None)

    def _wait(self) -> None:
        self._waits.get()
        if self._error is not None:
            raise RuntimeError(f"the request broke: {self._error}") from self._error

    def _about_to(self, operation: str) -> None:
        self.next = operation
        self._waits.put(None)
        self._go.get()
        if self._dying:
            raise Crash

    def go(self) -> None:
        """Let it do what it is about to do, up to its next operation."""
        self._go.put(None)
        self._wait()

    def die(self) -> None:
        """Let it die before it does that."""
        self._dying = True
        self.go()


class MeetingOutcome(NamedTuple):
    """What came of a meeting."""

    moves: Moves  # each move, and the operation that it was, or that the dead did not come to
    endings: Mapping[str, str]  # what each request has told, or that it died
    lost: list[str]  # requests that were told "done", and of whose turn nothing is left
    repeated: int  # how many charges were made again, by a tool that knows no keys
    repeated_with_keys: int  # the same, by a tool that knows a repeated key
    unrecorded: list[str]  # customers who were charged, while what is stored has neither the result nor a doubt


@dataclass
class Meeting:
    """Two requests to one session."""

    rule: Rule
    place: Place
    requests: dict[str, Runner] = field(default_factory=dict)
    moves: list[tuple[str, str]] = field(default_factory=list)
    _seen: dict[str, list[bytes]] = field(default_factory=dict)  # for each request what it saw at each of its moves

    def possible(self, deaths: bool, delays: bool) -> list[str]:
        """Return the moves that can be made now."""
        alive = [name for name, request in self.requests.items() if request.next is not None]
        made = {move for move, _ in self.moves}
        dying = [f"{name} dies" for name in alive] if deaths and not any("dies" in move for move in made) else []
        # A lease runs out by the clock of whoever waits for it: while nobody waits, time changes nothing.
        waiting = any(request.next == "wait" for request in self.requests.values())
        passing = [TIME_PASSES] if delays and waiting and TIME_PASSES not in made else []
        return [*alive, *dying, *passing]

    def operation(self, move: str) -> str:
        """Return the operation that a move is, or that it prevents."""
        return "" if move == TIME_PASSES else self.requests[move[0]].next or ""

    def make(self, move: str) -> None:
        """Make a move."""
        self.moves.append((move, self.operation(move)))
        if move == TIME_PASSES:
            self.place.let_time_pass()
            return
        request = self.requests[move[0]]
        self._seen.setdefault(move[0], []).append(self.place.seen_by(self.moves[-1][1]))
        if move.endswith("dies"):
            request.die()
        else:
            request.go()

    def state(self) -> object:
        """Return all that the rest depends on: what is there, and what each request that goes on has seen of it."""
        requests = [
            tuple(self._seen.get(name, ())) if request.next is not None else request.ending
            for name, request in self.requests.items()
        ]
        may_not_come_again = frozenset(move for move, _ in self.moves if move not in self.requests)
        return self.place.contents(), *requests, may_not_come_again

    def outcome(self) -> MeetingOutcome:
        """Return what came of it, once nobody goes on."""
        endings = {name: request.ending or "died" for name, request in self.requests.items()}
        messages, in_doubt = self.place.stored(self.rule)
        said = {message.content for message in messages}
        charges = self.place.charges()
        with_keys = [charge for i, charge in enumerate(charges) if charge[1] is None or charge not in charges[:i]]
        return MeetingOutcome(
            tuple(self.moves),
            endings,
            lost=[name for name, ending in endings.items() if ending == "done" and answer(name) not in said],
            repeated=_repeats(charges),
            repeated_with_keys=_repeats(with_keys),
            unrecorded=sorted({name for name, key in charges if result(name) not in said and key not in in_doubt}),
        )


def _repeats(charges: Sequence[tuple[str, str | None]]) -> int:
    return len(charges) - len({customer for customer, _ in charges})


@contextlib.contextmanager
def meeting(rule: Rule, place: Place, start: Callable[[str, Rule, Place], Runner]) -> Iterator[Meeting]:
    """Begin two requests; whoever has not ended in the end, dies."""
    place.begin(rule)
    met = Meeting(rule, place)
    try:
        for name in CUSTOMERS:
            met.requests[name] = start(name, rule, place)
        yield met
    finally:
        for request in met.requests.values():
            if request.next is not None:
                request.die()


def every_meeting(rule: Rule, *, deaths: bool = False, delays: bool = False) -> Iterator[MeetingOutcome]:
    """Yield what came of a meeting, for each order of moves. One request may die, and time may pass once, if asked for.

    Beginnings after which everything is the same are followed by the same: it is tried once for all of them.
    """
    known: dict[object, list[tuple[Moves, MeetingOutcome]]] = {}  # what may come of a state: the moves, and then

    def after(beginning: list[str]) -> list[tuple[Moves, MeetingOutcome]]:
        path: list[tuple[object, Moves]] = []
        with TemporaryDirectory() as folder, meeting(rule, Place(Path(folder), MemoryStore()), InThread) as met:
            for move in beginning:
                met.make(move)
            while (state := met.state()) not in known and (moves := met.possible(deaths, delays)):
                path.append((state, tuple((move, met.operation(move)) for move in moves)))
                met.make(moves[0])
            if state not in known:
                known[state] = [((), met.outcome())]
            ends = known[state]
        while path:
            state, (first, *others) = path.pop()
            here = [*beginning, *(options[0][0] for _, options in path)]
            ends = [((first, *moves), end) for moves, end in ends]
            ends += [((move, *moves), end) for move in reversed(others) for moves, end in after([*here, move[0]])]
            known[state] = ends
        return ends

    return (end._replace(moves=moves) for moves, end in after([]))
