"""What was built natively in a CRM can be changed and taken down again."""

from typing import Any

from tests.b24sim.client import call, control, result

from b24sim import Running

DEAL = 2


def pipeline(box: Running) -> int:
    body = {"entityTypeId": DEAL, "fields": {"name": "Wholesale"}}
    return int(result(box, "crm.category.add", body)["category"]["id"])


def smart(box: Running, **fields: Any) -> Any:
    return result(box, "crm.type.add", {"fields": {"title": "Repairs"} | fields})["type"]


def test_a_pipeline_goes_with_its_stages_unless_somebody_is_in_it(box: Running) -> None:
    number = pipeline(box)
    renamed = {"entityTypeId": DEAL, "id": number, "fields": {"name": "Retail", "sort": 700}}
    assert result(box, "crm.category.update", renamed)["category"]["name"] == "Retail"
    told = result(box, "crm.category.get", {"entityTypeId": DEAL, "id": number})["category"]
    assert (told["sort"], told["isDefault"]) == (700, "N")
    deal = {"entityTypeId": DEAL, "fields": {"title": "x", "categoryId": number}}
    inside = result(box, "crm.item.import", deal)["item"]["id"]
    gone = {"entityTypeId": DEAL, "id": number}
    assert "error" in call(box, "crm.category.delete", gone).json
    result(box, "crm.item.delete", {"entityTypeId": DEAL, "id": inside})
    assert result(box, "crm.category.delete", gone) is None
    assert result(box, "crm.status.list", {"filter": {"ENTITY_ID": f"DEAL_STAGE_{number}"}}) == []
    assert call(box, "crm.category.get", gone).json["error"] == "NOT_FOUND"


def test_an_entry_of_a_dictionary_is_renamed_and_deleted_but_those_of_the_system_want_force(box: Running) -> None:
    entry = {"ENTITY_ID": "SOURCE", "STATUS_ID": "PARTNER", "NAME": "Partner", "SORT": 70}
    number = result(box, "crm.status.add", {"fields": entry})
    assert result(box, "crm.status.update", {"id": number, "fields": {"NAME": "Ally"}}) is True
    assert result(box, "crm.status.get", {"id": number})["NAME"] == "Ally"
    assert result(box, "crm.status.delete", {"id": number}) is True
    system = result(box, "crm.status.list", {"filter": {"ENTITY_ID": "SOURCE"}})[0]["ID"]
    assert call(box, "crm.status.delete", {"id": system}).status == 400
    assert result(box, "crm.status.delete", {"id": system, "params": {"FORCED": "Y"}}) is True


def test_a_smart_process_learns_parents_later_and_goes_when_it_is_empty(box: Running) -> None:
    number, kind = smart(box)["id"], smart(box, entityTypeId=150)["entityTypeId"]
    fields = {
        "isStagesEnabled": "Y",
        "relations": {"parent": [{"entityTypeId": kind, "isChildrenListEnabled": "true"}]},
    }
    changed = result(box, "crm.type.update", {"id": number, "fields": fields})["type"]
    own = changed["entityTypeId"]
    assert f"parentId{kind}" in result(box, "crm.item.fields", {"entityTypeId": own})["fields"]
    assert [row["STATUS_ID"] for row in result(box, "crm.status.list") if f"DT{own}_" in row["STATUS_ID"]]
    item = result(box, "crm.item.import", {"entityTypeId": own, "fields": {"title": "x"}})["item"]["id"]
    assert "error" in call(box, "crm.type.delete", {"id": number}).json
    result(box, "crm.item.delete", {"entityTypeId": own, "id": item})
    assert result(box, "crm.type.delete", {"id": number}) is None
    assert call(box, "crm.item.list", {"entityTypeId": own}).json["error"] == "NOT_FOUND"
    assert {row["id"] for row in result(box, "crm.type.list")["types"]} == {number + 1}


def test_options_of_a_list_are_changed_added_and_deleted_by_their_number(box: Running) -> None:
    enum = [{"value": "One", "xmlId": "1"}, {"value": "Two"}]
    field = {"entityId": "CRM_DEAL", "fieldName": "UF_CRM_KIND", "userTypeId": "enumeration", "enum": enum}
    made = result(box, "userfieldconfig.add", {"moduleId": "crm", "field": field})["field"]
    first, second = (option["id"] for option in made["enum"])
    wish = [{"id": first, "value": "First"}, {"id": second, "del": "Y"}, {"value": "Three"}]
    body = {"moduleId": "crm", "id": made["id"], "field": {"enum": wish, "editFormLabel": {"ru": "Вид"}}}
    result(box, "userfieldconfig.update", body)
    told = result(box, "userfieldconfig.get", {"moduleId": "crm", "id": made["id"]})["field"]
    assert [option["value"] for option in told["enum"]] == ["One", "Two"]  # without the type nothing happens to them
    body["field"]["userTypeId"] = "enumeration"
    result(box, "userfieldconfig.update", body)
    told = result(box, "userfieldconfig.get", {"moduleId": "crm", "id": made["id"]})["field"]
    assert [option["value"] for option in told["enum"]] == ["First", "Three"]
    assert told["editFormLabel"]["ru"] == "Вид"
    assert result(box, "userfieldconfig.delete", {"moduleId": "crm", "id": made["id"]}) is None
    assert result(box, "crm.deal.userfield.list") == []
    assert control(box, "native?kind=fields")["records"][0]["deleted"] is True


def test_a_field_comes_to_records_that_are_there_already(box: Running) -> None:
    number = result(box, "crm.item.import", {"entityTypeId": DEAL, "fields": {"title": "x"}})["item"]["id"]
    result(box, "crm.deal.userfield.add", {"fields": {"FIELD_NAME": "NOTE", "USER_TYPE_ID": "string"}})
    body = {"entityTypeId": DEAL, "id": number, "fields": {"ufCrmNote": "said"}}
    assert result(box, "crm.item.update", body)["item"]["ufCrmNote"] == "said"


def test_multifields_are_changed_by_their_number(box: Running) -> None:
    fields = {"name": "Ann", "PHONE": [{"VALUE": "1"}, {"VALUE": "2"}]}
    number = result(box, "crm.item.import", {"entityTypeId": 3, "fields": fields})["item"]["id"]
    body = {"entityTypeId": 3, "id": number}
    first, second = (one["id"] for one in result(box, "crm.item.get", body)["item"]["fm"])
    wish = {str(first): {"value": "11"}, str(second): {"value": ""}, "n0": {"typeId": "EMAIL", "value": "a@b.example"}}
    row = result(box, "crm.item.update", body | {"fields": {"fm": wish}})["item"]
    assert [(one["typeId"], one["value"]) for one in row["fm"]] == [("PHONE", "11"), ("EMAIL", "a@b.example")]
    assert row["hasEmail"] == "Y"
