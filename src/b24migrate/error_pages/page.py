"""What there is to say about one error code."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Again(StrEnum):
    """Whether it is tried again by itself."""

    WAITS = "Yes: the work waits as long as it takes, and no attempt is used up."
    TRIES = (
        "Yes: three times in all, and for as long as it takes while the whole portal is in trouble. What still fails"
        " is set aside, and `b24migrate retry` tries it again."
    )
    ASIDE = "No: it is set aside and the rest goes on. `b24migrate retry` tries it again."
    STOPS = "No: the command ends and everything so far is kept. The same command goes on from there."


class Page(NamedTuple):
    code: str
    title: str  # a few words, as a heading
    again: Again
    cause: str
    fix: str
    like: str = ""  # a pattern, where the page speaks for a family of codes


class Chapter(NamedTuple):
    title: str
    about: str
    pages: tuple[Page, ...]


RETRY = "then run `b24migrate retry`."
