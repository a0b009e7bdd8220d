"""The ledger: what the outside world saw, whoever wrote it."""

from pathlib import Path

from minagent import ToolCall
from minagent.lab.world.ledger import Bill, Ledger
from minagent.models import Usage


def test_an_untouched_world_has_seen_nothing(tmp_path: Path):
    """Reading a ledger does not create it."""
    ledger = Ledger(tmp_path / "world" / "ledger.jsonl")
    assert (ledger.entries(), ledger.effects(), ledger.bill()) == ([], [], Bill(0, 0, 0.0))
    assert not ledger.path.parent.exists()


def test_repeats_are_counted_by_name_and_arguments(tmp_path: Path):
    """The same tool with other arguments is another effect; key order does not matter."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for arguments in ({"a": 2, "b": 3}, {"a": 2, "b": 4}, {"b": 3, "a": 2}, {"a": 2, "b": 3}):
        Ledger(ledger.path).record_effect(ToolCall("c1", "add", arguments), "5")
    assert [effect["repeat"] for effect in ledger.effects()] == [0, 0, 1, 2]


def test_the_bill_sums_calls_tokens_and_virtual_seconds(tmp_path: Path):
    """Each model call is paid for, whether its answer was used or not."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.record_model_call(Usage(100, 20))
    ledger.record_model_call(Usage(130, 10))
    assert ledger.bill() == Bill(2, 260, 4.0)
