"""The pages in the language of who reads them. English is on the pages themselves; `ru/` has the Russian, one file for
each file of pages, and `ru/sentences.toml` what is said beside them, by the English of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from b24migrate.error_pages.page import Page

TRANSLATED = ("ru",)


class Told(NamedTuple):
    title: str
    cause: str
    fix: str
    again: str


class _Language(NamedTuple):
    pages: Mapping[str, Mapping[str, str]]
    sentences: Mapping[str, str]


def told(page: Page, language: str) -> Told:
    """In English where the language is not known, or nobody has said it in that language yet."""
    other = _spoken(language).pages.get(page.code)
    if other is None:
        return Told(page.title, page.cause, page.fix, page.again.value)
    return Told(other["title"], other["cause"], other["fix"], said(page.again.value, language))


def said(sentence: str, language: str) -> str:
    """A sentence of ours that stands beside pages; as it is where it has no other words."""
    return _spoken(language).sentences.get(sentence, sentence)


@cache
def _spoken(language: str) -> _Language:
    pages: dict[str, Mapping[str, str]] = {}
    sentences: dict[str, str] = {}
    if language in TRANSLATED:
        for file in (files(__package__) / language).iterdir():
            if file.name.endswith(".toml"):
                content = tomllib.loads(file.read_text(encoding="utf-8"))
                pages.update(content.get("pages", {}))
                sentences.update(content.get("sentences", {}))
    return _Language(pages, sentences)
