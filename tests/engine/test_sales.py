"""Leads, quotes and invoices: their fields and links arrive, and every one of them only once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World, small, world

from b24migrate.engine.run import RunResult
from b24sim.company.crm_ids import DEAL, LEAD, QUOTE
from b24sim.company.crm_quotes import DISK, FILE_BASE
from b24sim.native.box_habits import BoxHabits
from b24sim.portal import Portal

PLAN = small(
    companies=5, contacts=7, deals=9, leads=12, quotes=9, invoices=9, smart_types=1, smart_items=3, templates=0
)
SOLD = ("crm_leads", "crm_quotes", "crm_invoices")
ENTITIES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", *SOLD)
TABLES = ("CrmLeads", "CrmQuotes", "CrmInvoices")
RUN: dict[str, Any] = {"entities": list(ENTITIES), "verify_sample": 1000, "user_coverage": 0.5}


@contextmanager
def selling(folder: Path, **portal: Any) -> Iterator[World]:
    with world(folder, PLAN, **portal) as made:
        made.settings = {"mapping": {"placeholder_user": "1"}, "run": RUN}
        yield made


@pytest.fixture(scope="module")
def sold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Everything is migrated once; nobody changes it."""
    with selling(tmp_path_factory.mktemp("sold")) as made:
        company = made.cloud.portal.company
        first, second = company.crm.items[QUOTE].ids[2::3][:2]
        made.change("crm_quotes", id=str(first), fields={"storageTypeId": 1, "storageElementIds": [FILE_BASE + second]})
        ended = made.run()
        assert ended.exit_code == 0, ended.message
        yield made


def fields(made: World, stream: str, number: int) -> dict[str, Any]:
    found: dict[str, Any] = made.imported(stream)[f"source:{stream}:{number}"]["fields"]
    return found


def there(made: World, stream: str, number: object) -> str | None:
    row = made.imported(stream).get(f"source:{stream}:{number}")
    return str(row["id"]) if row else None


def rows(made: World, kind: int) -> list[dict[str, Any]]:
    items = made.cloud.portal.company.crm.items[kind]
    return [items.row(number) for number in items]


def test_every_one_arrives_and_is_verified(sold: World) -> None:
    for name in SOLD:
        about = sold.stream(name)
        assert about.source == about.read == about.imported == len(sold.imported(name))
        assert sold.entity(name).verified


def test_a_lead_names_its_clients_and_its_stage(sold: World) -> None:
    for row in rows(sold, LEAD):
        sent = fields(sold, "crm_leads", row["id"])
        wanted = [there(sold, "crm_contacts", one) for one in row["contactIds"]]
        assert sent["contactIds"] == [one for one in wanted if one]
        assert sent["companyId"] == there(sold, "crm_companies", row["companyId"])
        assert sent["stageId"] == row["stageId"]
        assert (sent["dateClosed"] is None) == (row["dateClosed"] is None)
        assert sent["isReturnCustomer"] == (row["isReturnCustomer"] == "Y")
        assert len(sent["productRows"]) == len(sold.cloud.portal.company.crm.product_rows(LEAD, row["id"]))


def test_what_came_of_a_lead_names_it(sold: World) -> None:
    """Clients in a second pass, because the lead names them too; a lead that was deleted is left away."""
    named = 0
    for stream, kind in (("crm_companies", 4), ("crm_contacts", 3), ("crm_deals", 2), ("crm_quotes", 7)):
        for row in rows(sold, kind):
            wanted = there(sold, "crm_leads", row["leadId"]) if row.get("leadId") else None
            assert fields(sold, stream, row["id"]).get("leadId") == wanted
            named += wanted is not None
    assert named


def test_a_deal_and_its_quote_name_each_other(sold: World) -> None:
    quotes, deals = rows(sold, QUOTE), rows(sold, DEAL)
    for row in quotes:
        wanted = there(sold, "crm_deals", row["dealId"]) if row["dealId"] else None
        assert fields(sold, "crm_quotes", row["id"])["dealId"] == wanted
    with_quote = [row for row in deals if row.get("quoteId")]
    assert with_quote
    for row in with_quote:
        assert fields(sold, "crm_deals", row["id"])["quoteId"] == there(sold, "crm_quotes", row["quoteId"])


def test_quotes_keep_their_numbers_texts_and_files(sold: World) -> None:
    files = {str(row["key"]): str(row["id"]) for row in sold.dump("files")}
    with_files = 0
    for row in rows(sold, QUOTE):
        sent = fields(sold, "crm_quotes", row["id"])
        assert (sent["quoteNumber"], sent["terms"]) == (row["quoteNumber"], row["terms"])
        on_drive = row["storageElementIds"] if row["storageTypeId"] == DISK else ()  # else other files have these ids
        wanted = [files[f"source:file:disk:{number}"] for number in on_drive]
        assert sent["storageElementIds"] == wanted
        with_files += bool(wanted)
    assert with_files
    assert all(number > FILE_BASE for row in rows(sold, QUOTE) for number in row["storageElementIds"])


def test_invoices_have_their_number_pipeline_and_parents(sold: World) -> None:
    parents = 0
    for row in rows(sold, 31):
        sent = fields(sold, "crm_invoices", row["id"])
        assert sent["accountNumber"] == row["accountNumber"]
        category, _, stage = sent["stageId"].removeprefix("DT31_").partition(":")
        assert (category, stage) == (sent["categoryId"], row["stageId"].partition(":")[2])
        for kind, stream in ((DEAL, "crm_deals"), (QUOTE, "crm_quotes")):
            wanted = there(sold, stream, row[f"parentId{kind}"]) if row[f"parentId{kind}"] else None
            assert sent.get(f"parentId{kind}") == wanted
            parents += wanted is not None
    assert parents


def test_custom_fields_of_each_arrive_under_their_codes(sold: World) -> None:
    for stream, kind, code in (
        ("crm_leads", LEAD, "UF_CRM_1700000100"),
        ("crm_quotes", QUOTE, "UF_CRM_1700000700"),
        ("crm_invoices", 31, "UF_CRM_SMART_INVOICE_1700003100"),
    ):
        assert all(fields(sold, stream, row["id"])[code] == row[code] for row in rows(sold, kind))
    links = [one for row in rows(sold, LEAD) for one in row.get("UF_CRM_1700000113") or () if one.startswith("L_")]
    sent = [one for row in sold.imported("crm_leads").values() for one in row["fields"].get("UF_CRM_1700000113") or ()]
    assert links
    assert {one for one in sent if one.startswith("L_")} == {
        f"L_{there(sold, 'crm_leads', one.removeprefix('L_'))}" for one in links
    }


def test_a_second_run_changes_nothing(sold: World) -> None:
    before = {name: sold.dump(name) for name in (*SOLD, "crm_deals", "crm_contacts", "crm_companies")}
    assert sold.run().exit_code == 0
    assert {name: sold.dump(name) for name in before} == before


# ---------------------------------------------------------------- with a world of its own


def sync(made: World, *entities: str) -> RunResult:
    with made.app() as app:
        return app.runner.run(app.chosen(entities), delta=True, deep=True, tick=made.leap())


def test_what_changed_arrives_in_a_delta_run(tmp_path: Path) -> None:
    with selling(tmp_path) as made:
        made.settings["run"] = {**RUN, "deletions": "delete", "deletions_limit": 100}
        assert made.run().exit_code == 0
        made.clock.sleep(3600)
        for name in SOLD:
            made.change(name, id=2, fields={"title": "Другое название"})
            made.change(name, "add", fields={"title": "Новая запись"})
            made.change(name, "delete", id=9)
        assert sync(made).exit_code == 0
        for name in SOLD:
            titles = [row["fields"]["title"] for row in made.imported(name).values()]
            assert fields(made, name, 2)["title"] == "Другое название"
            assert titles.count("Новая запись") == 1
        gone = {table: made.sql(f"SELECT RowKey FROM {table} WHERE DeletedUtc IS NOT NULL") for table in TABLES}  # noqa: S608 (our own names)
        assert gone == {table: [("9",)] for table in TABLES}


def test_an_older_portal_is_read_by_its_older_methods(tmp_path: Path) -> None:
    """It has no invoices, which only the newer method knows: they are skipped."""
    with selling(tmp_path, without=("crm.item.*",)) as made:
        settings = {"run": {**RUN, "entities": []}, "entities": {}}
        others = ("groups", "chats", "feed", "tasks", "workflows", "crm_spitems")
        settings["entities"] = {name: {"enabled": False} for name in others}
        made.settings = {"mapping": {"placeholder_user": "1"}, **settings}
        assert made.run().exit_code == 5  # no link of an older method opens a file
        assert made.imported("crm_invoices") == {}
        assert any("no methods" in note for note in made.entity("crm_invoices").notes)
        for row in rows(made, LEAD):
            sent = fields(made, "crm_leads", row["id"])
            wanted = [there(made, "crm_contacts", one) for one in row["contactIds"]]
            assert (sent["stageId"], set(sent["contactIds"])) == (row["stageId"], {one for one in wanted if one})
            assert sent["opportunity"] == row["opportunity"]
        for row in rows(made, QUOTE):
            assert fields(made, "crm_quotes", row["id"])["quoteNumber"] == row["quoteNumber"]
            products = made.cloud.portal.company.crm.product_rows(QUOTE, row["id"])
            assert len(fields(made, "crm_quotes", row["id"])["productRows"]) == len(products)


def test_a_product_that_is_gone_leaves_its_row_and_is_counted(tmp_path: Path) -> None:
    with selling(tmp_path) as made:
        crm = made.cloud.portal.company.crm
        lines = [row for number in crm.items[LEAD] for row in crm.product_rows(LEAD, number)]
        assert any(row["productId"] for row in lines)
        made.settings["run"] = {**RUN, "entities": [*ENTITIES, "crm_catalog"]}
        assert made.run().exit_code == 0
        sent = [row for one in made.imported("crm_leads").values() for row in one["fields"]["productRows"]]
        assert len(sent) == len(lines)
        assert {row["productId"] for row in sent} == {None}  # the company has no products any more
        assert {row["discountTypeId"] for row in sent} == {2}
        assert any("links dropped" in note for note in made.entity("crm_leads").notes)


def test_a_box_that_hides_leads_is_told_of(tmp_path: Path) -> None:
    hidden = Portal(role="box", box_habits=BoxHabits(classic_crm=False))
    with selling(tmp_path, box=hidden) as made, made.app() as app:
        chosen = [one for one in app.catalog.entities if one.name in app.chosen()]
        (failed,) = app.runner.examine(chosen).failed
    assert (failed.entity, failed.gate.rpartition(".")[2]) == ("crm_leads", "crm_leads")
    assert "hides leads" in failed.message
