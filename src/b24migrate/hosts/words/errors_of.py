"""What the pages of error codes say, in the language of who reads them."""

from __future__ import annotations

from b24migrate.error_pages import page_of
from b24migrate.error_pages.telling import Told, said, told
from b24migrate.pipeline.causes import GIVEN_UP, NOTHING_TO_DO, RUN_AGAIN, Cause, Group

ADVICE = (NOTHING_TO_DO, GIVEN_UP, RUN_AGAIN)


def page_words(code: str, language: str) -> Told:
    """(title, cause, fix, again) of the code's page. What to do about something that failed: `fix_words`."""
    return told(page_of(code), language)


def fix_words(cause: Cause, language: str) -> str:
    """What to do about it: what its page says, unless it was given up or will be tried again."""
    return said(cause.fix, language) if cause.fix in ADVICE else page_words(cause.code, language).fix


def fixes_words(group: Group, language: str) -> list[str]:
    """`group.fixes`: mostly one."""
    return list(dict.fromkeys(fix_words(one, language) for one in group.causes))


def message_words(message: str, language: str) -> str:
    """Why something failed, where the sentence is ours; what a portal said stays as it is."""
    return said(message, language)
