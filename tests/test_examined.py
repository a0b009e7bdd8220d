"""The collector adds up what the tests report, and notices when it becomes less."""

import pytest

from tests.examined import CELLS, Examined, counted, shortfall


def report(nodeid: str, *properties: tuple[str, object]) -> pytest.TestReport:
    """Return the report of a test that has passed."""
    return pytest.TestReport(nodeid, ("", 0, ""), {}, "passed", None, "call", user_properties=list(properties))


def test_reports_are_added_up():
    """By kind; cells of notebooks are known by their names."""
    reports = [
        report("tests/test_a.py::test_a", ("examined: cuts", 3), ("examined: bits", 24)),
        report("tests/test_a.py::test_b", ("examined: cuts", 4), ("something else", "x")),
        report("notebooks/a.ipynb::Cell 0"),
        report("notebooks/a.ipynb::Exercise 7.3.1-1 solved"),
    ]
    assert counted(reports) == {"tests": 4, CELLS: 1, "cuts": 7, "bits": 24}


def test_less_is_noticed_and_more_is_welcome():
    """Also of a kind that nobody reports any more."""
    stored = {"cuts": 7, "bits": 24, "gone": 1}
    assert shortfall(counted([report("t", ("examined: cuts", 6), ("examined: bits", 25))]), stored) == [
        "cuts: 6, and 7 before",
        "gone: 0, and 1 before",
    ]


def test_a_test_tells_the_collector(examined: Examined, request: pytest.FixtureRequest):
    """By a property of its report."""
    examined("tests of the collector", 2)
    assert ("examined: tests of the collector", 2) in request.node.user_properties


pytest_plugins = ["pytester"]

PROBE = """
from tests.examined import Collector
from hypothesis import given, settings, strategies as st

def pytest_addoption(parser): parser.addoption("--store-examined", action="store_true")
def pytest_configure(config): config.pluginmanager.register(Collector(config), "examined")
"""

TEST = """
from hypothesis import given, settings, strategies as st

@settings(max_examples=30, database=None)
@given(st.integers())
def test_x(x): pass
"""


@pytest.mark.parametrize(
    ("part", "chosen", "stored", "code"),
    [
        ("pytest", [], 30, 0),
        ("pytest", [], 31, 1),
        ("pytest test_it.py", ["test_it.py"], 30, 0),
        ("pytest test_it.py", ["test_it.py"], 31, 1),
        ("pytest", ["test_it.py"], 31, 0),
        ("pytest", ["-k", "x"], 31, 0),
    ],
)
def test_a_whole_part_of_the_gate_that_has_examined_too_little_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, part: str, chosen: list[str], stored: int, code: int
):
    """Thirty examples of hypothesis, counted without being asked: enough if thirty are stored, too few if 31 are.

    Whoever runs something else, or only some of it, need not have examined as much.
    """
    said = f'{{"{part}": {{"examples of hypothesis": {stored}}}}}'
    monkeypatch.setattr("tests.examined.STORED", pytester.makefile(".json", said))
    pytester.makeini("[pytest]\ntestpaths = .")
    pytester.makeconftest(PROBE)
    pytester.makepyfile(test_it=TEST)
    done = pytester.inline_run("-p", "no:cacheprovider", *chosen, plugins=[])
    assert done.ret == code
