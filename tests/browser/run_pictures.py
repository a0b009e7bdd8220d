"""The pictures of runs that are on a page."""

import base64
from html import unescape

from playwright.sync_api import Page


def descriptions(page: Page) -> list[str]:
    """Return what each picture says of its run. A page's text does not have it: it is drawn."""
    sources = page.evaluate("[...document.images].map(image => image.src)")
    drawn = [base64.b64decode(source.partition(",")[2]).decode() for source in sources if "image/svg+xml" in source]
    return [unescape(svg.partition("<desc>")[2].partition("</desc>")[0]) for svg in drawn]
