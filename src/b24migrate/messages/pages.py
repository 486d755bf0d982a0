"""The pages of error codes: cause, fix, and whether b24migrate retries. All of it is in `errors.toml` of each language.

The one source of `b24migrate errors`, of the hints about portals' answers, of what dashboard and report say about
errors, and of docs/errors.md and docs/errors.ru.md, which `python -m b24migrate.messages` writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from b24migrate.messages import DEFAULT, Message, say, words

CHAPTERS = (
    *("records", "files", "limits", "outage", "rights", "refusals"),
    *("gates", "store", "certificate", "dashboard", "setup"),
)
SETTINGS = ("chapter", "again", "like")  # of a page: the same in every language, so only the English file has them
_NAME = re.compile(r"page\.(.+)\.chapter")


class Again(StrEnum):
    """Whether it is retried automatically, in words: `errors.again.<value>`."""

    WAITS = "waits"
    TRIES = "tries"
    ASIDE = "aside"
    LINKED = "linked"
    STOPS = "stops"


class Page(NamedTuple):
    code: str
    chapter: str
    again: Again
    like: str = ""  # a pattern, if the page is about a family of codes

    @property
    def title(self) -> Message:
        return self._text("title")

    @property
    def cause(self) -> Message:
        return self._text("cause")

    @property
    def fix(self) -> Message:
        return self._text("fix")

    @property
    def retried(self) -> Message:
        return say(f"errors.again.{self.again}")

    def _text(self, part: str) -> Message:
        return say(f"errors.page.{self.code}.{part}")


def _load() -> dict[str, Page]:
    known = words(DEFAULT).topic("errors")
    codes = [found[1] for key in known if (found := _NAME.fullmatch(key))]
    pages = [_page(code, {name: known.get(f"page.{code}.{name}", "") for name in SETTINGS}) for code in codes]
    return {page.code: page for page in sorted(pages, key=lambda page: CHAPTERS.index(page.chapter))}


def _page(code: str, settings: Mapping[str, str]) -> Page:
    return Page(code, settings["chapter"], Again(settings["again"]), settings["like"])


PAGES = _load()
UNKNOWN = PAGES["UNKNOWN"]
_FAMILIES = [page for page in PAGES.values() if page.like]


def page_of(code: str) -> Page:
    """The page of the code, else that of its family (`HTTP_599`, `users.import.completed`), else UNKNOWN."""
    if code in PAGES:
        return PAGES[code]
    return next((page for page in _FAMILIES if fnmatchcase(code, page.like)), UNKNOWN)


def anchor(code: str) -> str:
    """As renderers of Markdown make it from a heading."""
    return re.sub(r"[^\w -]", "", code.lower()).replace(" ", "-")


def file_name(language: str) -> str:
    return "errors.md" if language == DEFAULT else f"errors.{language}.md"


def link(page: Page, language: str = DEFAULT) -> str:
    return f"docs/{file_name(language)}#{anchor(page.code)}"


# ---------------------------------------------------------------- the document


def document(language: str = DEFAULT) -> str:
    texts = words(language)
    head = (
        "<!-- Written by `make errors` from src/b24migrate/messages. Do not edit it here. -->\n"
        f"# {texts('errors.document.title')}\n\n{texts('errors.document.about')}\n"
    )
    return "\n".join([head, *_contents(language), *_chapters(language)])


def _contents(language: str) -> Iterator[str]:
    for chapter in CHAPTERS:
        codes = " · ".join(f"[{page.code}](#{anchor(page.code)})" for page in _of(chapter))
        yield f"**{words(language)(f'errors.chapter.{chapter}.title')}**: {codes}\n"


def _chapters(language: str) -> Iterator[str]:
    texts = words(language)
    for chapter in CHAPTERS:
        yield f"## {texts(f'errors.chapter.{chapter}.title')}\n\n{texts(f'errors.chapter.{chapter}.about')}\n"
        yield from (_section(page, language) for page in _of(chapter))


def _section(page: Page, language: str) -> str:
    texts = words(language)
    title, cause, fix = (texts(f"errors.page.{page.code}.{part}") for part in ("title", "cause", "fix"))
    return (
        f"### {page.code}\n\n"
        f"*{title}*\n\n"
        f"**{texts('errors.document.cause')}** {cause}\n\n"
        f"**{texts('errors.document.fix')}** {fix}\n\n"
        f"**{texts('errors.document.again')}** {texts(f'errors.again.{page.again}')}\n"
    )


def _of(chapter: str) -> list[Page]:
    return [page for page in PAGES.values() if page.chapter == chapter]
