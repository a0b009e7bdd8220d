"""JupyterLab first on one worker, what is quick first on the others, and then what is long."""

from collections import OrderedDict
from unittest.mock import Mock

import pytest

from tests.conftest import ROOT
from tests.order import IN_JUPYTERLAB, LONG, InOrder, rank


@pytest.mark.parametrize("name", LONG)
def test_what_is_called_long_is_there(name: str):
    """A module that was renamed would be taken for a quick one."""
    assert (ROOT / name).is_file()


@pytest.fixture
def scheduler() -> InOrder:
    """One without workers: xdist's own constructor asks for some."""
    scheduler = InOrder.__new__(InOrder)
    scheduler.assigned_work, scheduler.registered_collections = {}, {}
    return scheduler


def test_units_are_given_out_in_order(scheduler: InOrder):
    """Whatever order xdist has found them in, and however many tests they have."""
    scopes = ["notebooks/7.3.0_start_here.ipynb", LONG[1], "tests/test_tools.py", IN_JUPYTERLAB, LONG[0]]
    scheduler.workqueue = OrderedDict((scope, {f"{scope}::test": False}) for scope in scopes)
    tests = [f"{scope}::test" for scope in scopes]
    given: list[int] = []
    worker = Mock(send_runtest_some=given.extend)
    scheduler.registered_collections[worker] = tests
    for _ in scopes:
        scheduler._assign_work_unit(worker)
    assert [scopes[number] for number in given] == [IN_JUPYTERLAB, "tests/test_tools.py", LONG[0], LONG[1], scopes[0]]


def test_what_is_seen_in_jupyterlab_is_one_unit(scheduler: InOrder):
    """It shares one JupyterLab, and so one worker."""
    split = {scheduler._split_scope(f"tests/browser/test_{name}_in_jupyterlab.py::test_x[1]") for name in "ab"}
    assert split == {IN_JUPYTERLAB}
    assert scheduler._split_scope("notebooks/x.ipynb::Cell 3") == "notebooks/x.ipynb"
    assert rank(IN_JUPYTERLAB) < rank("tests/test_tools.py") < rank(LONG[0])
