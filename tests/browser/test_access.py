"""Who listens to the page, works by keyboard, or sits far from the projector: our part of it holds up.

axe-core looks for what a screen reader would stumble over, in each state of the views, light and dark. In JupyterLab's
scrolling page it takes most text for hidden, and does not look at its contrast; so that is computed here.
"""

from collections.abc import Iterator
from typing import get_args

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.jupyterlab import Theme, jupyterlab, open_and_run

OURS = ".jp-OutputArea-output:has(.minagent)"
"""Every output with a view of ours in it."""


@pytest.fixture(scope="module", params=get_args(Theme))
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Page]:
    """The live demo, run, in one theme."""
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab"), request.param) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        open_and_run(page, address, "live_demo.ipynb")
        yield page


def serious(page: Page) -> list[str]:
    """Return what axe-core finds serious or critical in our part of the page."""
    found = Axe().run(page, context=OURS).response["violations"]
    return [
        f"{violation['id']}: {node['html']}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


CONTRAST = """selector => {
    const channels = color => (color.match(/[0-9.]+/g) || []).map(Number)
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
    const behind = element => {
        const color = channels(getComputedStyle(element).backgroundColor)
        return (color.length === 3 || color[3] > 0) || !element.parentElement ? color : behind(element.parentElement)
    }
    const withText = element => [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
    return [...document.querySelectorAll(selector + ' *')]
        .filter(element => withText(element) && !['STYLE', 'SCRIPT', 'OPTION'].includes(element.tagName))
        .filter(element => !element.disabled && element.getClientRects().length)
        .map(element => {
            const pair = [light(channels(getComputedStyle(element).color)), light(behind(element))]
            return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), element.textContent.trim().slice(0, 60)]
        })
}"""
"""The contrast of each piece of text with what is behind it, as WCAG 2 computes it."""


def pale(page: Page) -> list[str]:
    """Return the texts of ours whose contrast is below 4.5."""
    found = page.evaluate(CONTRAST, OURS)
    assert len(found) > 20  # else it has not looked
    return [f"{text}: {ratio:.1f}" for ratio, text in found if ratio < 4.5]


def test_nothing_serious_in_any_state(demo: Page):
    """Before the start, running, killed, in doubt, finished, and with an error in the status line."""
    view = demo.locator(OURS).filter(has=demo.get_by_label("What happened"))
    for label in ("Reset", "Step", "Step", "Step", "Step", "Crash", "Step", "Resume", "It happened", "Run"):
        view.get_by_role("button", name=label, exact=True).press("Enter")
        demo.wait_for_timeout(150)
        assert serious(demo) == [], label
        assert pale(demo) == [], label


def test_both_would_find_something(demo: Page):
    """The proof that they look: a button without a name, and text that is too pale."""
    demo.evaluate(
        """selector => { const place = document.querySelector(selector + ' .minagent');
        place.insertAdjacentHTML('beforeend', '<div id="bad"><button></button>' +
            '<p style="color: #999; background: #aaa">too pale</p></div>') }""",
        OURS,
    )
    assert [line.partition(":")[0] for line in serious(demo)] == ["button-name"]
    assert [line.partition(":")[0] for line in pale(demo)] == ["too pale"]
    demo.evaluate("document.getElementById('bad').remove()")


@pytest.mark.parametrize(("width", "what"), [(1024, "a projector"), (640, "a page at 200 %")])
def test_nothing_is_cut_off(demo: Page, width: int, what: str):
    """Views wrap; nobody has to scroll sideways."""
    demo.set_viewport_size({"width": width, "height": 700})
    demo.wait_for_timeout(300)
    too_wide = demo.evaluate(
        "selector => [...document.querySelectorAll(selector)].map(e => e.scrollWidth - e.clientWidth)", OURS
    )
    assert too_wide, what
    assert max(too_wide) <= 1, what
