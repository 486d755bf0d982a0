"""Custom fields of tasks, the CRM and smart processes: how they are read, created for each type, and what values become."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.pipeline.world import CONFIG, World, small, world

from b24migrate.app import open_app
from b24migrate.config import load
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.custom_fields import create_fields, read_fields
from b24migrate.engine.phases.custom_values import CustomValues
from b24migrate.entities import Catalog
from b24migrate.entities.custom_fields import Read, listed, of_tasks, of_types
from b24migrate.entities.users.streams import ENTITIES as PEOPLE
from b24migrate.model.records import Item, Job, Json, Link, Staged, Table
from b24migrate.model.streams import CustomFields, Entity, Field, Keyset, Listing, Seen, Stream
from b24migrate.ports import ENTITIES_STATE, FIELD_MAP
from b24sim.company import crm_fields as uf

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


deals = stream("deals", custom_prefix=("UF_", "uf"), late_custom=frozenset({"crm"}))
items = stream("items", custom_prefix=("UF_", "uf"))
CATALOG = Catalog(
    (
        *PEOPLE,
        Entity(
            name="deals",
            wire="crm",
            scopes=("crm",),
            streams=(stream("firms"), stream("types", natural="entityTypeId", by_natural=True), deals),
            custom_fields=CustomFields(
                "crm_deals",
                "crm",
                with_statuses(listed("crm.deal.userfield.list")),
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
            custom_fields=CustomFields("crm_spitems", "userfieldconfig", of_types("types"), types="types"),
        ),
        Entity(
            name="bare",
            wire="crm",
            scopes=("crm",),
            streams=(stream("bare", custom_prefix=("UF_",)),),
            custom_fields=CustomFields("crm_deals", "crm", listed("crm.deal.userfield.list")),
        ),
    )
)


PLAN = small(companies=3, contacts=3, deals=6, smart_types=2, smart_items=2, tasks=3)


@pytest.fixture
def crm(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLAN) as made:
        yield made


@contextmanager
def working(made: World) -> Iterator[RunContext]:
    config = made.folder / "b24migrate.toml"
    config.write_text(CONFIG.format(source=made.cloud.webhook(), others="", target=made.box.webhook()))
    loaded = load(config, environ={})
    with open_app(loaded, base=made.folder, clock=made.clock, known=CATALOG) as app:
        yield app.context


def told(value: bytes | None) -> Json:
    return msgspec.json.decode(value or b"null")


# ---------------------------------------------------------------- reading


def test_fields_of_deals_come_with_options_and_labels(crm: World) -> None:
    with working(crm) as context:
        fields = {
            field["FIELD_NAME"]: field for field in listed("crm.deal.userfield.list")(context.source, lambda _: ())
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
        fields = of_tasks()(context.source, lambda _: ())
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
        seen = [Seen(str(one["id"]), one, {}) for one in staged_types(context)]
        fields = of_types("types")(context.source, lambda _: seen)
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
        seen = [Seen(str(one["id"]), one, {}) for one in staged_types(context)]
        fields = of_types("types")(context.source, lambda _: seen)
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
    made = [Item.of(f"made:{one['id']}", {"title": f"Made {one['title']}", "entityTypeId": "1038"}) for one in types]
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


def fields_made(context: RunContext, entity: str) -> dict[str, Any]:
    for phase in (read_fields, create_fields):
        phase(context, Job(f"{entity}-fields", "fields", {"entity": entity}))
    return {row.key: dict(row.values) for row in context.store.rows(FIELD_MAP, prefix=f"{entity}:")}


# ---------------------------------------------------------------- values

Sent = Callable[..., tuple[dict[str, Json], Counter[str]]]


@contextmanager
def sending(made: World) -> Iterator[Sent]:
    """What becomes of a payload: the fields, and what was lost."""
    with working(made) as context:
        fields_made(context, "deals")
        fields_made(context, "bare")
        now = context.clock.now()
        context.store.link("users", [Link("5", "905")], now=now)
        context.store.link("deals", [Link("12", "912")], now=now)
        context.store.link("firms", [Link("7", "907")], now=now)
        context.store.link("files", [Link("crm:30577", "930")], now=now)
        context.store.link("stages.CODE", [Link("SOURCE:WEB", "UC_9"), Link("OTHER:CALL", "UC_8")], now=now)
        context.store.stage(
            context.streams["firms"].table, [Staged("8", b"{}"), Staged("9", b"{}")], run="r", pass_no=1
        )

        def put(payload: dict[str, Json], of: str = "deals", *, late: bool = True) -> Any:
            fields: dict[str, Json] = {}
            losses: Counter[str] = Counter()
            values = CustomValues(context, context.streams[of], late=late)
            values.put(Seen("1", payload, {}), fields, lambda what: losses.update([what]))
            return fields, losses

        yield put


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """For those who only ask what a value becomes."""
    with world(tmp_path_factory.mktemp("shared"), PLAN) as made:
        yield made


@pytest.fixture(scope="module")
def sent(shared: World) -> Iterator[Sent]:
    with sending(shared) as put:
        yield put


def code(purpose: int) -> str:
    return {uf.NUMBER: "UF_CRM_DIGIT10", uf.WORD: "UF_CRM_CODE_WORD"}.get(purpose, DEAL.format(purpose))


FILE = {"id": 30577, "url": "https://host/a", "urlMachine": "https://host/rest/b"}


@pytest.mark.parametrize(
    ("purpose", "value", "wanted"),
    [
        (uf.TEXT, "Договор №5", "Договор №5"),
        (uf.TEXTS, ["a", "b"], ["a", "b"]),
        (uf.TEXTS, "a", ["a"]),
        (uf.TEXTS, {"0": "a", "3": "b"}, ["a", "b"]),
        (uf.WHOLE, 0, 0),
        (uf.WHOLE, "15", "15"),
        (uf.NUMBER, 12.5, 12.5),
        (uf.FLAG, "Y", True),
        (uf.FLAG, "N", False),
        (uf.FLAG, False, False),
        (uf.FLAG, "0", False),
        (uf.DATE, "2024-06-18T00:00:00+03:00", "2024-06-18"),
        (uf.DATE, "2024-06-18T03:00:00+03:00", "2024-06-18"),
        (uf.MOMENT, "2024-06-18T01:30:00+03:00", "2024-06-17T22:30:00Z"),
        (uf.EMPLOYEE, 5, "905"),
        (uf.EMPLOYEES, [5, "5"], ["905", "905"]),
        (uf.LINKS, ["D_12", "CO_7"], ["D_912", "CO_907"]),
        (uf.LINK, "7", "907"),
        (uf.LINK, "CO_7", "CO_907"),
        (uf.MONEY, "300|RUB", "300|RUB"),
        (uf.SITE, "https://a.example/?a=1", "https://a.example/?a=1"),
        (uf.PLACE, "Казань|55.79;49.11", "Казань|55.79;49.11"),
        (ORIGIN, "WEB", "UC_9"),
        (ORIGIN, "CALL", "CALL"),
        (ORIGINS, ["CALL", "WEB"], ["CALL", "UC_9"]),
        (ORIGINS, "WEB", ["UC_9"]),
        (uf.FILE, FILE, "930"),
        (uf.FILES, [FILE], ["930"]),
        (uf.FILES, {"0": FILE}, ["930"]),
    ],
)
def test_a_value_becomes_what_the_target_wants(sent: Sent, purpose: int | str, value: Json, wanted: Json) -> None:
    name = purpose if isinstance(purpose, str) else code(purpose)
    fields, losses = sent({name: value})
    assert (fields, losses) == ({name: wanted}, Counter())
    assert type(fields[name]) is type(wanted)


@pytest.mark.parametrize("value", [None, "", [], {}, False])
def test_an_empty_value_is_not_sent(sent: Sent, value: Json) -> None:
    assert sent({code(uf.TEXT): value, code(uf.EMPLOYEE): value}) == ({}, Counter())


@pytest.mark.parametrize(
    ("purpose", "value", "wanted", "loss"),
    [
        (uf.EMPLOYEE, 6, None, "references_dropped"),
        (uf.EMPLOYEES, [6, 5], ["905"], "references_dropped"),
        (uf.LINKS, ["D_12", "D_13"], ["D_912"], "references_dropped"),
        (uf.LINKS, ["12"], [], "references_dropped"),
        (uf.LINK, "8", None, "references_dropped"),
        (uf.FILE, {"id": 5, "urlMachine": "x"}, None, "files_dropped"),
        (uf.FILES, [FILE, {"id": 5}], ["930"], "files_dropped"),
        (uf.CHOICE, uf.GONE_OPTION, None, "references_dropped"),
        (uf.DATE, "some day", None, "custom_values_left"),
    ],
)
def test_what_leads_nowhere_is_dropped_and_counted(
    sent: Sent, purpose: int, value: Json, wanted: Json, loss: str
) -> None:
    assert sent({code(purpose): value}) == ({code(purpose): wanted}, Counter([loss]))


def test_records_that_are_missed_on_the_target_are_named_once_for_each_field(crm: World) -> None:
    """Those that the source itself has no longer are not missed."""
    with sending(crm) as sent:
        sent({code(uf.LINKS): ["D_13", "CO_55"]})
        assert not any("not on the target" in note for note in noted(crm, "deals"))
        sent({code(uf.LINK): "8"})
        sent({code(uf.LINK): "9", code(uf.LINKS): ["CO_9", "CO_8"]})
    notes = [note for note in noted(crm, "deals") if "not on the target" in note]
    assert [(code(uf.LINK) in note, note.rpartition(" for example ")[2]) for note in notes] == [
        (True, "firms 8"),
        (False, "firms 9"),
    ]


def noted(made: World, entity: str) -> list[str]:
    ((notes,),) = made.sql("SELECT Notes FROM EntitiesState WHERE RowKey = ?", entity)
    return list(msgspec.json.decode(notes))


def test_options_are_those_of_the_target(sent: Sent, shared: World) -> None:
    known = shared.box.portal.imports.custom_fields("crm_deals")[code(uf.CHOICES)].options
    mine = next(one for one in shared.cloud.portal.company.crm.items[2].fields if one.purpose == uf.CHOICES).options
    fields, losses = sent({code(uf.CHOICES): [str(mine[0][0]), mine[2][0]]})
    assert [known[option]["value"] for option in fields[code(uf.CHOICES)]] == [uf.OPTIONS[0], uf.OPTIONS[2]]
    assert not losses


def test_types_that_nobody_can_carry_stay_behind(sent: Sent) -> None:
    assert sent({code(uf.ELEMENT): "31"}) == ({}, Counter(["custom_values_left"]))


def test_files_and_records_stay_behind_where_they_cannot_be_had(sent: Sent) -> None:
    payload = {code(uf.FILE): FILE, code(uf.LINK): "7", code(uf.WORD): "слово"}
    assert sent(payload, "bare") == ({code(uf.WORD): "слово"}, Counter({"custom_values_left": 2}))


def test_records_that_may_come_later_wait_for_the_second_pass(sent: Sent) -> None:
    payload = {code(uf.LINK): "7", code(uf.EMPLOYEE): 5}
    assert sent(payload, late=False)[0] == {code(uf.EMPLOYEE): "905"}
    assert sent(payload, late=True)[0] == {code(uf.LINK): "907", code(uf.EMPLOYEE): "905"}


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("ufCrm_1700000200", uf.TEXT),
        ("ufCrm1700000200", uf.TEXT),
        ("ufCrm_DIGIT10", uf.NUMBER),
        ("ufCrmDigit10", uf.NUMBER),
        ("ufCrmCodeWord", uf.WORD),
    ],
)
def test_names_that_a_method_made_up_are_understood(sent: Sent, name: str, purpose: int) -> None:
    assert sent({name: "5"}) == ({code(purpose): "5"}, Counter())


def test_a_declared_field_is_no_custom_one_and_an_unknown_one_is_counted(sent: Sent) -> None:
    assert sent({"ufDeclared": "5", "ufNobodyKnows": "6", "title": "7"}) == ({}, Counter(["custom_values_left"]))
