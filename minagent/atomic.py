"""Replace a file whole: whoever reads it, now or after a crash, finds all of the old bytes or all of the new (7.3.2).

The order is the point. A rename is atomic, so a killed process never leaves half a file under the name. It says
nothing about the disk: the rename may reach it before the bytes do. So the bytes are forced out first (`fsync` of the
file), and the name last (`fsync` of its folder); only then does a return mean that a power cut cannot undo it.
"""

import contextlib
import os
from os import PathLike


def replace_atomically(path: str | PathLike[str], data: bytes) -> None:
    """Write `data` to `path`, atomically and durably. Missing folders are made; only the owner may read the file.

    After an OSError what `path` held before is still there, whole, unless the error says that it is new.
    """
    folder, name = os.path.split(path)
    make_folder(folder)
    temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        rename_durably(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def rename_durably(file: str, path: str | PathLike[str]) -> None:
    """Give a file another name in the same folder; an OSError says so if it has the name, but not yet for good."""
    os.replace(file, path)
    try:
        fsync_folder(os.path.dirname(path))
    except OSError as error:
        said = f"{error.strerror}: {path} is new now, but a power cut may bring back what it was before"
        raise OSError(error.errno, said) from error


def make_folder(folder: str | PathLike[str]) -> None:
    """Make a folder and those above it that are missing, each one's name forced to disk."""
    if folder and not os.path.isdir(folder):
        above = os.path.dirname(folder)
        make_folder(above)
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.mkdir(folder)
        fsync_folder(above)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`."""
    # os.write may write less than it was given, a full disk being one reason, and reports that only as a number.
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def fsync_folder(folder: str | PathLike[str]) -> None:
    """Force the names in a folder to disk; "" is the current folder."""
    descriptor = os.open(folder or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
