"""The last few generations of a file: the newest under its own name, and each under its number as well.

    session.json           the newest: another name of session.json.step-3
    session.json.step-3
    session.json.step-2
    session.json.step-1
    session.json.bad-1     a newest one that could not be loaded; the save after it has set it aside
    .session.json.x7.tmp   what a process left that died in mid-save; the next save removes it

A save first writes the new generation, whole and durable, under its number. Then it moves the name of the newest onto
it. At no moment is that name missing, or on half a file: whoever reads it, now or after a crash, finds the generation
before or the new one. The number of a file is in its name, so that it can be told where its bytes are damaged.

This needs a file system with hard links, as those of Linux and macOS are. It knows one writer at a time.
"""

import contextlib
import os
import re
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from minagent.atomic import fsync_folder, replace_atomically

KEPT = 3
"""How many generations stay, the newest among them."""


def numbered(path: Path) -> dict[int, Path]:
    """Return the generations of `path` by their numbers, the highest first."""
    pattern = re.compile(re.escape(path.name) + r"\.step-(\d+)")
    found = {}
    if path.parent.is_dir():
        for name in os.listdir(path.parent):
            if match := pattern.fullmatch(name):
                found[int(match[1])] = path.with_name(name)
    return dict(sorted(found.items(), reverse=True))


def save_generation(path: Path, data: bytes, number: int, *, newest_is_bad: bool, forget_others: bool) -> None:
    """Make `data` the newest generation of `path`, under this number.

    A bad newest one is kept under a name of its own. With `forget_others` no older generation stays: they belong to
    something else that had the same name, and must never be taken for generations of this.

    Raises:
        OSError: the disk refused. The newest is still what it was; or, where the error says so, it is the new one, but
            a power cut may undo that.
    """
    if newest_is_bad:
        os.link(path, _free_name(path))
    if forget_others:
        _remove(numbered(path).values())
    generation = path.with_name(f"{path.name}.step-{number}")
    replace_atomically(generation, data)
    _move_name(path, generation)
    with contextlib.suppress(OSError):  # the save is done; what cannot be tidied up now is tidied up by the next one
        _tidy(path, number)


def _free_name(path: Path) -> Path:
    return next(free for n in count(1) if not (free := path.with_name(f"{path.name}.bad-{n}")).exists())


def _move_name(path: Path, generation: Path) -> None:
    # A hard link cannot replace a name, but a rename can: so link under a name that nobody reads, then rename.
    link = path.with_name(f".{path.name}.newest.tmp")
    link.unlink(missing_ok=True)
    os.link(generation, link)
    os.replace(link, path)
    try:
        fsync_folder(path.parent)
    except OSError as error:
        said = f"{error.strerror}: {path.name} is the new generation now, but a power cut may bring back the one before"
        raise OSError(error.errno, said) from error


def _tidy(path: Path, number: int) -> None:
    """Remove what is older than the generations to keep, what is newer than the newest, and what died in mid-save.

    A generation with a higher number is from a line that was given up: the run fell back, and has gone on otherwise.
    """
    generations = numbered(path)
    kept = [n for n in generations if n <= number][:KEPT]
    _remove(file for n, file in generations.items() if n not in kept)
    names = os.listdir(path.parent)
    _remove(path.with_name(name) for name in names if name.startswith(f".{path.name}.") and name.endswith(".tmp"))


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        os.unlink(file)
