"""Company details of clients: every record of them on the box as the contract says, and what becomes of odd ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.skipped_records import closes, skipped
from tests.engine.test_sync import SETTINGS, sync, whole
from tests.engine.world import SMALL, World, world

from b24migrate.entities.requisites.streams import NO_CLIENT, OLD_ADDRESS, OLD_LINK
from b24sim.dump import dump

Json = Any
ENTITIES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems", "crm_requisites")
TABLES = {
    "crm_requisite_presets": "CrmRequisitePresets",
    "crm_requisites": "CrmRequisites",
    "crm_bank_details": "CrmBankDetails",
    "crm_addresses": "CrmAddresses",
    "crm_requisite_links": "CrmRequisiteLinks",
}
PLAN = replace(SMALL, chats=0, messages=0, companies=5, contacts=5, deals=9, smart_types=1, smart_items=4)
OWNERS = {2: "crm_deals", 3: "crm_contacts", 4: "crm_companies", 8: "crm_requisites"}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    settings: Json = {**SETTINGS, "run": {"entities": list(ENTITIES), "user_coverage": 0.5}}
    plan = replace(PLAN, requisites=12)
    with migrated(tmp_path_factory.mktemp("requisites"), plan, settings=settings) as taken_up:
        yield taken_up


@pytest.fixture
def made(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def source(made: World, stream: str) -> dict[str, Json]:
    return {row["id"]: row["fields"] for row in dump(made.cloud.portal, stream)}


def on_box(made: World, stream: str) -> dict[str, Json]:
    """By the id of the source."""
    return {key.split(":", 2)[2]: row["fields"] for key, row in made.imported(stream).items()}


class Expected:
    """What the contract wants of a record of the source."""

    def __init__(self, made: World) -> None:
        streams = {*TABLES, *OWNERS.values(), "users", "crm_spitems"}
        self.ids = {one: {key: row["id"] for key, row in made.imported(one).items()} for one in streams}

    def link(self, stream: str, number: Json) -> Json:
        return None if number in (None, "0") else self.ids[stream].get(f"source:{stream}:{number}")

    def owner(self, row: Mapping[str, Json], kind: str = "ENTITY_TYPE_ID", name: str = "ENTITY_ID") -> Json:
        number = int(row[kind])
        if number in OWNERS:
            return {kind: number, name: self.link(OWNERS[number], row[name])}
        target = self.link("crm_spitems", f"{number}:{row[name]}")
        return {name: target}

    def common(self, row: Mapping[str, Json]) -> Json:
        people = {name: self.link("users", row[name]) for name in ("CREATED_BY_ID", "MODIFY_BY_ID")}
        details = {name: value for name, value in row.items() if name.startswith("RQ_") and value is not None}
        times = {name: utc(row[name]) for name in ("DATE_CREATE", "DATE_MODIFY")}
        flags = {name: row[name] == "Y" for name in ("ACTIVE", "ADDRESS_ONLY") if name in row}
        return {**people, **details, **times, **flags, "NAME": row["NAME"], "SORT": int(row["SORT"])}

    def of(self, stream: str, row: Mapping[str, Json]) -> Json:
        if stream == "crm_requisites":
            custom = {
                "UF_CRM_1700000800": row["UF_CRM_1700000800"],
                "UF_CRM_1700000804": row["UF_CRM_1700000804"] == "1",
            }
            preset = self.link("crm_requisite_presets", row["PRESET_ID"])
            return {**self.common(row), **self.owner(row), **custom, "PRESET_ID": preset}
        if stream == "crm_bank_details":
            owner = {"ENTITY_ID": self.link("crm_requisites", row["ENTITY_ID"])}
            return {**self.common(row), **owner, "COUNTRY_ID": int(row["COUNTRY_ID"]), "COMMENTS": row["COMMENTS"]}
        if stream == "crm_addresses":
            lines = {name: row[name] for name in ("ADDRESS_1", "CITY", "POSTAL_CODE", "COUNTRY", "COUNTRY_CODE")}
            anchor = self.owner(row, "ANCHOR_TYPE_ID", "ANCHOR_ID")
            return {**lines, **self.owner(row), **anchor, "TYPE_ID": int(row["TYPE_ID"])}
        names = {"REQUISITE_ID": "crm_requisites", "BANK_DETAIL_ID": "crm_bank_details"}
        return {
            **self.owner(row),
            **{name: self.link(to, row[name]) for name, to in names.items()},
            "MC_REQUISITE_ID": None,
        }


def utc(text: str | None) -> str | None:
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if text else None


def as_expected(made: World, stream: str) -> bool:
    wanted, there = Expected(made), on_box(made, stream)
    told = source(made, stream)
    assert there.keys() == told.keys()
    for key, row in told.items():
        expected = wanted.of(stream, row)
        assert {name: there[key].get(name) for name in expected} == expected, key
    return True


# ---------------------------------------------------------------- what arrives


@pytest.mark.parametrize("stream", list(TABLES)[1:])
def test_every_record_is_on_the_box_as_the_contract_says(made: World, stream: str) -> None:
    assert as_expected(made, stream)
    assert closes(made, stream)
    assert made.stream(stream).findings == 0


def test_links_to_records_of_smart_processes_name_their_type_on_the_box(made: World) -> None:
    (smart,) = made.imported("crm_types").values()
    links = {key: row for key, row in on_box(made, "crm_requisite_links").items() if not key.startswith("2:")}
    assert links
    assert {row["ENTITY_TYPE_ID"] for row in links.values()} == {int(smart["id"])}


def test_stock_templates_are_linked_and_others_keep_their_fields(made: World) -> None:
    presets = made.imported("crm_requisite_presets")
    assert [row["linked"] for row in presets.values()] == [True, True, True, False, False]
    told = source(made, "crm_requisite_presets")["4"]
    fields = presets["source:crm_requisite_presets:4"]["fields"]
    assert (fields["NAME"], fields["COUNTRY_ID"]) == (told["NAME"], 1)
    assert [one["FIELD_NAME"] for one in fields["fields"]] == [one["FIELD_NAME"] for one in told["fields"]]
    assert fields["fields"][0]["IN_SHORT_LIST"] is True


def test_a_second_run_changes_nothing(made: World) -> None:
    before = {stream: made.imported(stream) for stream in TABLES}
    assert made.run("crm_requisites").exit_code == 0
    assert {stream: made.imported(stream) for stream in TABLES} == before
    assert made.entity("crm_requisites").verified


# ---------------------------------------------------------------- what is odd


def test_what_belongs_to_nothing_that_is_migrated_is_counted_by_rule(made: World) -> None:
    made.change("crm_requisites", "add", id=90, fields={"ENTITY_TYPE_ID": 1, "ENTITY_ID": 1})
    made.change("crm_addresses", "add", fields={"ENTITY_TYPE_ID": 3, "ENTITY_ID": 1, "TYPE_ID": 1})
    made.change("crm_requisite_links", "add", fields={"ENTITY_TYPE_ID": 5, "ENTITY_ID": 1})
    made.change("crm_requisite_links", "add", fields={"ENTITY_TYPE_ID": 193, "ENTITY_ID": 1})  # in the recycle bin
    assert made.run("crm_requisites").exit_code == 0
    assert skipped(made, "crm_requisites") == {"90": NO_CLIENT}
    assert skipped(made, "crm_addresses") == {"3:1:1": OLD_ADDRESS}
    assert skipped(made, "crm_requisite_links") == {"5:1": OLD_LINK, "193:1": OLD_LINK}
    assert all(closes(made, stream) for stream in TABLES)


def test_an_owner_or_a_choice_that_is_gone_costs_no_more_than_itself(made: World) -> None:
    made.change("crm_requisites", "add", id=90, fields={"ENTITY_TYPE_ID": 4, "ENTITY_ID": 10, "NAME": "Без компании"})
    made.change("crm_requisites", "add", id=91, fields={"ENTITY_TYPE_ID": "четыре"})
    link = next(key for key in source(made, "crm_requisite_links") if key.startswith("2:"))
    made.change("crm_requisite_links", id=link, fields={"REQUISITE_ID": 95, "BANK_DETAIL_ID": 95})
    assert made.run("crm_requisites").exit_code == 5
    rows = made.records("CrmRequisites")
    assert (rows["90"]["Status"], rows["90"]["LastErrorCode"]) == ("IMPORT_ERR", "REFERENCE_MISSING")
    assert (rows["91"]["Status"], rows["91"]["LastErrorCode"]) == ("IMPORT_ERR", "ODD_VALUE")
    assert {row["Status"] for key, row in rows.items() if key not in ("90", "91")} == {"IMPORT_OK"}
    there = on_box(made, "crm_requisite_links")[link]
    assert (there["REQUISITE_ID"], there["BANK_DETAIL_ID"]) == (None, None)
    assert closes(made, "crm_requisites")


# ---------------------------------------------------------------- what changes


def test_a_delta_brings_what_was_created_changed_and_deleted(made: World) -> None:
    """Those that nobody changed have no date of a change, and are found by their ids."""
    first, second = list(source(made, "crm_requisites"))[:2]
    account = next(iter(source(made, "crm_bank_details")))
    address, gone = list(source(made, "crm_addresses"))[-2:]
    link = next(key for key, row in source(made, "crm_requisite_links").items() if row["REQUISITE_ID"] != "0")
    client = source(made, "crm_requisites")[second]
    owner = {"ENTITY_TYPE_ID": client["ENTITY_TYPE_ID"], "ENTITY_ID": client["ENTITY_ID"]}
    made.change("crm_requisites", id=first, fields={"RQ_DIRECTOR": "Другой директор"})
    (new,) = made.change("crm_requisites", "add", fields={**owner, "NAME": "Новые", "PRESET_ID": client["PRESET_ID"]})
    made.change("crm_bank_details", id=account, fields={"NAME": "Другой счёт"})
    made.change("crm_bank_details", "delete", id=list(source(made, "crm_bank_details"))[-1])
    made.change("crm_addresses", id=address, fields={"CITY": "Пермь"})
    made.change("crm_addresses", "delete", id=gone)
    made.change("crm_requisite_links", id=link, fields={"REQUISITE_ID": 0, "BANK_DETAIL_ID": 0})
    made.change("crm_requisite_presets", id=4, fields={"NAME": "Филиал"})
    assert sync(made).exit_code == 0
    assert source(made, "crm_requisites")[str(new)]["DATE_MODIFY"] == ""
    assert as_expected(made, "crm_requisites")
    assert as_expected(made, "crm_requisite_links")
    assert on_box(made, "crm_bank_details")[account]["NAME"] == "Другой счёт"
    assert on_box(made, "crm_addresses")[address]["CITY"] == "Пермь"
    assert on_box(made, "crm_requisite_presets")["4"]["NAME"] == "Филиал"
    assert (made.stream("crm_bank_details").deleted, made.stream("crm_addresses").deleted) == (1, 1)
    undated = ("crm_requisite_presets", "crm_addresses", "crm_requisite_links")
    assert [note.partition(":")[0] for note in whole(made, "crm_requisites")] == list(undated)
    assert made.entity("crm_requisites").verified


def test_what_belonged_to_a_deleted_client_is_deleted_with_it(made: World) -> None:
    before = {stream: len(source(made, stream)) for stream in TABLES}
    client = next(row["ENTITY_ID"] for row in source(made, "crm_requisites").values() if row["ENTITY_TYPE_ID"] == "4")
    made.change("crm_companies", "delete", id=client)
    with made.app(run={"deletions_limit": 100.0}) as app:
        app.runner.run(app.chosen(()), delta=True, tick=made.leap())
    gone = {stream: before[stream] - len(source(made, stream)) for stream in TABLES}
    assert gone["crm_requisites"]
    assert {stream: made.stream(stream).deleted for stream in TABLES} == gone


def test_bank_details_of_what_is_in_the_recycle_bin_are_not_read(tmp_path: Path) -> None:
    """They are listed with the others, while their requisites are not."""
    settings: Json = {**SETTINGS, "run": {"entities": list(ENTITIES), "user_coverage": 0.5}}
    with world(tmp_path, replace(PLAN, requisites=12)) as made:
        made.settings = settings
        owners = {row["ENTITY_ID"] for row in source(made, "crm_bank_details").values()}
        client = next(row for key, row in source(made, "crm_requisites").items() if key in owners)
        streams = {"3": "crm_contacts", "4": "crm_companies"}
        made.change(streams[client["ENTITY_TYPE_ID"]], "delete", id=client["ENTITY_ID"])
        assert made.cloud.portal.company.requisites.recycled_accounts
        made.run()
        assert on_box(made, "crm_bank_details").keys() == source(made, "crm_bank_details").keys()
        assert closes(made, "crm_bank_details")
        assert made.stream("crm_bank_details").failed == 0
