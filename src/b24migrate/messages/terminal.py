"""Texts on a terminal: its language (`--lang`, then `run.language`, then the locale), and safe output."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

from b24migrate.messages import DEFAULT, LANGUAGES, Words, render
from b24migrate.messages import words as words_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")

_reader = {"language": DEFAULT, "chosen": ""}
# Characters that move the cursor, change the color or the writing direction. Joiners are part of some scripts.
STRANGE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
JOINERS = "\u200c\u200d\u00ad"
LINE_BREAKS = "\r\n\t\v\f"


def choose(language: str) -> None:
    """Sets the language of `--lang`, which takes precedence."""
    _reader["chosen"] = _reader["language"] = language


def suggest(language: str) -> None:
    """Sets the language of the configuration or the locale, unless `--lang` was given."""
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


def number(value: int) -> str:
    """`9 999 999`"""
    return f"{value:,}".replace(",", " ")


# ---------------------------------------------------------------- texts of portals, safe and wrapped


def harmless(text: str) -> str:
    """In one line, in the language of the reader. Characters that a terminal could take for a command are escaped as in
    JSON: \\u001b."""
    text = spoken(text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(one) for one in text)


def harmless_json(text: str) -> str:
    """The same JSON, with nothing in it that a terminal could take for a command."""
    return "".join(one if one == "\n" else _shown(one) for one in text)


def _shown(one: str) -> str:
    if one in LINE_BREAKS:
        return " "
    if unicodedata.category(one) not in STRANGE or one in JOINERS:
        return one
    units = one.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def wrapped(out: Console, text: str | Text, *, first: str = "", indent: str = "", style: str = "") -> None:
    """Prints words, never broken but where one alone is wider than the terminal. `first` begins the first line, and
    what follows stands under its text. The style is that of a plain text, else of what begins it."""
    from rich.text import Text

    begins, follows = indent + first, indent + " " * len(first)
    content = Text(spoken(text), style=style) if isinstance(text, str) else text
    for number, line in enumerate(content.wrap(out, max(10, out.width - len(begins)))):
        line.rstrip()
        beginning = (begins, "" if isinstance(text, str) else style)
        out.print(Text.assemble(follows if number else beginning, line), soft_wrap=True)
