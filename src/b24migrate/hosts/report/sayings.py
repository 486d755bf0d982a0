"""The program keeps its sentences in English: notes, reasons, how a run ended. Here they are told in another language.

`report.saying`, `sayings.saying` and `reasons.saying` have each of them as a template, in both languages. A sentence
that fits an English one is told by the other; whatever was filled in is looked at in the same way. What fits none stays
as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from b24migrate.hosts.words import DEFAULT, Words
from b24migrate.hosts.words import words as words_of

TOPICS = ("report.saying.", "sayings.saying.", "reasons.saying.")
LONGEST = 4000  # characters: ours are shorter
DEEPEST = 4
ONE_WORD = r"[^\s(),;]+"
SHAPES: Mapping[str, str] = {
    "count": r"-?\d[\d,]*",
    "reported": r"\d+",
    "retrieved": r"\d+",
    "stream": r"\w+",
    "entity": r"\w+",
    "why": r".+",
    "what": r".+",
    "name": r".+?",
    "names": r".+",
    "id": ONE_WORD,
    "field": ONE_WORD,
    "file": ONE_WORD,
    "user": ONE_WORD,
    "code": ONE_WORD,
    "method": ONE_WORD,
    "task": ONE_WORD,
    "own": ONE_WORD,
    "offset": ONE_WORD,
    "command": r"`[^`]+`",
    "share": r"[\d.,]+%?",
    "wanted": r"[\d.]+%",
    "size": r"[\d.]+",
    "scopes": r"`[^`]+`(?:(?:, | and )`[^`]+`)*",
    "served": r"[^)]+",
    "when": r"[^ ]+",
}
PLACE = re.compile(r"\\{(\w+)\\}")


class Saying(NamedTuple):
    english: re.Pattern[str]
    key: str


class Sayings:
    def __init__(self, words: Words) -> None:
        self._words = words
        english = words_of(DEFAULT)
        keys = [f"{topic}{key}" for topic in TOPICS for key in english.topic(topic.removesuffix("."))]
        self._known = [Saying(pattern(english(key)), key) for key in keys]

    def __call__(self, text: object) -> object:
        """Whatever it is; an excerpt of a long text is not ours."""
        if not isinstance(text, str) or len(text) > LONGEST or self._words.language == DEFAULT:
            return text
        return self._told(text, DEEPEST) or text

    def _told(self, text: str, deep: int) -> str | None:
        """None when it fits nothing."""
        if not deep:
            return None
        for whole in self._whole(text, deep):
            return whole
        for between in ("; ", ", "):
            parts = text.split(between)
            told = self._each(parts, deep - 1) if len(parts) > 1 else None
            if told is not None:
                return between.join(told)
        return None

    def _each(self, parts: Sequence[str], deep: int) -> list[str] | None:
        """None as soon as one of them fits nothing: what people write may have a thousand commas."""
        told = []
        for part in parts:
            one = self._told(part, deep)
            if not one:
                return None
            told.append(one)
        return told

    def _whole(self, text: str, deep: int) -> Iterator[str]:
        for saying in self._known:
            found = saying.english.fullmatch(text)
            filled = self._filled(found.groupdict(), deep) if found else None
            if filled is not None:
                yield self._words(saying.key, **filled)

    def _filled(self, places: Mapping[str, str], deep: int) -> dict[str, str] | None:
        """None where it only looks alike: there is no such stream, or what is inside is not ours."""
        filled = dict(places)
        for kind in ("stream", "entity"):
            if kind in filled:
                if f"names.{kind}.{filled[kind]}" not in self._words:
                    return None
                filled[kind] = self._words.named(kind, filled[kind])
        if "what" in filled:
            inside = self._told(filled["what"], deep - 1)
            if inside is None:
                return None
            filled["what"] = inside
        if "why" in filled:
            filled["why"] = self._told(filled["why"], deep - 1) or filled["why"]
        return filled


def pattern(template: str) -> re.Pattern[str]:
    return re.compile(PLACE.sub(lambda place: f"(?P<{place[1]}>{SHAPES[place[1]]})", re.escape(template)), re.DOTALL)
