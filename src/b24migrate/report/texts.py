"""Texts that come from people and portals, made fit to be shown: no secret, nothing that turns the writing direction or
hides, and no longer than a reader has patience."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from b24migrate.insight.report import Excerpt
from b24migrate.insight.report.tally import EXCERPT
from b24migrate.messages import Words
from b24migrate.messages.safe_text import harmless
from b24migrate.monitor.logs import masked
from b24migrate.report import csv_tables

LONGEST_CELL = 32_000  # characters; a spreadsheet takes 32,767
LONGEST_WORD = 28  # characters; a table's column is as wide as its longest word
KEPT = "\n\t\u200c\u200d\u00ad"  # line breaks, and joiners, which are part of some scripts
STRANGE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


class Texts:
    def __init__(self, words: Words, redact: Callable[[str], str]) -> None:
        self._words = words
        self.redact = redact

    def shown(self, text: object, most: int = EXCERPT) -> str:
        """For the page, in one line; e-mail addresses are masked there, since a report is handed around."""
        whole = text.text if isinstance(text, Excerpt) else self.redact(str(text))
        beginning, length = whole[:most], text.length if isinstance(text, Excerpt) else len(whole)
        told = harmless(masked(self.redact(beginning)))
        return self._long(told, length) if length > len(beginning) else told

    def cell(self, text: str) -> str:
        """For a spreadsheet: line breaks stay, and nothing is taken for a formula."""
        if text.isprintable() and len(text) <= LONGEST_CELL:  # nearly all of a million
            return csv_tables.harmless(text)
        told = "".join(map(_plain, text[:LONGEST_CELL].replace("\r\n", "\n").replace("\r", "\n")))
        if max(len(told), len(text)) > LONGEST_CELL:
            told = self._long(told[:LONGEST_CELL], len(text))
        return csv_tables.harmless(told)

    def _long(self, text: str, length: int) -> str:
        return self._words("report.cut", text=text, length=f"{length:,}")


def is_unbroken(text: str) -> bool:
    """Has a word so long that it must be broken somewhere."""
    return any(len(word) > LONGEST_WORD for word in text.split())


def _plain(one: str) -> str:
    """What cannot be seen is written out, as JSON would: \\u202e."""
    if one in KEPT or unicodedata.category(one) not in STRANGE:
        return one
    units = one.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
