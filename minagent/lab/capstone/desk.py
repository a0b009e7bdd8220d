"""The desk: all that the reader's process has to work with. It dies at the points of `crash_points`."""

import contextlib
import io
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from minagent.errors import MinagentError
from minagent.lab.matrix.variants import BILL, Shape
from minagent.lab.processes.crash_points import CrashPoints
from minagent.lab.world.payments import Payments
from minagent.plain_json import compact, parse

ORDERS = ("lamp", "tea"), ("cup", "cup"), ("rug", "pot")  # what the model wants: in the second step, the same twice
ANSWER = "All is paid."
PRICE = 10
MANY = 500  # points


class Desk:
    """What a process has to work with: files in a folder, a payment service, and a model that acts as `shape` says."""

    def __init__(self, folder: Path, payments: Payments, points: CrashPoints, shape: Shape) -> None:
        self.folder, self.payments, self.points, self.shape = folder, payments, points, shape
        self._disk, self._bill = folder / "disk.jsonl", folder / BILL
        self.did: list[Any] = []  # after how many points, what, and with what

    def _about_to(self, point: str) -> None:
        if len(self.points.names) == MANY:  # a SystemExit, since a process may catch each Exception, and go on
            raise SystemExit(f"it goes round in a circle: {MANY} points, and no end")
        self.points.about_to(point)

    def lines(self) -> list[str]:
        """Return the lines on the disk, the oldest first. One that is torn has no line break at its end."""
        data = self._disk.read_bytes() if self._disk.exists() else b""
        return [line.decode(errors="replace") for line in data.splitlines(keepends=True)]

    def append(self, *records: object) -> None:
        """Write records to the end of the disk, a line of JSON each. A torn line that is there is cut off first."""
        data = b"".join(compact(record) + b"\n" for record in records)
        with open(self._disk, "ab", buffering=0) as file:
            file.truncate(sum(len(line.encode()) for line in self.lines() if line.endswith("\n")))
            for point, part in ("write", data[: len(data) // 2]), ("half", data[len(data) // 2 :]):
                self._about_to(point)
                file.write(part)
            self._about_to("fsync")
            if not self.points.imagined:
                os.fsync(file.fileno())

    def ask(self, history: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return what the model wants, given all records so far: {"orders": ["lamp", "tea"]} or {"answer": "..."}."""
        self._about_to("model")
        plans = [record["orders"] for record in history if "orders" in record]
        orders, receipts = [*itertools.chain(*plans)], sum("receipt" in record for record in history)
        if len(orders) != receipts:
            raise MinagentError(f"the model refuses a history with {len(orders)} orders and {receipts} receipts")
        with open(self._bill, "ab") as bill:  # what is ordered in each history that the model was given
            bill.write(compact(orders) + b"\n")
        self.did.append((len(self.points.names), "model", len(plans)))
        again = len(self._bill.read_bytes().splitlines()) - len(plans)
        self._about_to("answer")
        if len(plans) == self.shape.steps:
            return {"answer": ANSWER}
        other = f" #{again}" * (again > 1 and not self.shape.repeats_itself)
        return {"orders": [order + other for order in ORDERS[len(plans)]]}

    def charge(self, order: str, key: object = None) -> dict[str, str]:
        """Return {"receipt": "charged 10 for lamp"}: the customer is charged, unless the service knows the key."""
        self._about_to("tool")
        before = self.payments.charges()
        receipt = self.payments.charge(order, PRICE, key=None if key is None else str(key))
        same = None if self.payments.charges() == before else before.count(order)
        self.did.append((len(self.points.names), "tool", (order, same)))
        self._about_to("result")
        return {"receipt": receipt}


class Ending(NamedTuple):
    """What has come of a run, when its last process has ended; and what that process did."""

    returned: Any
    error: str
    charged: list[str]
    ordered: list[str]  # in the history that the model was given last
    points: list[str]  # that the process came to
    did: list[Any]  # at the desk


def live_once(text: str, shape: Shape, folder: Path, payments: Payments, points: CrashPoints) -> Ending:
    """Be one process, from what is there to its end: `text` defines `live`. What it prints is dropped."""
    desk, known, returned, error = Desk(folder, payments, points, shape), dict[str, Any](), None, ""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(text, known)  # noqa: S102 - the reader's own. A new process remembers nothing: so each time anew
            returned = known["live"](desk)
    except (Exception, SystemExit) as raised:
        error = f"{type(raised).__name__}: {raised}".splitlines()[0]
    ordered = parse((folder / BILL).read_bytes().splitlines()[-1]) if (folder / BILL).exists() else []
    return Ending(returned, error, payments.charges(), ordered, points.names, desk.did)
