"""A delta run of some entities finds that records of others have changed: nothing of them is lost or called verified."""

from __future__ import annotations

from tests.engine.world import World

from b24sim.company.crm_ids import DEAL

COMPANIES, DEALS = "crm_companies", "crm_deals"


def sync(made: World, *entities: str) -> int:
    with made.app() as app:
        run = app.runner.run(app.chosen(entities), delta=True, named=entities, tick=made.leap())
    return run.exit_code


def test_records_that_named_a_deleted_one_wait_for_a_run_of_their_entity(whole: World) -> None:
    deals = whole.cloud.portal.company.crm.items[DEAL]
    company = next(int(row["companyId"]) for one in deals if (row := deals.row(one)).get("companyId"))
    named = {str(one) for one in deals if deals.row(one).get("companyId") == company}
    whole.change(COMPANIES, "delete", id=company)
    whole.cloud.portal.clock.advance(3600)
    assert sync(whole, COMPANIES) == 0
    waiting = {key for key, row in whole.records("CrmDeals").items() if row["Status"] == "NEW"}
    assert waiting
    assert waiting <= named
    assert not whole.entity(DEALS).verified
    told = f"{DEALS}: a linked record was deleted in the source, {len(waiting)} changed"
    assert [one for one in whole.entity(DEALS).notes if told in one]
    sync(whole, DEALS)
    assert not any(row["Status"] == "NEW" for row in whole.records("CrmDeals").values())
    assert whole.entity(DEALS).verified
    assert not [one for one in whole.entity(DEALS).notes if "not sent" in one]
    assert {whole.imported(DEALS)[f"source:{DEALS}:{one}"]["fields"]["companyId"] for one in waiting} == {None}
