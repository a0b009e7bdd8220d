"""Who listens to the page, works by keyboard, or sits far from the projector: our part of it holds up.

What is looked for is in `access`; here it is, in each state of the views, light and dark.
"""

from collections.abc import Iterator
from typing import get_args

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.access import OURS, pale, serious
from tests.browser.crash_lab_page import WholeLabOnPage
from tests.browser.jupyterlab_page import FRONT, Theme
from tests.browser.notebooks import Notebooks
from tests.examined import Examined

NOTEBOOK = "live_demo.ipynb"

PRESSED = [
    ("log", "Chosen: log; errand."),
    ("Step", "Now at step 0, about to ask the model."),
    ("Step", "about to write down what the model wants."),
    ("Step", "about to run the tool."),
    ("step 1: model", "Crashed by SIGKILL."),
    ("Step", "NotNow: There is no process to step"),
    ("Resume", "Resumed in a new process, from the log."),
    ("Run", "Done: the process has ended by itself."),
    ("Reset", "Reset: no process, an empty disk, an empty ledger."),
    ("step 1: result", "Crashed by SIGKILL."),
    ("Resume", "nobody knows"),
    ("It happened", "Recorded: "),
    ("Run", "Done: the process has ended by itself."),
    ("every step", "Chosen: every step; errand."),
    ("step 1: result", "Crashed by SIGKILL."),
    ("Resume", "Resumed in a new process, from the checkpoint."),
    ("Run", "Done: the process has ended by itself."),
]
"""Buttons, in order, and what the status line says then."""


@pytest.fixture(scope="module", params=get_args(Theme))
def theme(request: pytest.FixtureRequest, notebooks: Notebooks) -> Iterator[None]:
    """The theme of the page, with the live demo on it."""
    notebooks.begin(NOTEBOOK)
    notebooks.lab.show_in(request.param)
    yield
    notebooks.lab.show_in("light")


@pytest.fixture
def demo(theme: None, notebook: Locator) -> Page:
    """The live demo's page, run, in one theme."""
    return notebook.page


def test_nothing_serious_in_any_state(demo: Page, notebook: Locator, examined: Examined):
    """Before the start, running, killed, in doubt, finished, and with an error in the status line."""
    assert serious(demo) == []
    assert pale(demo) == []
    lab = WholeLabOnPage(notebook)
    lab.choose("nothing", "errand")
    for label, said in PRESSED:
        lab.press(label, said)
        assert serious(demo, lab.selector) == [], label
        assert pale(demo, lab.selector) == [], label
        examined("states of views looked at by axe and for contrast", 1)
    lab.expect_paid(52)
    examined("crashes by hand in JupyterLab", 3)


def test_both_would_find_something(demo: Page):
    """The proof that they look: a button without a name, and text that is too pale, written or drawn."""
    demo.evaluate(
        """selector => { const place = document.querySelector(selector + ' .minagent');
        place.insertAdjacentHTML('beforeend', '<div id="bad"><button></button>' +
            '<p style="color: #999; background: #aaa">too pale</p></div>')
        document.querySelector(selector + ' svg text').setAttribute('fill', '#797979') }""",
        OURS,
    )
    assert [line.partition(":")[0] for line in serious(demo)] == ["button-name"]
    assert sorted(line.partition(":")[0] for line in pale(demo)) == ["model", "too pale"]
    demo.evaluate("document.getElementById('bad').remove()")
    demo.evaluate("document.querySelector('.minagent-live svg text').setAttribute('fill', '#59636e')")


@pytest.mark.parametrize(("width", "what"), [(1024, "a projector"), (640, "a page at 200 %")])
def test_nothing_is_cut_off(demo: Page, width: int, what: str):
    """Views wrap; nobody has to scroll sideways."""
    before = demo.viewport_size
    assert before
    demo.set_viewport_size({"width": width, "height": 700})
    demo.wait_for_function(
        "([front, width]) => document.querySelector(front).getBoundingClientRect().right <= width",
        arg=[FRONT, width],
        polling=20,
    )
    too_wide = demo.evaluate(
        "selector => [...document.querySelectorAll(selector)].map(e => e.scrollWidth - e.clientWidth)", OURS
    )
    demo.set_viewport_size(before)
    assert too_wide, what
    assert max(too_wide) <= 1, what
