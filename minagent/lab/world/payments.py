"""A payment service: who is charged, and what an idempotency key is worth, as Stripe documents it.

    payments = open_payments(folder / "payments.db")
    payments.charge("lamp", 26, key="i1-2-0")      # "charged 26 for lamp"

- The answer to the first request with a key is kept. The same request with the same key gets that answer again, and
  nobody is charged.
- Another request with the same key is refused.
- A request that is refused as it stands (an amount below 1) is not kept under its key.
- A key is kept for 24 hours. After that the same request is a new one, and charges again.
- A request without a key charges each time. `reference` is a text to find it by, and does nothing else.

Its ledger is an SQLite database that no crash of an agent touches: `charges`, the answers that are kept under `keys`,
and in `requests` a row for each request that was answered, repeated ones included. Any process may open it.

Source: docs.stripe.com, "Idempotent requests" (API v1).
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from minagent.errors import MinagentError
from minagent.log import DidNotHappen, Happened
from minagent.log.doubt import Verdict

KEPT_HOURS = 24
LONGEST_KEY = 255
LARGEST_AMOUNT = 1_000_000

TABLES = (
    "charges (id INTEGER PRIMARY KEY, customer_order TEXT, amount INTEGER, reference TEXT)",
    "keys (key TEXT PRIMARY KEY, customer_order TEXT, amount INTEGER, hours REAL)",
    "requests (customer_order TEXT)",
    "clock (hours REAL)",
)


class PaymentRefused(MinagentError):
    """The service has refused a request: nobody was charged."""


class Payments:
    """The service, on a database."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        for table in TABLES:
            database.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    def charge(self, order: str, amount: int, *, key: str | None = None, reference: str | None = None) -> str:
        """Charge the customer of an order, and return the receipt; raise PaymentRefused if nobody was charged."""
        if type(amount) is not int or not 1 <= amount <= LARGEST_AMOUNT:
            raise PaymentRefused(f"the amount must be a whole number from 1 to {LARGEST_AMOUNT}, not {amount!r}")
        if key is not None and not 0 < len(key) <= LONGEST_KEY:
            raise PaymentRefused(f"a key has 1 to {LONGEST_KEY} characters")
        with self._transaction():
            if (kept := self._kept(key)) is None:
                self._new_charge(order, amount, key, reference)
            elif kept != (order, amount):
                raise PaymentRefused(f"the key {key!r} was used for another request")
            self.database.execute("INSERT INTO requests VALUES (?)", (order,))
        return f"charged {amount} for {order}"

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.database.execute("SAVEPOINT charge")  # a transaction of its own, or a part of the one that is open
        try:
            yield
        except BaseException:
            self.database.execute("ROLLBACK TO charge")
            raise
        finally:
            self.database.execute("RELEASE charge")

    def _kept(self, key: str | None) -> tuple[str, int] | None:
        """Return the request that was answered under a key, as long as the key is kept."""
        query = "SELECT customer_order, amount FROM keys WHERE key = ? AND hours > ?"
        found: tuple[str, int] | None = self.database.execute(query, (key, self.hours - KEPT_HOURS)).fetchone()
        return found

    def _new_charge(self, order: str, amount: int, key: str | None, reference: str | None) -> None:
        self.database.execute("INSERT INTO charges VALUES (NULL, ?, ?, ?)", (order, amount, reference))
        if key is not None:
            self.database.execute("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)", (key, order, amount, self.hours))

    def what_happened(self, reference: str) -> Verdict:
        """Return a verdict on the charge that has this reference."""
        query = "SELECT amount, customer_order FROM charges WHERE reference = ?"
        found = self.database.execute(query, (reference,)).fetchone()
        return DidNotHappen() if found is None else Happened("charged {} for {}".format(*found))

    def charges(self) -> list[str]:
        """Return the order of each charge, the oldest first."""
        return [order for (order,) in self.database.execute("SELECT customer_order FROM charges ORDER BY id")]

    def requests(self) -> int:
        """Return how many requests for a charge were answered well, repeated ones included."""
        return int(self.database.execute("SELECT count(*) FROM requests").fetchone()[0])

    @property
    def hours(self) -> float:
        """What the service's clock says."""
        return float(self.database.execute("SELECT total(hours) FROM clock").fetchone()[0])

    def let_pass(self, hours: float) -> None:
        """Put the clock forward."""
        self.database.execute("INSERT INTO clock VALUES (?)", (hours,))


def open_payments(path: Path | str) -> Payments:
    """Open the service whose ledger is this file; ":memory:" is a new one, for this process alone."""
    return Payments(sqlite3.connect(path, isolation_level=None, timeout=120.0))
