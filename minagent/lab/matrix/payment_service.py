"""The payment service as a process of its own: HTTP on this machine alone, and a database that outlives everybody.

    with PaymentService(folder) as service:
        client = PaymentClient(service.send)          # or, in another process: PaymentClient(sender(service.port))
        client.charge("lamp", 26, key="i1-2-0")
        service.charges()                             # read from the database

It answers one request after the other. So two requests with one key never meet, as they could at Stripe.
"""

import encodings.idna  # noqa: F401 - a connection looks for it; a child inherits it from the launcher, which imports this
import http.client
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Self, TypeVar

from minagent.lab.processes.child_process import say, start
from minagent.lab.world.payments import Answer, Payments, Request, Send

HERE = "127.0.0.1"
LEDGER = "payments.db"
Result = TypeVar("Result")
TIMEOUT = 120.0  # seconds to wait for an answer


def sender(port: int) -> Send:
    """Return the way to the service at this port."""

    def send(request: Request) -> Answer:
        headers = {} if request.key is None else {"Idempotency-Key": request.key}
        with closing(http.client.HTTPConnection(HERE, port, timeout=TIMEOUT)) as connection:
            try:
                connection.request(request.method, request.path, json.dumps(request.body), headers)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())
            except http.client.HTTPException as error:
                raise OSError(f"{type(error).__name__}: {error}") from error

    return send


class PaymentService:
    """The process, as its owner holds it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER
        # It ends when this process does, however that ends: it reads what is never sent.
        self.process = start(_serve, self.path)
        self.close = self.process.kill  # ends the process, as the end of Python does; its database stays
        said = self.process.hear()
        if not said:
            self.close()
            raise RuntimeError("the payment service did not start; it says why on stderr")
        self.port = int(said)
        self.send = sender(self.port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def let_pass(self, hours: float) -> None:
        """Put the service's clock forward."""
        self.send(Request("POST", "/clock", {"hours": hours}))

    def forget(self) -> None:
        """Begin with an empty ledger."""
        self.send(Request("POST", "/forget", {}))

    def charges(self) -> list[dict[str, Any]]:
        """Return all charges, oldest first, as the database has them."""
        return self.read(Payments.charges)

    def requests(self) -> int:
        """Return how many requests for a charge were answered well, or would have been."""
        return self.read(Payments.requests)

    def read(self, look: Callable[[Payments], Result]) -> Result:
        """Return what `look` sees in the ledger."""
        with closing(sqlite3.connect(self.path)) as database:
            return look(Payments(database))


class _Server(HTTPServer):
    """The service's side."""

    def __init__(self, path: Path) -> None:
        super().__init__((HERE, 0), _Handler)
        self.database = sqlite3.connect(path)
        self.database.execute("PRAGMA synchronous = OFF")  # processes are killed here; nobody cuts the power
        self.payments = Payments(self.database)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that was killed while it waited for its answer."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = TIMEOUT  # for a client that connects and then says nothing: the others wait behind it

    def _answer(self) -> None:
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Request(self.command, self.path, body, self.headers["Idempotency-Key"])
            status, answer = self.server.payments.answer(request)
            self.server.database.commit()
        except Exception as error:
            self.server.database.rollback()  # else the next request would commit half of this one
            status, answer = 400, {"error": f"{type(error).__name__}: {error}"}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = _answer  # noqa: N815 - the names that a server looks for

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def _serve(path: Path) -> None:
    """Be the service."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    server = _Server(path)
    say(server.server_port)
    server.serve_forever()
