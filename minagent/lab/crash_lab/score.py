"""The score of the crash lab: what a crash did, and what theory says that it does.

The theory is arithmetic on the phases of a step: what is on the disk when the process dies, and what is not. It runs
nothing. That it comes out is tested on real processes, for each phase of each step of each way of recording.
"""

from dataclasses import astuple, dataclass, replace

from minagent.lab.picture.run_events import Effect, Run
from minagent.lab.processes.phases import INTERVAL, Event, Phase, Place, Recording, Report, What
from minagent.lab.world.example import Example
from minagent.lab.world.ledger import Ledger

LOGS = ("log", "log with keys")


@dataclass(frozen=True)
class Score:
    """Four numbers, and they are not the same."""

    steps_lost: int = 0  # steps that were complete in a process that died, and not on its disk
    effects_repeated: int = 0  # effects that the world saw again
    effects_unknown: int = 0  # calls of which nobody knew whether they had their effect
    calls_paid_twice: int = 0  # model calls that were made again

    def __add__(self, other: "Score") -> "Score":
        return Score(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def named(self) -> dict[str, int]:
        """Return the numbers by their names, in words."""
        names = "steps lost", "effects repeated", "effects unknown", "model calls paid twice"
        return dict(zip(names, astuple(self), strict=True))

    def __str__(self) -> str:
        return ", ".join(f"{name}: {count}" for name, count in self.named().items())


def changes_the_world(example: Example) -> list[bool]:
    """Return for each step of an example whether its tool changes the world."""
    effects = {tool.__name__: effect for tool, effect in example.tools.items()}
    return [any(effects[call.name] != "read_only" for call in answer.tool_calls) for answer in example.script]


def phases_of(recording: Recording, example: Example, step: int) -> list[Phase]:
    """Return the phases of a step, in order."""
    answer, last = example.script[step], step == len(example.script) - 1
    plan = recording in LOGS or (recording == "before side effects" and changes_the_world(example)[step])
    save = recording != "nothing" and (last or (step + 1) % INTERVAL.get(recording, 1) == 0)
    tool: list[Phase] = ["plan", "tool", "result"] if plan else ["tool", "result"]
    return ["model", *(tool if answer.tool_calls else []), *(["save"] if save else [])]  # type: ignore[list-item]


def predicted(recording: Recording, example: Example, step: int, phase: Phase) -> Score:
    """Return what a crash before `phase` of `step` does, if the run then goes on to its end.

    Half a write is as none. Of a call in doubt the score assumes that whoever decides looks first.
    """
    effects = changes_the_world(example)
    on_disk = 0 if recording == "nothing" else step - step % INTERVAL.get(recording, 1)
    logs, writes_plan = recording in LOGS, "plan" in phases_of(recording, example, step)
    past_plan, past_effect = phase in ("tool", "result", "save"), phase in ("result", "save")
    again = sum(effects[on_disk:step]) + (past_effect and effects[step])
    return Score(
        steps_lost=step + (phase == "save") - on_disk,
        effects_repeated=0 if logs else again,
        effects_unknown=int(recording == "log" and past_plan and effects[step]),
        calls_paid_twice=step - on_disk + (phase != "model" and not (writes_plan and past_plan)),
    )


class Tally:
    """What has happened in a run, event by event; what the crashes have done so far, and what theory says of them."""

    def __init__(self, recording: Recording, example: Example, ledger: Ledger) -> None:
        self.recording, self.example, self.ledger = recording, example, ledger
        self.predicted = Score()  # what theory says, if the run goes on to its end
        self.processes = 0
        self._events: list[Event | Effect] = []

    @property
    def run(self) -> Run:
        """What has happened so far."""
        names = [", ".join(call.name for call in answer.tool_calls) or "answer" for answer in self.example.script]
        phases = [(step, phases_of(self.recording, self.example, step)) for step in range(len(names))]
        return Run(names, [Place(step, phase) for step, there in phases for phase in there], tuple(self._events))

    def one_step(self, step: int) -> Run:
        """Return what has happened in one step."""
        run, there = self.run, [event for event in self._events if event.at.step == step]
        new = {began.process for began in run.all("began") if began.at.step == step}
        others = sorted({event.process for event in there} - new)
        events = *(Event(process, "began", Place(step, "model")) for process in others), *there
        changes = [event for event in there if isinstance(event, Effect) and event.changes]
        writes = [w for w in run.written if w in there and changes and run.order(w.at) > run.order(changes[0].at)]
        window = (changes[0], writes[0]) if writes else None
        places = [place for place in run.places if place.step == step]
        return replace(run, places=places, events=events, window=window)

    def note(self, what: What, report: Report) -> None:
        """Note that a process has begun where the report says, has done what comes there, or was killed."""
        self.processes += what == "began"
        at = Place(report.step, report.phase)
        saved = report.cursor if (what, at.phase) == ("did", "save") else None
        self._events.append(Event(self.processes, what, at, saved))
        if what == "killed":
            self.predicted += predicted(self.recording, self.example, *at)
        if (what, at.phase) == ("did", "tool"):
            self._events.append(self._effect(at))

    def _effect(self, at: Place) -> Effect:
        """Return what the world saw of a tool that has run there."""
        new = len(self.ledger.effects()) > sum(effect.before is not None for effect in self.run.effects)
        entry = self.ledger.newest(self.run.steps[at.step]) or {}
        changes, dollars = changes_the_world(self.example)[at.step], entry["arguments"].get("amount", 0)
        label = ("" if changes else "returned ") + entry["result"].partition(":")[0]
        return Effect(self.processes, at, label, changes, dollars, entry["repeat"] if new else None)

    @property
    def score(self) -> Score:
        """The score so far, as far as the next process shows it."""
        run = self.run
        begun = {began.process: began.at for began in run.all("began")}
        ended = [(died.at, died.process + 1) for died in run.all("killed") if died.process + 1 in begun]
        lost = sum(at.step + (at.phase == "save") - begun[following].step for at, following in ended)
        repeated = sum(bool(effect.changes and effect.before) for effect in run.effects)
        unknown = [at.phase for at in begun.values()].count("doubt")
        asked = [did.at.step for did in run.all("did") if did.at.phase == "model"]
        return Score(lost, repeated, unknown, len(asked) - len(set(asked)))
