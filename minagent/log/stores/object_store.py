"""A store of objects: S3 and what speaks like it, Google Cloud Storage, Azure.

    ids/SHA                      the id of a session; SHA is its SHA-256. (All of it after the address's prefix.)
    SHA/records/00...03          a batch of lines, named by the number of the first; with no line: deleted here
    SHA/first/00...04.00...03    the records before 4 are removed, and the batches before 3
    SHA/checkpoints/00...08      a document

An append creates one object, only if none has its name: of two writers who expect the same length one gets Conflict.
So does Delta Lake's log. Of the objects in `first` the last one counts; it is there before what it removes goes.

A writer that slept may create a batch in the past: others have appended from that number on and removed it again, and
the name is free. So whoever has created a batch looks at `first` once more, and readers ignore what lies before it.

No request is made twice: if no answer comes, nobody on this side knows (AppendUnknown). What is acknowledged is worth
what the service promises; in a folder (`file:///...`) nothing is forced to the disk.

Sources: chapter 7.3.9; Armbrust et al., "Delta Lake", VLDB 2020, section 3.2.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

from obstore.exceptions import AlreadyExistsError, BaseError, GenericError
from obstore.store import from_url

from minagent.log.errors import AppendUnknown, Conflict
from minagent.log.stores.base import KEPT, Records, check_append

END = 10**20 - 1  # beyond every number: in a name it has 20 digits


class ObjectStore:
    """Keeps records as objects at `url`: `s3://bucket/prefix`, `gs://...`, `az://...`. Threads may share it.

    `options` are those of `obstore.store.from_url`: region, endpoint, credentials, time-outs. They may stand in the
    address, too (`?region=eu-west-1`), or in the environment (AWS_REGION). After a fork, open another store.
    """

    def __init__(self, url: str, **options: Any) -> None:
        place, _, query = url.partition("?")
        client = {"allow_http": True, **options.pop("client_options", {})}  # if the endpoint is an http:// one
        settings: dict[str, Any] = {**dict(parse_qsl(query)), **options, "client_options": client}
        with _told():
            self._objects: Any = from_url(place, **settings, retry_config={"max_retries": 0})
        self._lengths: dict[str, int] = {}  # what a log was once known to be; it may have grown since
        self._names("", "first")  # so that an address where nobody answers is told at once

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log."""
        check_append(records, expected_length, expected_length)
        if not records or self._lengths.get(session_id) != expected_length:
            check_append((), expected_length, self.read(session_id, END).length)
        if records:
            self._create(session_id, expected_length, b"".join(line + b"\n" for line in records))
            self._lengths[session_id] = expected_length + len(records)

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left."""
        first, found = self._look(session_id, since)
        return found.since(max(since, first))

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number."""
        if first := self.read(session_id, number).first:
            names, name = list(self._names(session_id, "records")), f"{first:020}"
            kept = max((batch for batch in names if batch <= name), default=name)
            self._put(_key(session_id, "first", f"{name}.{kept}"), b"")
            self._remove(session_id, "records", [batch for batch in names if batch < kept])
            self._remove(session_id, "first", [*self._names(session_id, "first")][:-1])

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number."""
        self._put(_key(session_id, "checkpoints", f"{number:020}"), document)
        self._remove(session_id, "checkpoints", [*self._names(session_id, "checkpoints")][:-KEPT])

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first."""
        while True:
            names = self._names(session_id, "checkpoints", since=self._look(session_id, END)[0])
            with contextlib.suppress(FileNotFoundError):  # a newer one has taken its place just now: look again
                return [(int(name), self._get(session_id, "checkpoints", name)) for name in reversed(names)]

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays, and one more."""
        if length := self.read(session_id, END).length:
            try:
                self._create(session_id, length, b"")
            except Conflict:  # it has grown
                self.delete(session_id)
            else:
                self.truncate_before(session_id, length + 1)
                self._remove(session_id, "checkpoints", self._names(session_id, "checkpoints"))

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted."""
        ids = [self._get("", "ids", name).decode("utf-8", "surrogatepass") for name in self._names("", "ids")]
        looks = ((session_id, *self._look(session_id, END)) for session_id in ids)
        return sorted(session_id for session_id, first, found in looks if found.length > first)

    def _moved(self, session_id: str) -> tuple[int, int]:
        """Return the number of the first record, and that of the first batch that is left."""
        first, kept = max(self._names(session_id, "first"), default="0.0").split(".")
        return int(first), int(kept)

    def _look(self, session_id: str, since: int) -> tuple[int, Records]:
        """Return the number of the first record, and the records from the batch on that has number `since`."""
        while True:
            first, kept = moved = self._moved(session_id)
            sizes = self._names(session_id, "records", kept)
            begin = max((int(name) + 1 for name, size in sizes.items() if not size), default=kept)  # after a deletion
            first = max(first, begin)
            begin = max((n for n in map(int, sizes) if begin <= n <= max(since, first)), default=begin)
            names = [name for name in sizes if int(name) >= begin]
            with contextlib.suppress(FileNotFoundError), ThreadPoolExecutor(8) as pool:
                batches = list(pool.map(lambda name: self._get(session_id, "records", name), names))
                if moved == self._moved(session_id):  # else some of it was removed meanwhile: look again
                    return first, Records(begin, [line for batch in batches for line in batch[:-1].split(b"\n")])

    def _create(self, session_id: str, number: int, batch: bytes) -> None:
        """Create the batch of this number, which was the length once; raise Conflict if it is not any more."""
        if number == 0:
            self._put(_key("", "ids", _key(session_id)), session_id.encode("utf-8", "surrogatepass"))
        with contextlib.suppress(FileExistsError):
            self._put(_key(session_id, "records", f"{number:020}"), batch, mode="create")
            try:
                if self._moved(session_id)[1] <= number:
                    return
            except OSError as error:
                raise AppendUnknown(f"it is there, but perhaps in the past: {error}") from error
        raise Conflict(number, self.read(session_id, END).length)

    def _names(self, session_id: str, part: str, since: int = 0) -> dict[str, int]:
        """Return the names in a part of a session, from a number on, in order, with their sizes in bytes."""
        key = _key(session_id, part)
        with _told():
            found = self._objects.list(key, offset=f"{key}/{since - 1:020}").collect()
        return {item["path"].rpartition("/")[2]: item["size"] for item in sorted(found, key=lambda item: item["path"])}

    def _get(self, session_id: str, part: str, name: str) -> bytes:
        with _told():
            return bytes(self._objects.get(_key(session_id, part, name)).bytes())

    def _put(self, key: str, body: bytes, **how: str) -> None:
        with _told(AppendUnknown):
            self._objects.put(key, body, **how)

    def _remove(self, session_id: str, part: str, names: Iterable[str]) -> None:
        with _told(AppendUnknown):
            self._objects.delete([_key(session_id, part, name) for name in names])


@contextlib.contextmanager
def _told(unanswered: type[Exception] = OSError) -> Iterator[None]:
    """Raise the driver's errors as ours."""
    try:
        yield
    except BaseError as error:
        kind = {GenericError: unanswered, AlreadyExistsError: FileExistsError}.get(type(error), OSError)
        raise kind(f"object store: {str(error).partition(chr(10))[0]}") from error


def _key(session_id: str, *parts: str) -> str:
    return "/".join((sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest(), *parts))


open_url = ObjectStore
