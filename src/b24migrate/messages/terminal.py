"""The language of this terminal: one command has one reader. `--lang` decides, then `run.language`, then the locale."""

from __future__ import annotations

import os
from collections.abc import Mapping

from b24migrate.messages import DEFAULT, LANGUAGES, Words, render
from b24migrate.messages import words as words_of

LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")

_reader = {"language": DEFAULT, "chosen": ""}


def choose(language: str) -> None:
    """What `--lang` says: nothing else changes it."""
    _reader["chosen"] = _reader["language"] = language


def suggest(language: str) -> None:
    """What the configuration or the locale says, unless `--lang` was given."""
    if language in LANGUAGES and not _reader["chosen"]:
        _reader["language"] = language


def forget() -> None:
    """The command has ended: another one in the same process may have another reader."""
    _reader.update(language=DEFAULT, chosen="")


def of_locale(environ: Mapping[str, str] = os.environ) -> str:
    """`ru_RU.UTF-8` is Russian; the first variable that is set decides, as everywhere."""
    named = next((environ[name] for name in LOCALE if environ.get(name)), "")
    language = named.partition("_")[0].partition(".")[0].lower()
    return language if language in LANGUAGES else DEFAULT


def language() -> str:
    return _reader["language"]


def words() -> Words:
    return words_of(language())


def spoken(text: str) -> str:
    """A message in the language of this terminal; any other text as it is."""
    return render(text, language())


def phrase(key: str, /, **values: object) -> str:
    return words().fill(key, values)
