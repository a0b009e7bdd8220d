"""The model behind the crash lab: a real process to step, kill and resume. No widgets in it.

    lab = CrashLab()
    lab.step()                    # on to the next phase: model, tool, result, save
    lab.run_to(1, "tool")         # on until the process stands before the tool of step 1
    lab.crash()                   # SIGKILL, now
    lab.resume()                  # a new process, from what the disk holds
    lab.run()                     # on to the end

Each action returns a sentence that says what happened; `events` keeps them all. The three panels of the lab are
`process`, `files()` and `ledger`: what the process knows, what the disk holds, what the outside world saw.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Literal

from minagent import recover_checkpoint
from minagent.errors import CheckpointError, CheckpointMissing
from minagent.lab.crash_lab import disk
from minagent.lab.crash_lab.score import Score, Tally, phases_of
from minagent.lab.processes.agent_process import Worker, WorkerDied
from minagent.lab.processes.phases import CHECKPOINT, DOING, LEDGER, Phase, Recording, Report
from minagent.lab.world.example import EXAMPLES, SESSION, ExampleName
from minagent.lab.world.ledger import Ledger
from minagent.log import FileStore, Happened, SessionLog
from minagent.log.doubt import Verdict

State = Literal["ready", "running", "in doubt", "dead", "done"]

WAY_ON: dict[State, str] = {  # what to press next
    "ready": "Step",
    "running": "Step, Run or Crash",
    "in doubt": "It happened, It did not or Nobody knows",
    "dead": "Resume",
    "done": "Reset",
}


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
        self.ledger = Ledger(self.folder / LEDGER)
        self.state: State = "ready"
        self.process: Worker | None = None  # the newest; it is alive in the states "running" and "in doubt" only
        self.events: list[str] = []
        self.tally = Tally(recording, EXAMPLES[example])

    @property
    def phases(self) -> list[Phase]:
        """The phases of a step, in order."""
        stops = {phase for _, phase in self.points}
        return [phase for phase in DOING if phase in stops]

    @property
    def score(self) -> Score:
        """What the crashes so far have done."""
        return self.tally.score(self.ledger)

    @property
    def points(self) -> list[tuple[int, Phase]]:
        """Every place at which a process of an undisturbed run stops: step and phase."""
        example = EXAMPLES[self.example]
        steps = range(len(example.script))
        return [(step, phase) for step in steps for phase in phases_of(self.recording, example, step)]

    @property
    def report(self) -> Report | None:
        """Where the living process stands; None if there is none."""
        return self.process.report if self.process is not None and self.state == "running" else None

    def step(self) -> str:
        """Let the process do its next phase. In state "ready" this starts it, before its first phase."""
        if self.state == "ready":
            return self._start("A process starts.")
        worker = self._living("step")
        stood = worker.report
        try:
            worker.proceed()
        except WorkerDied as error:
            self.state = "dead"
            return self._say(f"The process died, and not by this lab: {error}")
        except BaseException:
            worker.kill()  # an interrupt, perhaps between "go" and the answer: where it stands is not known any more
            self.state = "dead"
            raise
        if stood is not None and stood.phase == "model":
            self.tally.model_was_asked(stood.step)
        return self._say_where("")

    def run_to(self, step: int, phase: Phase) -> str:
        """Go on until the process stands before `phase` of `step` (from 0), or has ended without coming there."""
        said = self.step() if self.report is None else self.events[-1]
        while self.report is not None and (self.report.step, self.report.phase) != (step, phase):
            said = self.step()
        return said

    def run(self) -> str:
        """Go on until the work is done."""
        said = self.step()
        while self.state == "running":
            said = self.step()
        return said

    def crash(self) -> str:
        """Kill the process with SIGKILL where it stands."""
        worker = self._living("crash")
        worker.kill()
        return self._died(worker, "Crashed by SIGKILL. It stood at {}. Its memory is gone.")

    def tear(self) -> str:
        """Let the process die in the middle of what it is about to write: half of the bytes are in the file."""
        worker = self._living("crash")
        if worker.report is None or worker.report.phase not in ("plan", "save"):
            raise NotNow("Nothing is being written now. Step to plan or save first.")
        worker.tear()
        return self._died(worker, "Crashed by SIGKILL at {}, when half of it was written.")

    def cut_power(self) -> str:
        """Kill the process, in mid-write if it is about to write, and take away what was not forced to the disk.

        The power of this machine stays on: this is a model of what a power cut does.
        """
        worker = self._living("crash")
        if worker.report is not None and worker.report.phase in ("plan", "save"):
            worker.tear()
        worker.kill()
        disk.drop_unforced(self.folder)
        return self._died(worker, "Power cut (a model). It stood at {}. What was not forced to the disk is gone.")

    def _died(self, worker: Worker, said: str) -> str:
        self.state = "dead"
        if worker.report is not None:
            self.tally.crashed(worker.report, self.folder)
        return self._say(said.format(worker.report or "no step"))

    def resume(self) -> str:
        """Start a new process after a crash. It loads what the disk holds, or starts over if that is nothing."""
        if self.state != "dead":
            raise NotNow(f"There is nothing to resume: the process is {self.state}. Press {WAY_ON[self.state]}.")
        return self._start(f"Resumed in a new process, {self._what_loads()}.")

    def resolve(self, verdict: Verdict) -> str:
        """Record what became of the call in doubt, and go on in a new process."""
        if self.state != "in doubt" or self.process is None or self.process.report is None:
            raise NotNow(f"Nothing is in doubt. Press {WAY_ON[self.state]}.")
        key = self.process.report.doubt
        self.process.kill()
        self.state = "dead"
        SessionLog.resume(FileStore((self.folder / CHECKPOINT).parent), SESSION, writer="person").resolve(key, verdict)
        return self._start(f"Recorded: {verdict}. Resumed in a new process.")

    def it_happened(self) -> str:
        """Say that the call in doubt happened, with the result that the ledger has."""
        call = disk.call_in_doubt(self.folder)
        return self.resolve(Happened((call and self.ledger.newest_result(call)) or disk.NOT_SEEN))

    def reset(self) -> str:
        """Bring back the start: no process, an empty disk, a world that saw nothing."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.events.clear()
        self.tally = Tally(self.recording, EXAMPLES[self.example])
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
        self.process = None

    def files(self) -> list[disk.StoredFile]:
        """Return what is on the disk, the newest first, each checked as loading it would check it."""
        return disk.stored_files(self.folder)

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
        self.process = Worker(self.folder, self.recording, self.example)
        self.state = "running"
        return self._say_where(said)

    def _what_loads(self) -> str:
        if self.recording.startswith("log"):
            return "from the log" if disk.logged(self.folder) is not None else "from the first question"
        try:
            _, report = recover_checkpoint(self.folder / CHECKPOINT)
        except CheckpointMissing:
            return "from the first question: the disk holds nothing"
        except CheckpointError as error:
            return f"which can load nothing: {error}"
        return str(report) if report.passed_over else "from the checkpoint"

    def _living(self, action: str) -> Worker:
        if self.process is None or self.state != "running":
            raise NotNow(f"There is no process to {action}: it is {self.state}. Press {WAY_ON[self.state]}.")
        return self.process

    def _say_where(self, said: str) -> str:
        report = None if self.process is None else self.process.report
        if report is None:
            self.state = "done"
            return self._say(f"{said} Done: the process has ended by itself.".strip())
        if report.phase == "doubt":
            self.state = "in doubt"
        return self._say(f"{said} Now at {report}.".strip())

    def _say(self, sentence: str) -> str:
        self.events.append(sentence)
        return sentence


def _knows(report: Report | None) -> str:
    if report is None:
        return ""
    trace = ", ".join(report.trace) or "empty"
    return f" at {report}; {report.messages} messages, cursor {report.cursor}, trace: {trace}"
