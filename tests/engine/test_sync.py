"""A delta run brings what changed, asks little, and says where it had to read everything."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.engine.phases import count_ranges, inventory
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.count_ranges import Compared, Range
from b24migrate.engine.phases.delta import Part
from b24migrate.engine.plan import Plan
from b24migrate.engine.run import RunResult
from b24migrate.model.errors import Halted
from b24migrate.model.streams import Stream
from b24migrate.stores.sqlite import SqliteStore
from b24sim.company.crm_ids import CONTACT, DEAL

Json = Any
CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
PLAN = replace(SMALL, chats=0, messages=0, companies=9, contacts=9, deals=20, smart_types=2, smart_items=4, tasks=0)
SETTINGS = {"run": {"entities": list(CRM), "user_coverage": 0.5}, "mapping": {"placeholder_user": "1"}}
WEST = {"TIME_ZONE": "America/New_York"}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("crm"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def crm(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def sync(made: World, *entities: str, **settings: Json) -> RunResult:
    with made.app(**settings) as app:
        return app.runner.run(app.chosen(entities), delta=True, tick=made.leap())


def title(made: World, deal: int) -> str:
    return str(made.imported("crm_deals")[f"source:crm_deals:{deal}"]["fields"]["title"])


def whole(made: World, entity: str) -> list[str]:
    return [note for note in map(str, made.entity(entity).notes) if "read whole" in note]


def deals(made: World) -> list[int]:
    return [int(key) for key in made.records("CrmDeals")]


# ---------------------------------------------------------------- what arrives


def test_what_was_changed_created_and_deleted_arrives(crm: World) -> None:
    first, second, third, *_ = deals(crm)
    smart = next(iter(crm.records("CrmSpItems")))
    crm.change("crm_deals", id=first, fields={"title": "Другое"})
    crm.change("crm_spitems", id=smart, fields={"title": "И это"})
    (new,) = crm.change("crm_deals", "add", fields={"title": "Новая"})
    crm.change("crm_deals", "delete", id=third)
    before = crm.imported("crm_deals")
    assert sync(crm).exit_code == 0
    assert (title(crm, first), title(crm, new)) == ("Другое", "Новая")
    assert crm.imported("crm_spitems")[f"source:crm_spitems:{smart}"]["fields"]["title"] == "И это"
    told = crm.stream("crm_deals")
    assert (told.deleted, told.drift, told.findings) == (1, 0, 0)
    assert told.source == told.read - 1 == len(before) + told.excluded
    after = crm.imported("crm_deals")
    assert after[f"source:crm_deals:{second}"] == before[f"source:crm_deals:{second}"]
    assert whole(crm, "crm_deals") == []
    assert crm.entity("crm_deals").verified


def test_a_report_of_changes_waits_for_no_import(crm: World) -> None:
    (new,) = crm.change("crm_companies", "add", fields={"title": "Новая"})
    deal = deals(crm)[0]
    crm.change("crm_deals", id=deal, fields={"title": "Позже", "companyId": new})
    with crm.app() as app:
        ended = app.runner.run(app.chosen(()), ("custom-fields-get", "get"), delta=True, tick=crm.leap())
    assert ended.exit_code == 0
    assert crm.records("CrmCompanies")[str(new)]["Status"] == crm.records("CrmDeals")[str(deal)]["Status"] == "NEW"
    assert title(crm, deal) != "Позже"


def test_a_restored_record_has_a_new_id_and_an_old_time(crm: World) -> None:
    company = crm.cloud.portal.company
    old = company.moments.iso(company.crm.items[DEAL].row(deals(crm)[0])["createdTime"] and 1_600_000_000)
    (new,) = crm.change("crm_deals", "add", fields={"title": "Из корзины", "updatedTime": old, "createdTime": old})
    assert sync(crm).exit_code == 0
    assert title(crm, new) == "Из корзины"


def test_links_to_a_deleted_company_go(crm: World) -> None:
    """The portal takes them out of contacts and deals, and moves no date."""
    company = crm.cloud.portal.company
    contact = next(one for one in company.crm.items[CONTACT] if company.crm.items[CONTACT].row(one)["companyIds"])
    key, gone = f"source:crm_contacts:{contact}", company.crm.items[CONTACT].row(contact)["companyIds"][0]
    before = crm.imported("crm_contacts")[key]["fields"]["companyIds"]
    crm.change("crm_companies", "delete", id=gone)
    assert gone not in company.crm.items[CONTACT].row(contact)["companyIds"]
    assert sync(crm).exit_code == 0
    assert len(crm.imported("crm_contacts")[key]["fields"]["companyIds"]) == len(before) - 1
    assert whole(crm, "crm_contacts") == []
    boxed = {name: crm.imported(name) for name in ("crm_contacts", "crm_deals", "crm_spitems")}
    assert crm.run().exit_code == 0
    assert {name: crm.imported(name) for name in boxed} == boxed  # a full pass finds nothing more


def test_product_rows_come_with_their_owner(crm: World) -> None:
    deal = deals(crm)[5]
    rows = [
        {
            "id": 900001,
            "ownerId": deal,
            "ownerType": "D",
            "productName": "Кресло",
            "price": 10.0,
            "quantity": 3.0,
            "sort": 10,
        }
    ]
    crm.change("crm_deals", id=deal, fields={"productRows": rows})
    assert sync(crm, "crm_deals").exit_code == 0
    (row,) = crm.imported("crm_deals")[f"source:crm_deals:{deal}"]["fields"]["productRows"]
    assert (row["productName"], row["quantity"]) == ("Кресло", 3.0)


def test_many_scattered_deletions_are_found(crm: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """One alone is looked for by cutting the ids again and again, several in shorter parts."""
    for name, value in {"RANGES": 1, "PAGE": 2, "COMMANDS": 5}.items():
        monkeypatch.setattr(count_ranges, name, value)
    gone = random.Random(3).sample(deals(crm), 5)
    for first, last in ((0, 1), (1, 5)):
        for deal in gone[first:last]:
            crm.change("crm_deals", "delete", id=deal)
        assert sync(crm).exit_code == 0
        rows = crm.table("CrmDeals", "RowKey", "DeletedUtc")
        assert {int(row["RowKey"]) for row in rows if row["DeletedUtc"]} == set(gone[:last])
    assert sync(crm).exit_code == 0
    assert crm.stream("crm_deals").deleted == 5


def test_a_deletion_in_the_midst_of_counting_hides_no_other(crm: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last part of a range is not counted: what is missing there follows from the other parts."""
    for name, value in {"RANGES": 1, "PAGE": 1}.items():
        monkeypatch.setattr(count_ranges, name, value)
    first, *_, last = deals(crm)
    count_parts = count_ranges.count_parts

    def counted(context: RunContext, part: Part, ranges: Sequence[Range]) -> tuple[list[Compared], list[Range]]:
        if first in crm.cloud.portal.company.crm.items[DEAL]:
            crm.change("crm_deals", "delete", id=first)
        return count_parts(context, part, ranges)

    monkeypatch.setattr(count_ranges, "count_parts", counted)
    crm.change("crm_deals", "delete", id=last - 1 if last - 1 in deals(crm) else last)
    crm.change("crm_deals", "add", fields={"title": "Новая"})
    assert sync(crm, "crm_deals").exit_code == 0
    told = crm.stream("crm_deals")
    assert (told.deleted, told.drift) == (2, 0)


def test_new_records_are_read_once(crm: World) -> None:
    """By their time; only restored and imported ones have an older one."""
    sync(crm)
    stats = crm.cloud.portal.stats
    stats.reset()
    crm.change("crm_deals", "add", count=3, fields={"title": "Новая"})
    assert sync(crm, "crm_deals").exit_code == 0
    assert stats.inner["crm.item.productrow.list"] + stats.methods["crm.item.productrow.list"] == 3


def test_custom_fields_name_no_removed_record(crm: World) -> None:
    """The source keeps the code of a deleted deal in the custom fields of other records, which do not change."""
    targets = {f"D_{one['RowKey']}": f"D_{one['TargetId']}" for one in crm.records("CrmDeals").values()}

    def holders(code: str) -> set[str]:
        rows = {**crm.imported("crm_contacts"), **crm.imported("crm_companies"), **crm.imported("crm_spitems")}
        return {key for key, row in rows.items() if f"'{code}'" in str(row["fields"])}

    named = [code for code, there in targets.items() if holders(there)]
    for code in named:
        crm.change("crm_deals", "delete", id=int(code[2:]))
    assert sync(crm, run={"deletions": "delete", "deletions_limit": 100}).exit_code == 0
    removed = [code for code in named if f"source:crm_deals:{code[2:]}" not in crm.imported("crm_deals")]
    assert removed  # others are kept, since smart-process items belong to them
    assert [code for code in removed if holders(targets[code])] == []
    assert crm.sql("SELECT * FROM Deletions WHERE RowKey LIKE 'removed:%'") == []


def test_what_goes_between_two_counts_is_no_drift(crm: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is deleted after the ranges of IDs were counted, and before all are."""
    count_now, gone = inventory.count_now, deals(crm)[4]
    crm.change("crm_deals", "add", fields={"title": "Новая"})  # or nothing is counted once more

    def counted(context: RunContext, stream: Stream, pass_no: int) -> int | None:
        if stream.name == "crm_deals" and gone in crm.cloud.portal.company.crm.items[DEAL]:
            crm.change("crm_deals", "delete", id=gone)
        return count_now(context, stream, pass_no)

    monkeypatch.setattr(inventory, "count_now", counted)
    assert sync(crm, "crm_deals").exit_code == 0
    told = crm.stream("crm_deals")
    assert (told.deleted, told.drift) == (1, 0)
    assert not [note for note in map(str, crm.entity("crm_deals").notes) if "mismatch" in note.lower()]


def test_a_template_that_becomes_a_deal_is_counted_once(crm: World) -> None:
    """It was left out, and is a record now."""
    template = crm.sql("SELECT RowKey FROM SetAside WHERE RowKey LIKE 'excluded:crm_deals:%'")[0][0].rpartition(":")[2]
    before = crm.stream("crm_deals")
    crm.change("crm_deals", id=int(template), fields={"isRecurring": "N", "title": "Теперь сделка"})
    assert sync(crm, "crm_deals").exit_code == 0
    told = crm.stream("crm_deals")
    assert (told.drift, told.excluded, told.imported) == (0, before.excluded - 1, before.imported + 1)
    assert title(crm, int(template)) == "Теперь сделка"


def test_killed_before_a_former_template_is_staged_nothing_is_lost(crm: World, monkeypatch: pytest.MonkeyPatch) -> None:
    template = crm.sql("SELECT RowKey FROM SetAside WHERE RowKey LIKE 'excluded:crm_deals:%'")[0][0].rpartition(":")[2]
    crm.change("crm_deals", id=int(template), fields={"isRecurring": "N", "title": "Теперь сделка"})

    def deadly(*_: Json, **__: Json) -> None:
        raise Halted("killed")

    monkeypatch.setattr(SqliteStore, "stage", deadly)
    with pytest.raises(Halted):
        sync(crm, "crm_deals")
    monkeypatch.undo()
    assert sync(crm, "crm_deals").exit_code == 0
    assert (crm.stream("crm_deals").drift, title(crm, int(template))) == (0, "Теперь сделка")


def test_killed_after_a_deleted_template_is_forgotten_nothing_is_counted_wrong(
    crm: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = crm.sql("SELECT RowKey FROM SetAside WHERE RowKey LIKE 'excluded:crm_deals:%'")[0][0].rpartition(":")[2]
    gone, before = deals(crm)[0], crm.stream("crm_deals")
    for deal in (int(template), gone):
        crm.change("crm_deals", "delete", id=deal)
    forget = count_ranges.forget_excluded

    def deadly(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
        forget(context, stream, row_keys)
        raise Halted("killed")

    monkeypatch.setattr(count_ranges, "forget_excluded", deadly)
    with pytest.raises(Halted):
        sync(crm, "crm_deals")
    monkeypatch.undo()
    assert sync(crm, "crm_deals").exit_code == 0
    told = crm.stream("crm_deals")
    assert (told.drift, told.deleted, told.excluded) == (0, before.deleted + 1, before.excluded - 1)


def test_when_many_are_gone_nothing_is_believed(crm: World) -> None:
    for deal in deals(crm)[:6]:
        crm.change("crm_deals", "delete", id=deal)
    assert sync(crm, "crm_deals").exit_code == 4
    assert crm.stream("crm_deals").deleted == 0


def test_nothing_changed_costs_little_and_sends_nothing(crm: World) -> None:
    sync(crm)
    crm.box.portal.stats.reset()
    crm.take_calls()["crm.item.list"]
    assert sync(crm).exit_code == 0
    quiet = crm.take_calls()["crm.item.list"]
    assert not [name for name in crm.box.portal.stats.methods if name.endswith(".batch")]
    assert crm.cloud.portal.stats.inner["crm.item.productrow.list"] == 0
    seen = crm.table("CrmDeals", "Pass")
    assert {row["Pass"] for row in seen} == {1}  # none was read again
    assert quiet < 60 * 5  # five lists, each counted in 50 ranges


# ---------------------------------------------------------------- zones


def test_an_owner_west_of_the_server_misses_nothing(crm: World) -> None:
    """The portal reads times in filters as the owner's local time: without a correction the last seven hours are lost."""
    crm.change("users", id=1, fields=WEST)
    sync(crm)
    deal = deals(crm)[7]
    crm.change("crm_deals", id=deal, fields={"title": "С запада"})
    assert sync(crm).exit_code == 0
    assert (title(crm, deal), whole(crm, "crm_deals")) == ("С запада", [])


def test_a_filter_that_does_not_work_makes_it_read_everything(crm: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("b24sim.methods.crm_items._moments", lambda _: Deaf(crm.cloud.portal.company.moments))
    deal = deals(crm)[8]
    crm.change("crm_deals", id=deal, fields={"title": "Всё равно"})
    assert sync(crm).exit_code == 0
    assert title(crm, deal) == "Всё равно"
    (note,) = whole(crm, "crm_deals")
    assert "does not filter by time" in note


class Deaf:
    """Reads no time in a filter: such a condition matches nothing."""

    def __init__(self, moments: Json) -> None:
        self._moments = moments

    def __getattr__(self, name: str) -> Json:
        return getattr(self._moments, name)

    def parse(self, _: Json) -> None:
        return None


# ---------------------------------------------------------------- when everything is read


def test_an_entity_without_a_complete_pass_is_read_whole(tmp_path: Path) -> None:
    from tests.engine.world import world

    with world(tmp_path, replace(SMALL, chats=0, messages=0, groups=2)) as made:
        assert sync(made, "users").exit_code == 0
        assert len(made.imported("users")) > 3
        assert [("no complete pass" in note) for note in whole(made, "users")] == [True] * len(whole(made, "users"))


@pytest.mark.parametrize("reason", ["the custom fields changed", "the owner or the scopes", "more than 14 days old"])
def test_it_reads_everything_when_the_marks_cannot_be_trusted(crm: World, reason: str) -> None:
    def spoil(row: dict[str, Json]) -> None:
        basis = row["Basis"]
        if "fields" in reason:
            basis["fields"] = "other"
        elif "owner" in reason:
            basis["owners"] = ["7"]
        else:
            row["FullUtc"] = "2020-01-01T00:00:00+00:00"

    with crm.app() as app:
        from b24migrate.ports import PASSES

        for row in app.context.store.rows(PASSES, "mark:"):
            values = json.loads(json.dumps(dict(row.values)))
            spoil(values)
            app.context.store.write(PASSES, [row._replace(values=values)])
    assert sync(crm, "crm_deals").exit_code == 0
    (note,) = whole(crm, "crm_deals")
    assert reason in note
    sync(crm, "crm_deals")
    assert whole(crm, "crm_deals") == []


# ---------------------------------------------------------------- marks


def marks(made: World) -> dict[str, Json]:
    return dict(made.sql("SELECT RowKey, MarkUtc FROM Passes WHERE RowKey LIKE 'mark:%'"))


def test_a_pass_that_is_cut_off_leaves_the_marks(crm: World) -> None:
    before = marks(crm)
    deal = deals(crm)[9]
    crm.change("crm_deals", id=deal, fields={"title": "Потом"})
    crm.strike_cloud({"kind": "error", "method": "crm.item.list", "status": 500})
    with crm.app() as app:
        app.runner.begin(Plan(tuple(app.chosen(())), delta=True))
    assert marks(crm) == before
    crm.strike_cloud()
    assert sync(crm).exit_code == 0
    assert title(crm, deal) == "Потом"
    assert all(marks(crm)[name] > before[name] for name in before)
