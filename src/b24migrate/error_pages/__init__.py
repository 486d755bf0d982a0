"""Every error code that a person can meet: its cause, what to do, and whether it is tried again by itself.

The one source of `b24migrate errors`, of the hints about portals' answers, of what the dashboard and the report say
about errors, and of docs/errors.md and docs/errors.ru.md, which `python -m b24migrate.error_pages` writes.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from b24migrate.error_pages import (
    certificates,
    dashboard,
    files,
    gates,
    portals,
    records,
    refusals,
    rights,
    setup,
    stores,
)
from b24migrate.error_pages.page import Again, Chapter, Page

__all__ = ["CHAPTERS", "PAGES", "UNKNOWN", "Again", "Chapter", "Page", "anchor", "link", "page_of"]

CHAPTERS: tuple[Chapter, ...] = (
    records.CHAPTER,
    files.CHAPTER,
    portals.LIMITS,
    portals.TROUBLE,
    rights.CHAPTER,
    refusals.CHAPTER,
    gates.CHAPTER,
    stores.CHAPTER,
    certificates.CHAPTER,
    dashboard.CHAPTER,
    setup.CHAPTER,
)
PAGES: dict[str, Page] = {page.code: page for chapter in CHAPTERS for page in chapter.pages}
UNKNOWN = PAGES["UNKNOWN"]
_FAMILIES = [page for page in PAGES.values() if page.like]
_DOCUMENTS = {"ru": "docs/errors.ru.md"}


def page_of(code: str) -> Page:
    """The page of the code itself, else that of its family (`HTTP_599`, `users.import.completed`), else UNKNOWN."""
    if code in PAGES:
        return PAGES[code]
    return next((page for page in _FAMILIES if fnmatchcase(code, page.like)), UNKNOWN)


def anchor(code: str) -> str:
    """As the usual renderers of Markdown make it from a heading."""
    return re.sub(r"[^\w -]", "", code.lower()).replace(" ", "-")


def link(page: Page, language: str = "en") -> str:
    return f"{_DOCUMENTS.get(language, 'docs/errors.md')}#{anchor(page.code)}"
