"""Turns what a validator found into one sentence: the place, the key, what is wrong with it and what to write."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from b24migrate.errors import BadConfiguration
from b24migrate.settings.places import KeyPath, Places, harmless

SECRET_KEYS = frozenset({"webhook", "more_webhooks", "client_secret", "refresh_token", "access_token"})


def complain(places: Places, key: KeyPath, what: str) -> BadConfiguration:
    """`what` is the rest of a sentence that begins with the key."""
    end = "" if what.endswith("?") else "."
    return BadConfiguration(f"{_at(places, key)}{dotted(key)} {what}{end}", code="CONFIGURATION")


def unknown(places: Places, key: KeyPath, known: Iterable[str]) -> BadConfiguration:
    names = list(known)
    fix = closest(key[-1], names) or f"known here are {', '.join(names)}."
    return BadConfiguration(f"{_at(places, key)}unknown key {dotted(key)}; {fix}", code="CONFIGURATION")


def _at(places: Places, key: KeyPath) -> str:
    place = places.find(key)
    return f"{place}: " if place else ""


def closest(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?`, or nothing when no known word is near."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return f'did you mean "{names[near[0]]}"?' if near else ""


def sentence(error: Mapping[str, Any], key: KeyPath) -> str:
    """What one validation error means, without the validator's words."""
    context = error.get("ctx", {})
    said = shown(error.get("input"), key)
    match error["type"]:
        case "missing":
            return "is needed; write it there, or run `b24migrate init` for an example"
        case "value_error":
            return str(context.get("error"))
        case "greater_than_equal":
            return f"is {said}; write {context['ge']:g} or more"
        case "less_than_equal":
            return f"is {said}; write {context['le']:g} or less"
        case "literal_error" | "enum":
            return f"must be {_quoted(context['expected'])}"
        case kind:
            return f"is {said}; write {_expected(kind, error.get('input'))}"


def _expected(kind: str, given: object) -> str:
    words = {
        "int": "a whole number",
        "float": "a number",
        "finite": "a number",
        "bool": "true or false",
        "string": "a text in quotes",
        "list": "a list, such as []",
        "tuple": "a list, such as []",
        "dict": "a table",
        "mapping": "a table",
        "model": "a table",
    }
    otherwise = "another value" if isinstance(given, str) else "a text in quotes"
    return next((word for start, word in words.items() if kind.startswith(start)), otherwise)


def _quoted(expected: str) -> str:
    return expected.replace("'", '"')


def shown(value: object, key: KeyPath) -> str:
    """Only numbers are repeated: a secret may stand under any key by mistake."""
    if SECRET_KEYS.intersection(key):
        return "not what it should be"
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:g}" if abs(value) < 1e15 else "a number"
        case str():
            return "a text" if value else "empty"
        case list() | tuple():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "not what it should be"


def dotted(key: KeyPath) -> str:
    """A key that looks like a secret is not repeated: the place is named before it."""
    return ".".join("…" if not harmless(part) else f'"{part}"' if "." in part else part for part in key)
