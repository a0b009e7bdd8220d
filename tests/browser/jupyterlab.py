"""A JupyterLab on a copy of the notebooks, and a browser to look at it with."""

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
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import ROOT
from tests.store_notebooks import NOTEBOOKS

Theme = Literal["light", "dark"]

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
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        yield chromium
        chromium.close()


@contextlib.contextmanager
def jupyterlab(folder: Path, theme: Theme = "light") -> Iterator[str]:
    """Serve a copy of the notebooks below `folder`, and yield the address."""
    notebooks = shutil.copytree(NOTEBOOKS, folder / "notebooks")
    with serve(["--allow-root", f"--ServerApp.root_dir={notebooks}"], folder, theme) as address:
        yield address.rpartition("/lab")[0]


@contextlib.contextmanager
def serve(arguments: list[str], folder: Path, theme: Theme = "light") -> Iterator[str]:
    """Run `jupyter lab` with these arguments, and yield the address that it prints.

    Its settings, and what its kernels write to temporary folders, are below `folder`.
    """
    _write_settings(folder / "settings", theme)
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
            [sys.executable, "-m", "jupyterlab", *arguments, *private],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=out,
        )
        try:
            yield _printed_address(server, log)
        finally:
            _stop(server)


def _stop(server: subprocess.Popen[bytes]) -> None:
    # Asked to stop, JupyterLab may wait for ever for a thread of its own (seen with Python 3.13).
    server.terminate()
    try:
        server.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _write_settings(folder: Path, theme: Theme) -> None:
    settings = {**SETTINGS, "apputils-extension/themes": {"theme": f"JupyterLab {theme.capitalize()}"}}
    for name, values in settings.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")


def _printed_address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        if printed := re.search(r"http://127\.0\.0\.1:\d+/\S+", log.read_text(encoding="utf-8")):
            return printed[0]
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


def open_and_run(page: Page, address: str, notebook: str) -> None:
    """Open a notebook, run all its cells, and wait until the last one has."""
    page.goto(f"{address}/lab/tree/{notebook}?reset")
    page.get_by_text("(ipykernel) | Idle").wait_for(timeout=60_000)
    # The stored cells carry the numbers of their last run: without them, a number means that the cell has run now.
    for menu, item in (("Edit", "Clear Outputs of All Cells"), ("Run", "Run All Cells")):
        page.get_by_role("menuitem", name=menu, exact=True).click()
        page.get_by_role("menuitem", name=item, exact=True).click()
    page.wait_for_function(
        """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputArea-prompt')]
                 .every(prompt => /\\[\\d+\\]/.test(prompt.textContent))""",
        timeout=60_000,
    )
