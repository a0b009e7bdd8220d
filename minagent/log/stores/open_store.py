"""Open a store by its address, as it stands in a configuration.

    memory:                  in this process alone
    file:sessions            the folder `sessions`; an absolute one is file:/var/lib/agent, or file:///var/lib/agent
    sqlite:sessions.db       the database `sessions.db`, likewise

What follows the colon is a path as you would type it, without escapes.

Source: chapter 7.3.9.
"""

from collections.abc import Callable

from minagent.errors import InvalidValue
from minagent.log.stores.base import Store
from minagent.log.stores.file import FileStore
from minagent.log.stores.memory import MemoryStore
from minagent.log.stores.sqlite import SqliteStore

PERSISTENT: dict[str, Callable[[str], Store]] = {"file": FileStore, "sqlite": SqliteStore}


def open_store(url: str) -> Store:
    """Return the store at an address.

    Raises:
        InvalidValue: it is not the address of a store, or of a kind that this minagent does not know.
        OSError: what is there cannot be opened.
    """
    kind, colon, place = url.partition(":")
    if url == "memory:":
        return MemoryStore()
    place = place.removeprefix("//")
    if kind not in PERSISTENT or not colon:
        raise InvalidValue("url", f"expected memory:, file:FOLDER or sqlite:FILE (there are no others), found {url!r}")
    if place in ("", ":memory:"):
        raise InvalidValue("url", f"{url!r} names no place that lasts: write a path after the colon")
    return PERSISTENT[kind](place)
