"""The catalogue of a box: what it has already, what is refused, and what is kept because others depend on it."""

import pytest
from tests.import_contract.client import JSON, Client, item

NOBODY = "871"
BOLT = {"kind": "product", "name": "Bolt"}
COLOUR = {"name": "Colour", "code": "COLOUR", "propertyType": "L", "multiple": False}


def test_every_server_says_that_it_has_a_catalogue(raw: Client) -> None:
    told = raw.info()["streams"]
    assert {"crm_currencies", "crm_product_props", "crm_products", "crm_requisites", "crm_addresses"} <= set(told)


@pytest.mark.parametrize(
    ("stream", "fields", "there"),
    [
        ("crm_currencies", {"CURRENCY": "USD", "AMOUNT": 1, "AMOUNT_CNT": 10}, "2"),
        ("crm_measures", {"code": 796, "measureTitle": "Piece"}, "4"),
        ("crm_vats", {"name": "НДС 20%", "rate": 20}, "2"),
        ("crm_vats", {"name": "Без НДС", "rate": None}, "1"),
        ("crm_vats", {"name": "Exempt", "rate": None}, "1"),
        ("crm_price_types", {"name": "Retail", "base": True}, "1"),
        ("crm_price_types", {"name": "Whatever", "xmlId": "BASE"}, "1"),
        ("crm_price_types", {"name": "BASE"}, "1"),
    ],
)
def test_what_every_box_has_is_linked_and_stays(box: Client, stream: str, fields: JSON, there: str) -> None:
    before = box.rows(stream)[there]
    assert box.make(stream, "k", **fields) == there
    kept = {name: box.rows(stream)[there][name] for name in before}
    assert kept == before


@pytest.mark.parametrize(
    ("stream", "fields"),
    [
        ("crm_currencies", {"CURRENCY": "KZT", "AMOUNT": 2, "AMOUNT_CNT": 10, "LANG": {"ru": {"FULL_NAME": "Тенге"}}}),
        ("crm_measures", {"code": 797, "measureTitle": "Hundred"}),
        ("crm_vats", {"name": "НДС 20%", "rate": 20.5, "active": False}),
        ("crm_price_types", {"name": "Wholesale", "base": False, "xmlId": "W", "sort": 5}),
        ("crm_catalog_sections", {"name": "Bolts", "sort": 5, "active": True, "iblockSectionId": None}),
    ],
)
def test_what_a_box_does_not_have_is_made(box: Client, stream: str, fields: JSON) -> None:
    made = box.make(stream, "k", **fields)
    assert box.rows(stream)[made] == fields
    assert box.delete(stream, "k") == ["deleted"]


def test_the_base_currency_is_information(raw: Client) -> None:
    answer = raw.send("crm_currencies", "k", CURRENCY="KZT", AMOUNT=2, AMOUNT_CNT=1, BASE=True)
    assert (answer["status"], answer["ignored"]) == ("created", [])
    assert "BASE" not in raw.rows("crm_currencies")[answer["id"]]


def test_a_section_of_the_same_name_in_the_same_place_is_linked(box: Client) -> None:
    above = box.make("crm_catalog_sections", "a", name="Bolts")
    below = box.make("crm_catalog_sections", "b", name="Bolts", iblockSectionId=above)
    assert below != above
    assert box.make("crm_catalog_sections", "c", name="Bolts") == above
    assert box.make("crm_catalog_sections", "d", name="Bolts", iblockSectionId=above) == below


def test_a_property_is_linked_among_those_of_products_or_of_offers(raw: Client) -> None:
    product = raw.make("crm_product_props", "source:crm_product_props:product:1", **COLOUR)
    offer = raw.make("crm_product_props", "source:crm_product_props:offer:2", **COLOUR)
    assert product != offer
    assert raw.make("crm_product_props", "source:crm_product_props:product:3", **COLOUR) == product
    assert raw.make("crm_product_props", "source:crm_product_props:offer:4", **COLOUR) == offer
    named = {"name": "Size", "propertyType": "S"}
    size = raw.make("crm_product_props", "source:crm_product_props:product:5", **named)
    assert raw.make("crm_product_props", "source:crm_product_props:product:6", **named) == size
    other = {**named, "propertyType": "N"}
    assert raw.make("crm_product_props", "source:crm_product_props:product:7", **other) != size


def test_a_property_of_the_same_code_and_another_type_is_another_thing(raw: Client) -> None:
    key = "source:crm_product_props:product:"
    first = raw.make("crm_product_props", f"{key}1", **COLOUR)
    assert raw.make("crm_product_props", f"{key}2", **{**COLOUR, "propertyType": "S"}) != first


def test_a_linked_list_gets_the_values_that_it_lacks(raw: Client) -> None:
    red, blue = ({"id": number, "value": value, "xmlId": value} for number, value in (("1", "red"), ("2", "blue")))
    key = "source:crm_product_props:product:"
    first = raw.send("crm_product_props", f"{key}1", **COLOUR, options=[red])
    second = raw.send("crm_product_props", f"{key}2", **COLOUR, options=[{**red, "id": "7"}, {**blue, "id": "8"}])
    assert (second["status"], second["id"]) == ("created", first["id"])
    assert second["options"]["7"] == first["options"]["1"]
    assert set(second["options"]) == {"7", "8"}


def test_a_rehearsal_answers_no_values_that_are_not_there(raw: Client) -> None:
    red, blue = ({"id": number, "value": value, "xmlId": value} for number, value in (("1", "red"), ("2", "blue")))
    key = "source:crm_product_props:product:1"
    (answer,) = raw.rehearse("crm_product_props", item(key, **COLOUR, options=[red]))
    assert (answer["status"], answer["id"], answer["options"]) == ("created", None, {})
    made = raw.send("crm_product_props", key, **COLOUR, options=[red])
    (answer,) = raw.rehearse("crm_product_props", item(key, **COLOUR, options=[red, blue]))
    assert (answer["status"], answer["options"]) == ("updated", made["options"])


@pytest.mark.parametrize(
    ("stream", "wrong", "code"),
    [
        ("crm_catalog_sections", {"iblockSectionId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_product_props", {"options": [{"value": "Red"}]}, "VALIDATION"),
        ("crm_product_props", {"multiple": "Y"}, "VALIDATION"),
        ("crm_products", {"kind": "thing"}, "VALIDATION"),
        ("crm_products", {"parentId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_products", {"measure": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_products", {"vatId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_products", {"iblockSectionId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_products", {"previewPicture": NOBODY}, "FILE_NOT_FOUND"),
        ("crm_products", {"morePhoto": [NOBODY]}, "FILE_NOT_FOUND"),
        ("crm_products", {"createdBy": NOBODY}, "USER_NOT_FOUND"),
        ("crm_products", {"properties": {NOBODY: ["x"]}}, "PARENT_NOT_FOUND"),
        ("crm_products", {"properties": []}, "VALIDATION"),
        ("crm_products", {"weight": "5"}, "VALIDATION"),
        ("crm_products", {"parentId": None, "kind": "offer"}, "VALIDATION"),
        ("crm_prices", {"productId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_prices", {"catalogGroupId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_prices", {"price": "5"}, "VALIDATION"),
        ("crm_currencies", {"AMOUNT": "5"}, "VALIDATION"),
        ("crm_measures", {"code": "796"}, "VALIDATION"),
        ("crm_vats", {"rate": "20"}, "VALIDATION"),
    ],
)
def test_what_is_wrong_is_refused_by_name(box: Client, stream: str, wrong: JSON, code: str) -> None:
    good: dict[str, JSON] = {
        "crm_catalog_sections": {"name": "Bolts"},
        "crm_product_props": COLOUR,
        "crm_products": BOLT,
        "crm_currencies": {"CURRENCY": "KZT"},
        "crm_measures": {"code": 797},
        "crm_vats": {"name": "VAT"},
    }
    sound = good.get(stream) or {"productId": box.make("crm_products", "p", **BOLT), "catalogGroupId": "1"}
    key = f"source:{stream}:product:1"
    assert box.fault(stream, key, **{**sound, **wrong}) == (code, next(iter(wrong)))


def test_values_of_a_property_are_lists(raw: Client) -> None:
    size = raw.make("crm_product_props", "source:crm_product_props:product:5", name="Size", propertyType="S")
    assert raw.fault("crm_products", "p", **BOLT, properties={size: "M8"}) == ("VALIDATION", "properties")
    product = raw.make("crm_products", "p", **BOLT, properties={size: ["M8"]})
    assert raw.rows("crm_products")[product]["properties"] == {size: ["M8"]}


def test_a_value_of_a_list_is_one_of_its_values(raw: Client) -> None:
    red = {"id": "1", "value": "red", "xmlId": "red"}
    made = raw.send("crm_product_props", "source:crm_product_props:product:1", **COLOUR, options=[red])
    good, bad = {made["id"]: [made["options"]["1"]]}, {made["id"]: [NOBODY]}
    assert raw.fault("crm_products", "p", **BOLT, properties=bad) == ("VALIDATION", "properties")
    product = raw.make("crm_products", "p", **BOLT, properties=good)
    assert raw.rows("crm_products")[product]["properties"] == good


def test_an_offer_is_one_of_a_product_and_has_prices(box: Client) -> None:
    parent = box.make("crm_products", "a", kind="parent", name="Shirt")
    offer = {"kind": "offer", "name": "Shirt M", "parentId": parent, "dateCreate": "2024-03-01T09:00:00Z"}
    made = box.make("crm_products", "b", **offer)
    assert box.rows("crm_products")[made] == offer
    price = {"productId": made, "catalogGroupId": "1", "price": 10.5, "currency": "RUB", "quantityFrom": None}
    box.make("crm_prices", "p", **price)
    assert box.delete("crm_products", "a") == ["kept"]
    assert box.delete("crm_products", "b") == ["kept"]
    assert box.delete("crm_prices", "p") == ["deleted"]
    assert box.delete("crm_products", "b") == ["deleted"]
    assert box.delete("crm_products", "a") == ["deleted"]
