"""JupyterLab, started by the README's own command on a copy of the notebooks, and a browser to look at it with."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.conftest import ROOT
from tests.store_notebooks import NOTEBOOKS

PATIENCE = 180
"""Seconds. No wait of these tests gives up sooner, however busy the machine is."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# Without these, Chromium looks for servers of its maker at every start, and waits.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip

SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}
"""No news, and all cells on the page at once, so that a test can find them."""


def find_browser() -> str | None:
    """Return the path of a Chromium, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Start a headless Chromium."""
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS, timeout=PATIENCE * 1000)
        yield chromium
        chromium.close()


@contextlib.contextmanager
def window(
    chromium: Browser, *, height: int = 900, scale: float = 1, offline: bool = False
) -> Iterator[BrowserContext]:
    """Open a window, in which there are no pages yet; in the end they are closed with it."""
    opened = chromium.new_context(
        viewport={"width": 1280, "height": height}, device_scale_factor=scale, offline=offline
    )
    opened.set_default_timeout(PATIENCE * 1000)
    yield opened
    opened.close()


def first_command() -> list[str]:
    """Return what the README's first command gives to `jupyter lab`."""
    command = re.search(r"uv run jupyter lab (.*)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert command
    return command[1].split()


@contextlib.contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    """Run the README's first command in `folder`, on a copy of the notebooks, and yield the address that it prints.

    Its settings, and what its kernels write to temporary folders, are below `folder`.
    """
    shutil.copytree(NOTEBOOKS, folder / "repository" / "notebooks")
    _write_settings(folder / "settings")
    (folder / "tmp").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    private = [
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
    ]
    places = {"TMPDIR": "tmp", "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
              "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime"}  # fmt: skip
    environment = {**os.environ, **{name: str(folder / place) for name, place in places.items()}}
    log = folder / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *first_command(), *private],
            cwd=folder / "repository",
            env=environment,
            stdout=out,
            stderr=out,
        )
        try:
            yield _printed_address(server, log)
        finally:
            _stop(server, folder / "runtime")


def _stop(server: subprocess.Popen[bytes], runtime: Path) -> None:
    # Asked to stop, JupyterLab ends its kernels, and takes away the file of each. Then it may wait for ever for a
    # thread of its own (seen with Python 3.13): it is killed when the kernels are gone.
    server.terminate()
    deadline = time.monotonic() + PATIENCE
    while server.poll() is None and any(runtime.glob("kernel-*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    server.kill()
    server.wait()


def _write_settings(folder: Path) -> None:
    for name, values in SETTINGS.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def _printed_address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        if printed := re.search(r"http://127\.0\.0\.1:\d+/\S+", log.read_text(encoding="utf-8")):
            return printed[0]
        time.sleep(0.02)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")
