"""At which of four steps a reader's `live(desk)` stops: it is killed at every point, at every pair, and for real."""

import functools
import inspect
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from minagent.lab.capstone.desk import ANSWER, ORDERS, PRICE, Ending, live_once
from minagent.lab.matrix.crash_matrix import Remains, laid_out, remains
from minagent.lab.matrix.variants import Shape
from minagent.lab.picture.picture import Picture
from minagent.lab.picture.run_events import Effect, Run
from minagent.lab.processes.child_process import say, start, text_of
from minagent.lab.processes.crash_points import CrashPoints, die_at
from minagent.lab.processes.phases import Event, Place
from minagent.lab.world.payments import open_payments

STEPS = "resume at all", "the plan first", "each result", "the key"
SHAPES = [Shape(steps, repeats_itself=repeats) for steps in (1, 3) for repeats in (True, False)]
Lives = Callable[[Remains, bool], tuple[Ending, list[Remains]]]
NOTHING = Remains()
Processes = tuple[tuple[Ending, int], ...]  # of a run, each with the number of the point that it died at, or 0


def lives_of(text: str, shape: Shape) -> Lives:
    """Return what runs a process from what another one has left: how it ends, and what it leaves at each point."""

    @functools.cache
    def lives(begin: Remains, watched: bool) -> tuple[Ending, list[Remains]]:
        deaths: list[Remains] = []
        with laid_out(begin) as (folder, payments):
            look = (lambda _: deaths.append(remains(folder, payments))) if watched else (lambda _: None)
            return live_once(text, shape, folder, payments, CrashPoints(look, imagined=True)), deaths

    return lives


def killed(lives: Lives, times: int, begin: Remains = NOTHING, before: Processes = ()) -> Iterator[Processes]:
    """Yield each run of which at most so many processes are killed, each at each of its points."""
    ending, deaths = lives(begin, times > 0)
    yield (*before, (ending, 0))
    for number, death in enumerate(deaths, 1):
        yield from killed(lives, times - 1, death, (*before, (ending, number)))


def killed_for_real(text: str, shape: Shape) -> Iterator[Processes]:
    """Yield ten runs whose first process is a real one, and killed by SIGKILL; another real one goes on."""
    first, _ = lives_of(text, shape)(NOTHING, False)
    for number in (1 + 7 * kill % len(first.points) for kill in range(10)):
        with tempfile.TemporaryDirectory(prefix="minagent-") as folder:
            _, (said, _) = (start(_live, text, shape, Path(folder), died).listen() for died in (number, 0))
            yield (first, number), (Ending(*said[0]), 0)


def _live(text: str, shape: Shape, folder: Path, number: int) -> None:
    say(live_once(text, shape, folder, open_payments(folder / "payments.db"), CrashPoints(die_at(number))))


def trouble(run: Processes) -> tuple[int, str] | None:
    """Return at which of the steps a run stops, and why."""
    died, ending = [name for ending, number in run[-2:-1] for name in ending.points[:number]], run[-1][0]
    charged, ordered = Counter(ending.charged), Counter(ending.ordered)
    if ending.error or ending.returned != ANSWER:
        return 1, f"it raised {ending.error}" if ending.error else f"it returned {ending.returned!r}, not the answer"
    for order in ordered - charged:
        return 1, f"{order} was ordered {ordered[order]}x and paid {charged[order]}x: each order is its own request"
    for order in (again := charged - ordered):
        if order not in ordered:
            return 2, f"{order} was charged, and is in no history: asked again, the model wanted something else"
        if not died or any(order in step for step in ORDERS[: died.count("model") - 1]):
            return 1, f"the charge for {order} came again, though its step was over"
        since = "".join(died).rpartition("tool")[2]  # no process can write down a charge before it has the result
        known = again.total() > ("result" in since and "fsync" not in since)
        return 4 - known, f"the charge for {order} came again{', though its result was known' * known}"
    return None


def judge(live: object) -> tuple[str, Picture | None]:
    """Return how far a function has come, in words; and the run that did harm, if that has a single step."""
    if not inspect.isfunction(live):
        return "not answered yet" if live is None else f"✗ live is no function: {live!r}", None
    text = f"{text_of(live)}\nlive = {live.__name__}"
    lives = [lives_of(text, shape) for shape in SHAPES]
    first, _ = lives[0](NOTHING, True)
    if first[:2] == (None, "") and not first.points:
        return "not answered yet", None
    harmful = []
    for run in (run for each in lives for run in killed(each, 1)):
        if found := trouble(run):
            harmful.append((*found, run))
            if found[0] == 1:
                break  # it stops there: nothing that others do would come before it
    if not harmful:
        runs = [*killed(lives[0], 2), *killed(lives[1], 2), *killed_for_real(text, SHAPES[2])]
        harmful = [(4, found[1], run) for run in runs if (found := trouble(run))]
    step, said, run = min(harmful, key=lambda found: found[0], default=(len(STEPS) + 1, "", ()))
    words = [f"step {n} of {len(STEPS)}, {name}: {'✓' if n < step else '✗'}" for n, name in enumerate(STEPS, 1)][:step]
    places = [f"killed before `{ending.points[number - 1]}` at point {number}" for ending, number in run if number]
    says = f"{', then '.join(places) or 'not killed at all'}: {said}" if harmful else "✓ right"
    shown = harmful and run[0][0].did and "cup" not in run[-1][0].ordered
    return "\n".join([*words, says]), drawn(run, says) if shown else None


@dataclass(frozen=True)
class _Run(Run):
    ordered: Sequence[str] = ()

    def unknown(self, effect: Effect) -> bool:
        return effect.label.removeprefix(f"charged {PRICE} for ") not in self.ordered


def drawn(lives: Processes, title: str) -> Picture:
    """Return the picture of a run of one step; the calls of its tools have phases of their own."""
    events = [event for process, life in enumerate(lives, 1) for event in _events(process, *life)]
    places = list(dict.fromkeys(event.at for event in events))
    return Picture(_Run([", ".join(ORDERS[0]), "answer"], places, events, ordered=lives[-1][0].ordered), title)


def _events(process: int, life: Ending, died: int) -> Iterator[Event | Effect]:
    step, phase, call, at = 0, "", 0, None
    more = [(number, name, None) for number, name in enumerate(life.points, 1) if name in ("half", "result")]
    for count, what, value in sorted([*life.did, *more], key=lambda did: did[0]):
        if what == "half":  # and the other one: it is written
            phase = {"model": "save" if step else "plan", f"result {call}": f"save {call}"}.get(phase, phase or "save")
        elif what == "model":
            step, phase = value, what
        else:
            call = 1 + (value[0].partition(" #")[0] == ORDERS[0][1]) if what == "tool" else call
            phase = f"{what} {call}"
        began, at = at is None, Place(step, phase)  # type: ignore[arg-type]
        if began:
            yield Event(process, "began", at)
        if died and count >= died:
            break
        yield Event(process, "did", at)
        if what == "tool":
            yield Effect(process, at, f"charged {PRICE} for {value[0]}", True, PRICE, value[1])
    if died and at is not None:
        yield Event(process, "killed", at)
