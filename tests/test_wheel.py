"""The wheel, installed alone: the core works without another package, and what needs one says what to install."""

import json
import re
import signal
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from minagent.lab.kernel.environment import PIP_INSTALL
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the build backend that pyproject.toml names."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which there is the wheel, and nothing else."""
    environment = tmp_path_factory.mktemp("alone")
    venv.create(environment, symlinks=True)
    [packages] = environment.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)  # to install a wheel of plain Python files is to unpack it
    return environment / "bin" / "python"


def run(python: Path, program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which sees only what is installed in its environment."""
    command = [str(python), "-I", "-u", "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def two_lives() -> tuple[str, str]:
    """Return the README's first example as two programs: up to its save, where the first is killed, and from there."""
    example = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    parts = re.fullmatch(r"(.*\n)(session, model, steps = init.*\n)del [^\n]*\n(.*)", example, re.DOTALL)
    assert parts
    definitions, before, after = parts.groups()
    return f"{definitions}{before}import os\nos.kill(os.getpid(), {signal.SIGKILL:d})\n", definitions + after


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path):
    """Each file of minagent, the marker for type checkers too; no tests, no notebooks."""
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {path for path in (ROOT / "minagent").rglob("*") if path.is_file() and path.parent.name != "__pycache__"}
    assert held == {str(path.relative_to(ROOT)) for path in files}
    assert "minagent/py.typed" in held


def test_saved_killed_and_loaded_with_the_standard_library_alone(python: Path, tmp_path: Path):
    """A process saves and is killed; another one loads what it saved, and goes on to the end."""
    first, second = (run(python, program, tmp_path) for program in two_lives())
    assert (first.returncode, first.stdout) == (-signal.SIGKILL, "paused\n"), first.stderr
    assert (second.returncode, second.stdout, second.stderr) == (0, "done\nIt is 5.\n", "")


NAME_WHAT_IS_MISSING = """
import importlib, importlib.metadata, json, pkgutil, minagent

refused = {}
for module in pkgutil.walk_packages(minagent.__path__, "minagent."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        refused[module.name] = str(error)
print(json.dumps([[installed.name for installed in importlib.metadata.distributions()], refused]))
"""


def test_a_module_that_needs_a_package_of_the_notebooks_says_what_to_install(python: Path, tmp_path: Path):
    """Of all modules only some of the lab need one, and each of these names it, and the command that installs it."""
    done = run(python, NAME_WHAT_IS_MISSING, tmp_path)
    installed, refused = json.loads(done.stdout)
    assert installed == ["minagent"]
    assert {
        "minagent.lab.views.widgets",
        "minagent.lab.views.plots",
        "minagent.lab.frequency.simulate",
    } < refused.keys()
    assert (
        not {"minagent.lab.any_store.check_store", "minagent.lab.crash_lab.crashlab", "minagent.lab.kernel.environment"}
        & refused.keys()
    )
    assert refused.pop("minagent.log.stores.postgres") == "No module named 'psycopg'"
    assert refused.pop("minagent.log.stores.redis") == "No module named 'redis'"
    assert refused.pop("minagent.log.stores.object_store") == "No module named 'obstore'"
    for name in ("costs", "crashes", "cut_connection", "local_servers", "settings"):
        assert refused.pop(f"minagent.lab.servers.{name}") == "No module named 'psutil'"
    assert refused.pop("minagent.lab.servers.s3") == "No module named 'moto'"
    for name, said in refused.items():
        assert name.startswith("minagent.lab.")
        assert re.fullmatch(rf"No module named '\w+'\. This part of .*: {PIP_INSTALL}", said), (name, said)


@pytest.mark.parametrize(
    ("url", "package", "extra"),
    [
        ("postgresql://host/name", "psycopg", "postgres"),
        ("redis://host", "redis", "redis"),
        ("unix:///socket", "redis", "redis"),
        ("s3://bucket/prefix", "obstore", "object_store"),
    ],
)
def test_a_store_that_is_an_extra_says_what_to_install(
    python: Path, tmp_path: Path, url: str, package: str, extra: str
):
    """Where it is not installed."""
    done = run(python, f"import minagent.log\nminagent.log.open_store({url!r})", tmp_path)
    assert done.stderr.endswith(f"No module named '{package}'; install it: pip install 'minagent[{extra}]'\n")
