"""Turns what a validator found into one sentence: the place, the key, what is wrong with it and what to write."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from b24migrate.config.origin import KeyPath, Places, harmless
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration

SECRET_KEYS = frozenset({"webhook", "more_webhooks", "client_secret", "refresh_token", "access_token"})


def complain(places: Places, key: KeyPath, what: str) -> BadConfiguration:
    """`what` is the rest of a sentence that begins with the key."""
    template = "settings.question" if what.endswith("?") else "settings.complaint"
    return BadConfiguration(_at(places, key, say(template, key=dotted(key), what=what)), code="CONFIGURATION")


def unknown(places: Places, key: KeyPath, known: Iterable[str]) -> BadConfiguration:
    names = list(known)
    fix = closest(key[-1], names) or say("settings.valid", names=names)
    message = say("settings.unknown_key", key=dotted(key), fix=fix)
    return BadConfiguration(_at(places, key, message), code="CONFIGURATION")


def _at(places: Places, key: KeyPath, what: str) -> str:
    place = places.find(key)
    return say("settings.at", place=place, what=what) if place else what


def closest(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?`, or nothing when no known word is near."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return say("settings.did_you_mean", name=names[near[0]]) if near else ""


def sentence(error: Mapping[str, Any], key: KeyPath) -> str:
    """What one validation error means, without the validator's words."""
    context = error.get("ctx", {})
    said = shown(error.get("input"), key)
    match error["type"]:
        case "missing":
            return say("settings.needed")
        case "value_error":
            return reason(context["error"])
        case "greater_than_equal":
            return say("settings.least", said=said, limit=context["ge"])
        case "less_than_equal":
            return say("settings.most", said=said, limit=context["le"])
        case "literal_error" | "enum":
            return say("settings.one_of", names=_quoted(context["expected"]))
        case kind:
            return say("settings.wrong", said=said, kind=_expected(kind, error.get("input")))


def reason(error: Exception) -> str:
    """The message that a ValueError of ours was made with."""
    said = error.args[0] if error.args else ""
    return said if isinstance(said, str) else str(error)


def _expected(kind: str, given: object) -> str:
    words = {
        "int": say("settings.kind.int"),
        "float": say("settings.kind.number"),
        "finite": say("settings.kind.number"),
        "bool": say("settings.kind.bool"),
        "string": say("settings.kind.text"),
        "list": say("settings.kind.list"),
        "tuple": say("settings.kind.list"),
        "dict": say("settings.kind.table"),
        "mapping": say("settings.kind.table"),
        "model": say("settings.kind.table"),
    }
    otherwise = say("settings.kind.other") if isinstance(given, str) else say("settings.kind.text")
    return next((word for start, word in words.items() if kind.startswith(start)), otherwise)


def _quoted(expected: str) -> str:
    return expected.replace("'", '"')


def shown(value: object, key: KeyPath) -> str:
    """Only numbers are repeated: a secret may stand under any key by mistake."""
    if SECRET_KEYS.intersection(key):
        return say("settings.kind.wrong")
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:g}" if abs(value) < 1e15 else say("settings.kind.number")
        case str():
            return say("settings.kind.a_text") if value else say("settings.kind.empty")
        case list() | tuple():
            return say("settings.kind.a_list")
        case dict():
            return say("settings.kind.table")
        case _:
            return say("settings.kind.wrong")


def dotted(key: KeyPath) -> str:
    """A key that looks like a secret is not repeated: the place is named before it."""
    return ".".join("…" if not harmless(part) else f'"{part}"' if "." in part else part for part in key)
