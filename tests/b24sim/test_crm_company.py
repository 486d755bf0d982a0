"""What a CRM holds: seeds, sizes, the unpleasant cases, and what the control room changes and tells."""

import time
from typing import Any

from tests.b24sim.client import call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.dump import counts, dump

STREAMS = ("crm_types", "crm_categories", "crm_stages", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")


def rows_of(company: Company, entity_type_id: int) -> list[dict[str, Any]]:
    items = company.crm.items[entity_type_id]
    return [items.row(number) for number in items]


def test_the_same_seed_grows_the_same_crm() -> None:
    first, second, other = (Portal(Company.sized(500, seed=seed)) for seed in (4, 4, 5))
    for stream in STREAMS:
        assert dump(first, stream) == dump(second, stream)
    assert dump(first, "crm_deals") != dump(other, "crm_deals")


def test_explicit_numbers_are_kept() -> None:
    plan = Plan(users=5, companies=3, contacts=11, deals=25, smart_types=4, smart_items=6)
    figures = counts(Portal(Company(plan)))
    told = [figures[stream] for stream in STREAMS if stream not in {"crm_categories", "crm_stages"}]
    assert told == [4, 3, 11, 25, 24]


def test_joined_pieces_and_whole_records_are_the_same() -> None:
    import json

    for items in Company(Plan()).crm.items.values():
        plain = [number for number in items if items.plain(number) is not None]
        assert len(plain) > len(items) / 2
        for number in plain:
            assert json.loads(items.plain(number) or b"") == items.row(number)


def test_the_unpleasant_cases_occur() -> None:
    company = Company(Plan(users=60, deals=400, contacts=200, smart_types=3))
    deals, contacts = rows_of(company, 2), rows_of(company, 3)
    crm = company.crm
    users = set(company.users.ids)
    assert any(deal["createdBy"] not in users for deal in deals)
    assert any(deal["createdBy"] in users and not company.is_active(deal["createdBy"]) for deal in deals)
    assert {deal["companyId"] for deal in deals} >= {0, None}
    assert any(deal["companyId"] and deal["companyId"] not in crm.items[4] for deal in deals)
    assert any(number not in crm.items[3] for deal in deals for number in deal["contactIds"])
    assert any(number not in crm.items[4] for contact in contacts for number in contact["companyIds"])
    listed = {category.id for category in crm.categories if category.entity_type_id == 2}
    assert {deal["categoryId"] for deal in deals} - listed == {5}
    stages = {row["STATUS_ID"] for row in crm.statuses}
    assert {deal["stageId"] for deal in deals} - stages >= {"C5:NEW"}
    assert any(deal["UF_CRM_1700000207"] == 9_999 for deal in deals)
    assert max(len(deal["comments"]) for deal in deals) == 2_000_000
    assert any("[USER=" in deal["comments"] for deal in deals)
    assert any("/crm/type/156/details/" in deal["comments"] for deal in deals)
    assert {deal["currencyId"] for deal in deals} == {"RUB", "USD", "EUR", "KZT"}
    assert {deal["closed"] for deal in deals} == {"Y", "N"}
    assert any(deal["observers"] for deal in deals)
    assert any(deal["parentId156"] for deal in deals)


def test_items_of_smart_processes_hang_on_deals_on_each_other_and_on_later_ones() -> None:
    company = Company(Plan(users=60, smart_types=3))
    second, third = rows_of(company, 177), rows_of(company, 128)
    assert any((item["parentId2"] or 0) in company.crm.items[2] for item in second)
    assert any((item["parentId156"] or 0) in company.crm.items[156] for item in second)
    assert any((item["parentId177"] or 0) > item["id"] for item in second)
    assert any(item["parentId2"] and item["parentId2"] not in company.crm.items[2] for item in second)
    assert {item["stageId"] for item in third} == {None}
    assert all(item["contactIds"] == [] and item["companyId"] is None for item in third)


def test_times_follow_one_another() -> None:
    company = Company(Plan(users=60))
    for entity_type_id in (2, 156):
        for row in rows_of(company, entity_type_id):
            created, moved, updated = (
                company.moments.parse(row[f"{verb}Time"]) for verb in ("created", "moved", "updated")
            )
            assert created is not None
            assert moved is not None
            assert updated is not None
            assert created <= moved <= updated


def test_dates_keep_their_day_west_of_greenwich() -> None:
    west, east = (Company(Plan(timezone=zone)) for zone in ("America/New_York", "Europe/Moscow"))
    for one, other in zip(rows_of(west, 2), rows_of(east, 2), strict=True):
        assert one["begindate"][:10] == other["begindate"][:10]
        assert (one["UF_CRM_1700000205"] or "")[:10] == (other["UF_CRM_1700000205"] or "")[:10]
    assert rows_of(west, 2)[0]["begindate"][10:19] == "T00:00:00"
    assert rows_of(east, 2)[0]["begindate"][10:] == "T03:00:00+03:00"


def test_half_a_million_deals_are_there_at_once_and_their_pages_cost_little() -> None:
    begun = time.process_time()
    company = Company(Plan(deals=500_000))
    items = company.crm.items[2]
    portal = Portal(company)
    caller, method = portal.caller(1), portal.method("crm.item.list")
    last = items.ids[5_000]
    for _ in range(20):
        wish = {
            "entityTypeId": 2,
            "start": -1,
            "order": {"id": "ASC"},
            "filter": {">id": last},
            "useOriginalUfNames": "Y",
        }
        answer = portal.call(caller, method, wish)
        rows = answer.result.value["items"]
        assert len(rows) == 50
        last = items.ids[items.ids.index(last) + 50]
    assert time.process_time() - begun < 5


def test_records_come_change_and_go(small: Running) -> None:
    bound = control(small, "clock")["now"]
    since = small.portal.company.moments.iso(bound)
    added = control(small, "mutate", {"stream": "crm_deals", "op": "add", "count": 2, "fields": {"title": "Fresh"}})[
        "ids"
    ]
    control(small, "mutate", {"stream": "crm_deals", "op": "update", "id": 4, "fields": {"title": "Edited"}})
    wish = {"entityTypeId": 2, "filter": {">=updatedTime": since}, "order": {"id": "ASC"}, "useOriginalUfNames": "Y"}
    rows = result(small, "crm.item.list", wish)["items"]
    assert [(row["id"], row["title"]) for row in rows] == [(4, "Edited"), (added[0], "Fresh"), (added[1], "Fresh")]
    assert send(rows[0]["UF_CRM_1700000209"]["urlMachine"]).headers["content-type"] == "application/octet-stream"
    control(small, "mutate", {"stream": "crm_deals", "op": "delete", "id": 4})
    assert call(small, "crm.item.get", {"entityTypeId": 2, "id": 4}).json["error"] == "NOT_FOUND"
    assert b"<!DOCTYPE html>" in send(rows[0]["UF_CRM_1700000209"]["urlMachine"]).body
    assert control(small, "mutate", {"stream": "crm_deals", "op": "update", "id": 4})["error"] == "ERROR_NOT_FOUND"


def test_product_rows_and_items_of_smart_processes_change_too(small: Running) -> None:
    rows = [{"id": 5, "productName": "New", "price": 1, "quantity": 2, "sort": 10}]
    control(small, "mutate", {"stream": "crm_deals", "op": "update", "id": 1, "fields": {"productRows": rows}})
    wish = {"filter": {"=ownerType": "D", "=ownerId": 1}}
    assert result(small, "crm.item.productrow.list", wish)["productRows"] == rows
    control(small, "mutate", {"stream": "crm_spitems", "op": "update", "id": "177:3", "fields": {"title": "Mine"}})
    assert result(small, "crm.item.get", {"entityTypeId": 177, "id": 3})["item"]["title"] == "Mine"
    number = control(small, "mutate", {"stream": "crm_spitems", "op": "add", "type": 177})["ids"][0]
    control(small, "mutate", {"stream": "crm_spitems", "op": "delete", "id": f"177:{number}"})
    assert number not in small.portal.company.crm.items[177]


def test_the_dump_tells_files_and_product_rows(small: Running) -> None:
    deals = {record["id"]: record["fields"] for record in control(small, "dump?stream=crm_deals")["records"]}
    assert len(deals) == 60
    file = deals["4"]["UF_CRM_1700000209"]
    assert set(file) == {"id", "name", "size", "sha256"}
    assert len(deals["26"]["productRows"]) == 60
    items = control(small, "dump?stream=crm_spitems")["records"]
    assert {record["id"].split(":")[0] for record in items} == {"156", "177"}


def test_a_box_has_no_crm_of_its_own(box: Running) -> None:
    assert result(box, "crm.item.list", {"entityTypeId": 2}) == {"items": []}
    assert result(box, "crm.type.list") == {"types": []}


def test_rows_appear_while_the_list_is_read() -> None:
    portal = Portal(Company(Plan()), clock=ManualClock())
    with serve(portal) as running:
        control(running, "faults", [{"method": "crm.item.list", "kind": "insert", "rows": 3, "every": 1}])
        assert call(running, "crm.item.list", {"entityTypeId": 2}).json["total"] == 63
