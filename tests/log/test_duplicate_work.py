"""Bugs that other agent frameworks had: work done twice, lost, or put in the wrong place. Here each is a test.

The shapes are theirs; the links are to the reports.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from minagent import Agent, FakeModel, Message, ToolCall, ToolRegistry, init_session, step_once
from minagent.log import Conflict, FileStore, Happened, InDoubt, LogMissing, SessionLog, run_with_log

DONE = Message("assistant", "Done.")
ran: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    """Each test begins in a fresh world."""
    ran.clear()


def calling(*names: str) -> Message:
    """Return an answer that calls these tools."""
    return Message("assistant", "", [ToolCall(f"c{n}", name, {}) for n, name in enumerate(names)])


def agent_with(*tools: Callable[..., str], effect: str = "non_idempotent") -> Agent:
    """Return an agent with these tools."""
    registry = ToolRegistry()
    for tool in tools:
        registry.register(effect=effect)(tool)  # type: ignore[call-overload]
    return Agent(registry, "")


def begin(folder: Path, agent: Agent) -> SessionLog:
    """Begin a session on the disk."""
    session = init_session(agent, "Go.", session_id="demo", created_at="2026-01-01T00:00:00Z")
    return SessionLog.begin(FileStore(folder), session, 0, writer="w0", incarnation="i1")


def resume(folder: Path, writer: str = "w1") -> SessionLog:
    """Resume it, as another process would."""
    return SessionLog.resume(FileStore(folder), "demo", writer=writer)


def first() -> str:
    """Do the first thing."""
    ran.append("first")
    return "first done"


def dies_once() -> str:
    """Die in the first run, after the effect."""
    ran.append("dies_once")
    if ran.count("dies_once") == 1:
        raise KeyboardInterrupt
    return "second done"


def test_a_sibling_that_has_finished_is_not_run_again(tmp_path: Path):
    """github.com/langchain-ai/langgraph/pull/3126: two calls, one done, crash in the other: the done one is kept."""
    agent = agent_with(first, dies_once, effect="idempotent")
    script = [calling("first", "dies_once"), DONE]
    with pytest.raises(KeyboardInterrupt):
        run_with_log(agent, begin(tmp_path, agent), FakeModel(script))
    state = run_with_log(agent, resume(tmp_path), FakeModel(script))
    assert ran == ["first", "dies_once", "dies_once"]
    assert [message.content for message in state.session.messages[3:5]] == ["first done", "second done"]


def test_the_late_result_of_the_old_owner_is_refused(tmp_path: Path):
    """github.com/langchain-ai/langgraph/issues/7417: a slow tool, and another worker that resumes while it runs."""

    def slow() -> str:
        ran.append("slow")
        if len(ran) == 1:
            run_with_log(agent, resume(tmp_path, "the other worker"), FakeModel(script))
        return f"result of run {len(ran)}"

    agent = agent_with(slow, effect="idempotent")
    script = [calling("slow"), DONE]
    with pytest.raises(Conflict):
        run_with_log(agent, begin(tmp_path, agent), FakeModel(script))
    messages = resume(tmp_path).state.session.messages
    assert [message.content for message in messages[3:]] == ["result of run 2", "Done."]


def test_a_verdict_goes_to_the_call_that_was_meant(tmp_path: Path):
    """github.com/langchain-ai/langgraph/issues/6533 and 6626: two tools wait for a person, with equal ids."""

    def ask() -> str:
        raise KeyboardInterrupt

    agent = agent_with(ask)
    script = [Message("assistant", "", [ToolCall("same", "ask", {}), ToolCall("same", "ask", {})]), DONE]
    with pytest.raises(KeyboardInterrupt):
        run_with_log(agent, begin(tmp_path, agent), FakeModel(script))
    keys = []
    for answer in ("yes", "no"):
        log = resume(tmp_path)
        with pytest.raises((InDoubt, KeyboardInterrupt)):
            run_with_log(agent, log, FakeModel(script))
        ((key, _),) = log.state.in_doubt.values()
        keys.append(key)
        log.resolve(key, Happened(answer))
    state = run_with_log(agent, resume(tmp_path), FakeModel(script))
    assert keys == ["i1-2-0", "i1-2-1"]
    assert [message.content for message in state.session.messages[3:]] == ["yes", "no", "Done."]


def test_what_waits_for_a_person_is_not_launched_again(tmp_path: Path):
    """github.com/run-llama/llama_index/issues/18019: a checkpoint that is taken while waiting."""
    agent = agent_with(dies_once)
    script = [calling("dies_once"), DONE]
    with pytest.raises(KeyboardInterrupt):
        run_with_log(agent, begin(tmp_path, agent), FakeModel(script))
    for _ in range(3):
        log = resume(tmp_path)
        with pytest.raises(InDoubt):
            run_with_log(agent, log, FakeModel(script))
        log.checkpoint()
    log.resolve("i1-2-0", Happened("it did"))
    for _ in range(3):
        assert run_with_log(agent, resume(tmp_path), FakeModel(script)).session.answered
    assert ran == ["dies_once"]


def test_a_chain_of_crashes_and_checkpoints_works(tmp_path: Path):
    """github.com/run-llama/llama-agents/issues/281: the second checkpoint after a resume fails."""
    crashes = [KeyboardInterrupt] * 4

    def work() -> str:
        ran.append("work")
        if crashes:
            raise crashes.pop()
        return "worked"

    agent = agent_with(work, effect="idempotent")
    script = [calling("work"), calling("work"), DONE]
    log = begin(tmp_path, agent)
    while crashes:
        with pytest.raises(KeyboardInterrupt):
            run_with_log(agent, log, FakeModel(script))
        log = resume(tmp_path)
        log.compact()
        log = resume(tmp_path)
        assert log.report.checkpoint == log.state.length
    state = run_with_log(agent, log, FakeModel(script))
    assert [step.detail for step in state.steps] == ["work -> worked", "work -> worked", "Done."]


def test_of_two_who_resume_one_conflicts_before_his_tool_runs(tmp_path: Path):
    """github.com/dbos-inc/dbos-transact-py/issues/742: both read the same list of what is pending, and both run it."""
    agent = agent_with(first)
    script = [calling("first"), DONE]
    begin(tmp_path, agent)
    one, two = resume(tmp_path, "one"), resume(tmp_path, "two")
    assert one.state == two.state
    run_with_log(agent, one, FakeModel(script))
    with pytest.raises(Conflict):
        run_with_log(agent, two, FakeModel(script))
    assert ran == ["first"]


def test_a_checkpoint_in_the_middle_changes_nothing_for_who_goes_on(tmp_path: Path):
    """github.com/crewAIInc/crewAI/pull/6113: a snapshot of a live run is taken for a resume."""
    agent = agent_with(first)
    script = [calling("first"), calling("first"), DONE]
    log, model = begin(tmp_path, agent), FakeModel(script)
    state = log.state
    while not state.session.answered:
        step_once(agent, state.session, model, state.steps, log=log)
        log.checkpoint()
    assert ran == ["first", "first"]
    assert resume(tmp_path).state.session == state.session


def test_what_was_restored_is_not_wiped_by_a_start(tmp_path: Path):
    """github.com/crewAIInc/crewAI/pull/5503: restore, then start. To begin what is there already is an error."""
    agent = agent_with(first)
    script = [calling("first"), DONE]
    run_with_log(agent, begin(tmp_path, agent), FakeModel(script))
    with pytest.raises(Conflict):
        begin(tmp_path, agent)
    assert run_with_log(agent, resume(tmp_path), FakeModel(script)).session.answered
    assert ran == ["first"]


def test_a_resume_of_nothing_is_an_error(tmp_path: Path):
    """github.com/crewAIInc/crewAI/issues/5378, UiPath/uipath-python/issues/1497: the run silently starts over."""
    with pytest.raises(LogMissing, match="there is no session 'demo' in this store"):
        resume(tmp_path)
    assert list(tmp_path.iterdir()) == []
