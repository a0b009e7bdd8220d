"""The last few generations of a file: the newest under its own name, and each under its number as well.

    session.json           the newest: another name of session.json.step-3
    session.json.step-3
    session.json.step-2
    session.json.step-1
    session.json.bad-1     a newest one that could not be loaded; the save after it has set it aside

    .session.json.step-4.k2x9f3ab.tmp and .session.json.newest.tmp
                           what a process left that died in mid-save; the next save removes them

A save first writes the new generation, whole and durable, under its number. Then it moves the name of the newest onto
it. At no moment is that name missing, or on half a file: whoever reads it, now or after a crash, finds the generation
before or the new one. The number of a file is in its name, so that it can be told where its bytes are damaged.

This needs a file system with hard links, as those of Linux and macOS are. It knows one writer at a time.
"""

import contextlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from minagent.atomic import fsync_folder, replace_atomically

KEPT = 3
"""How many generations stay, the newest among them; and how many bad ones."""


@dataclass(frozen=True)
class Verdict:
    """What is known of the files that are there before a save."""

    newest_is_bad: bool
    """The newest cannot be loaded: it is kept under a name of its own."""
    newest_number: int | None
    """The number of the newest, if it is good and is to stay as an older generation."""
    unwanted: tuple[Path, ...]
    """Generations that cannot be loaded, or belong to something else that had the same name: they go."""


def numbered(path: Path) -> dict[int, Path]:
    """Return the generations of `path` by their numbers, the highest first."""
    return dict(sorted(_numbers(path, "step").items(), reverse=True))


def _numbers(path: Path, kind: str) -> dict[int, Path]:
    """Return the files that are named after `path`, this kind and a number, by that number."""
    expression = re.compile(rf"{re.escape(path.name)}\.{kind}-(0|[1-9][0-9]*)")
    return {int(match[1]): file for file, match in _fitting(path, expression)}


def _temporary(path: Path) -> list[Path]:
    """Return what a process left that died in mid-save."""
    expression = re.compile(rf"\.{re.escape(path.name)}\.(?:step-[0-9]+\.[a-z0-9_]{{8}}|newest)\.tmp")
    return [file for file, _ in _fitting(path, expression)]


def _fitting(path: Path, expression: re.Pattern[str]) -> list[tuple[Path, re.Match[str]]]:
    names = sorted(os.listdir(path.parent)) if path.parent.is_dir() else []
    matches = [(path.with_name(name), match) for name in names if (match := expression.fullmatch(name))]
    return [(file, match) for file, match in matches if file.is_file()]


def save_generation(path: Path, data: bytes, number: int, verdict: Verdict) -> None:
    """Make `data` the newest generation of `path`, under this number.

    Raises:
        OSError: the disk refused. The newest is still what it was; or, where the error says so, it is the new one, but
            a power cut may undo that.
    """
    _remove(_temporary(path))
    older = numbered(path)
    if verdict.newest_number is not None and verdict.newest_number not in older:
        older[verdict.newest_number] = _name(path, verdict.newest_number)
        os.link(path, older[verdict.newest_number])
    replace_atomically(_name(path, number), data)
    if verdict.newest_is_bad:
        _set_aside(path)
    # A higher number is from a line that was given up: the run fell back, and has gone on otherwise. It goes before
    # the new one can become the newest, lest a later fallback take it for the state before.
    _remove(file for n, file in older.items() if n > number)
    _move_name(path, _name(path, number))
    before = {n: file for n, file in older.items() if n < number}
    kept = sorted((n for n, file in before.items() if file not in verdict.unwanted), reverse=True)[: KEPT - 1]
    with contextlib.suppress(OSError):  # the save is done; what cannot be tidied up now is tidied up by the next one
        _remove(file for n, file in before.items() if n not in kept)


def _name(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.step-{number}")


def _set_aside(path: Path) -> None:
    bad = _numbers(path, "bad")
    os.link(path, path.with_name(f"{path.name}.bad-{max(bad, default=0) + 1}"))
    _remove(file for _, file in sorted(bad.items(), reverse=True)[KEPT - 1 :])


def _move_name(path: Path, generation: Path) -> None:
    # A hard link cannot replace a name, but a rename can: so link under a name that nobody reads, then rename.
    link = path.with_name(f".{path.name}.newest.tmp")
    os.link(generation, link)
    os.replace(link, path)
    try:
        fsync_folder(path.parent)
    except OSError as error:
        said = f"{error.strerror}: {path.name} is the new generation now, but a power cut may bring back the one before"
        raise OSError(error.errno, said) from error


def _remove(files: Iterable[Path]) -> None:
    for file in list(files):
        os.unlink(file)
