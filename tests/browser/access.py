"""What axe-core and the rules of contrast find in our part of a page.

In JupyterLab's scrolling page axe-core takes most text for hidden, and does not look at its contrast; so that is
computed here.
"""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.jupyterlab_page import FRONT

OURS = f"{FRONT} .jp-OutputArea-output:has(.minagent)"
"""Every output with a view of ours in it, in the notebook in front."""

SERIOUS = """async selector => {
    const {violations} = await axe.run(selector, {resultTypes: ['violations']})
    return violations.filter(({impact}) => ['serious', 'critical'].includes(impact))
        .flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html}`))
}"""


def serious(page: Page, within: str = OURS) -> list[str]:
    """Return what axe-core finds serious or critical in our part of the page, or in one view."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(SERIOUS, within)
    return found


CONTRAST = """selector => {
    const channels = color => (color.match(/[0-9.]+/g) || []).map(Number)
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
    const behind = element => {
        const color = channels(getComputedStyle(element).backgroundColor)
        return (color.length === 3 || color[3] > 0) || !element.parentElement ? color : behind(element.parentElement)
    }
    const holds = (box, {left, right, top, bottom}) =>
        box.left <= left && box.right >= right && box.top <= top && box.bottom >= bottom
    const drawnUnder = text => channels(getComputedStyle([...text.ownerSVGElement.querySelectorAll('rect')]
        .filter(rect => holds(rect.getBoundingClientRect(), text.getBoundingClientRect())).pop()).fill)
    const drawn = element => element.ownerSVGElement
    const color = element => channels(getComputedStyle(element)[drawn(element) ? 'fill' : 'color'])
    const withText = element => [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
    return [...document.querySelectorAll(selector + ' *')]
        .filter(element => withText(element) && !['STYLE', 'SCRIPT', 'OPTION'].includes(element.tagName))
        .filter(element => !element.disabled && element.getClientRects().length)
        .map(element => {
            const pair = [light(color(element)), light((drawn(element) ? drawnUnder : behind)(element))]
            return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), element.textContent.trim().slice(0, 60)]
        })
}"""
"""The contrast of each piece of text, also of a drawn one, with what is behind it, as WCAG 2 computes it."""


def pale(page: Page, within: str = OURS) -> list[str]:
    """Return the texts of ours, or of one view, whose contrast is below 4.5."""
    found = page.evaluate(CONTRAST, within)
    assert len(found) > 20  # else it has not looked
    return [f"{text}: {ratio:.1f}" for ratio, text in found if ratio < 4.5]
