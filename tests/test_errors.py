"""Errors are values: each of the tree survives copying and pickling, so a process pool can hand it over."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import pytest

import minagent.lab.crash_lab.crashlab
import minagent.lab.world.payments  # noqa: F401 - its errors belong to the tree, too
from minagent import InvalidValue, MinagentError
from minagent.log import Conflict, InDoubt, LeaseLost


def tree(kind: type[MinagentError] = MinagentError) -> list[type[MinagentError]]:
    """Return an error class, and all below it."""
    return [kind, *(found for below in kind.__subclasses__() for found in tree(below))]


OWN: dict[type[MinagentError], tuple[object, ...]] = {
    InvalidValue: ("messages[0].role", "expected one of"),
    InDoubt: ("charge", {"amount": 26}, "i1-2-0", "the tool has no way to find out"),
    Conflict: (3, 5),
    LeaseLost: ("w2",),
}
"""What the classes take that do not take a message."""


def made(kind: type[MinagentError]) -> MinagentError:
    """Return an error of this class, with a note."""
    error = kind(*OWN.get(kind, ("what went wrong",)))
    error.add_note("and a note")
    return error


def in_another_process(error: MinagentError) -> MinagentError:
    """Return what a process pool hands over."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(copy.copy, error).result()


@pytest.mark.parametrize("handed_over", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301
@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_every_error_of_the_tree_comes_back_equal(
    kind: type[MinagentError], handed_over: Callable[[MinagentError], MinagentError]
):
    """Class, message, note, and whatever else it holds."""
    error = made(kind)
    again = handed_over(error)
    assert (type(again), str(again), again.args, vars(again)) == (kind, str(error), error.args, vars(error))


def test_a_process_pool_hands_them_over():
    """With Python's own way it would wait for ever for the answer that cannot be unpickled."""
    error = made(InDoubt)
    assert vars(in_another_process(error)) == vars(error)
