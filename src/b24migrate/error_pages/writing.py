"""docs/errors.md and its Russian twin, as the pages say it."""

from __future__ import annotations

from collections.abc import Iterator

from b24migrate.error_pages import CHAPTERS, Page, anchor
from b24migrate.error_pages.telling import said, told

HEAD = """\
<!-- Written by `make errors` from src/b24migrate/error_pages. Do not edit it here. -->
# {title}

{about}
"""
ABOUT = (
    "`b24migrate errors` shows what failed, grouped by these codes; `b24migrate errors CODE` explains one of them. The"
    " code is also in the log (`error_code`), and `b24migrate retry --code CODE` tries again only what failed with it."
)


def document(language: str = "en") -> str:
    head = HEAD.format(title=said("Error codes", language), about=said(ABOUT, language))
    return "\n".join([head, *_contents(language), *_chapters(language)])


def _contents(language: str) -> Iterator[str]:
    for chapter in CHAPTERS:
        codes = " · ".join(f"[{page.code}](#{anchor(page.code)})" for page in chapter.pages)
        yield f"**{said(chapter.title, language)}**: {codes}\n"


def _chapters(language: str) -> Iterator[str]:
    for chapter in CHAPTERS:
        yield f"## {said(chapter.title, language)}\n\n{said(chapter.about, language)}\n"
        yield from (_section(page, language) for page in chapter.pages)


def _section(page: Page, language: str) -> str:
    title, cause, fix, again = told(page, language)
    return (
        f"### {page.code}\n\n"
        f"*{title}*\n\n"
        f"**{said('Cause:', language)}** {cause}\n\n"
        f"**{said('What to do:', language)}** {fix}\n\n"
        f"**{said('Tried again by itself?', language)}** {again}\n"
    )
