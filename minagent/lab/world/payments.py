"""A payment service's ledger, and how it answers: with idempotency keys, as Stripe documents them.

    POST /charges    {"order": "lamp", "amount": 26}    header Idempotency-Key: i1-2-0
    200              {"id": 1, "order": "lamp", "amount": 26}

- The answer to the first request with a key is kept. The same request with the same key gets that answer again, and
  nobody is charged.
- Another request with the same key is an error: 400.
- A request that is refused as it stands (an amount below 1) is not kept under its key.
- A key is kept for 24 hours. After that the same request is a new one, and charges again.
- A request without a key charges each time. `reference` is a text to find it by, and does nothing else.

    GET /charges     {"reference": "i1-2-0"}
    200              {"charges": [{"id": 1, "order": "lamp", "amount": 26}]}

The ledger is an SQLite database: `charges`, the answers that are kept under `keys`, and in `requests` a row for each
request that was answered, repeated ones included.

Source: docs.stripe.com, "Idempotent requests" (API v1).
"""

import json
import sqlite3
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple

from minagent import EffectUnknown
from minagent.log import DidNotHappen, Happened, Unknown
from minagent.log.doubt import Verdict
from minagent.plain_json import canonical

KEPT_HOURS = 24
LONGEST_KEY = 255
LARGEST_AMOUNT = 1_000_000

TABLES = (
    "charges (id INTEGER PRIMARY KEY, customer_order TEXT, amount INTEGER, reference TEXT)",
    "keys (key TEXT PRIMARY KEY, request BLOB, answer TEXT, hours REAL)",
    "requests (charge INTEGER)",
    "clock (hours REAL)",
)

Answer = tuple[int, dict[str, Any]]  # an HTTP status, and a body


class Request(NamedTuple):
    """What a client sends."""

    method: str
    path: str
    body: dict[str, Any]
    key: str | None = None


Send = Callable[[Request], Answer]  # the way to a service. Raises OSError if no answer comes


class Payments:
    """The service, on a database. Whoever calls `answer` commits: so an effect can share a transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        for table in TABLES:
            database.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    def answer(self, request: Request) -> Answer:
        """Answer a request."""
        match request.method, request.path:
            case "POST", "/charges":
                return self._charge(request.body, request.key)
            case "GET", "/charges":
                return 200, {"charges": self.charges(request.body["reference"])}
            case "POST", "/forget":
                for table in TABLES:
                    self.database.execute(f"DELETE FROM {table.partition(' ')[0]}")  # noqa: S608 - no input in it
                return 200, {}
            case "POST", "/clock":
                self.let_pass(request.body["hours"])
                return 200, {}
        return 404, {"error": f"there is no {request.method} {request.path}"}

    @property
    def hours(self) -> float:
        """What the service's clock says."""
        return float(self.database.execute("SELECT total(hours) FROM clock").fetchone()[0])

    def let_pass(self, hours: float) -> None:
        """Put the clock forward."""
        self.database.execute("INSERT INTO clock VALUES (?)", (hours,))

    def charges(self, reference: str | None = None) -> list[dict[str, Any]]:
        """Return the charges with this reference, or all of them, oldest first."""
        query = "SELECT id, customer_order, amount FROM charges WHERE ? IS NULL OR reference = ? ORDER BY id"
        rows = self.database.execute(query, (reference, reference))
        return [{"id": row[0], "order": row[1], "amount": row[2]} for row in rows]

    def requests(self) -> int:
        """Return how many requests for a charge were answered well, repeated ones included."""
        return int(self.database.execute("SELECT count(*) FROM requests").fetchone()[0])

    def _charge(self, body: dict[str, Any], key: str | None) -> Answer:
        if refusal := _refusal(body, key):
            return 400, {"error": refusal}
        kept = self._kept(key)
        if kept is not None and kept[0] != canonical(body):
            return 400, {"error": f"the key {key!r} was used for another request"}
        charge = self._new_charge(body, key) if kept is None else json.loads(kept[1])
        self.database.execute("INSERT INTO requests VALUES (?)", (charge["id"],))
        return 200, charge

    def _kept(self, key: str | None) -> tuple[bytes, str] | None:
        """Return the request and the answer that are kept under a key, if they are."""
        query = "SELECT request, answer FROM keys WHERE key = ? AND hours > ?"
        found: tuple[bytes, str] | None = self.database.execute(query, (key, self.hours - KEPT_HOURS)).fetchone()
        return found

    def _new_charge(self, body: dict[str, Any], key: str | None) -> dict[str, Any]:
        statement = "INSERT INTO charges (customer_order, amount, reference) VALUES (?, ?, ?)"
        number = self.database.execute(statement, (body["order"], body["amount"], body.get("reference"))).lastrowid
        charge = {"id": number, "order": body["order"], "amount": body["amount"]}
        if key is not None:
            row = (key, canonical(body), json.dumps(charge), self.hours)
            self.database.execute("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)", row)
        return charge


def _refusal(body: dict[str, Any], key: str | None) -> str:
    """Return why a request is refused as it stands, if it is."""
    if not isinstance(body.get("order"), str) or type(body.get("amount")) is not int:
        return "a charge needs an order, a text, and an amount, a whole number"
    if not 1 <= body["amount"] <= LARGEST_AMOUNT:
        return f"the amount must be at least 1, and at most {LARGEST_AMOUNT}"
    if key is not None and not 0 < len(key) <= LONGEST_KEY:
        return f"a key has 1 to {LONGEST_KEY} characters"
    return ""


class PaymentRefused(Exception):
    """The service has refused a request: nobody was charged."""


class PaymentClient:
    """The agent's side of the service."""

    def __init__(self, send: Send) -> None:
        self.send = send

    def charge(self, order: str, amount: int, *, key: str | None = None, reference: str | None = None) -> str:
        """Charge the customer of an order.

        Raises:
            PaymentRefused: nobody was charged.
            EffectUnknown: no answer came; perhaps somebody was.
        """
        body = {"order": order, "amount": amount} | ({} if reference is None else {"reference": reference})
        try:
            status, answer = self.send(Request("POST", "/charges", body, key))
        except OSError as error:
            raise EffectUnknown(f"no answer from the payment service: {error}") from error
        if status != HTTPStatus.OK:
            raise PaymentRefused(answer["error"])
        return _receipt(answer)

    def what_happened(self, reference: str) -> Verdict:
        """Return a verdict on the charge that has this reference."""
        try:
            _, answer = self.send(Request("GET", "/charges", {"reference": reference}))
        except OSError:
            return Unknown()
        return Happened(_receipt(answer["charges"][0])) if answer["charges"] else DidNotHappen()


def _receipt(charge: dict[str, Any]) -> str:
    return f"charged {charge['amount']} for {charge['order']}"
