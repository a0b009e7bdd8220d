"""The model behind the crash lab: a real process to step, kill and resume. No widgets in it.

    lab = CrashLab()
    lab.step()                    # on to the next phase: model, tool, result, save
    lab.run_to(1, "tool")         # on until the process stands before the tool of step 1
    lab.crash()                   # SIGKILL, now; `die_at` does both
    lab.resume()                  # a new process, from what the disk holds
    lab.run()                     # on to the end

Each action returns a sentence that says what happened; `events` keeps them all. The three panels of the lab are
`process`, `files()` and `ledger`: what the process knows, what the disk holds, what the outside world saw.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from minagent.lab.crash_lab import disk
from minagent.lab.crash_lab.score import Score, Tally
from minagent.lab.picture.picture import Picture
from minagent.lab.picture.run_events import WRITES
from minagent.lab.processes.agent_process import work
from minagent.lab.processes.child_process import Child, ChildDied, start
from minagent.lab.processes.phases import LEDGER, Phase, Recording, Report
from minagent.lab.world.example import EXAMPLES, ExampleName
from minagent.lab.world.ledger import Ledger
from minagent.log import Happened, Unknown
from minagent.log.doubt import Verdict

State = Literal["ready", "running", "in doubt", "dead", "done"]

WAY_ON: dict[State, str] = {  # what to press next
    "ready": "Step",
    "running": "Step, Run or Crash",
    "in doubt": "It happened, It did not or Nobody knows",
    "dead": "Resume",
    "done": "Reset",
}
NOT_SEEN = {"result": "it happened, says a person; the outside world has not seen it"}


class NotNow(Exception):
    """The action does not fit the state that the lab is in; the message says what does."""


class CrashLab:
    """One agent at work in a process of its own, its disk, and the world outside.

    `folder` is the lab's own: `reset` empties it. If none is given, it is a temporary one that goes with the lab.
    """

    def __init__(
        self, folder: Path | None = None, recording: Recording = "every step", example: ExampleName = "arithmetic"
    ) -> None:
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="minagent-", ignore_cleanup_errors=True)
        self.folder = folder or Path(self._temporary.name, "lab")
        self.recording = recording
        self.example = example
        self.work: Callable[..., None] = work
        self.ledger = Ledger(self.folder / LEDGER)
        self.state: State = "ready"
        self.process: Child | None = None  # the newest; it is alive in the states "running" and "in doubt" only
        self.stood: Report | None = None  # where it stands, or stood when it died; None if it has ended by itself
        self.events: list[str] = []
        self.watchers: list[Callable[[], object]] = []  # called whenever something has happened
        self.tally = Tally(recording, EXAMPLES[example], self.ledger)

    @property
    def score(self) -> Score:
        """What the crashes so far have done."""
        return self.tally.score

    @property
    def points(self) -> list[tuple[int, Phase]]:
        """Every place at which a process of an undisturbed run stops: step and phase."""
        return [*self.tally.run.places]

    @property
    def report(self) -> Report | None:
        """Where the living process stands; None if there is none."""
        return self.stood if self.state == "running" else None

    def step(self) -> str:
        """Let the process do its next phase. In state "ready" this starts it, before its first phase."""
        if self.state == "ready":
            return self._start("A process starts.")
        child, stood = self._living("step")
        try:
            child.tell("go")
            self._hear(child)
        except ChildDied as error:
            return self._died(stood, f"The process died, and not by this lab: {error}")
        except BaseException:
            child.kill()  # an interrupt, perhaps between "go" and the answer: where it stands is not known any more
            self._died(stood, "Interrupted.")
            raise
        self.tally.note("did", stood)
        return self._say_where("")

    def run_to(self, step: int, phase: Phase) -> str:
        """Go on until the process stands before `phase` of `step` (from 0), or has ended without coming there."""
        said = self.step() if self.report is None else self.events[-1]
        while self.report is not None and (self.report.step, self.report.phase) != (step, phase):
            said = self.step()
        return said

    def die_at(self, step: int, phase: Phase) -> str:
        """Go on until the process stands there, and kill it."""
        self.run_to(step, phase)
        return self.crash()

    def run(self) -> str:
        """Go on until the work is done."""
        return self.run_to(-1, "model")  # no process comes there

    def crash(self) -> str:
        """Kill the process with SIGKILL where it stands."""
        child, stood = self._living("crash")
        child.kill()
        return self._died(stood, f"Crashed by SIGKILL. It stood at {stood}. Its memory is gone.")

    def tear(self) -> str:
        """Let the process die in the middle of what it is about to write: half of the bytes are in the file."""
        child, stood = self._living("crash")
        if stood.phase not in WRITES:
            raise NotNow("Nothing is being written now. Step to plan or save first.")
        child.tell("tear")
        child.wait()
        return self._died(stood, f"Crashed by SIGKILL at {stood}, when half of it was written.")

    def cut_power(self) -> str:
        """Kill the process, in mid-write if it is about to write, and take away what was not forced to the disk.

        The power of this machine stays on: this is a model of what a power cut does.
        """
        child, stood = self._living("crash")
        if stood.phase in WRITES:
            child.tell("tear")
            child.wait()
        child.kill()
        disk.drop_unforced(self.folder)
        return self._died(stood, f"Power cut (a model). It stood at {stood}. What was not forced to the disk is gone.")

    def _died(self, stood: Report, said: str) -> str:
        self.state = "dead"
        self.tally.note("killed", stood)
        return self._say(said)

    def resume(self) -> str:
        """Start a new process after a crash. It loads what the disk holds, or starts over if that is nothing."""
        if self.state != "dead":
            raise NotNow(f"There is nothing to resume: the process is {self.state}. Press {WAY_ON[self.state]}.")
        return self._start(f"Resumed in a new process, {disk.what_loads(self.folder, self.recording)}.")

    def resolve(self, verdict: Verdict) -> str:
        """Record what became of the call in doubt, and go on in a new process."""
        if self.state != "in doubt" or self.process is None or self.stood is None:
            raise NotNow(f"Nothing is in doubt. Press {WAY_ON[self.state]}.")
        self.process.kill()
        self.state = "dead"
        disk.log(self.folder, "person").resolve(self.stood.doubt, verdict)
        if not isinstance(verdict, Unknown):
            self.tally.note("did", self.stood)
        return self._start(f"Recorded: {verdict}. Resumed in a new process.")

    def it_happened(self) -> str:
        """Say that the call in doubt happened, with the result that the ledger has."""
        newest = self.ledger.newest(self.tally.run.steps[self.stood.step]) if self.stood else None
        return self.resolve(Happened((newest or NOT_SEEN)["result"]))

    def reset(self) -> str:
        """Bring back the start: no process, an empty disk, a world that saw nothing."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.events.clear()
        self.tally = Tally(self.recording, EXAMPLES[self.example], self.ledger)
        self.state = "ready"
        return self._say("Reset: no process, an empty disk, an empty ledger.")

    def choose(self, recording: Recording, example: ExampleName) -> str:
        """Start over with another way of recording, or with other tools."""
        self.recording, self.example = recording, example
        self.reset()
        return self._say(f"Chosen: {recording}; {example}. {self.events.pop()}")

    def close(self) -> None:
        """Leave no process behind."""
        if self.process is not None and self.state in ("running", "in doubt"):
            self.process.kill()
            self.state = "dead"
        self.process = self.stood = None

    def files(self) -> list[disk.StoredFile]:
        """Return what is on the disk, the newest first, each checked as loading it would check it."""
        return disk.stored_files(self.folder)

    def picture(self, title: str, step: int | None = None) -> Picture:
        """Return the picture of what has happened since the start, or of one step of it."""
        return Picture(self.tally.run if step is None else self.tally.one_step(step), title)

    def __str__(self) -> str:
        """Return the three panels as text, without what differs from run to run (the pid)."""
        bill = self.ledger.bill()
        effects = [effect["name"] + " (again)" * bool(effect["repeat"]) for effect in self.ledger.effects()]
        return "\n".join([
            f"process  {self.state}{_knows(self.report)}",
            f"disk     {disk.in_short(self.files())}",
            f"world    {', '.join(effects) or 'no effects'}; model calls paid: {bill.calls}, {bill.tokens} tokens",
        ])  # fmt: skip

    def _start(self, said: str) -> str:
        self.process = start(self.work, self.folder.absolute(), self.recording, self.example)
        self._hear(self.process)
        self.state = "running"
        if self.stood is not None:
            self.tally.note("began", self.stood)
        return self._say_where(said)

    def _hear(self, child: Child) -> None:
        said = child.hear()
        self.stood = None if said is None else Report(**said)

    def _living(self, action: str) -> tuple[Child, Report]:
        if self.process is None or self.report is None:
            raise NotNow(f"There is no process to {action}: it is {self.state}. Press {WAY_ON[self.state]}.")
        return self.process, self.report

    def _say_where(self, said: str) -> str:
        if self.stood is None:
            self.state = "done"
            return self._say(f"{said} Done: the process has ended by itself.".strip())
        if self.stood.phase == "doubt":
            self.state = "in doubt"
        return self._say(f"{said} Now at {self.stood}.".strip())

    def _say(self, sentence: str) -> str:
        self.events.append(sentence)
        for watch in self.watchers:
            watch()
        return sentence


def _knows(report: Report | None) -> str:
    if report is None:
        return ""
    trace = ", ".join(report.trace) or "empty"
    return f" at {report}; {report.messages} messages, cursor {report.cursor}, trace: {trace}"
