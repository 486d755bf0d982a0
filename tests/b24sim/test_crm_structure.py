"""Smart processes, pipelines, dictionaries, custom fields and the like."""

from tests.b24sim.client import call, result

from b24sim import Company, ManualClock, Plan, Portal, Running, serve


def test_types_have_two_numbers_and_tell_their_relations_one_by_one(cloud: Running) -> None:
    types = result(cloud, "crm.type.list")["types"]
    assert [(row["id"], row["entityTypeId"]) for row in types] == [(13, 156), (17, 177)]
    assert "relations" not in types[0]
    alone = result(cloud, "crm.type.get", {"id": 17})["type"]
    assert alone == result(cloud, "crm.type.getByEntityTypeId", {"entityTypeId": 177})["type"]
    parents = [parent["entityTypeId"] for parent in alone["relations"]["parent"]]
    assert parents == [3, 4, 2, 156, 177]
    missing = call(cloud, "crm.type.get", {"id": 156})
    assert (missing.status, missing.json["error"]) == (400, 0)
    assert call(cloud, "crm.type.list", user=2).json["error"] == "ACCESS_DENIED"


def test_types_can_be_filtered_and_paged() -> None:
    portal = Portal(Company(Plan(users=5, smart_types=60, smart_items=1)), clock=ManualClock())
    with serve(portal) as running:
        first = call(running, "crm.type.list", {"order": {"id": "ASC"}}).json
        assert (len(first["result"]["types"]), first["next"], first["total"]) == (50, 50, 60)
        after = result(running, "crm.type.list", {"filter": {">id": first["result"]["types"][-1]["id"]}, "start": -1})
        assert len(after["types"]) == 10
        assert len({row["title"] for row in first["result"]["types"]}) == 50
        assert call(running, "crm.type.list", {"filter": {"nonsense": 1}}).json["error"] == "INVALID_ARG_VALUE"


def test_pipelines_belong_to_a_type_and_their_ids_meet(cloud: Running) -> None:
    def pipelines(number: int, user: int = 1) -> dict[int, str]:
        rows = result(cloud, "crm.category.list", {"entityTypeId": number}, user)["categories"]
        return {row["id"]: row["isDefault"] for row in rows}

    assert pipelines(2) == {0: "Y", 9: "N", 12: "N"}
    assert pipelines(156).keys() == {7, 9}
    assert pipelines(3).keys() == {0}
    assert pipelines(2, user=2).keys() == {0, 9}
    assert call(cloud, "crm.category.list", {"entityTypeId": 1}).json["error"] == "ENTITY_TYPE_NOT_SUPPORTED"
    assert call(cloud, "crm.category.list", {"entityTypeId": 999}).json["error"] == "NOT_FOUND"


def test_stages_carry_the_prefix_of_their_pipeline(cloud: Running) -> None:
    wish = {"filter": {"ENTITY_ID": "DYNAMIC_156_STAGE_7"}, "order": {"SORT": "ASC"}}
    rows = result(cloud, "crm.status.list", wish)
    assert [row["STATUS_ID"] for row in rows] == [
        f"DT156_7:{code}" for code in ("NEW", "PREPARATION", "CLIENT", "SUCCESS", "FAIL")
    ]
    assert [row["SEMANTICS"] for row in rows] == [None, None, None, "S", "F"]
    everything = call(cloud, "crm.status.list").json
    assert everything["total"] == len(everything["result"]) > 50
    assert "next" not in everything
    dictionaries = {row["ID"] for row in result(cloud, "crm.status.entity.types")}
    assert dictionaries == {row["ENTITY_ID"] for row in everything["result"]}


def test_product_rows_need_their_owner(cloud: Running) -> None:
    def ask(**conditions: object) -> object:
        wish = {"filter": {f"={name}": value for name, value in conditions.items()}, "order": {"id": "asc"}}
        return call(cloud, "crm.item.productrow.list", wish).json

    for wish in ({}, {"ownerType": "D"}, {"ownerId": 26}, {"ownerType": "D", "ownerId": [26, 27]}):
        assert ask(**wish)["error"] == "REQUIRED_ARG_MISSING"  # type: ignore[index]
    long = ask(ownerType="D", ownerId=26)
    assert (long["total"], long["next"]) == (60, 50)  # type: ignore[index]
    assert ask(ownerType="D", ownerId=10)["result"] == {"productRows": []}  # type: ignore[index]
    more = {"filter": {"=ownerType": "D", "=ownerId": 26, ">id": long["result"]["productRows"][49]["id"]}, "start": -1}  # type: ignore[index]
    rest = call(cloud, "crm.item.productrow.list", more).json
    assert len(rest["result"]["productRows"]) == 10
    assert "total" not in rest


def test_some_portals_take_many_owners() -> None:
    with serve(Portal(Company(Plan()), clock=ManualClock(), many_owners=True)) as running:
        wish = {"filter": {"=ownerType": "D", "=ownerId": [26, 1, 2, 3, 4]}, "order": {"id": "asc"}}
        owners = {row["ownerId"] for row in result(running, "crm.item.productrow.list", wish)["productRows"]}
        assert len(owners) > 1


def test_an_amount_that_is_not_manual_is_the_sum_of_the_rows(cloud: Running) -> None:
    crm = cloud.portal.company.crm
    for number in crm.deal_ids[:100]:
        rows = crm.product_rows(2, number)
        deal = crm.items[2].row(number)
        assert deal["isManualOpportunity"] == ("N" if rows else "Y")
        if rows:
            assert abs(deal["opportunity"] - sum(row["price"] * row["quantity"] for row in rows)) < 0.01
    rows = [row for number in crm.deal_ids[:100] for row in crm.product_rows(2, number)]
    assert any(row["quantity"] % 1 for row in rows)
    assert {0, 10, 12.5} <= {row["discountRate"] for row in rows}
    assert {None, 0, 10, 20} <= {row["taxRate"] for row in rows}


def test_old_lists_are_upper_case_strings(cloud: Running) -> None:
    reply = call(cloud, "crm.deal.list", {"order": {"ID": "ASC"}, "filter": {">ID": 3}, "start": -1}).json
    first = reply["result"][0]
    assert (first["ID"], reply["total"], len(reply["result"])) == ("4", 0, 50)
    new = result(cloud, "crm.item.get", {"entityTypeId": 2, "id": 4})["item"]
    assert first["OPPORTUNITY"] == f"{new['opportunity']:.2f}" or first["OPPORTUNITY"] == str(new["opportunity"])
    assert (first["DATE_MODIFY"], first["CREATED_BY_ID"]) == (new["updatedTime"], str(new["createdBy"]))
    assert not [name for name in first if name.startswith("UF_") or name in {"CONTACT_IDS", "OBSERVERS", "FM"}]


def test_old_lists_tell_custom_fields_and_multifields_when_asked(cloud: Running) -> None:
    wish = {"select": ["*", "UF_*", "PHONE"], "filter": {"=ID": 4}}
    deal = result(cloud, "crm.deal.list", wish)[0]
    file = deal["UF_CRM_1700000209"]
    assert set(file) == {"id", "showUrl", "downloadUrl"}
    assert "?auth=&" in file["downloadUrl"]
    assert deal["UF_CRM_1700000204"] in {"0", "1"}
    contact = result(cloud, "crm.contact.list", wish)[0]
    assert contact["PHONE"][0].keys() == {"ID", "VALUE_TYPE", "VALUE", "TYPE_ID"}
    assert "PHONE" not in result(cloud, "crm.contact.list", {"filter": {"ID": 4}})[0]
    assert result(cloud, "crm.contact.get", {"id": 4})["PHONE"] == contact["PHONE"]
    for method in ("crm.deal.get", "crm.contact.get", "crm.company.get"):
        assert call(cloud, method, {"id": 10}).json == {"error": "", "error_description": "Not found"}


def test_bindings_name_the_primary_company_wherever_it_stands(cloud: Running) -> None:
    contact = result(cloud, "crm.item.get", {"entityTypeId": 3, "id": 4})["item"]
    bound = result(cloud, "crm.contact.company.items.get", {"id": 4})
    assert [row["COMPANY_ID"] for row in sorted(bound, key=lambda row: row["SORT"])] == contact["companyIds"]
    assert [row["COMPANY_ID"] for row in bound if row["IS_PRIMARY"] == "Y"] == [contact["companyId"]]
    assert contact["companyId"] != contact["companyIds"][0]
    missing = call(cloud, "crm.contact.company.items.get", {"id": 10})
    assert (missing.status, missing.json["error"]) == (200, "")


def test_labels_need_a_language_and_options_a_list(cloud: Running) -> None:
    bare = result(cloud, "crm.contact.userfield.list")
    assert "EDIT_FORM_LABEL" not in bare[0]
    told = result(cloud, "crm.contact.userfield.list", {"filter": {"LANG": "en", "USER_TYPE_ID": "enumeration"}})
    assert {row["EDIT_FORM_LABEL"] for row in told} == {"Channel", "Interests"}
    assert told[0]["LIST"][0].keys() == {"ID", "SORT", "VALUE", "DEF", "XML_ID"}
    kinds = {row["USER_TYPE_ID"] for row in bare}
    assert kinds == {
        "string", "integer", "double", "boolean", "date", "datetime", "enumeration", "file", "employee", "crm", "money",
        "url", "address", "iblock_element",
    }  # fmt: skip


def test_the_universal_list_names_fields_by_the_types_own_id(cloud: Running) -> None:
    wish = {"moduleId": "crm", "filter": {"entityId": "CRM_13"}, "order": {"id": "ASC"}}
    fields = result(cloud, "userfieldconfig.list", wish)["fields"]
    assert {row["fieldName"][:10] for row in fields} == {"UF_CRM_13_"}
    choice = next(row for row in fields if row["userTypeId"] == "enumeration")
    assert isinstance(choice["id"], str)
    assert "enum" not in choice
    alone = result(cloud, "userfieldconfig.get", {"moduleId": "crm", "id": choice["id"]})["field"]
    assert alone["enum"][0]["userFieldId"] == choice["id"]
    assert alone["editFormLabel"] == {"ru": "Канал", "en": "Channel", "de": "Kanal"}
    everything = call(cloud, "userfieldconfig.list", {"moduleId": "crm"}).json
    assert (everything["total"], everything["next"]) == (100, 50)


def test_the_universal_list_needs_two_scopes() -> None:
    for scopes in (("userfieldconfig",), ("crm",)):
        with serve(Portal(Company(Plan(users=5)), clock=ManualClock(), scopes=scopes)) as running:
            reply = call(running, "userfieldconfig.list", {"moduleId": "crm"})
            assert (reply.status, reply.json["error"]) == (401, "insufficient_scope")


def test_small_dictionaries(cloud: Running) -> None:
    currencies = call(cloud, "crm.currency.list").json
    assert (currencies["total"], {row["CURRENCY"] for row in currencies["result"]}) == (0, {"RUB", "USD", "EUR", "KZT"})
    owners = {row["ID"]: row["SYMBOL_CODE_SHORT"] for row in result(cloud, "crm.enum.ownertype")}
    assert (owners[2], owners[4], owners[156], owners[177]) == ("D", "CO", "T9c", "Tb1")
    assert result(cloud, "crm.settings.mode.get") == 2
