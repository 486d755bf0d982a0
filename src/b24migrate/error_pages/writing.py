"""docs/errors.md as the pages say it."""

from __future__ import annotations

from collections.abc import Iterator

from b24migrate.error_pages import CHAPTERS, Page, anchor

HEAD = """\
<!-- Written by `make errors` from src/b24migrate/error_pages. Do not edit it here. -->
# Error codes

`b24migrate errors` shows what failed, grouped by these codes; `b24migrate errors CODE` explains one of them. The code
is also in the log (`error_code`), and `b24migrate retry --code CODE` tries again only what failed with it.
"""


def document() -> str:
    return "\n".join([HEAD, *_contents(), *_chapters()])


def _contents() -> Iterator[str]:
    for chapter in CHAPTERS:
        codes = " · ".join(f"[{page.code}](#{anchor(page.code)})" for page in chapter.pages)
        yield f"**{chapter.title}**: {codes}\n"


def _chapters() -> Iterator[str]:
    for chapter in CHAPTERS:
        yield f"## {chapter.title}\n\n{chapter.about}\n"
        yield from map(_section, chapter.pages)


def _section(page: Page) -> str:
    return (
        f"### {page.code}\n\n"
        f"**Cause:** {page.cause}\n\n"
        f"**What to do:** {page.fix}\n\n"
        f"**Tried again by itself?** {page.again}\n"
    )
