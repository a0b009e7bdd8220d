"""Attempts at the capstone: four that stop at one of its steps each, one that holds, and mistakes that one makes."""

import json
from typing import Any

from minagent.lab.capstone.desk import Desk

Records = list[dict[str, Any]]


def whole_lines(desk: Desk) -> list[Any]:
    """Return what is on the disk, without a line that is torn."""
    return [json.loads(line) for line in desk.lines() if line.endswith("\n")]


def open_orders(history: Records) -> list[str]:
    """Return the orders that have no receipt yet."""
    orders = [order for record in history for order in record.get("orders", [])]
    return orders[sum("receipt" in record for record in history) :]


def starts_over(desk: Desk) -> str:
    """Write nothing down."""
    history: Records = []
    while True:
        history.append(desk.ask(history))
        if "answer" in history[-1]:
            return str(history[-1]["answer"])
        history += [desk.charge(order) for order in history[-1]["orders"]]


def saves_each_step(desk: Desk) -> str:
    """Save as the chapter does: when a step is over."""
    history: Records = [record for step in whole_lines(desk) for record in step]
    while not history or "answer" not in history[-1]:
        plan = desk.ask(history)
        step = [plan, *(desk.charge(order) for order in plan.get("orders", []))]
        desk.append(step)
        history += step
    return str(history[-1]["answer"])


def plan_first(desk: Desk) -> str:
    """Write the plan down before the first charge, and all receipts when they are there."""
    history: Records = [record for part in whole_lines(desk) for record in part]
    while not history or "answer" not in history[-1]:
        part = [desk.charge(order) for order in open_orders(history)] or [desk.ask(history)]
        desk.append(part)
        history += part
    return str(history[-1]["answer"])


def go_on(desk: Desk, key: Any) -> str:
    """Write down each thing as soon as it is there; `key` makes a key of the history and the order."""
    history: Records = whole_lines(desk)
    while not history or "answer" not in history[-1]:
        orders = open_orders(history)
        record = desk.charge(orders[0], key(history, orders[0])) if orders else desk.ask(history)
        desk.append(record)
        history.append(record)
    return str(history[-1]["answer"])


def each_result(desk: Desk) -> str:
    """Give no key."""
    return go_on(desk, lambda history, order: None)


def with_keys(desk: Desk) -> str:
    """Give each charge a key of its own, and the same one each time."""
    return go_on(desk, lambda history, order: len(history))


HALF_SOLUTIONS = (starts_over, saves_each_step, plan_first, each_result)
"""Each stops at one step more."""


def reads_a_torn_line(desk: Desk) -> str:
    """Take what is on the disk for whole."""
    known = [json.loads(line) for line in desk.lines()]
    return with_keys(desk) if len(known) < 99 else "never"


def key_of_the_order(desk: Desk) -> str:
    """Make the key of what is ordered: two cups are one request then."""
    return go_on(desk, lambda history, order: order)


def one_key_for_all(desk: Desk) -> str:
    """Take the session's name for a key."""
    return go_on(desk, lambda history, order: "session")


ATTEMPTS: list[int] = []


def new_key_each_time(desk: Desk) -> str:
    """Make the key anew in each process."""
    return go_on(desk, lambda history, order: f"{len(history)} of {len(desk.lines())} {id(desk)}")


def remembers_in_memory(desk: Desk) -> str:
    """Believe that a variable outlives the process."""
    ATTEMPTS.append(1)
    return starts_over(desk) if len(ATTEMPTS) == 1 else "All is paid."


def skips_what_is_in_doubt(desk: Desk) -> str:
    """Write down that a charge is to come, and never make it if that is all there is."""
    history: Records = []
    lines = whole_lines(desk)
    for number, record in enumerate(lines):
        if "about to" not in record:
            history.append(record)
        elif number == len(lines) - 1:
            history.append({"receipt": "it will have been paid"})
    while not history or "answer" not in history[-1]:
        if orders := open_orders(history):
            desk.append({"about to": orders[0]})
        history.append(desk.charge(orders[0]) if orders else desk.ask(history))
        desk.append(history[-1])
    return str(history[-1]["answer"])


def forgets_receipts(desk: Desk) -> str:
    """Give the model the plans alone."""
    history: Records = []
    while True:
        history.append(desk.ask(history))
        for order in history[-1]["orders"]:
            desk.charge(order)


def never_ends(desk: Desk) -> str:
    """Catch whatever comes, and try again."""
    while True:
        try:
            desk.charge("lamp", key="again and again")
        except Exception:  # noqa: S112
            continue


def prints_the_answer(desk: Desk) -> None:
    """Print, and return nothing."""
    print(with_keys(desk))


def not_answered(desk: Desk) -> None:
    """Do nothing."""


MISTAKES: dict[Any, str] = {
    reads_a_torn_line: "resume at all: ✗\nkilled before `half` at point 4: it raised JSONDecodeError: ",
    key_of_the_order: "resume at all: ✗\nnot killed at all: cup was ordered 2x and paid 1x: each order is its",
    one_key_for_all: "not killed at all: it raised PaymentRefused: the key 'session' was used for another request",
    new_key_each_time: "the key: ✗\nkilled before `result` at point 7: the charge for lamp came again",
    remembers_in_memory: "resume at all: ✗\nkilled before `model` at point 7: the charge for lamp came again, though",
    skips_what_is_in_doubt: "killed before `fsync` at point 8: lamp was ordered 1x and paid 0x: each order is its own",
    forgets_receipts: "not killed at all: it raised MinagentError: the model refuses a history with 2 orders and 0 rec",
    never_ends: "not killed at all: it raised SystemExit: it goes round in a circle: 500 points, and no end",
    prints_the_answer: "not killed at all: it returned None, not the answer",
}
"""What one writes at first, and what it is told."""
