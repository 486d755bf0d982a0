"""A box takes CRM records with their history, under the rules of crm.item.import."""

import base64
from typing import Any

import pytest
from tests.b24sim.client import call, control, result, send

from b24sim import ManualClock, Portal, Running, serve
from b24sim.company.catalog import PRODUCTS

DEAL, CONTACT, COMPANY = 2, 3, 4
OLD, OLDER, RECENT = "2020-03-01T10:00:00+03:00", "2019-03-01T10:00:00+03:00", "2024-05-01T09:00:00+03:00"
HISTORY = {"createdTime": OLD, "movedTime": OLD, "updatedTime": RECENT, "createdBy": 77, "updatedBy": 78, "movedBy": 79}


def imported(box: Running, type_id: int, **fields: Any) -> int:
    body = {"entityTypeId": type_id, "fields": fields, "useOriginalUfNames": "Y"}
    return int(result(box, "crm.item.import", body)["item"]["id"])


def refused(box: Running, type_id: int, **fields: Any) -> Any:
    return call(box, "crm.item.import", {"entityTypeId": type_id, "fields": fields}).json["error"]


def items(box: Running, type_id: int, **conditions: Any) -> Any:
    body = {"entityTypeId": type_id, "filter": conditions, "select": ["*"], "useOriginalUfNames": "Y"}
    return result(box, "crm.item.list", body)["items"]


def test_an_imported_deal_keeps_its_history_and_is_found_by_its_stamp(box: Running) -> None:
    number = imported(box, DEAL, title="Old", originatorId="b24", originId="2:17", begindate="2020-03-01", **HISTORY)
    row = items(box, DEAL, originId="2:17", originatorId="b24")[0]
    assert row["id"] == number
    assert {name: row[name] for name in HISTORY} == HISTORY
    assert (row["stageId"], row["categoryId"], row["closed"]) == ("NEW", 0, "N")
    assert row["begindate"].startswith("2020-03-01")
    record = control(box, "native?kind=items")["records"][0]
    assert (record["stamp"], record["made"], record["fields"]["title"]) == ("2:b24:2:17", 1, "Old")


def test_nothing_older_than_the_record_with_the_highest_id_is_taken(box: Running) -> None:
    imported(box, DEAL, title="Newer", **HISTORY)
    assert refused(box, DEAL, title="Older", createdTime=OLDER, updatedTime=RECENT) == "CRM_FIELD_ERROR_VALUE_NOT_VALID"
    assert imported(box, COMPANY, title="Another type", createdTime=OLDER, updatedTime=OLDER)
    last = imported(box, DEAL, title="Today")
    assert refused(box, DEAL, title="Again", **HISTORY) == "CRM_FIELD_ERROR_VALUE_NOT_VALID"
    assert result(box, "crm.item.delete", {"entityTypeId": DEAL, "id": last}) == []
    assert imported(box, DEAL, title="Again", **HISTORY)


@pytest.mark.parametrize(
    "times",
    [
        {"createdTime": "2099-01-01T00:00:00+03:00"},
        {"createdTime": OLD, "updatedTime": OLDER},
        {"updatedTime": RECENT},
        {"createdTime": OLD, "movedTime": RECENT},
        {"createdTime": OLD, "movedTime": OLDER, "updatedTime": RECENT},
    ],
)
def test_times_that_contradict_one_another_are_refused(box: Running, times: dict[str, str]) -> None:
    assert refused(box, DEAL, title="x", **times) == "CRM_FIELD_ERROR_VALUE_NOT_VALID"


def test_a_batch_takes_twenty_and_tells_of_each(box: Running) -> None:
    body = {"entityTypeId": COMPANY, "data": [{"title": "A"}, {"title": ""}, {"title": "C"}]}
    answers = result(box, "crm.item.batchImport", body)["items"]
    assert [("item" in one, one.get("error")) for one in answers] == [
        (True, None),
        (False, "CRM_FIELD_ERROR_REQUIRED"),
        (True, None),
    ]
    reply = call(box, "crm.item.batchImport", {"entityTypeId": COMPANY, "data": [{"title": "x"}] * 21})
    assert reply.json["error"] == "MAX_IMPORT_BATCH_SIZE_EXCEEDED"
    assert len(items(box, COMPANY)) == 2


def test_multifields_are_sent_in_one_spelling_and_told_in_another(box: Running) -> None:
    company = imported(box, COMPANY, title="Firm")
    phone = [{"VALUE": "+7 999", "VALUE_TYPE": "MOBILE"}]
    imported(box, CONTACT, name="Ann", companyIds=[company], PHONE=phone, fm=[{"typeId": "EMAIL", "value": "ignored"}])
    row = items(box, CONTACT)[0]
    assert [(f["typeId"], f["valueType"], f["value"]) for f in row["fm"]] == [("PHONE", "MOBILE", "+7 999")]
    assert (row["companyId"], row["companyIds"], row["hasPhone"]) == (company, [company], "Y")


def test_custom_fields_take_values_under_the_names_that_were_asked_for(box: Running) -> None:
    options = [{"value": "One", "xmlId": "1"}, {"value": "Two"}]
    field = {"entityId": "CRM_DEAL", "fieldName": "UF_CRM_KIND", "userTypeId": "enumeration", "enum": options}
    made = result(box, "userfieldconfig.add", {"moduleId": "crm", "field": field})["field"]
    assert [option["value"] for option in made["enum"]] == ["One", "Two"]
    file = {"FIELD_NAME": "scan", "USER_TYPE_ID": "file", "MULTIPLE": "N"}
    result(box, "crm.deal.userfield.add", {"fields": file})
    assert {row["FIELD_NAME"] for row in result(box, "crm.deal.userfield.list")} == {"UF_CRM_KIND", "UF_CRM_SCAN"}
    content = base64.b64encode(b"bytes").decode()
    option = made["enum"][1]["id"]
    imported(box, DEAL, title="x", UF_CRM_KIND=option, UF_CRM_SCAN=["a.pdf", content], ufCrmKind="wrong spelling")
    row = items(box, DEAL)[0]
    assert row["UF_CRM_KIND"] == int(option)
    assert send(row["UF_CRM_SCAN"]["urlMachine"], None, {"User-Agent": "t/1"}).body == b"bytes"
    assert "ufCrmKind" in result(box, "crm.item.fields", {"entityTypeId": DEAL})["fields"]
    twice = call(box, "userfieldconfig.add", {"moduleId": "crm", "field": field}).json
    assert twice["error"] == ""


def test_a_smart_process_keeps_its_type_and_has_fields_of_its_own(box: Running) -> None:
    fields = {
        "title": "Repairs", "entityTypeId": 156, "isClientEnabled": "Y", "isStagesEnabled": "Y",
        "isLinkWithProductsEnabled": "Y",
        "relations": {"parent": [{"entityTypeId": 2, "isChildrenListEnabled": "true"}]},
    }  # fmt: skip
    smart = result(box, "crm.type.add", {"fields": fields})["type"]
    assert smart["entityTypeId"] == 156
    assert smart["id"] not in {13, 156}
    told = result(box, "crm.type.getByEntityTypeId", {"entityTypeId": 156})["type"]["relations"]["parent"]
    assert [one["entityTypeId"] for one in told] == [3, 4, 2]
    code = f"UF_CRM_{smart['id']}_NOTE"
    field = {"entityId": f"CRM_{smart['id']}", "fieldName": code, "userTypeId": "string"}
    wrong = field | {"fieldName": "UF_CRM_13_NOTE"}
    assert call(box, "userfieldconfig.add", {"moduleId": "crm", "field": wrong}).json["error"] == ""
    result(box, "userfieldconfig.add", {"moduleId": "crm", "field": field})
    deal = imported(box, DEAL, title="Parent")
    category = result(box, "crm.category.list", {"entityTypeId": 156})["categories"][0]["id"]
    values: dict[str, Any] = {"parentId2": deal, "observers": [1], code: "said"}
    imported(box, 156, title="Item", xmlId="src:9", stageId=f"DT156_{category}:SUCCESS", **values)
    row = items(box, 156, xmlId="src:9")[0]
    assert (row["parentId2"], row[code], row["observers"]) == (deal, "said", [])
    for number, code in ((156, "BX_INVALID_VALUE"), (200, "INVALID_ARG_VALUE"), (1031, "INVALID_ARG_VALUE")):
        reply = call(box, "crm.type.add", {"fields": {"title": "x", "entityTypeId": number}})
        assert reply.json["error"] == code


def test_a_new_pipeline_has_stages_and_takes_more_before_success(box: Running) -> None:
    body = {"entityTypeId": DEAL, "fields": {"name": "Wholesale", "sort": 300}}
    number = result(box, "crm.category.add", body)["category"]["id"]
    entity = f"DEAL_STAGE_{number}"
    stage = {"ENTITY_ID": entity, "STATUS_ID": "DECISION", "NAME": "Decision", "SORT": 15, "COLOR": "#FFA900"}
    assert result(box, "crm.status.add", {"fields": stage}) > 0
    rows = result(box, "crm.status.list", {"filter": {"ENTITY_ID": entity}})
    codes = {row["STATUS_ID"]: row for row in rows}
    assert codes[f"C{number}:DECISION"]["COLOR"] == "#FFA900"
    assert codes[f"C{number}:WON"]["SEMANTICS"] == "S"
    assert call(box, "crm.status.add", {"fields": stage}).json["error_description"] == "Duplicate STATUS_ID."
    late = stage | {"STATUS_ID": "LATE", "SORT": 900}
    assert "error" in call(box, "crm.status.add", {"fields": late}).json
    long = stage | {"STATUS_ID": "A" * 22}
    assert call(box, "crm.status.add", {"fields": long}).json["error_description"] == "Invalid parameters."
    imported(box, DEAL, title="x", categoryId=number, stageId=f"C{number}:LOSE")
    assert (items(box, DEAL)[0]["closed"], items(box, DEAL)[0]["stageSemanticId"]) == ("Y", "F")
    assert refused(box, DEAL, title="x", categoryId=number, stageId="NEW") == "CRM_FIELD_ERROR_VALUE_NOT_VALID"


def test_product_rows_replace_one_another_and_touch_their_owner(box: Running) -> None:
    number = imported(box, DEAL, title="x", **HISTORY)
    row = {"productName": "Free text", "price": 110, "quantity": 2, "taxRate": 10, "taxIncluded": "Y", "sort": 10}
    body = {"ownerType": "D", "ownerId": number, "productRows": [row, row]}
    result(box, "crm.item.productrow.set", body)
    result(box, "crm.item.productrow.set", body | {"productRows": [row]})
    condition = {"=ownerType": "D", "=ownerId": number}
    rows = result(box, "crm.item.productrow.list", {"filter": condition})["productRows"]
    assert [(r["productName"], r["price"], r["priceExclusive"]) for r in rows] == [("Free text", 110, 100)]
    deal = items(box, DEAL)[0]
    assert deal["opportunity"] == 220
    assert deal["updatedTime"] == result(box, "server.time")
    goods = {"fields": {"iblockId": PRODUCTS, "name": "Goods"}}
    product = result(box, "catalog.product.add", goods)["element"]["id"]
    result(box, "crm.item.productrow.set", body | {"productRows": [row | {"productId": product}]})
    rows = result(box, "crm.item.productrow.list", {"filter": condition})["productRows"]
    assert [r["productId"] for r in rows] == [product]
    foreign = body | {"productRows": [row | {"productId": 9638}]}
    assert call(box, "crm.item.productrow.set", foreign).json["error"] == "INVALID_ARG_VALUE"
    assert call(box, "crm.item.productrow.set", body | {"ownerId": 1}).json["error"] == "OWNER_NOT_FOUND"


def test_an_update_moves_the_time_of_change_and_nothing_gives_it_back(box: Running) -> None:
    number = imported(box, DEAL, title="x", **HISTORY)
    body = {"entityTypeId": DEAL, "id": number, "fields": {"title": "y", "updatedTime": OLD, "stageId": "WON"}}
    row = result(box, "crm.item.update", body)["item"]
    assert (row["title"], row["createdTime"], row["closed"]) == ("y", OLD, "Y")
    assert row["updatedTime"] == row["movedTime"] == result(box, "server.time")


def test_people_are_notified_of_imports_and_robots_are_not(box: Running) -> None:
    imported(box, DEAL, title="x", assignedById=77, observers=[78])
    assert control(box, "native")["noise"] == {"notification": 2}
    result(box, "crm.item.add", {"entityTypeId": DEAL, "fields": {"title": "y"}})
    assert control(box, "native")["noise"]["automation"] == 1


def test_a_lost_answer_leaves_the_record_to_be_found(box: Running) -> None:
    control(box, "faults", [{"method": "crm.item.import", "kind": "lost", "at": [1]}])
    body = {"entityTypeId": DEAL, "fields": {"title": "x", "originatorId": "b", "originId": "1"}}
    with pytest.raises(ConnectionError):
        call(box, "crm.item.import", body)
    assert len(items(box, DEAL, originId="1")) == 1
    imported(box, DEAL, title="x", originatorId="b", originId="1")
    page = control(box, "native?kind=items")
    assert {record["made"] for record in page["records"]} == {2}
    assert page["repeated"] == [{"kind": "items", "stamp": "2:b:1", "made": 2}]


def test_what_is_not_told_of_a_change_has_happened_now(box: Running) -> None:
    imported(box, DEAL, title="x", createdTime=OLD)
    row = items(box, DEAL)[0]
    assert (row["createdTime"], row["updatedTime"]) == (OLD, result(box, "server.time"))


def test_a_deal_may_go_without_a_title_but_not_with_an_empty_one(box: Running) -> None:
    assert refused(box, DEAL, title="") == "CRM_FIELD_ERROR_REQUIRED"
    assert imported(box, DEAL, opportunity=5)


def test_robots_start_when_a_record_is_changed(box: Running) -> None:
    number = imported(box, DEAL, title="x")
    result(box, "crm.item.update", {"entityTypeId": DEAL, "id": number, "fields": {"title": "y"}})
    assert control(box, "native")["noise"] == {"automation": 1}


def test_an_older_crm_does_not_know_custom_fields_by_their_own_names() -> None:
    with serve(Portal(role="box", clock=ManualClock(), original_names=False)) as running:
        result(running, "crm.deal.userfield.add", {"fields": {"FIELD_NAME": "NOTE", "USER_TYPE_ID": "string"}})
        imported(running, DEAL, title="x", UF_CRM_NOTE="passed over", ufCrmNote="taken")
        (row,) = items(running, DEAL)
        assert row["ufCrmNote"] == "taken"
        assert "UF_CRM_NOTE" not in row
