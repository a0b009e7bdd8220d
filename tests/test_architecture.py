"""The rooms: imports point down, the core stands on the standard library, and everything stays small."""

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import minagent
from tests.conftest import ROOT

PACKAGE = ROOT / "minagent"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))

LAYERS: list[set[str]] = [
    {"errors"},
    {"atomic", "plain_json"},
    {"messages", "generations", "log", "log.stores", "log.stores.base"},
    {"log.stores.json_lines"},
    {"tools", "models", "session"},
    {"policy"},
    {"agent"},
    {
        "document",
        "log.contract",
        "log.doubt",
        "log.records",
        "log.stores.file",
        "log.stores.memory",
        "log.stores.sqlite",
    },
    {"checkpoint", "log.new_records", "log.replay", "log.stores.open_store"},
    {"log.session_log"},
    {"log.lease", "log.runner", "runner"},
    {""},
    {"lab.child_process", "lab.environment"},
    {
        "lab",
        "lab.child_kernel",
        "lab.crash_points",
        "lab.damage",
        "lab.example",
        "lab.helper_process",
        "lab.ledger",
        "lab.payments",
        "lab.plots",
        "lab.protocols",
        "lab.slides",
    },
    {"lab.file_calls", "lab.lives", "lab.payment_service", "lab.request", "lab.session_checks", "lab.writers"},
    {"lab.damage_checks", "lab.interleavings", "lab.simulate", "lab.theory", "lab.variants"},
    {"lab.check_store", "lab.faults", "lab.kernel_state", "lab.matrix", "lab.phases", "lab.request_process"},
    {"lab.disk", "lab.power_loss", "lab.real_crashes", "lab.trials", "lab.worker"},
    {"lab.agent_process", "lab.score"},
    {"lab.crashlab", "lab.explorer"},
    {"lab.widgets"},
    {"lab.crash_lab_widget", "lab.crash_replay", "lab.explorer_widget", "lab.own_kernel", "lab.two_writers"},
]
"""From the ground up. The root package is the empty name: it gathers the core, and only the lab imports it."""

OTHER_STORES = {"log.lease", "log.contract", "log.stores.open_store", "log.stores.sqlite"}
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


def wrong_imports(name: str, source: str) -> list[str]:
    """Return the imports of a module that point up or sideways, or out of the standard library below the lab."""
    level = next(i for i, layer in enumerate(LAYERS) if name in layer)
    below = set().union(*LAYERS[:level])
    wrong = []
    for module in imported(ast.parse(source)):
        top, _, rest = module.partition(".")
        if top == "minagent":
            wrong += [module] if rest not in below else []
        elif top not in sys.stdlib_module_names and not (name.startswith("lab.") and top in LAB_ONLY):
            wrong.append(module)
    return wrong


def test_every_module_has_its_layer():
    """A new module is put into a layer before it is put into use."""
    assert {name_of(path) for path in MODULES} == set().union(*LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path: Path):
    """No cycles, no surprises: what a module needs lies below it."""
    assert wrong_imports(name_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("messages", "from minagent.agent import Step", ["minagent.agent"]),
        ("tools", "def f():\n    import minagent.session", ["minagent.session"]),
        ("agent", "import numpy", ["numpy"]),
        ("session", "import ipywidgets", ["ipywidgets"]),
        ("runner", "from minagent import Agent", ["minagent"]),
        ("agent", "from . import tools", ["."]),
        ("lab.worker", "from minagent.lab.crashlab import CrashLab", ["minagent.lab.crashlab"]),
    ],
)
def test_an_import_that_points_up_is_caught(name: str, source: str, wrong: list[str]):
    """The rule above can fail."""
    assert wrong_imports(name, source) == wrong


def test_importing_minagent_loads_the_standard_library_alone():
    """And starts nothing: no output, no third-party module."""
    program = "import sys; before = set(sys.modules); import minagent; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    tops = {module.partition(".")[0] for module in done.stdout.split()}
    assert tops - sys.stdlib_module_names == {"minagent"}
    assert "minagent.lab" not in done.stdout


def test_public_names_are_sorted_and_complete():
    """__all__ lists what the package imports for its reader, no more and no less."""
    public = {name for name, value in vars(minagent).items() if name[0] != "_" and not isinstance(value, type(ast))}
    assert minagent.__all__ == sorted(minagent.__all__)
    assert set(minagent.__all__) == public


def code_lines(node: ast.AST) -> set[int]:
    """Return the lines with code on them: without comments, blank lines and docstrings."""
    docstrings = {
        id(body[0])
        for body in (getattr(n, "body", None) for n in ast.walk(node))
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    }
    lines: set[int] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.stmt) and id(child) not in docstrings:
            last = child.body[0].lineno - 1 if hasattr(child, "body") and child.body else child.end_lineno
            lines |= set(range(child.lineno, (last or child.lineno) + 1))
    return lines


def lines_of(names: set[str]) -> int:
    """Return the lines of code in the modules of these names."""
    return sum(len(code_lines(ast.parse(p.read_text(encoding="utf-8")))) for p in MODULES if name_of(p) in names)


def test_core_and_lab_can_be_read_in_an_evening():
    """Lines of code, docstrings apart: 1,700 for core, log and file store, 500 for the lease and other stores.

    The lab has 3,900, its views and its test of any store among them.

    (The package's own list of names is an index, and not counted.)
    """
    lab = {name_of(path) for path in MODULES if name_of(path).startswith("lab")}
    assert lines_of({name_of(path) for path in MODULES} - lab - OTHER_STORES - {""}) <= 1700
    assert lines_of(lab) <= 3900
    assert lines_of(OTHER_STORES) <= 700


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
