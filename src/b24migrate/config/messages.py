"""Mistakes in a configuration, one sentence each: the place, the key, what is wrong and what to write."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from b24migrate.config.origin import KeyPath, Places, harmless
from b24migrate.entities import Catalog
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.fields import Kind, Policy
from b24migrate.model.records import Json
from b24migrate.model.streams import Entity, Stream

SECRET_KEYS = frozenset({"webhook", "more_webhooks", "client_secret", "refresh_token", "access_token"})
REFERRING = (Kind.REF, Kind.REFS, Kind.CODED, Kind.FAMILY, Kind.ROWS, Kind.FILE, Kind.FILES)
CHOICES = (Policy.REQUIRE, Policy.PLACEHOLDER, Policy.DROP)


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
    """The meaning of one validation error in our own words."""
    context = error.get("ctx", {})
    value = shown(error.get("input"), key)
    match error["type"]:
        case "missing":
            return say("settings.needed")
        case "value_error":
            return reason(context["error"])
        case "greater_than_equal":
            return say("settings.least", said=value, limit=context["ge"])
        case "less_than_equal":
            return say("settings.most", said=value, limit=context["le"])
        case "literal_error" | "enum":
            return say("settings.one_of", names=_quoted(context["expected"]))
        case kind:
            return say("settings.wrong", said=value, kind=_expected(kind, error.get("input")))


def reason(error: Exception) -> str:
    """The message that a ValueError of ours was made with."""
    text = error.args[0] if error.args else ""
    return text if isinstance(text, str) else str(error)


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
    """Only numbers are repeated: any key may contain a secret by mistake."""
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


# ---------------------------------------------------------------- names: entities, batch options, fields of a policy


def check(settings: dict[str, Json], catalog: Catalog, places: Places) -> None:
    """Spells entity names with `_` and policies as `stream.field`, in place; raises BadConfiguration."""
    _wanted(settings.get("run"), catalog, places)
    _options(settings.get("entities"), catalog, places)
    _policies(settings.get("mapping"), catalog, places)


def _wanted(run: Json, catalog: Catalog, places: Places) -> None:
    if not isinstance(run, dict) or "entities" not in run:
        return
    names = run["entities"]
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise complain(places, ("run", "entities"), say("settings.no_names"))
    run["entities"] = [name.replace("-", "_") for name in names]
    for name in run["entities"]:
        if name not in _names(catalog):
            raise complain(places, ("run", "entities"), say("settings.no_entity", fix=_instead(name, catalog)))


def _options(tables: Json, catalog: Catalog, places: Places) -> None:
    if not isinstance(tables, dict):
        return
    for name, table in list(tables.items()):
        spelled = name.replace("-", "_")
        if spelled not in _names(catalog):
            raise unknown(places, ("entities", name), _names(catalog))
        tables[spelled] = tables.pop(name)
        for option in table if isinstance(table, dict) else ():
            if option not in _known_options(catalog.entity(spelled)):
                raise unknown(places, ("entities", name, option), _known_options(catalog.entity(spelled)))


def _known_options(entity: Entity) -> list[str]:
    return list(dict.fromkeys(["enabled", "batch", *(stream.batch_option for stream in entity.streams)]))


def _policies(mapping: Json, catalog: Catalog, places: Places) -> None:
    if not isinstance(mapping, dict) or not isinstance(mapping.get("policy"), dict):
        return
    mapping["policy"] = dict(_flat(mapping["policy"]))
    for name, policy in mapping["policy"].items():
        _policy(name, policy, catalog, places)


def _flat(table: Mapping[str, Json]) -> Iterable[tuple[str, Json]]:
    """`crm_deals.companyId = "drop"` without quotes around the key is a table in TOML."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", word) for inner, word in value.items())
        else:
            yield name, value


def _policy(name: str, policy: Json, catalog: Catalog, places: Places) -> None:
    stream_name, _, field_name = name.partition(".")
    key = ("mapping", "policy", name)
    if stream_name not in catalog.streams:
        fix = closest(stream_name, catalog.streams) or say("settings.valid_streams", names=list(catalog.streams))
        raise complain(places, key, say("settings.no_stream", fix=fix))
    stream = catalog.streams[stream_name]
    referring = {field.name: field for field in stream.fields if field.kind in REFERRING}
    if field_name not in referring:
        fix = closest(field_name, referring) or say("settings.referring", stream=stream_name, names=list(referring))
        raise complain(places, key, say("settings.no_reference", fix=fix))
    if policy not in CHOICES:
        words = ", ".join(f'"{word}"' for word in CHOICES)
        raise complain(places, key, say("settings.no_policy", names=words))
    if policy == Policy.PLACEHOLDER and not _people(catalog.streams.get(referring[field_name].to), catalog):
        raise complain(places, key, say("settings.placeholder"))


def _people(stream: Stream | None, catalog: Catalog) -> bool:
    return stream is not None and bool(stream.natural) and catalog.owner[stream.name].matches_users


def _names(catalog: Catalog) -> list[str]:
    return [entity.name for entity in catalog.entities]


def _instead(name: str, catalog: Catalog) -> str:
    return closest(name, _names(catalog)) or say("settings.valid_list", names=", ".join(_names(catalog)))
