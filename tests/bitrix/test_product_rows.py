"""Product rows of deals: all of them arrive, in as few requests as the portal allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from tests.bitrix.support import Kit

from b24migrate.bitrix.source import BitrixSource
from b24migrate.entities.crm.products import products
from b24migrate.model.errors import Limited
from b24migrate.model.records import Json, Row
from b24sim.clock import ManualClock
from b24sim.company.company import Company
from b24sim.company.plan import Plan
from b24sim.faults import Faults
from b24sim.portal import Portal
from b24sim.serve import serve

DEALS = 200
METHOD = "crm.item.productrow.list"


@contextmanager
def portal(*, many_owners: bool) -> Iterator[tuple[Portal, BitrixSource]]:
    made = Portal(Company(Plan(deals=DEALS)), clock=ManualClock(), many_owners=many_owners)
    with serve(made) as running:
        yield made, BitrixSource(Kit([running.webhook()]).portal)


def deals(made: Portal) -> list[Row]:
    return [Row(str(number), b"{}") for number in made.company.crm.deal_ids]


def sell_much(made: Portal, rows: int) -> None:
    """So many product rows on every deal."""
    items = made.company.crm.items[2]
    for number in made.company.crm.deal_ids:
        lines = [{"id": number * 1000 + place, "ownerId": number, "sort": 10 * place} for place in range(rows)]
        items.put(number, {**items.row(number), "_productRows": lines})


def rows_by_owner(made: Portal) -> Mapping[str, list[Json]]:
    return {str(number): made.company.crm.product_rows(2, number) for number in made.company.crm.deal_ids}


def enriched(source: BitrixSource, rows: list[Row]) -> Mapping[str, list[Json]]:
    return {row.source_id: (row.extras or {})["productRows"] for row in products("D")(source, rows)}


@pytest.mark.parametrize("many_owners", [True, False])
def test_every_row_of_every_deal_arrives_in_its_order(many_owners: bool) -> None:
    with portal(many_owners=many_owners) as (made, source):
        assert max(map(len, rows_by_owner(made).values())) > 50  # more than a page
        assert enriched(source, deals(made)) == rows_by_owner(made)


def test_further_pages_of_several_questions_share_a_request() -> None:
    with portal(many_owners=True) as (made, source):
        sell_much(made, rows=3)
        assert enriched(source, deals(made)) == rows_by_owner(made)
        assert made.stats.methods == {"batch": 3}  # 150 rows for every 50 deals: three pages
        assert made.stats.inner[METHOD] == 3 * DEALS // 50


def test_where_the_probes_have_seen_that_lists_are_not_understood_none_is_sent() -> None:
    with portal(many_owners=False) as (made, source):
        source.habits = {"product_owners": "one"}
        assert enriched(source, deals(made)) == rows_by_owner(made)
        assert made.stats.errors == {}


def test_where_lists_were_not_understood_once_and_are_now_nothing_is_lost() -> None:
    with portal(many_owners=True) as (made, source):
        source.habits = {"product_owners": "one"}
        assert enriched(source, deals(made)) == rows_by_owner(made)


def test_where_lists_were_understood_once_and_are_no_more_nothing_is_lost() -> None:
    with portal(many_owners=False) as (made, source):
        source.habits = {"product_owners": "many"}
        assert enriched(source, deals(made)) == rows_by_owner(made)


def test_a_limit_is_no_sign_that_a_portal_does_not_understand() -> None:
    with portal(many_owners=True) as (made, source):
        made.faults = Faults([{"method": METHOD, "kind": "operating_limit", "at": [1], "inner": True}])
        with pytest.raises(Limited):
            enriched(source, deals(made))
        assert made.stats.methods == {"batch": 1}


def test_where_nobody_sells_anything_only_the_likely_are_asked_alone() -> None:
    with portal(many_owners=True) as (made, source):
        sell_much(made, rows=0)
        assert set(map(len, enriched(source, deals(made)).values())) == {0}
        assert made.stats.methods == {"batch": 2}
        assert made.stats.inner[METHOD] == DEALS // 50 + 50


def test_what_is_refused_for_one_deal_is_told_for_the_others() -> None:
    with portal(many_owners=False) as (made, source):
        made.faults = Faults([{"method": METHOD, "kind": "error", "code": "ACCESS_DENIED", "at": [7], "inner": True}])
        rows = products("D")(source, deals(made))
        silent = [row for row in rows if "productRows" not in (row.extras or {})]
        assert len(silent) == 1
        assert all("product rows could not be read" in (row.extras or {})["refused"] for row in silent)
