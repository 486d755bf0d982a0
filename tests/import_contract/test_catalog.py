"""The product catalogue: what a box has is linked, and lists answer with their options."""

from __future__ import annotations

from typing import Any

import pytest
from tests.import_contract.client import NOON, Client, item

LINKED: dict[str, dict[str, Any]] = {
    "crm_currencies": {"CURRENCY": "CNY", "AMOUNT": 12.5, "AMOUNT_CNT": 1, "SORT": 100, "LANG": {}},
    "crm_measures": {"code": 715, "measureTitle": "Pair", "symbol": "pr", "isDefault": False},
    "crm_vats": {"name": "VAT 13%", "rate": 13, "sort": 10, "active": True},
    "crm_price_types": {"name": "Wholesale", "base": False, "sort": 10, "xmlId": "wholesale"},
}
RED, BLUE = {"id": "7", "value": "Red", "xmlId": "red"}, {"id": "8", "value": "Blue", "xmlId": "blue"}
COLOR = {"name": "Color", "code": "COLOR", "propertyType": "L", "multiple": True}


def list_property(box: Client, *options: Any, key: str = "product:5") -> dict[str, Any]:
    return box.send("crm_product_props", f"source:crm_product_props:{key}", **COLOR, options=list(options))


@pytest.mark.parametrize("stream", LINKED)
def test_what_the_box_has_is_linked(box: Client, stream: str) -> None:
    first = box.make(stream, f"source:{stream}:1", **LINKED[stream])
    assert box.make(stream, f"source:{stream}:2", **LINKED[stream]) == first


def test_a_box_has_one_base_price(box: Client) -> None:
    first = box.make("crm_price_types", "source:crm_price_types:1", name="BASE", base=True)
    assert box.make("crm_price_types", "source:crm_price_types:2", name="Retail", base=True) == first


def test_taxes_of_another_rate_are_others(box: Client) -> None:
    first = box.make("crm_vats", "source:crm_vats:1", name="VAT", rate=13)
    assert box.make("crm_vats", "source:crm_vats:2", name="VAT", rate=15) != first


def test_a_property_is_linked_by_its_code_among_those_of_its_side(box: Client) -> None:
    first = list_property(box)["id"]
    assert list_property(box, key="product:6")["id"] == first
    assert list_property(box, key="offer:7")["id"] != first


def test_options_come_with_every_answer(box: Client) -> None:
    created = list_property(box, RED, BLUE)
    again = list_property(box, RED, BLUE)
    assert (created["status"], again["status"]) == ("created", "unchanged")
    assert again["options"] == created["options"]
    assert created["options"].keys() == {"7", "8"}
    assert created["options"]["7"] != created["options"]["8"]


def test_a_new_option_is_added_and_the_others_stay(box: Client) -> None:
    before = list_property(box, RED)["options"]
    updated = list_property(box, RED, BLUE)
    assert updated["status"] == "updated"
    assert updated["options"]["7"] == before["7"]
    assert updated["options"].keys() == {"7", "8"}


def test_options_of_a_property_that_the_box_has_are_found_by_their_codes(box: Client) -> None:
    first = list_property(box, RED, BLUE)["options"]
    other = list_property(box, {**BLUE, "id": "70"}, key="product:6")["options"]
    assert other == {"70": first["8"]}


def test_a_property_without_a_list_has_no_options(box: Client) -> None:
    answer = box.send("crm_product_props", "source:crm_product_props:product:9", name="Art", propertyType="S")
    assert (answer["status"], answer.get("options") or {}) == ("created", {})


def test_a_product_carries_values_by_property(box: Client) -> None:
    color = list_property(box, RED, BLUE)
    values = {color["id"]: [color["options"]["8"]]}
    number = box.make("crm_products", "source:crm_products:1", **goods(properties=values))
    (read,) = box.picked("crm_products", "source:crm_products:1")
    assert read["id"] == number
    assert read["fields"]["properties"] == values
    assert read["fields"]["dateCreate"] == NOON


def goods(**more: Any) -> dict[str, Any]:
    return {"kind": "product", "name": "Lamp", "active": True, "createdBy": "1", "dateCreate": NOON, **more}


def test_an_offer_is_one_of_a_product(box: Client) -> None:
    parent = box.make("crm_products", "source:crm_products:1", **goods(kind="parent"))
    box.make("crm_products", "source:crm_products:2", **goods(kind="offer", parentId=parent))
    assert box.fault("crm_products", "source:crm_products:3", **goods(kind="offer")) == ("VALIDATION", "parentId")
    missing = goods(kind="offer", parentId="871")
    assert box.fault("crm_products", "source:crm_products:4", **missing) == ("PARENT_NOT_FOUND", "parentId")


@pytest.mark.parametrize("name", ["iblockSectionId", "measure", "vatId"])
def test_what_a_product_names_is_there(box: Client, name: str) -> None:
    assert box.fault("crm_products", "source:crm_products:1", **goods(**{name: "871"})) == ("PARENT_NOT_FOUND", name)


def test_values_of_an_unknown_property_are_refused(box: Client) -> None:
    wrong = goods(properties={"871": ["x"]})
    assert box.fault("crm_products", "source:crm_products:1", **wrong) == ("PARENT_NOT_FOUND", "properties")


def test_a_price_is_of_a_product_and_a_type(box: Client) -> None:
    product = box.make("crm_products", "source:crm_products:1", **goods())
    kind = box.make("crm_price_types", "source:crm_price_types:1", name="BASE", base=True)
    price = {"price": 12.5, "currency": "RUB"}
    box.make("crm_prices", "source:crm_prices:1", productId=product, catalogGroupId=kind, **price)
    wrong = box.fault("crm_prices", "source:crm_prices:2", productId="871", catalogGroupId=kind, **price)
    assert wrong == ("PARENT_NOT_FOUND", "productId")


def test_a_rehearsal_promises_no_options(raw: Client) -> None:
    wish = item("source:crm_product_props:product:5", **COLOR, options=[RED])
    before = raw.snapshot()
    (answer,) = raw.rehearse("crm_product_props", wish)
    assert (answer["status"], answer["id"]) == ("created", None)
    assert raw.snapshot() == before
