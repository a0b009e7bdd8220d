"""The payment service: each sentence of its specification, read from its own database."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minagent.lab.world.payments import PaymentRefused, Payments, open_payments
from minagent.log import DidNotHappen, Happened


@pytest.fixture
def payments(tmp_path: Path) -> Iterator[Payments]:
    """A service with an empty ledger."""
    payments = open_payments(tmp_path / "payments.db")
    yield payments
    payments.database.close()


def test_without_a_key_each_request_charges(payments: Payments):
    """The service cannot know better."""
    assert [payments.charge("lamp", 26) for _ in range(2)] == ["charged 26 for lamp"] * 2
    assert payments.charges() == ["lamp", "lamp"]


def test_with_a_key_the_second_request_gets_the_first_answer(payments: Payments):
    """Nobody is charged twice; another key is another charge."""
    assert {payments.charge("lamp", 26, key="k1") for _ in range(3)} == {"charged 26 for lamp"}
    payments.charge("lamp", 26, key="k2")
    assert (payments.charges(), payments.requests()) == (["lamp", "lamp"], 4)


@pytest.mark.parametrize("other", [("lamp", 27), ("chair", 26)])
def test_another_request_with_the_same_key_is_refused(payments: Payments, other: tuple[str, int]):
    """It is not the request that was kept."""
    payments.charge("lamp", 26, key="k1")
    with pytest.raises(PaymentRefused, match="the key 'k1' was used for another request"):
        payments.charge(*other, key="k1")
    assert (payments.charges(), payments.requests()) == (["lamp"], 1)


@pytest.mark.parametrize(
    ("amount", "key", "said"),
    [
        (0, "k1", "whole number from 1"),
        (True, "k1", "whole number from 1"),
        (2**70, "k1", "whole number from 1"),
        (26.0, "k1", "whole number from 1"),
        (26, "", "1 to 255"),
        (26, "k" * 256, "1 to 255"),
    ],
)
def test_what_is_refused_is_not_kept(payments: Payments, amount: Any, key: str, said: str):
    """The same key can be used for the right request."""
    with pytest.raises(PaymentRefused, match=said):
        payments.charge("lamp", amount, key=key)
    payments.charge("lamp", 26, key="k1")
    payments.charge("chair", 80, key="k" * 255)
    assert (payments.charges(), payments.requests()) == (["lamp", "chair"], 2)


@pytest.mark.parametrize("odd", [{"reference": [1]}, {"order": "\ud83d"}, {"order": ["lamp"]}])
def test_what_cannot_be_written_leaves_nothing(payments: Payments, odd: dict[str, Any]):
    """Not even a half that the next request would commit."""
    with pytest.raises((sqlite3.Error, UnicodeEncodeError)):
        payments.charge(**{"order": "lamp", "amount": 26, "key": "k1", **odd})
    payments.charge("lamp", 26, key="k1")
    assert (payments.charges(), payments.requests()) == (["lamp"], 1)


def test_a_key_expires_and_is_kept_from_the_new_request_on(payments: Payments):
    """After 24 hours the same request is a new one; a request on the way does not renew the key."""
    for hours, charges in ((0, 1), (23, 1), (1, 2), (0, 2), (23, 2), (1, 3)):
        payments.let_pass(hours)
        payments.charge("lamp", 26, key="k1")
        assert len(payments.charges()) == charges


def test_a_charge_is_found_by_its_reference(payments: Payments):
    """So a tool can be asked what has happened."""
    payments.charge("lamp", 26, reference="r1")
    assert payments.what_happened("r1") == Happened("charged 26 for lamp")
    assert payments.what_happened("r2") == DidNotHappen()


def test_any_process_may_open_it_and_what_is_answered_stays(payments: Payments, tmp_path: Path):
    """Keys, too, and the hours that have passed."""
    payments.charge("lamp", 26, key="k1")
    payments.let_pass(23)
    another = open_payments(tmp_path / "payments.db")
    another.charge("lamp", 26, key="k1")
    assert another.charges() == payments.charges() == ["lamp"]
    another.let_pass(1)
    payments.charge("lamp", 26, key="k1")
    assert another.charges() == ["lamp", "lamp"]
    another.database.close()


def test_a_charge_is_part_of_the_transaction_that_is_open(payments: Payments):
    """Undone with it; refused, it undoes nothing else."""
    payments.database.execute("BEGIN")
    payments.charge("lamp", 26, key="k1")
    with pytest.raises(PaymentRefused):
        payments.charge("chair", 26, key="k1")
    assert payments.charges() == ["lamp"]
    payments.database.execute("ROLLBACK")
    assert (payments.charges(), payments.requests()) == ([], 0)
