"""Open a store by its address, as it stands in a configuration.

    memory:                             in this process alone
    file:sessions                       the folder `sessions`: a path as you would type it, without escapes
    sqlite:sessions.db                  the database `sessions.db`, likewise
    postgresql://user@host/database     the extra `postgres`; what is special in a name or password is escaped
    redis://host:6379/0                 the extra `redis`; rediss:// is with TLS, unix:// a socket
    s3://bucket/prefix                  the extra `object_store`; gs:// is Google's, az:// Azure's

Source: chapter 7.3.9.
"""

from importlib import import_module
from typing import Any

from minagent.errors import InvalidValue
from minagent.log.stores.base import Store
from minagent.log.stores.file import FileStore
from minagent.log.stores.memory import MemoryStore
from minagent.log.stores.sqlite import SqliteStore

IN_FILES: dict[str, type[FileStore | SqliteStore]] = {"file": FileStore, "sqlite": SqliteStore}
ON_SERVERS = {"postgresql": "postgres", **dict.fromkeys(("redis", "rediss", "unix"), "redis")}  # modules, and extras
ON_SERVERS |= dict.fromkeys(("s3", "gs", "az"), "object_store")


def open_store(url: str, **options: Any) -> Store:
    """Return the store at an address. `options` are those of a server's driver: time-outs, TLS.

    Raises:
        InvalidValue: it is not the address of a store, or of a kind that this minagent does not know.
        ModuleNotFoundError: the store is an extra that is not installed.
        OSError: what is there cannot be opened.
    """
    kind, colon, place = url.partition(":")
    if url == "memory:":
        return MemoryStore()
    if (extra := ON_SERVERS.get(kind)) and place.startswith("//"):
        try:
            return import_module(f"minagent.log.stores.{extra}").open_url(url, **options)  # type: ignore[no-any-return]
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(f"{missing}; install it: pip install 'minagent[{extra}]'") from missing
    if kind not in IN_FILES or not colon:
        known = "memory:, file:FOLDER, sqlite:FILE, postgresql://..., redis://... or s3://..."
        raise InvalidValue("url", f"expected {known} (there are no others), found {kind!r}")
    place = place.removeprefix("//")
    if place in ("", ":memory:"):
        raise InvalidValue("url", f"{url!r} names no place that lasts: write a path after the colon")
    return IN_FILES[kind](place)
