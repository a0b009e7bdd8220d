"""Take the pictures that people look at: each notebook, light and dark, and the crash labs.

    python3 -m uv run --group test python -m tests.browser.take_screenshots FOLDER

A crash lab is caught after a crash, when its three panels differ most; the whole one, when a charge came again. The
README's picture is a copy of crash_lab_live_demo_light.png.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import get_args

from playwright.sync_api import Browser

from tests.browser.jupyterlab import Theme, browser, jupyterlab, open_and_run
from tests.store_notebooks import NOTEBOOKS

CLICKS = {
    "live_demo": (["every step", *["Step"] * 8, "Crash", "Resume", "Run"], "Done"),
}
"""What is clicked before the picture, and what the status line says then."""
ELSEWHERE = (["Reset", *["Step"] * 7, "Crash"], "Crashed")


def picture_notebook(chromium: Browser, address: str, name: str, target: Path) -> None:
    """Run a notebook and take one long picture of it; if there is a crash lab in it, one of that."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=1.5)
    open_and_run(page, address, f"{name}.ipynb")
    view = page.locator(".jp-OutputArea-output").filter(has=page.locator(".minagent-lane"))
    if view.count():
        labels, said = CLICKS.get(name, ELSEWHERE)
        for label in labels:
            view.get_by_role("button", name=label, exact=True).click()
        view.get_by_role("status").get_by_text(said).wait_for()
        page.set_viewport_size({"width": 1280, "height": 1400})  # all of it, or the status bar lies over its end
        view.screenshot(path=target.with_name(f"crash_lab_{target.name}"))
    height = page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollHeight")
    page.set_viewport_size({"width": 1280, "height": height + 200})
    page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTop = 0")
    page.screenshot(path=target)
    page.close()


def main(folder: Path) -> None:
    """Take all pictures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for theme in get_args(Theme):
        home = Path(tempfile.mkdtemp())
        with jupyterlab(home, theme) as address, browser() as chromium:
            for path in sorted(NOTEBOOKS.glob("*.ipynb")):
                picture_notebook(chromium, address, path.stem, folder / f"{path.stem}_{theme}.png")
        shutil.rmtree(home)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
