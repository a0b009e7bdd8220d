"""The chapter's own listings, unchanged, run on minagent.

They are cut out of the chapter's text when the test runs; no listing is copied into this repository. Where the text is
not there, the test says so and skips.
"""

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import minagent
from minagent import Agent, FakeModel, InvalidMessages, Message, Session, Step, init_session
from minagent.lab.world.example import ANSWER, SCRIPT, TASK
from tests.conftest import ROOT
from tests.test_find_it import rows

CHAPTER = ROOT.parent / "shared" / "chapter" / "7.3.txt"
FUNCTIONS = ("save_checkpoint", "step_once", "load_checkpoint", "validate", "run_with_checkpoints")

pytestmark = pytest.mark.skipif(not CHAPTER.exists(), reason="the chapter's text does not lie beside this repository")


def listing(name: str) -> str:
    """Return the chapter's definition of a function: from its `def` to the next line that is not indented."""
    found = re.search(rf"^def {name}\(.*\n(?:[ \t].*\n|\n)*", CHAPTER.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"the chapter defines no {name}"
    return found[0]


def script_listing() -> str:
    """Return the script of 7.3.5: from its first assignment to the prose behind its last line."""
    text = CHAPTER.read_text(encoding="utf-8")
    return text[text.index("CKPT = ") : text.index("本机实测（Python")]


def defined_on_our_classes(*names: str) -> dict[str, Any]:
    """Run listings of functions in a namespace that holds our names, and return it."""
    namespace: dict[str, Any] = {**{name: getattr(minagent, name) for name in minagent.__all__}, "json": json}
    for name in names:
        exec(listing(name), namespace)
    return namespace


@pytest.fixture
def chapter() -> dict[str, Any]:
    """Our names, the chapter's five functions in place of ours."""
    return defined_on_our_classes(*FUNCTIONS)


def test_the_chapter_s_functions_run_on_our_classes(chapter: dict[str, Any], agent: Agent, tmp_path: Path):
    """Its step, save, load, validate and shell together: paused, saved, loaded, done."""
    path = tmp_path / "session.json"
    session, model, steps = init_session(agent, TASK), FakeModel(SCRIPT), list[Step]()
    assert chapter["step_once"](agent, session, model, steps) == "paused"
    chapter["save_checkpoint"](path, session, model, steps)
    loaded = chapter["load_checkpoint"](path, SCRIPT)
    assert (loaded[0], loaded[1].cursor, loaded[2]) == (session, 1, steps)
    chapter["run_with_checkpoints"](agent, *loaded, path)
    session, model, steps = chapter["load_checkpoint"](path, SCRIPT)
    assert chapter["validate"](session) is True
    assert (len(session.messages), model.cursor, session.messages[-1].content) == (7, 3, ANSWER)


def test_the_chapter_s_document_loads_as_version_0(chapter: dict[str, Any], agent: Agent, tmp_path: Path):
    """What the chapter's save writes, our load reads."""
    session, model, steps = init_session(agent, TASK), FakeModel(SCRIPT), list[Step]()
    chapter["step_once"](agent, session, model, steps)
    chapter["save_checkpoint"](tmp_path / "session.json", session, model, steps)
    loaded = minagent.load_checkpoint(tmp_path / "session.json", SCRIPT)
    assert (loaded[0], loaded[1].cursor, loaded[2]) == (session, 1, steps)


@pytest.mark.parametrize("damage", [None, "orphan", "pending"])
def test_our_validate_agrees_with_the_chapter_s(
    chapter: dict[str, Any], agent: Agent, session: Session, model: FakeModel, damage: str | None
):
    """True where it says True, False where it says False, an error where it asserts."""
    minagent.step_once(agent, session, model, [])
    if damage == "orphan":
        del session.messages[-2]
        with pytest.raises(AssertionError, match="c1"):
            chapter["validate"](session)
        with pytest.raises(InvalidMessages, match="c1"):
            minagent.validate(session)
    else:
        del session.messages[len(session.messages) - (damage == "pending") :]
        assert minagent.validate(session) is chapter["validate"](session) is (damage is None)


def test_the_chapter_s_step_skips_a_tool_after_an_interrupt_and_ours_does_not(
    chapter: dict[str, Any], agent: Agent, session: Session
):
    """Its cursor has moved and its messages have not: the next step asks for the script item after the lost one."""
    interrupts = [KeyboardInterrupt(), KeyboardInterrupt()]

    @agent.registry.register
    def pay() -> str:
        if interrupts:
            raise interrupts.pop()
        return "paid"

    script = [Message("assistant", "", (minagent.ToolCall("c1", "pay", {}),)), Message("assistant", "all paid")]
    paid = {}
    for step_once in (chapter["step_once"], minagent.step_once):
        mine, model, steps = copy.deepcopy(session), FakeModel(script), list[Step]()
        with pytest.raises(KeyboardInterrupt):
            step_once(agent, mine, model, steps)
        while step_once(agent, mine, model, steps) == "paused":
            pass
        paid[step_once] = [step.detail for step in steps]
    assert list(paid.values()) == [["all paid"], ["pay -> paid", "all paid"]]


class _ElsewhereThanTmp(dict[str, Any]):
    """A namespace in which the script's `CKPT = "/tmp/..."` has no effect: users of one machine share that folder."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name != "CKPT":
            super().__setitem__(name, value)


def test_the_script_of_7_3_5_runs_on_our_functions(agent: Agent, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Half-way, crash, resume, done: what the chapter printed comes out."""
    names = {name: getattr(minagent, name) for name in minagent.__all__}
    path = tmp_path / "agentbook_ckpt" / "session.json"
    namespace = _ElsewhereThanTmp(names, os=os, agent=agent, model=FakeModel(SCRIPT), SCRIPT=SCRIPT, CKPT=path)
    exec(script_listing(), {}, namespace)
    printed = re.sub(r"\d+ 字节", "N 字节", capsys.readouterr().out)
    assert printed.splitlines() == [
        "半程状态: paused | 消息条数: 4",
        "检查点文件大小: N 字节",
        "恢复后消息条数: 4 | 恢复的步骤: ['tool_call']",
        "续跑后消息条数: 7",
        "工具结果条数: 2 | 工具调用 id: ['c1', 'c2']",
        "无重复工具调用: True",
    ]
    assert namespace["session"].messages[-1].content == ANSWER
    assert [step.kind for step in namespace["steps"]] == ["tool_call", "tool_call", "final"]


def test_every_listing_of_the_chapter_is_covered():
    """No definition of the chapter is left out of the tests above."""
    text = CHAPTER.read_text(encoding="utf-8")
    assert re.findall(r"^def (\w+)", text, re.MULTILINE) == list(FUNCTIONS)


def test_the_glossary_has_the_chapter_s_words():
    """Where it has a word; ours stand in brackets."""
    text = CHAPTER.read_text(encoding="utf-8")
    chinese = [word for _, word, *_ in rows("Terms") if not word.startswith("（")]
    assert [word for word in chinese if word not in text] == []
    assert len(chinese) >= 20


def test_the_page_of_listings_has_them_all():
    """Each with ours beside it."""
    listed = [re.findall(r"`(\w+)`", chapter + ours) for chapter, ours, _ in rows("The chapter's listings, and ours")]
    assert [names for names in listed if names] == [[name, name] for name in FUNCTIONS]
