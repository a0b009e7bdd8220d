"""Is this machine ready for the notebooks? A line for each need, and what to do. And a folder for the demo."""

import contextlib
import importlib.util
import os
import shutil
import signal
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from minagent.atomic import replace_atomically

PACKAGES = ("ipykernel", "ipywidgets", "matplotlib", "nbval")
INSTALL = "install the packages with the first command of the README, and start Jupyter with it"
PIP_INSTALL = "pip install ipywidgets jupyter matplotlib nbval"
POSIX = "this system is not Linux or macOS; on Windows, use WSL (the Windows Subsystem for Linux)"


@contextlib.contextmanager
def notebook_packages() -> Iterator[None]:
    """Say what to install where a module of the lab imports a package that is not there.

    The core needs the standard library alone, so minagent may well be installed without them.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        said = f"{missing}. This part of minagent's lab needs the packages of the notebooks: {PIP_INSTALL}"
        raise ModuleNotFoundError(said, name=missing.name) from None


def _packages() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in PACKAGES)


def _processes() -> bool:
    return hasattr(signal, "SIGKILL") and hasattr(os, "fork") and importlib.util.find_spec("fcntl") is not None


def _folders() -> bool:
    try:
        with tempfile.TemporaryDirectory() as folder:
            replace_atomically(f"{folder}/name", b"")
            os.link(f"{folder}/name", f"{folder}/other name")
    except OSError:
        return False
    return True


NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    f"the packages {', '.join(PACKAGES)}": (_packages, INSTALL),
    "processes that can be forked, killed and locked out": (_processes, POSIX),
    "a temporary folder with hard links, that can be forced to disk": (_folders, f"set TMPDIR to one; or {POSIX}"),
}
"""What the notebooks need: a test of it, and what to do where it fails."""


def check_environment(needs: Mapping[str, tuple[Callable[[], bool], str]] = NEEDS) -> str:
    """Test each of `needs`, and return a line of text for each, and a last one that sums up."""
    lines, missing = list[str](), 0
    for need, (is_there, remedy) in needs.items():
        found = is_there()
        missing += not found
        lines.append(f"✓ {need}" if found else f"✗ {need}: missing; {remedy}")
    lines.append(f"{missing} missing: see above." if missing else "All here: every notebook of the set runs offline.")
    return "\n".join(lines)


def demo_folder(*, fresh: bool = False) -> Path:
    """Return a folder of this notebook's that outlives its kernel; empty, if it is to be fresh."""
    notebook = "".join(os.environ.get(name, "") for name in ("JPY_PARENT_PID", "JPY_SESSION_NAME"))  # from Jupyter
    folder = Path(tempfile.gettempdir(), f"minagent-demo-{os.getuid()}-{zlib.crc32(notebook.encode())}")
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
