"""What can be wrong with a reader's `my_save(path, data)`: killed, and at a power loss."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from minagent.lab.faults.file_calls import NO_STRIKE, run
from minagent.lab.faults.power_loss import count, record, survivors
from minagent.lab.faults.protocols import Protocol, load_json, survey

Save = Callable[[Path, bytes], None]
# They differ from the first byte on, so that no rest of one passes for the other.
LONG, SHORT = (
    json.dumps({text: text * size}).encode() for text, size in (("long", 200), ("short", 1))
)
ORDERS = {"short file over long": [LONG, SHORT], "long file over short": [SHORT, LONG]}


def untouched(save: Save) -> bool:
    """Return whether it does nothing at all."""
    only = survey(_mine(save), [SHORT], "kill")
    return [(outcome.call, outcome.error) for outcome in only] == [("none", "")]


def killed_anywhere(save: Save) -> str | None:
    """Return what goes wrong when it is killed before one of its file calls, or not at all."""
    for label, versions in ORDERS.items():
        outcomes = survey(_mine(save), versions, "kill")
        if outcomes[-1].error:
            return f"it raised {outcomes[-1].error}"
        if outcomes[-1].found_next != "new":
            there = "the old version" if outcomes[-1].found_next == "old" else "neither version"
            return f"not killed at all, {label}: then {there} is there"
        for outcome in outcomes:
            if outcome.found == "unreadable":
                return f"killed before `{outcome.call}`, {label}: neither version is there"
        if "write" not in [outcome.call for outcome in outcomes]:
            return "the temporary file is in another folder, from which it may not be moved"
    return None


def written_in_place(save: Save) -> str | None:
    """Return what is wrong if it writes into the old file, whoever has that open."""
    with tempfile.TemporaryDirectory(prefix="minagent-") as folder:
        path, same = Path(folder, "session.json"), Path(folder, "the same file")
        path.write_bytes(LONG)
        same.hardlink_to(path)
        run(save, path, SHORT, NO_STRIKE)
        in_place = same.read_bytes() != LONG
    return "it writes into the old file: it can die in the middle of a write" if in_place else None


def unreadable_disks(save: Save) -> int:
    """Return how many disks that a power loss may leave cannot be read."""
    found = (count(_mine(save), v, survivors(record(_mine(save), v))) for v in ORDERS.values())
    return sum(counted["unreadable"] for counted in found)


def _mine(save: Save) -> Protocol:
    return Protocol("mine", save, load_json)
