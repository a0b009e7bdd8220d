"""What saving, loading and the log cost beyond the bare work on the same values, without the disk.

    python -m tests.benchmarks.bare_work

Each cost is a multiple of what nobody can do without, measured in the same run on the same values: for a save the C
encoder's compact JSON, SHA-256, a write and a rename; for a load `json.loads`; for a step under a log the same appends
to the same store. Files are in memory, and nothing is forced to a disk.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from minagent import FakeModel, Session, ToolRegistry, init_session, recover_checkpoint, save_checkpoint, step_once
from minagent.lab.world.example import long_task
from minagent.log import FileStore, SessionLog
from minagent.models import Reply, Usage

STEPS, RESUMED, ROUNDS = 1_000, 3_000, 15
GOALS = {"save": 4.0, "load": 4.0, "step, exactly once": 3.5, "step, plain record": 2.5, "resume": 4.0}
IN_MEMORY = next((folder for folder in ("/dev/shm",) if os.path.isdir(folder)), None)  # noqa: S108 - files in memory


class Scripted(FakeModel):
    """A model that counts no tokens, which takes longer the longer the history is."""

    def complete(self, messages: object, schemas: object) -> Reply:
        """Answer."""
        self.cursor = (self.cursor or 0) + 1
        return Reply(self.script[self.cursor - 1], Usage(0, 0))


def seconds(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Return the shortest of several times: the others were disturbed."""
    times = []
    for _ in range(ROUNDS):
        before()
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def text(value: Any) -> bytes:
    """Return compact JSON by the C encoder."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def bare_save(value: Any, folder: Path) -> None:
    """Encode, digest, write, rename."""
    data = text(value)
    hashlib.sha256(data).hexdigest()
    (folder / "bare.tmp").write_bytes(data)
    os.replace(folder / "bare.tmp", folder / "bare")


def checkpoint_costs(folder: Path) -> dict[str, float]:
    """Return the ratios of a save, as one of a run, and of a load."""
    task = long_task(STEPS)
    agent, model, steps = task.agent(ToolRegistry()), FakeModel(task.script), []  # type: ignore[var-annotated]
    session, path, before = init_session(agent, task.task), folder / "run" / "session.json", folder / "before"
    for number in range(STEPS):
        step_once(agent, session, model, steps)
        if STEPS - 4 < number < STEPS - 1:
            save_checkpoint(path, session, model, steps)
    shutil.copytree(path.parent, before)

    def go_back() -> None:
        shutil.rmtree(path.parent)
        shutil.copytree(before, path.parent)
        path.unlink()
        os.link(f"{path}.step-{STEPS - 1}", path)  # two names of one file, as a save leaves them

    save = seconds(lambda: save_checkpoint(path, session, model, steps), go_back)
    data = path.read_bytes()
    value = json.loads(data)
    bare, loads = seconds(lambda: bare_save(value, folder)), seconds(lambda: json.loads(data))
    return {"save": save / bare, "load": seconds(lambda: recover_checkpoint(path)) / loads}


def bare_appends(file: Path, store: FileStore) -> float:
    """Return the seconds that the appends of a log take: encoding and digests of the same records, the same batches."""
    lines = file.read_bytes().split(b"\n")[2:-1]
    values = [(json.loads(line), line.endswith(b" ")) for line in lines]
    begun, batch, length = time.perf_counter(), list[bytes](), 0
    for value, goes_on in values:
        batch.append(text(value))
        hashlib.sha256(batch[-1]).hexdigest()
        if not goes_on:
            store.append("bare", batch, length)
            batch, length = [], length + len(batch)
    return time.perf_counter() - begun


def log_costs(folder: Path, effect: Any) -> tuple[float, float]:
    """Return the ratios of a step under a log, against its appends, and of a resume."""
    task = long_task(RESUMED)
    registry = ToolRegistry()
    agent, model, steps = task.agent(registry), Scripted(task.script), []  # type: ignore[var-annotated]
    for name, tool in list(registry.tools.items()):
        del registry.tools[name]
        registry.register(effect=effect)(tool.function)
    session: Session = init_session(agent, task.task, session_id=str(effect))
    store = FileStore(folder)
    log = SessionLog.begin(store, session, 0)
    begun = time.perf_counter()
    for _ in range(RESUMED):
        step_once(agent, session, model, steps, log)
    took = time.perf_counter() - begun
    store.close()
    file = folder / f"{session.id}.log.jsonl"
    appends = bare_appends(file, FileStore(folder / f"bare {effect}"))
    resume = seconds(lambda: SessionLog.resume(store, session.id))
    read = seconds(lambda: [json.loads(line) for line in file.read_bytes().splitlines()])
    return took / appends, resume / read


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as name, mock.patch("os.fsync", int):
        ratios = checkpoint_costs(Path(name, "checkpoints"))
        ratios["step, exactly once"], ratios["resume"] = log_costs(Path(name), "idempotent")
        ratios["step, plain record"], _ = log_costs(Path(name), "read_only")
    print(f"{'':20} times the bare work    goal")
    for what, ratio in ratios.items():
        print(f"{what:20} {ratio:19.1f} {GOALS[what]:7.1f}")


if __name__ == "__main__":
    main()
