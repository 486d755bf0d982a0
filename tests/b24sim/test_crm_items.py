"""crm.item.list, get and fields."""

from typing import Any

import pytest
from tests.b24sim.client import Reply, batch, call, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.crm_schema import EMPTY_FIELDS

FAST = {"start": -1, "order": {"id": "ASC"}, "useOriginalUfNames": "Y"}
DEALS, CONTACTS, COMPANIES, SMART = 2, 3, 4, 156
CONTRACT, SCANS = "UF_CRM_1700000209", "UF_CRM_1700000210"


def everything(running: Running, entity_type_id: int, user: int = 1, **more: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        wish = FAST | more | {"entityTypeId": entity_type_id, "filter": {">id": rows[-1]["id"] if rows else 0}}
        page = result(running, "crm.item.list", wish, user)["items"]
        rows += page
        if len(page) < 50:
            return rows


def found(running: Running, conditions: Any, entity_type_id: int = DEALS, **more: Any) -> list[int]:
    wish = {"entityTypeId": entity_type_id, "filter": conditions, "order": {"id": "ASC"}, "select": ["id"]} | more
    return [row["id"] for row in result(running, "crm.item.list", wish)["items"]]


@pytest.mark.parametrize("entity_type_id", [DEALS, CONTACTS, COMPANIES, SMART, 177])
def test_keyset_pages_give_every_record_once_and_as_get_shows_it(cloud: Running, entity_type_id: int) -> None:
    rows = everything(cloud, entity_type_id)
    assert [row["id"] for row in rows] == cloud.portal.company.crm.items[entity_type_id].ids
    for row in rows[:60]:
        wish = {"entityTypeId": entity_type_id, "id": row["id"], "useOriginalUfNames": "Y"}
        assert result(cloud, "crm.item.get", wish)["item"] == row


def test_offset_pages_count_and_end(cloud: Running) -> None:
    seen: list[int] = []
    start: int | None = 0
    while start is not None:
        reply = call(cloud, "crm.item.list", {"entityTypeId": DEALS, "start": start, "select": ["id"]}).json
        seen += [row["id"] for row in reply["result"]["items"]]
        assert reply["total"] == 690
        start = reply.get("next")
    assert len(set(seen)) == len(seen) == 690
    assert seen != sorted(seen)


def test_the_fast_mode_counts_nothing(cloud: Running) -> None:
    reply = call(cloud, "crm.item.list", FAST | {"entityTypeId": DEALS}).json
    assert (reply["total"], "next" in reply, len(reply["result"]["items"])) == (0, False, 50)


def test_names_of_custom_fields_are_lossy_unless_the_original_ones_are_asked_for(cloud: Running) -> None:
    wish = {"entityTypeId": SMART, "id": 2}
    lossy = result(cloud, "crm.item.get", wish)["item"]
    original = result(cloud, "crm.item.get", wish | {"useOriginalUfNames": "Y"})["item"]
    assert lossy["ufCrm13_1700015600"] == original["UF_CRM_13_1700015600"]
    assert lossy["ufCrm_13_DIGIT10"] == original["UF_CRM_13_DIGIT10"]
    assert lossy["ufCrm_13_CODE_WORD"] == original["UF_CRM_13_CODE_WORD"]
    deal = result(cloud, "crm.item.get", {"entityTypeId": DEALS, "id": 2})["item"]
    assert {"ufCrm_1700000200", "ufCrmCodeWord", "ufCrm_DIGIT10"} <= set(deal)


def test_multifields_come_with_a_star_only(cloud: Running) -> None:
    assert "fm" in result(cloud, "crm.item.list", {"entityTypeId": CONTACTS, "select": ["*"]})["items"][0]
    named = result(cloud, "crm.item.list", {"entityTypeId": CONTACTS, "select": ["name", "fm"]})["items"][0]
    assert set(named) == {"id", "name"}


def test_filters_know_their_operators(cloud: Running) -> None:
    ids = cloud.portal.company.crm.items[DEALS].ids
    assert found(cloud, {"@id": [3, 1, 10, 2]}) == [1, 2, 3]
    assert found(cloud, {">=id": 5, "<id": 9}) == [5, 6, 7, 8]
    assert found(cloud, {">ID": ids[-3]}) == ids[-2:]
    assert len(found(cloud, {"!categoryId": 0})) + len(found(cloud, {"=categoryId": 0})) == 100
    assert all("Сделка" in row["title"] for row in _rows(cloud, {"%title": "сделка"}))
    either = found(cloud, {"0": {"logic": "OR", "0": {"id": 4}, "1": {"id": 7}}})
    assert either == [4, 7]
    first = _rows(cloud, {"id": 4})[0]
    assert 4 in found(cloud, {"contactIds": first["contactIds"][0]} if first["contactIds"] else {"id": 4})


def test_custom_flags_are_looked_for_as_one_and_zero(cloud: Running) -> None:
    rows = _rows(cloud, {"UF_CRM_1700000204": "1"}, useOriginalUfNames="Y")
    assert rows
    assert {row["UF_CRM_1700000204"] for row in rows} == {"Y"}
    assert found(cloud, {"ufCrm_1700000204": "Y"}) == []


def test_records_changed_since_a_time_are_found(cloud: Running) -> None:
    times = sorted(row["updatedTime"] for row in everything(cloud, DEALS))
    bound = times[-20]
    recent = everything_since(cloud, bound)
    assert len(recent) == 20
    assert min(row["updatedTime"] for row in recent) == bound


def everything_since(running: Running, bound: str) -> list[dict[str, Any]]:
    wish = FAST | {"entityTypeId": DEALS, "filter": {">id": 0, ">=updatedTime": bound}}
    return list(result(running, "crm.item.list", wish)["items"])


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({}, 100),
        ({"entityTypeId": 5}, "ENTITY_TYPE_NOT_SUPPORTED"),
        ({"entityTypeId": 999}, "NOT_FOUND"),
        ({"entityTypeId": 2, "filter": {"nonsense": 1}}, "INVALID_ARG_VALUE"),
        ({"entityTypeId": 2, "order": {"nonsense": "ASC"}}, "INVALID_ARG_VALUE"),
        ({"entityTypeId": 2, "order": {"id": "UP"}}, "INVALID_ARG_VALUE"),
        ({"entityTypeId": 3, "filter": {"fm": 1}}, "INVALID_ARG_VALUE"),
    ],
)
def test_what_cannot_be_listed(cloud: Running, wish: dict[str, Any], code: Any) -> None:
    reply = call(cloud, "crm.item.list", wish)
    assert (reply.status, reply.json["error"]) == (400, code)


def test_a_record_that_is_not_there(cloud: Running) -> None:
    assert call(cloud, "crm.item.get", {"entityTypeId": DEALS, "id": 10}).json["error"] == "NOT_FOUND"
    assert call(cloud, "crm.item.get", {"entityTypeId": DEALS}).json["error"] == 100


def test_leads_quotes_and_invoices_are_there_too(box: Running) -> None:
    plan = Plan(users=5, leads=7, quotes=7, invoices=7)
    with serve(Portal(Company(plan), clock=ManualClock())) as cloud:
        for number in (1, 7, 31):
            assert len(result(cloud, "crm.item.list", {"entityTypeId": number})["items"]) == 7
            assert result(box, "crm.item.list", {"entityTypeId": number}) == {"items": []}


def test_a_portal_may_have_no_leads_quotes_and_invoices(cloud: Running) -> None:
    for number in (1, 7, 31):
        assert result(cloud, "crm.item.list", {"entityTypeId": number}) == {"items": []}
    for name in ("lead", "quote"):
        assert result(cloud, f"crm.{name}.list") == []
        assert result(cloud, f"crm.{name}.userfield.list") == []


def test_a_pipeline_for_administrators_hides_its_deals_from_others(cloud: Running) -> None:
    hidden = [row["id"] for row in everything(cloud, DEALS) if row["categoryId"] == 12]
    assert hidden
    assert not set(hidden) & {row["id"] for row in everything(cloud, DEALS, user=2)}
    assert call(cloud, "crm.item.get", {"entityTypeId": DEALS, "id": hidden[0]}, user=2).status == 403


def test_files_open_by_the_machine_link_only(cloud: Running) -> None:
    deal = result(cloud, "crm.item.get", {"entityTypeId": DEALS, "id": 4, "useOriginalUfNames": "Y"})["item"]
    for file in [deal[CONTRACT], *deal[SCANS]]:
        assert set(file) == {"id", "url", "urlMachine"}
        assert b"<!DOCTYPE html>" in send(file["url"]).body
        reply = send(file["urlMachine"])
        known = cloud.portal.company.crm.file(file["id"])
        assert known is not None
        assert len(reply.body) == known.size
        assert "filename*=utf-8''" in reply.headers["content-disposition"]
        assert send(file["urlMachine"].replace("getFile/", "getFile.json")).body == reply.body
    forged = deal[CONTRACT]["urlMachine"][:-1] + "x"
    assert b"<!DOCTYPE html>" in send(forged).body
    bodies = {send(file["urlMachine"]).body for file in deal[SCANS]}
    assert len(bodies) == 2


def test_photos_and_logos_are_pictures(cloud: Running) -> None:
    photo = next(row["photo"] for row in everything(cloud, CONTACTS) if row["photo"])
    logo = next(row["logo"] for row in everything(cloud, COMPANIES) if row["logo"])
    assert send(photo["urlMachine"]).body.startswith(b"\x89PNG")
    assert send(logo["urlMachine"]).body.startswith(b"\x89PNG")


def test_fields_describe_what_records_hold(cloud: Running) -> None:
    fields = result(cloud, "crm.item.fields", {"entityTypeId": DEALS, "useOriginalUfNames": "Y"})["fields"]
    row = everything(cloud, DEALS)[0]
    assert set(row) - set(EMPTY_FIELDS) == set(fields)
    assert fields["stageId"] | {"statusType": "DEAL_STAGE"} == fields["stageId"]
    assert fields["createdTime"]["isReadOnly"] is True
    assert fields["contactIds"]["isMultiple"] is True
    assert fields["UF_CRM_1700000207"]["items"][0]["VALUE"] == "Сайт"
    lossy = result(cloud, "crm.item.fields", {"entityTypeId": SMART})["fields"]
    assert lossy["ufCrm13_1700015600"]["upperName"] == "UF_CRM_13_1700015600"
    assert lossy["parentId2"]["settings"] == {"parentEntityTypeId": 2}


def test_pages_go_through_batch(cloud: Running) -> None:
    query = "crm.item.list?entityTypeId=2&start=-1&order%5Bid%5D=ASC&filter%5B%3Eid%5D="
    first = batch(cloud, {"a": query + "0", "b": query + "$result[a][items][49][id]"})["result"]
    ids = [row["id"] for name in "ab" for row in first[name]["items"]]
    assert ids == cloud.portal.company.crm.items[DEALS].ids[:100]


def test_a_portal_may_lack_methods() -> None:
    portal = Portal(
        Company(Plan(users=5)), clock=ManualClock(), without=("crm.item.list", "crm.type.getByEntityTypeId")
    )
    with serve(portal) as running:
        # The controller is there, and the action is not.
        reply: Reply = call(running, "crm.item.list", {"entityTypeId": 2})
        assert (reply.status, reply.json["error"]) == (400, 22002)
        for name in ("crm.item.list", "crm.type.getbyentitytypeid", "crm.item.get"):
            assert result(running, "method.get", {"name": name}) == {"isExisting": True, "isAvailable": True}
        assert "crm.status.list" in result(running, "methods", {"scope": "crm"})
        assert result(running, "crm.deal.list", {"select": ["ID"]})
    with serve(Portal(Company(Plan(users=5)), clock=ManualClock(), without=("crm.item.*",))) as running:
        reply = call(running, "crm.item.list", {"entityTypeId": 2})
        assert (reply.status, reply.json["error"]) == (404, "ERROR_METHOD_NOT_FOUND")
        assert result(running, "method.get", {"name": "crm.item.list"}) == {"isExisting": False, "isAvailable": False}
        assert result(running, "method.get", {"name": "crm.type.list"})["isExisting"] is True


def test_a_company_without_a_crm_is_empty() -> None:
    plan = Plan(users=5, companies=0, contacts=0, deals=0, smart_types=0, smart_items=0)
    with serve(Portal(Company(plan), clock=ManualClock())) as running:
        for number in (DEALS, CONTACTS, COMPANIES):
            assert result(running, "crm.item.list", {"entityTypeId": number}) == {"items": []}
            assert result(running, "crm.item.fields", {"entityTypeId": number})["fields"]["id"]
        assert result(running, "crm.type.list") == {"types": []}


def _rows(running: Running, conditions: Any, **more: Any) -> list[dict[str, Any]]:
    wish = {"entityTypeId": DEALS, "filter": conditions, "order": {"id": "ASC"}} | more
    return list(result(running, "crm.item.list", wish)["items"])
