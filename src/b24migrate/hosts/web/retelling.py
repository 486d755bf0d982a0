"""Answers in the language of who asks: sentences that the program keeps in English are told in another one; what a
portal or a person wrote stays as it is."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import msgspec

from b24migrate.hosts.report.sayings import Sayings
from b24migrate.hosts.words import DEFAULT, words
from b24migrate.hosts.words.errors_of import message_words, page_words

# where sentences of ours may stand
TOLD = frozenset({"message", "hint", "note", "notes", "reason", "problem", "basis", "warnings", "skipped", "by"})
LONGEST = 4000


def retold(value: Any, language: str) -> Any:
    """The same value where the language is that of the program."""
    return value if language == DEFAULT else _walked(msgspec.to_builtins(value), "", language)


def sentence_told(text: str, language: str) -> str:
    return text if language == DEFAULT or len(text) > LONGEST else _told(text, language)


def _walked(value: Any, name: str, language: str) -> Any:
    if isinstance(value, dict):
        made = {key: _walked(one, name if name == "skipped" else key, language) for key, one in value.items()}
        if {"code", "cause", "fix"} <= value.keys():  # what a page of an error code says
            told = page_words(str(value["code"]), language)
            made |= {"cause": told.cause, "fix": told.fix}
        return made
    if isinstance(value, list | tuple):
        return [_walked(one, name, language) for one in value]
    return sentence_told(value, language) if name in TOLD and isinstance(value, str) else value


@lru_cache(maxsize=2000)
def _told(text: str, language: str) -> str:
    known = message_words(text, language)
    return known if known != text else str(_sayings(language)(text))


@cache
def _sayings(language: str) -> Sayings:
    return Sayings(words(language))
