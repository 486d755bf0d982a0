"""What pages and reports say to people, in their language. One file for each language and topic:
`ru/report.toml` has the Russian words of the report, and `words("report.title")` finds them.

A word is a template: `left = "{time} left"`. What is filled in is given as text and is not looked at: whoever shows it
escapes the whole. Sentences are built so that no number needs a plural form.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from b24migrate.records import Json

LANGUAGES = ("en", "ru")
DEFAULT = "en"


class Words:
    """The words of one language. A key that does not exist is a bug, and raises KeyError."""

    def __init__(self, language: str, templates: Mapping[str, str]) -> None:
        self.language = language
        self._templates = templates

    def __call__(self, key: str, **values: object) -> str:
        return self._templates[key].format_map(values) if values else self._templates[key]

    def named(self, kind: str, name: str) -> str:
        """What an entity, a stream, a phase or a state is called; its own name where there is no other."""
        return self._templates.get(f"names.{kind}.{name}", name)

    def __contains__(self, key: str) -> bool:
        return key in self._templates

    def topic(self, name: str) -> dict[str, str]:
        """All of one topic, without its name: what a page hands to its script."""
        return {
            key.removeprefix(f"{name}."): text for key, text in self._templates.items() if key.startswith(f"{name}.")
        }


def words(language: str) -> Words:
    """Of a known language, else of the default one."""
    return _words(language if language in LANGUAGES else DEFAULT)


@cache
def _words(language: str) -> Words:
    folder = files(__package__) / language
    found: dict[str, str] = {}
    for file in folder.iterdir():
        if file.name.endswith(".toml"):
            topic = tomllib.loads(file.read_text(encoding="utf-8"))
            found.update(_flat(topic, f"{file.name.removesuffix('.toml')}."))
    return Words(language, found)


def _flat(table: Mapping[str, Json], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def preferred(accepted: str) -> str:
    """The language to speak to somebody whose browser says `Accept-Language: ru-RU,ru;q=0.9,en;q=0.8`."""
    best, found = 0.0, DEFAULT
    for part in accepted.split(","):
        name, _, quality = part.partition(";q=")
        language = name.strip().lower().partition("-")[0]
        try:
            weight = float(quality or 1)
        except ValueError:
            weight = 0.0
        if language in LANGUAGES and weight > best:
            best, found = weight, language
    return found
