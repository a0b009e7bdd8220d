"""Replace a file whole: whoever reads it, now or after a crash, finds all of the old bytes or all of the new.

The order is the point. A rename is atomic, so a killed process never leaves half a file under the name. It says
nothing about the disk: the rename may reach it before the bytes do. So the bytes are forced out first (`fsync` of the
file), and the name last (`fsync` of its folder); only then does a return mean that a power cut cannot undo it.

Source: chapter 7.3.2.
"""

import contextlib
import os
import tempfile
from pathlib import Path


def replace_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path`, atomically and durably. Missing folders are made; only the owner may read the file.

    Raises:
        OSError: the disk refused. What `path` held before is still there, whole, unless the very last operation
            failed, the `fsync` of the folder: then the new bytes are there, whole, but may not outlive a power cut.
    """
    make_folder(path.parent)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    fsync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, each one's name forced to disk."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        fsync_folder(folder.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`."""
    # os.write may write less than it was given, a full disk being one reason, and reports that only as a number.
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def fsync_folder(folder: Path) -> None:
    """Force the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
