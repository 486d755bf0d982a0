"""Checks what only the catalog knows: names of entities, their batch options, and the fields a policy may name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from b24migrate.config.messages import closest, complain, unknown
from b24migrate.config.origin import Places
from b24migrate.entities import Catalog
from b24migrate.messages import say
from b24migrate.model.records import Json
from b24migrate.model.streams import Entity, Kind, Policy, Stream

REFERRING = (Kind.REF, Kind.REFS, Kind.CODED, Kind.FAMILY, Kind.FILE, Kind.FILES)
CHOICES = (Policy.REQUIRE, Policy.PLACEHOLDER, Policy.DROP)


def check(said: dict[str, Json], catalog: Catalog, places: Places) -> None:
    """Spells entity names with `_` and policies as `stream.field`, in place; raises BadConfiguration."""
    _wanted(said.get("run"), catalog, places)
    _options(said.get("entities"), catalog, places)
    _policies(said.get("mapping"), catalog, places)


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
