"""What the tests share: the example run, and the rule that nothing is skipped where NO_SKIPS is set (in CI)."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from minagent import Agent, FakeModel, Session, Step, ToolRegistry, init_session
from minagent.lab.world.example import SCRIPT, TASK, example_agent
from minagent.log import FileStore, MemoryStore, SqliteStore
from minagent.log.stores.base import Store
from tests.examined import PROPERTY, Collector, Examined
from tests.skips import may_skip

ROOT = Path(__file__).parent.parent

ON_DISK = Path(tempfile.gettempdir())
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - Linux has it; the folder below is ours alone
ROOM = 2**31  # bytes; a whole run was seen to need a tenth of it


def _place_of_folders() -> Path:
    """Return where a run's folders are: in memory, where there is room, and programs can be run.

    What is tested of fsync is that it is called, and in which order; whether a disk obeys, no test here could see. So
    nobody needs to wait for one. All else that a test asks of files is the same: a killed process leaves what it wrote.
    """
    if not IN_MEMORY.is_dir() or os.statvfs(IN_MEMORY).f_flag & os.ST_NOEXEC:
        return ON_DISK
    return IN_MEMORY if shutil.disk_usage(IN_MEMORY).free > ROOM else ON_DISK


# All folders of a run are in this one, and go with it: of runs at the same time, one would take away another's.
_folders = tempfile.TemporaryDirectory(prefix="minagent-", dir=_place_of_folders(), ignore_cleanup_errors=True)
os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = _folders.name
OF_THE_RUN = Path(_folders.name)

# In the kernels that nbval starts, each figure is looked at: see `watch_figures`.
os.environ["IPYTHONDIR"] = str(OF_THE_RUN / "ipython")
_at_the_start = OF_THE_RUN / "ipython" / "profile_default" / "startup" / "watch.py"
_at_the_start.parent.mkdir(parents=True)
_at_the_start.write_text(
    f"import sys\nsys.path.append({str(ROOT)!r})\nfrom tests.watch_figures import watch\nwatch()\ndel sys, watch\n"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what is needed to store the counts of a whole run: see `examined`."""
    parser.addoption("--store-examined", action="store_true", help="store what this run has examined, for later ones")


def pytest_configure(config: pytest.Config) -> None:
    """Count what the tests look at."""
    config.pluginmanager.register(Collector(config), "examined")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Let the workers share the tests as `order` says."""
    from tests.order import InOrder  # noqa: PLC0415 - xdist may be missing where one worker is enough

    return InOrder(config, log)


@pytest.fixture
def examined(record_property: Callable[[str, object], None]) -> Examined:
    """Tell the collector how many of a kind the test has examined."""
    return lambda kind, count: record_property(PROPERTY + kind, count)


def in_process_table(pid: int) -> bool:
    """Return whether the system knows a process of this number."""
    try:
        os.kill(pid, 0)  # signal 0 is sent to nobody
    except ProcessLookupError:
        return False
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where this test may not skip."""
    report = yield
    no_skips = os.environ.get("NO_SKIPS", "")
    if report.skipped and not hasattr(report, "wasxfail") and not may_skip(report.nodeid, no_skips, sys.platform):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, and NO_SKIPS is {no_skips!r}: {report.longrepr}"
    return report


@pytest.fixture(params=["memory", "file", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty store of each kind."""
    kinds: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore,
        "file": lambda: FileStore(tmp_path),
        "sqlite": lambda: SqliteStore(tmp_path / "sessions.db"),
    }
    return kinds[request.param]()


@pytest.fixture
def agent() -> Agent:
    """The chapter's agent."""
    return example_agent(ToolRegistry())


@pytest.fixture
def session(agent: Agent) -> Session:
    """A new session with the chapter's question."""
    return init_session(agent, TASK, session_id="demo", created_at="2026-01-01T00:00:00Z")


@pytest.fixture
def model() -> FakeModel:
    """The chapter's model, before its first call."""
    return FakeModel(SCRIPT)


@pytest.fixture
def steps() -> list[Step]:
    """An empty trace."""
    return []
