"""Take the pictures that people look at: each notebook, light and dark, and the crash labs.

    python3 -m uv run --group test python -m tests.browser.take_screenshots FOLDER

A crash lab is caught after a crash, when its three panels differ most; the whole one, when a charge came again. The
README's picture of the whole lab is a copy of crash_lab_live_demo_light.png; for those that it opens with, see
readme_pictures.
"""

import sys
import tempfile
from pathlib import Path
from typing import get_args

from playwright.sync_api import Locator, Page

from tests.browser.jupyterlab import browser, jupyterlab, window
from tests.browser.jupyterlab_page import JupyterLabPage, Theme, alone
from tests.store_notebooks import NOTEBOOKS

CLICKS = {
    "live_demo": (["every step", "step 1: result", "Resume", "Run"], "Done"),
}
"""What is clicked before the picture, and what the status line says then."""
ELSEWHERE = (["Reset", *["Step"] * 7, "Crash"], "Crashed")


def crash(view: Locator, name: str) -> None:
    """Click through the crash lab of a notebook."""
    labels, said = CLICKS.get(name, ELSEWHERE)
    for label in labels:
        view.get_by_role("button", name=label, exact=True).click()
    view.get_by_role("status").get_by_text(said).wait_for()


def picture(page: Page, view: Locator, target: Path) -> None:
    """Take one long picture of a notebook; if there is a crash lab in it, one of that."""
    # High enough for all of a crash lab, or the status bar lies over its end; and not as high as for the theme before.
    page.set_viewport_size({"width": 1280, "height": 1400})
    if view.count():
        view.screenshot(path=target.with_name(f"crash_lab_{target.name}"))
    height = page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollHeight")
    page.set_viewport_size({"width": 1280, "height": height + 200})
    page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTop = 0")
    page.screenshot(path=target)


def main(folder: Path) -> None:
    """Take all pictures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        jupyterlab(Path(home)) as address,
        browser() as chromium,
        window(chromium, scale=1.5) as opened,
    ):
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            lab = JupyterLabPage(opened.new_page(), alone(address, path.name))
            lab.begin_to_run(path.name)
            lab.finish(path.name)
            view = lab.front.locator(".jp-OutputArea-output:has(.minagent-live)").first
            if view.count():
                crash(view, path.stem)
            for theme in get_args(Theme):
                lab.show_in(theme)
                picture(lab.page, view, folder / f"{path.stem}_{theme}.png")
            lab.page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
