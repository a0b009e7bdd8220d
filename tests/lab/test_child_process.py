"""A child process: told and heard, stopped and woken, killed, and never left behind."""

import gc
import os
import signal
import sys
from collections.abc import Callable

import pytest

from minagent.lab.processes import child_process
from minagent.lab.processes.child_process import Child, ChildDied, start
from tests.conftest import in_process_table
from tests.lab import children


def repeater(*words: str) -> Child:
    """Start a child that says each word when it is told something."""
    return start(children.repeat, *words)


def test_a_line_each_way():
    """Until it has no more to say; its end is no value, and a code."""
    child = repeater('"a"', "b")
    for expected in ('"a"', "b", None):
        child.tell("go")
        assert child.hear() == expected
    assert (child.wait(), in_process_table(child.pid)) == (0, False)


def test_a_killed_child_is_gone_from_the_process_table():
    """Its code is minus the signal's number; telling it something is no error, and hearing from it is its end."""
    child = repeater("a")
    assert in_process_table(child.pid)
    child.kill()
    assert not in_process_table(child.pid)
    assert child.wait() == -signal.SIGKILL


def test_a_child_that_somebody_else_kills():
    """From a terminal."""
    child = repeater("a")
    os.kill(child.pid, signal.SIGKILL)
    child.tell("go")
    with pytest.raises(ChildDied, match="ended with code -9"):
        child.hear()
    assert child.wait() == -signal.SIGKILL


def test_a_stopped_child_goes_on_where_it_was():
    """SIGSTOP and SIGCONT."""
    child = repeater("a")
    child.stop()
    child.tell("go")
    assert in_process_table(child.pid)
    child.wake()
    assert child.hear() == "a"
    assert child.wait() == 0


def test_a_child_that_is_dropped_is_killed():
    """A cell is run twice: the first one's child is gone."""
    child = repeater("a")
    pid = child.pid
    del child
    gc.collect()
    assert not in_process_table(pid)


def test_what_a_child_says_on_standard_error_is_kept():
    """However much it is: a pipe that nobody reads would fill up."""
    child = start(children.talk)
    assert (child.hear(), child.wait()) == ("done", 0)
    assert len(child.complaint) >= 1_000_000


def test_a_child_that_raises_says_so():
    """To whoever hears it, and to whoever waits for all that it says."""
    for waiting in (Child.hear, Child.listen):
        with pytest.raises(ChildDied, match=r"ended with code 1\.(?s:.*)ValueError: on purpose\n$"):
            waiting(start(children.fail))


def test_what_a_child_said_before_it_was_killed_is_not_lost():
    """And it is told whether it was killed or has finished."""
    child = repeater("a", "b")
    child.tell("go")
    child.tell("go")
    assert child.listen() == (["a", "b"], True)
    child = repeater("a", "b")
    child.tell("go")
    assert child.hear() == "a"
    os.kill(child.pid, signal.SIGKILL)
    assert child.listen() == ([], False)


def test_what_a_notebook_defines_cannot_be_sent(monkeypatch: pytest.MonkeyPatch):
    """The error says so."""
    monkeypatch.setattr(children.fail, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "fail", children.fail, raising=False)
    child = start(children.fail)
    with pytest.raises(ChildDied, match="What a notebook defines cannot be sent"):
        child.hear()


def interrupt(*_: object) -> None:
    """Do what the Interrupt button does."""
    raise KeyboardInterrupt


def interrupted(action: Callable[[], object]) -> None:
    """Do something that lasts, and interrupt it."""
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    action()


@pytest.mark.parametrize("waiting", [Child.hear, Child.wait], ids=["hearing", "waiting"])
def test_after_an_interrupt_the_next_answer_is_the_right_one(waiting: Callable[[Child], object]):
    """The answer to the order that was interrupted may still come; it is passed over."""
    child = repeater("a")
    with pytest.raises(KeyboardInterrupt):
        interrupted(lambda: waiting(child))
    child.kill()
    assert not in_process_table(child.pid)
    other = repeater("b")
    other.tell("go")
    assert (other.hear(), other.wait()) == ("b", 0)


@pytest.mark.parametrize("unread", [b"", b"{}\n"], ids=["idle", "with an order unread"])
def test_a_launcher_that_dies_is_told_and_followed_by_another(unread: bytes):
    """Whoever has killed it. Its children can still be killed."""
    child = repeater("a")
    launcher = child_process._launcher(os.getpid())
    os.kill(launcher._process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, launcher._process.pid, os.WSTOPPED)
    launcher._socket.sendall(unread)
    launcher._process.kill()
    launcher._process.wait()
    with pytest.raises(RuntimeError, match="the process that starts others is dead"):
        repeater("b")
    child.kill()
    child = repeater("c")
    child.tell("go")
    assert child.hear() == "c"


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_fork_has_a_launcher_of_its_own():
    """Two processes that share one would take each other's answers."""
    child = repeater("a")
    fork = os.fork()
    if fork == 0:
        other = repeater("b")
        other.tell("go")
        os._exit(0 if other.hear() == "b" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) == 0
    child.tell("go")
    assert child.hear() == "a"
