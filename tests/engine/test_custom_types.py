"""Custom fields of tasks, the CRM and smart processes: how they are read, and created for each type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.custom_catalog import DEAL, PLAN, fields_made, told, working
from tests.engine.world import World, world

from b24migrate.engine.phases.context import RunContext
from b24migrate.entities.custom_fields import list_fields, task_fields, type_fields
from b24migrate.model.records import Item, Json, Link, Staged
from b24migrate.model.source_records import SourceRecord
from b24migrate.ports import ENTITIES_STATE
from b24sim.company import crm_fields as uf


@pytest.fixture
def crm(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLAN) as made:
        yield made


# ---------------------------------------------------------------- reading


def test_fields_of_deals_come_with_options_and_labels(crm: World) -> None:
    with working(crm) as context:
        fields = {
            field["FIELD_NAME"]: field for field in list_fields("crm.deal.userfield.list")(context.source, lambda _: ())
        }
    channel = fields[DEAL.format(uf.CHOICE)]
    assert (channel["USER_TYPE_ID"], channel["LABELS"]) == (
        "enumeration",
        {"ru": "Канал", "en": "Channel", "de": "Kanal"},
    )
    assert [option["VALUE"] for option in channel["LIST"]] == list(uf.OPTIONS)
    assert fields[DEAL.format(uf.LINK)]["ONLY"] == "CO"
    assert "ONLY" not in fields[DEAL.format(uf.LINKS)]


def test_fields_that_every_task_has_are_not_custom(crm: World) -> None:
    with working(crm) as context:
        fields = task_fields()(context.source, lambda _: ())
    codes_ = [field["FIELD_NAME"] for field in fields]
    assert "UF_AUTO_127801401239" in codes_
    assert not {"UF_CRM_TASK", "UF_TASK_WEBDAV_FILES", "UF_MAIL_MESSAGE"} & set(codes_)
    assert fields[codes_.index("UF_TASK_REVIEW_AT")]["LABELS"]["en"] == "Review at"


def staged_types(context: RunContext) -> list[Json]:
    types: list[Json] = told(context.source.call("crm.type.list", {}).result)["types"]
    rows = [Staged(str(one["id"]), msgspec.json.encode(one), natural=str(one["entityTypeId"])) for one in types]
    context.store.stage(context.streams["types"].table, rows, run="r", pass_no=1)
    return types


def test_fields_of_smart_processes_look_like_all_others(crm: World) -> None:
    with working(crm) as context:
        seen = [SourceRecord(str(one["id"]), one, {}) for one in staged_types(context)]
        fields = type_fields("types")(context.source, lambda _: seen)
    assert len(fields) == 2 * len(uf.KINDS)
    first = {field["FIELD_NAME"]: field for field in fields}[f"UF_CRM_{seen[0].id}_17000156{uf.CHOICE:02}"]
    assert (first["OF"], first["USER_TYPE_ID"], first["SORT"]) == ("156", "enumeration", "800")
    assert first["LABELS"] == {"ru": "Канал", "en": "Channel", "de": "Kanal"}
    assert [(option["VALUE"], option["XML_ID"][:3]) for option in first["LIST"]] == [(one, "opt") for one in uf.OPTIONS]


def test_a_portal_that_pages_is_read_to_its_end(crm: World) -> None:
    """Sixty fields of one smart process: more than a page."""
    items_ = next(one for one in crm.cloud.portal.company.crm.items.values() if one.fields[0].entity == "CRM_13")
    pattern = items_.fields[0]
    more = [uf.Field(9000 + n, "CRM_13", f"UF_CRM_13_{n}", pattern.purpose) for n in range(60)]
    items_.fields.extend(more)
    with working(crm) as context:
        seen = [SourceRecord(str(one["id"]), one, {}) for one in staged_types(context)]
        fields = type_fields("types")(context.source, lambda _: seen)
    names = [field["FIELD_NAME"] for field in fields]
    assert {field.code for field in more} <= set(names)
    assert len(names) == len(set(names))


# ---------------------------------------------------------------- creating


def test_each_smart_process_gets_its_own_fields(crm: World) -> None:
    with working(crm) as context:
        types = staged_types(context)
        there = dict(zip((str(one["id"]) for one in types), make_types(context, types), strict=True))
        context.store.link("types", [Link(mine, its) for mine, its in there.items()], now=context.clock.now())
        made = fields_made(context, "items")
    for mine, its in there.items():
        known = crm.box.portal.imports.custom_fields("crm_spitems", its)
        assert len(known) == len(uf.KINDS)
        assert made[f"items:UF_CRM_{mine}_CODE_WORD"]["TargetField"] in known


def make_types(context: RunContext, types: list[Json]) -> list[str]:
    """Smart processes of the box, with numbers of its own."""
    made = [Item.make(f"made:{one['id']}", {"title": f"Made {one['title']}", "entityTypeId": "1038"}) for one in types]
    return [outcome.target_id or "" for outcome in context.target.send("crm", "crm_types", made, run="r")]


def test_fields_of_a_smart_process_are_asked_for_under_the_codes_of_the_source(
    crm: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it is known what the box made of them."""
    portal = crm.box.portal
    take = portal._import
    asked: list[str] = []

    def watch(name: str, body: Any, *size: Any) -> Any:
        asked.extend(field["code"] for field in body.get("fields", ()) if name == "import.crm.fields")
        return take(name, body, *size)

    monkeypatch.setattr(portal, "_import", watch)
    with working(crm) as context:
        types = staged_types(context)
        pairs = zip((str(one["id"]) for one in types), make_types(context, types), strict=True)
        context.store.link("types", [Link(mine, its) for mine, its in pairs], now=context.clock.now())
        made = fields_made(context, "items")
        first = sorted(asked)
        asked.clear()
        assert fields_made(context, "items") == made
    assert sorted(asked) == first == sorted(key.removeprefix("items:") for key in made)


def test_fields_of_a_type_that_is_not_on_the_target_are_named(crm: World) -> None:
    with working(crm) as context:
        staged_types(context)
        assert fields_made(context, "items") == {}
        notes = " ".join(str(row.values) for row in context.store.rows(ENTITIES_STATE))
    assert "TYPE_NOT_FOUND" in notes
