"""A small CRM whose custom fields are read and created."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from tests.engine.world import CONFIG, World, small

from b24migrate.app import open_app
from b24migrate.config import load
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.custom_fields import create_fields, read_fields
from b24migrate.entities import Catalog
from b24migrate.entities.custom_fields import Read, list_fields, type_fields
from b24migrate.entities.users.streams import ENTITIES as PEOPLE
from b24migrate.model.fields import Field
from b24migrate.model.readings import Keyset, Listing
from b24migrate.model.records import Job, Json, Table
from b24migrate.model.streams import CustomFields, CustomValues, Entity, NaturalKey, Stream
from b24migrate.ports import FIELD_MAP

BY_ID = Keyset(filter="filter", id="id", ascending={}, descending={})
DEAL = "UF_CRM_17000002{:02}"  # how the simulator calls fields of deals, by purpose


def codes(value: str, resolve: Callable[[str, str], str]) -> str:
    """As short as rewriting can be."""
    kind, source_id = re.fullmatch(r"([A-Z]+)_(\d+)", value).groups()  # type: ignore[union-attr]
    return f"{kind}_{resolve({'D': 'deals', 'CO': 'firms'}[kind], source_id)}"


def stream(name: str, **more: Any) -> Stream:
    read = (Listing(f"crm.{name}.list", BY_ID),)
    return Stream(name=name, table=Table(f"Made{name.title()}", name), read=read, fields=(Field("ufDeclared"),), **more)


ORIGIN, ORIGINS = "UF_CRM_ORIGIN", "UF_CRM_ORIGINS"


def with_statuses(read: Read) -> Read:
    """And two fields whose values are entries of a dictionary."""
    pattern = {"USER_TYPE_ID": "crm_status", "SETTINGS": {"ENTITY_TYPE": "SOURCE"}}
    more = [{**pattern, "FIELD_NAME": ORIGIN}, {**pattern, "FIELD_NAME": ORIGINS, "MULTIPLE": "Y"}]
    return lambda source, staged: [*read(source, staged), *more]


deals = stream("deals", custom=CustomValues(("UF_", "uf"), late_types=frozenset({"crm"})))
items = stream("items", custom=CustomValues(("UF_", "uf")))
CATALOG = Catalog(
    (
        *PEOPLE,
        Entity(
            name="deals",
            wire="crm",
            scopes=("crm",),
            streams=(stream("firms"), stream("types", natural=NaturalKey("entityTypeId", links_use_it=True)), deals),
            custom_fields=CustomFields(
                "crm_deals",
                "crm",
                with_statuses(list_fields("crm.deal.userfield.list")),
                files="crm",
                codes=codes,
                statuses="stages.CODE",
            ),
        ),
        Entity(
            name="items",
            wire="crm",
            scopes=("crm",),
            streams=(items,),
            custom_fields=CustomFields("crm_spitems", "userfieldconfig", type_fields("types"), types="types"),
        ),
        Entity(
            name="bare",
            wire="crm",
            scopes=("crm",),
            streams=(stream("bare", custom=CustomValues(("UF_",))),),
            custom_fields=CustomFields("crm_deals", "crm", list_fields("crm.deal.userfield.list")),
        ),
    )
)


PLAN = small(companies=3, contacts=3, deals=6, smart_types=2, smart_items=2, tasks=3)


@contextmanager
def working(made: World) -> Iterator[RunContext]:
    config = made.folder / "b24migrate.toml"
    config.write_text(CONFIG.format(source=made.cloud.webhook(), others="", target=made.box.webhook()))
    loaded = load(config, environ={})
    with open_app(loaded, base=made.folder, clock=made.clock, known=CATALOG) as app:
        yield app.context


def told(value: bytes | None) -> Json:
    return msgspec.json.decode(value or b"null")


def fields_made(context: RunContext, entity: str) -> dict[str, Any]:
    for phase in (read_fields, create_fields):
        phase(context, Job(f"{entity}-fields", "fields", {"entity": entity}))
    return {row.key: dict(row.values) for row in context.store.rows(FIELD_MAP, prefix=f"{entity}:")}
