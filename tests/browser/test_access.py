"""Who listens to the page, works by keyboard, or sits far from the projector: our part of it holds up.

What is looked for is in `access`; here it is, in each state of the views, light and dark.
"""

from collections.abc import Iterator
from typing import get_args

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.access import OURS, pale, serious
from tests.browser.jupyterlab import Theme, jupyterlab, open_and_run


@pytest.fixture(scope="module", params=get_args(Theme))
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Page]:
    """The live demo, run, in one theme."""
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab"), request.param) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        open_and_run(page, address, "live_demo.ipynb")
        yield page


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
