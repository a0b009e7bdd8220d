"""FakeModel: a script, and a cursor that counts from its start."""

import pytest

from minagent import FakeModel, Message, ScriptExhausted
from minagent.lab.world.example import SCRIPT, HistoryModel


def test_answers_come_in_the_order_of_the_script():
    """Each call gives the next item and moves the cursor past it."""
    model = FakeModel(SCRIPT)
    assert [model.complete([], []).message for _ in SCRIPT] == list(SCRIPT)
    assert model.cursor == len(SCRIPT)


def test_a_cursor_set_back_gives_the_same_answer_again():
    """The cursor is the whole state of a fake model."""
    model = FakeModel(SCRIPT)
    model.cursor = 2
    assert model.complete([], []).message == SCRIPT[2]


def test_an_exhausted_script_says_so_by_name():
    """The reader learns which script, how long, and what probably happened; the cursor stays."""
    model = FakeModel(SCRIPT[:1])
    model.complete([], [])
    with pytest.raises(ScriptExhausted, match="has 1 items and the cursor stands at 1"):
        model.complete([], [])
    assert model.cursor == 1


def test_usage_grows_with_the_history():
    """Tokens are counted from what is sent and what comes back, the same on every machine."""
    short = FakeModel(SCRIPT).complete([Message("user", "")], []).usage
    long = FakeModel(SCRIPT).complete([Message("user", "x" * 400)], []).usage
    assert long.input_tokens - short.input_tokens == 100
    assert long.output_tokens == short.output_tokens > 0


def test_a_history_model_needs_no_cursor():
    """Its answer is a function of the messages: the same history gives the same answer, in any process."""
    model = HistoryModel(lambda messages: Message("assistant", f"{len(messages)} so far"))
    assert model.cursor is None
    for _ in range(2):
        assert model.complete([Message("user", "hi")], []).message.content == "1 so far"
