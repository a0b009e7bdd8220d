"""The rooms: imports point down, the core stands on the standard library, and everything stays small."""

import ast
import functools
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import minagent
import minagent.log
from tests.conftest import ROOT

PACKAGE = ROOT / "minagent"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))

LAB_ONLY = {"ipywidgets", "jupyter_client", "matplotlib", "nbconvert", "numpy", "traitlets"}


def name_of(path: Path) -> str:
    """Return a module's name below minagent: "lab.worker"; "" for the package itself."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of every module that a module imports, wherever in it the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


DRIVERS = {  # of the stores that are extras
    "log.stores.postgres": "psycopg",
    "log.stores.redis": "redis",
    "log.stores.object_store": "obstore",
}


def floor(name: str) -> str:
    """Return the floor that a module is on: "first", "log", "adapters" or "lab"."""
    top = name.partition(".")[0]
    return top if top in ("log", "adapters", "lab") else "first"


ABOVE = {"first": {"log", "adapters", "lab"}, "log": {"adapters", "lab"}, "adapters": {"lab"}, "lab": set[str]()}


def wrong_imports(name: str, source: str) -> list[str]:
    """Return the imports of a module that point up, or to the door that it is behind, or to what is not installed."""
    allowed = {DRIVERS.get(name)} | (LAB_ONLY if name[:4] == "lab." else set())
    if name.startswith("lab.servers."):
        allowed |= {"moto", "psutil", "psycopg", "redis", "werkzeug"}
    wrong = []
    for module in imported(ast.parse(source)):
        top, _, rest = module.partition(".")
        if top == "minagent":
            behind = {"first": "", "log": "log"}.get(floor(name))
            wrong += [module] if floor(rest) in ABOVE[floor(name)] or (rest == behind and name != "") else []
        elif top not in sys.stdlib_module_names | allowed:
            wrong.append(module)
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path: Path):
    """The first floor imports nothing above it, the log nothing of adapters and lab; the core needs no package."""
    assert wrong_imports(name_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("messages", "from minagent.log.records import State", ["minagent.log.records"]),
        ("tools", "def f():\n    import minagent.lab", ["minagent.lab"]),
        ("agent", "import numpy", ["numpy"]),
        ("log.lease", "import ipywidgets", ["ipywidgets"]),
        ("log.lease", "import psycopg", ["psycopg"]),
        ("log.stores.postgres", "import redis", ["redis"]),
        ("runner", "from minagent import Agent", ["minagent"]),
        ("log.lease", "from minagent.log import SessionLog", ["minagent.log"]),
        ("log.records", "from minagent.lab.crash_lab.crashlab import CrashLab", ["minagent.lab.crash_lab.crashlab"]),
        ("log.records", "from minagent.adapters.saver import Saver", ["minagent.adapters.saver"]),
        ("agent", "from . import tools", ["."]),
    ],
)
def test_an_import_that_points_up_is_caught(name: str, source: str, wrong: list[str]):
    """The rule above can fail."""
    assert wrong_imports(name, source) == wrong


@functools.cache
def graph() -> dict[str, set[str]]:
    """Return for each module those that it imports, by their names below minagent."""
    names = {name_of(path) for path in MODULES}
    found = {}
    for path in MODULES:
        modules = imported(ast.parse(path.read_text(encoding="utf-8")))
        ours = [module for module in modules if module.partition(".")[0] == "minagent"]
        found[name_of(path)] = {module.removeprefix("minagent").lstrip(".") for module in ours}
    assert set().union(*found.values()) <= names
    return found


def needed_by(*names: str) -> set[str]:
    """Return these modules and all that they import, directly or not."""
    imports, found, rest = graph(), set[str](), set(names)
    while rest:
        found |= rest
        rest = set().union(*(imports[name] for name in rest)) - found
    return found


def test_there_are_no_circles():
    """No module needs itself, by whatever way."""
    imports = graph()
    assert [name for name in imports if imports[name] and name in needed_by(*imports[name])] == []


def test_importing_minagent_loads_the_standard_library_alone():
    """And starts nothing: no output, no third-party module."""
    program = "import sys; before = set(sys.modules); import minagent; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    tops = {module.partition(".")[0] for module in done.stdout.split()}
    assert tops - sys.stdlib_module_names == {"minagent"}
    assert not {"minagent.lab", "minagent.log", "sqlite3"} & set(done.stdout.split())


@pytest.mark.parametrize("package", [minagent, minagent.log], ids=["first floor", "log"])
def test_public_names_are_sorted_and_complete(package: ModuleType):
    """__all__ lists what the package imports for its reader, no more and no less."""
    public = {name for name, value in vars(package).items() if name[0] != "_" and not isinstance(value, type(ast))}
    assert package.__all__ == sorted(package.__all__)
    assert set(package.__all__) == public


def lines_of(names: set[str]) -> int:
    """Return how many lines these modules have: docstrings, comments and blank lines included."""
    return sum(len(p.read_text(encoding="utf-8").splitlines()) for p in MODULES if name_of(p) in names)


LATER_ROOMS = ("lab.picture", "lab.servers", "lab.capstone")


def test_each_floor_can_be_read_in_an_evening():
    """Budgets, in total lines: what a reader scrolls through. They may be lowered, never raised.

    What does not fit makes something else simpler, or is not worth its lines.
    """
    names = {name_of(path) for path in MODULES}
    assert lines_of({name for name in names if floor(name) == "first"}) <= 1_200
    assert lines_of({name for name in names if floor(name) == "log"} - {"log.contract", *DRIVERS}) <= 1_721
    assert all(lines_of({store}) <= 170 for store in DRIVERS)
    assert lines_of({"log.contract"}) <= 248
    assert lines_of(needed_by("agent", "checkpoint", "session")) <= 1_056  # step_once, save, load, validate
    first_rooms = {name for name in names if floor(name) == "lab" and not name.startswith(LATER_ROOMS)}
    assert lines_of(first_rooms) <= 5_066
    assert lines_of({name for name in names if name.startswith("lab.picture")}) <= 449
    assert lines_of({name for name in names if name.startswith("lab.capstone")}) <= 249


LAB = PACKAGE / "lab"
ROOMS = sorted(path.name for path in LAB.iterdir() if (path / "__init__.py").exists())


def index_of(room: Path) -> dict[str, str]:
    """Return what the first lines of a room say of each thing in it."""
    docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return dict(re.findall(r"^(\w+) +(\w.*)$", docstring.split("\n\n", 1)[1], re.MULTILINE))


def test_the_lab_lists_its_rooms():
    """Each with what it shows; a room's own first lines say the same."""
    assert sorted(index_of(LAB)) == ROOMS
    for room, shows in index_of(LAB).items():
        first_line = (LAB / room / "__init__.py").read_text(encoding="utf-8").splitlines()[0].lower()
        assert first_line.startswith('"""' + shows.split(":")[0].lower())


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_its_modules_and_is_not_too_large(room: str):
    """No module is missing, none is gone; and a room has at most 750 lines."""
    modules = {path.stem for path in (LAB / room).glob("*.py")} - {"__init__"}
    assert set(index_of(LAB / room)) == modules
    lines = lines_of({name for name in graph() if name.startswith(f"lab.{room}")})
    assert lines <= 750


def test_the_world_knows_no_other_room_and_nobody_knows_the_views():
    """What is outside of the agent stands by itself; what is seen is on top."""
    beside = {name: {other for other in imports if other.startswith("lab.")} for name, imports in graph().items()}
    assert [
        name
        for name in beside
        if name.startswith("lab.world.") and not all(other.startswith("lab.world.") for other in beside[name])
    ] == []
    for name, imports in beside.items():
        assert name.startswith("lab.views") or not any(other.startswith("lab.views") for other in imports), name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_file_is_longer_than_250_lines(path: Path):
    """One idea a module."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 250


def test_functions_are_short():
    """Bodies, docstrings apart: median at most 6 lines, nine in ten at most 20, none over 40."""
    lengths = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lengths.append((body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0)
    assert statistics.median(lengths) <= 6
    assert statistics.quantiles(lengths, n=10)[-1] <= 20
    assert max(lengths) <= 40
