"""A record of which a part is refused is imported without it, counted, and read again by the next run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.every_stream import CATALOG, PLAN, SETTINGS
from tests.engine.refusals import BROKEN, CLOSED, PRODUCTS, SOLD, complete, holds, refuse, sells, sold
from tests.engine.world import World, world

from b24migrate.engine.phases import partial
from b24migrate.engine.phases.pull_through import complete_rows
from b24migrate.model.errors import Transient
from b24migrate.model.records import Staged
from b24migrate.model.source_records import SourceRecord
from b24migrate.ports import PARTIAL, RegisterRow
from b24sim.errors import RestError

REFERENCE = "REFERENCE_MISSING"


def test_products_of_one_deal_are_stated_and_read_again(sales: World) -> None:
    sales.cloud.portal.many_owners = False
    victim = list(sales.cloud.portal.company.crm.deal_ids)[2]
    rows = sells(sales)
    heal = refuse_for_ever(sales, victim)
    ended = sales.run()
    assert ended.exit_code == 5
    assert ended.message == "crm_deals: 1 incomplete"
    assert not sales.entity("crm_deals").verified
    (note,) = [one for one in sales.entity("crm_deals").notes if "product rows could not be read" in one]
    assert note.startswith(f"crm_deals {victim}: ")
    assert "productRows" not in sales.imported("crm_deals")[f"source:crm_deals:{victim}"]["fields"]
    heal()
    complete(sales)
    assert sold(sales) == rows


def test_products_that_stay_refused_are_stated_every_time(sales: World) -> None:
    company = sales.cloud.portal.company
    victim = list(company.crm.deal_ids)[2]
    refuse_for_ever(sales, victim)
    updated = set()
    for _ in range(3):
        ended = sales.run()
        assert (ended.exit_code, ended.message) == (5, "crm_deals: 1 incomplete")
        updated.add(sales.imported("crm_deals")[f"source:crm_deals:{victim}"]["updated_count"])
    assert len(updated) == 1


@pytest.fixture
def upgraded(sales: World) -> World:
    """Brought over by a version that took deals for whole whose products had been refused."""
    with pytest.MonkeyPatch.context() as older:
        older.setattr("b24migrate.entities.crm.products.with_rows", lambda row, _: row)
        assert sales.run().exit_code == 0
    assert not any("productRows" in row["fields"] for row in sales.imported("crm_deals").values())
    return sales


def test_deals_that_an_older_version_left_without_products_get_them(upgraded: World) -> None:
    complete(upgraded)
    assert sold(upgraded) == sells(upgraded)
    updated = {key: row["updated_count"] for key, row in upgraded.imported("crm_deals").items()}
    complete(upgraded)
    assert {key: row["updated_count"] for key, row in upgraded.imported("crm_deals").items()} == updated


def test_a_deal_that_an_older_version_left_without_products_is_stated_when_they_are_refused(upgraded: World) -> None:
    victim = list(upgraded.cloud.portal.company.crm.deal_ids)[2]
    refuse_for_ever(upgraded, victim)
    for _ in range(2):
        ended = upgraded.run()
        assert (ended.exit_code, ended.message) == (5, "crm_deals: 1 incomplete")


def refuse_for_ever(made: World, victim: int, error: RestError = CLOSED) -> Callable[[], None]:
    """As a deal that the webhook's owner may not open. Returns what opens it again."""
    return refuse(made, PRODUCTS, lambda asked: f"'{victim}'" in asked and "'D'" in asked, error)


@pytest.mark.parametrize("many_owners", [True, False])
def test_a_deal_that_always_breaks_the_portal_buries_no_other(tmp_path: Path, many_owners: bool) -> None:
    with world(tmp_path, replace(PLAN, deals=104), webhooks=(1, 2)) as made:
        made.settings = {"mapping": SETTINGS["mapping"], "run": SETTINGS["run"] | {"entities": list(SOLD)}}
        made.cloud.portal.many_owners = many_owners
        victim = list(made.cloud.portal.company.crm.deal_ids)[2]
        rows = sells(made)
        heal = refuse_for_ever(made, victim, BROKEN)
        for _ in range(2):
            ended = made.run()
            assert ended.exit_code == 5
            assert incomplete(made) == [f"crm_deals:{victim}"]
            assert made.letters() == []
            assert not made.entity("crm_deals").verified
            deals = made.records("CrmDeals")
            rule = made.sql("SELECT RowKey FROM SetAside WHERE RowKey LIKE 'excluded:crm_deals:%'")
            assert deals.keys() == rows.keys() - {key.rpartition(":")[2] for (key,) in rule}
            # this company has deals with companies that are gone: nobody imports those
            assert {deals[number]["LastErrorCode"] for number in deals.keys() - sold(made).keys()} <= {REFERENCE}
            assert all(count == rows[number] for number, count in sold(made).items() if number != str(victim))
        assert any(one.startswith(f"crm_deals {victim}: ") for one in made.entity("crm_deals").notes)
        heal()
        made.run()
        assert incomplete(made) == []
        assert sold(made)[str(victim)] == rows[str(victim)]


def incomplete(made: World) -> list[str]:
    return [key for (key,) in made.sql("SELECT RowKey FROM Partial WHERE Open = 1")]


def test_a_group_that_always_breaks_the_portal_buries_no_other(small: World) -> None:
    ids = small.cloud.portal.company.groups.ids
    method = "socialnetwork.api.workgroup.list"
    refuse(small, method, lambda asked: holds(asked, ids[1]), BROKEN)
    ended = small.run()
    assert (ended.exit_code, ended.message) == (5, "groups: 1 incomplete")
    assert small.letters() == []
    assert small.records("Groups").keys() == set(map(str, ids))


def test_a_method_that_is_broken_for_all_leaves_all_of_them_incomplete(sales: World) -> None:
    refuse(sales, PRODUCTS, lambda asked: "'D'" in asked, BROKEN)
    ended = sales.run()
    assert (ended.exit_code, ended.message) == (5, f"crm_deals: {len(sells(sales))} incomplete")
    assert sales.letters() == []
    assert len(sales.imported("crm_deals")) == len(sells(sales))


@pytest.mark.parametrize("error", [CLOSED, BROKEN], ids=lambda one: one.code)
def test_a_deal_that_changed_and_is_refused_now_is_not_taken_for_complete(sales: World, error: RestError) -> None:
    assert sales.run().exit_code == 0
    victim = list(sales.cloud.portal.company.crm.deal_ids)[2]
    key = f"source:crm_deals:{victim}"
    before, columns = sales.imported("crm_deals")[key], ("RowKey", "Payload", "PayloadHash", "Revision", "Status")
    staged = sales.table("CrmDeals", *columns)
    heal = refuse_for_ever(sales, victim, error)
    assert sales.run().exit_code == 0  # nothing has changed
    sales.change("crm_deals", id=victim, fields={"title": "Исправлено"})
    for _ in range(2):
        ended = sales.run()
        assert (ended.exit_code, ended.message) == (5, "crm_deals: 2 differences, 1 incomplete")  # of title and time
        assert not sales.entity("crm_deals").verified
        assert sales.imported("crm_deals")[key] == before
        assert sales.table("CrmDeals", *columns) == staged
    heal()
    assert sales.run().exit_code == 0
    after = sales.imported("crm_deals")[key]["fields"]
    assert after["title"] == "Исправлено"
    assert after["productRows"] == before["fields"]["productRows"]
    assert sales.entity("crm_deals").verified


def test_rows_that_were_asked_for_together_are_not_divided_unless_it_is_done_gently(sales: World) -> None:
    """The job is tried again first, as a whole."""
    refuse(sales, PRODUCTS, lambda asked: "'D'" in asked, BROKEN)
    with sales.app() as app:
        context, stream = app.context, app.context.streams["crm_deals"]
        assert stream.fetch is not None
        named = [SourceRecord(str(one), {}, {}) for one in list(sales.cloud.portal.company.crm.deal_ids)[:3]]
        rows = list(stream.fetch(context.source, named, context.known(stream)).values())
        with pytest.raises(Transient):
            complete_rows(context, stream, rows)
        assert len(complete_rows(context, stream, rows, gently=True)) == len(rows) == 3


def test_of_many_incomplete_records_only_those_of_a_page_are_looked_up(
    sales: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sales.app() as app:
        store, stream = app.context.store, CATALOG.streams["crm_deals"]
        store.write(PARTIAL, [RegisterRow(f"crm_deals:{number}", {"Open": number % 2}) for number in range(3000)])
        for name in ("rows", "all_rows", "total", "count"):
            monkeypatch.setattr(store, name, lambda *_, **__: pytest.fail("the whole register is read"))
        page = [Staged(str(number), b"{}") for number in (7, 8, 9, 5001)]
        assert partial.find_completed(app.context, stream, page, {"9": "refused"}) == ["7"]
        assert partial.find_completed(app.context, CATALOG.streams["tasks"], page, {}) == []
