"""Every error code that a person can meet: its cause, what to do, and whether it is tried again by itself.

The one source of `b24migrate errors`, of the hints about portals' answers, and of docs/errors.md, which
`python -m b24migrate.error_pages` writes.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from b24migrate.error_pages import certificates, files, gates, portals, records, setup, stores
from b24migrate.error_pages.page import Again, Chapter, Page

__all__ = ["CHAPTERS", "PAGES", "UNKNOWN", "Again", "Chapter", "Page", "anchor", "link", "page_of"]

CHAPTERS: tuple[Chapter, ...] = (
    records.CHAPTER,
    files.CHAPTER,
    portals.LIMITS,
    portals.TROUBLE,
    portals.RIGHTS,
    portals.REFUSALS,
    gates.CHAPTER,
    stores.CHAPTER,
    certificates.CHAPTER,
    setup.CHAPTER,
)
PAGES: dict[str, Page] = {page.code: page for chapter in CHAPTERS for page in chapter.pages}
UNKNOWN = PAGES["UNKNOWN"]
_FAMILIES = [page for page in PAGES.values() if page.like]
_DOCUMENT = "docs/errors.md"


def page_of(code: str) -> Page:
    """The page of the code itself, else that of its family (`HTTP_599`, `users.import.completed`), else UNKNOWN."""
    if code in PAGES:
        return PAGES[code]
    return next((page for page in _FAMILIES if fnmatchcase(code, page.like)), UNKNOWN)


def anchor(code: str) -> str:
    """As the usual renderers of Markdown make it from a heading."""
    return re.sub(r"[^\w -]", "", code.lower()).replace(" ", "-")


def link(page: Page) -> str:
    return f"{_DOCUMENT}#{anchor(page.code)}"
