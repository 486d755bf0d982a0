"""A product catalogue by the methods that every box has: all of it arrives once, whatever gets lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_undo import take

from b24migrate.model.records import Item

STREAMS = (
    *("crm_currencies", "crm_measures", "crm_vats", "crm_price_types", "crm_catalog_sections", "crm_product_props"),
    *("crm_products", "crm_prices"),
)
PRODUCTS, OFFERS = 25, 27


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Move]:
    with moving(tmp_path_factory.mktemp("catalog"), "users", "crm_catalog", products=14) as made:
        assert made.run().exit_code == 0
        yield made


def box_of(move: Move) -> Any:
    return move.world.box.portal.company.catalog


def targets(move: Move, table: str) -> dict[str, str]:
    return {row["RowKey"]: row["TargetId"] for row in move.world.table(table, "RowKey", "TargetId")}


def test_everything_arrives_as_announced(moved: Move) -> None:
    assert all(set(moved.statuses()[name]) == {"IMPORT_OK"} for name in STREAMS)
    assert moved.unforeseen == []
    assert moved.twice() == []
    told = [one for one in moved.announced() if one.stream in STREAMS and one.by_the_record]
    assert all(one.expected == one.seen for one in told), told
    assert moved.foreseen()["crm_prices", ""] > 0


def test_what_the_box_had_is_linked_and_stays_as_it_was(moved: Move) -> None:
    catalog = box_of(moved)
    assert targets(moved, "CrmMeasures")["5"] == "6"  # pieces
    assert targets(moved, "CrmPriceTypes")["1"] == "2"  # the base price
    assert targets(moved, "CrmCurrencies")["RUB"] == "RUB"
    assert catalog.currencies["RUB"]["BASE"] == "Y"
    assert catalog.currencies["KZT"]["BASE"] == "N"
    assert [row["CURRENCY"] for row in catalog.currencies.values()] == ["RUB", "USD", "EUR", "KZT"]


def test_offers_name_their_products_and_values_of_lists_are_those_of_the_box(moved: Move) -> None:
    catalog, known = box_of(moved), targets(moved, "CrmProducts")
    source = moved.world.cloud.portal.company.catalog
    for number in source.products[OFFERS]:
        row = catalog.products[OFFERS].row(int(known[f"offer:{number}"]))
        parent = source.products[OFFERS].row(number)["property97"]["value"]
        assert row["property97"]["value"] == known[f"product:{parent}"]
    brand = int(targets(moved, "CrmProductProps")["product:101"])
    for number in source.products[PRODUCTS]:
        sent = source.products[PRODUCTS].row(number)["property101"]
        if sent:
            got = catalog.products[PRODUCTS].row(int(known[f"product:{number}"]))[f"property{brand}"]
            assert catalog.enums.row(int(got["value"]))["value"] == source.enums.row(int(sent["value"]))["value"]


def test_pictures_have_the_bytes_of_the_source(moved: Move) -> None:
    catalog, source = box_of(moved), moved.world.cloud.portal.company.catalog
    for key, target in targets(moved, "CrmProducts").items():
        assert pictures(catalog, int(target)) == pictures(source, int(key.rpartition(":")[2]))


def pictures(catalog: Any, number: int) -> list[tuple[str, bytes]]:
    return [(kind, catalog.file(file).content()) for file, kind in catalog.pictures(number)]


def test_a_second_run_writes_nothing(moved: Move) -> None:
    before = len(moved.world.box.portal.native.entries)
    moved.world.box.portal.stats.reset()
    assert moved.run().exit_code == 0
    assert [name for name in moved.world.box.portal.stats.methods if name.endswith((".add", ".update"))] == []
    assert len(moved.world.box.portal.native.entries) == before


def test_answers_that_get_lost_double_nothing(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_catalog", products=9) as move:
        move.lose(3, "catalog.*.add", "crm.currency.add")
        move.run()
        assert all(set(move.statuses()[name]) == {"IMPORT_OK"} for name in STREAMS)
        assert move.twice() == []
        catalog, source = box_of(move), move.world.cloud.portal.company.catalog
        there = sum(len(table) for table in catalog.products.values())
        assert there == sum(len(table) for table in source.products.values())
        ranges = sum(1 for number in source.prices if source.prices.row(number)["quantityFrom"])
        assert len(catalog.prices) == len(source.prices) - ranges > 0
        assert len(catalog.enums) == len(source.enums)


def test_a_price_whose_answer_got_lost_is_not_taken_for_that_of_a_larger_quantity(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_catalog", products=14) as move:
        move.lose(2, "catalog.price.add")
        move.run()
        known = [one for one in targets(move, "CrmPrices").values() if one != "none"]
        assert len(known) == len(set(known)) == len(box_of(move).prices)
        assert move.unforeseen == []


def test_a_property_of_the_box_gets_the_values_that_it_lacks(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_catalog", products=3) as move:
        call = move.world.box.portal
        catalog = call.company.catalog
        blank = catalog.properties.row(115)
        catalog.properties.put(800, blank | {"id": 800, "code": "BRAND", "propertyType": "L", "name": "Марка"})
        catalog.enums.put(
            900, {"id": 900, "propertyId": 800, "value": "Acme <EU>", "xmlId": "own", "def": "N", "sort": 1}
        )
        assert move.run().exit_code == 0
        assert targets(move, "CrmProductProps")["product:101"] == "800"
        assert catalog.properties.row(800)["name"] == "Марка"
        rows = move.world.sql(
            "SELECT RowKey, TargetId FROM IdMap WHERE RowKey LIKE 'crm_product_props.options:product:101:%'"
        )
        known = {key.rpartition(":")[2]: target for key, target in rows}
        assert known["432"] == "900"
        assert len(known) == 3
        assert move.world.sql("SELECT count(*) FROM IdMap WHERE RowKey LIKE 'crm_product_props:product:101'") == [(1,)]


def test_asked_again_the_box_answers_the_same_options(tmp_path: Path) -> None:
    """A process that died before it kept them asks with the same key and digest."""
    fields = {"name": "Цвет", "code": "COLOR", "propertyType": "L", "options": [{"id": "7", "value": "Red"}]}
    item = Item.make("source:crm_product_props:product:5", fields)
    with moving(tmp_path, "users", "crm_catalog", products=3) as move:
        (first,) = move.send("crm", "crm_product_props", item)
        (second,) = move.send("crm", "crm_product_props", item)
    assert (first.status, second.status) == ("created", "unchanged")
    assert first.options.keys() == {"7"}
    assert second.options == first.options


def test_an_undo_takes_back_what_is_ours_and_leaves_properties(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_catalog", products=9) as move:
        catalog = box_of(move)
        before, properties = Counter(names_of(catalog)), len(catalog.properties)
        assert move.run().exit_code == 0
        mine = len(catalog.properties) - properties
        tallies = take(move, "crm_catalog")
        assert Counter(names_of(catalog)) == before
        assert (tallies["crm_product_props"].kept, tallies["crm_products"].kept) == (mine, 0)


def test_a_product_of_a_user_keeps_what_it_needs(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_catalog", products=9) as move:
        assert move.run().exit_code == 0
        catalog = box_of(move)
        measure = int(targets(move, "CrmMeasures")["9"])
        section = int(targets(move, "CrmCatalogSections")["product:41"])
        pattern = catalog.products[PRODUCTS].row(catalog.products[PRODUCTS].ids[0])
        catalog.products[PRODUCTS].put(77, pattern | {"id": 77, "measure": measure, "iblockSectionId": section})
        tallies = take(move, "crm_catalog")
        assert measure in catalog.measures
        assert section in catalog.sections
        assert (tallies["crm_measures"].kept, tallies["crm_products"].kept) == (1, 0)


def names_of(catalog: Any) -> Iterator[str]:
    yield from (f"currency {code}" for code in catalog.currencies)
    for name in ("measures", "vats", "price_types", "sections", "prices"):
        yield from (f"{name} {number}" for number in getattr(catalog, name))
    for table in catalog.products.values():
        yield from (f"product {number}" for number in table)
