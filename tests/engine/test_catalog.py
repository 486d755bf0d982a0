"""A product catalogue on its way to the module: what each record becomes, and what a delta pass finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import SMALL, World, world

from b24migrate.engine import undo
from b24migrate.entities import catalog as entities
from b24migrate.insight import fidelity
from b24migrate.model.errors import Halted
from b24migrate.stores.sqlite import SqliteStore
from b24sim.company.catalog import Catalog
from b24sim.imports import Imports

STREAMS = [stream.name for stream in entities().entity("crm_catalog").streams]
PRODUCTS, OFFERS = 25, 27
OTHERS = ("groups", "chats", "feed", "tasks", "workflows")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with company(tmp_path) as one:
        yield one


def company(folder: Path, **more: Any) -> Any:
    return Ready(world(folder, replace(SMALL, deals=2, companies=2, contacts=2, products=12), **more))


class Ready:
    """A world of which only users and the catalogue are migrated."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def __enter__(self) -> World:
        found: World = self._opened.__enter__()
        found.settings = {"run": {"entities": ["users", "crm_catalog"]}, "mapping": {"placeholder_user": "1"}}
        return found

    def __exit__(self, *about: Any) -> None:
        self._opened.__exit__(*about)


def fields(made: World, stream: str) -> dict[str, dict[str, Any]]:
    return {key.rpartition(":")[2]: row["fields"] for key, row in made.imported(stream).items()}


def ids(made: World, stream: str) -> dict[str, str]:
    return {key.removeprefix(f"source:{stream}:"): row["id"] for key, row in made.imported(stream).items()}


def effects(made: World) -> dict[str, tuple[int, int]]:
    rows = [row for stream in STREAMS for row in made.dump(stream)]
    return {row["key"]: (row["created_count"], row["updated_count"]) for row in rows}


# ---------------------------------------------------------------- all of it


def test_products_are_what_the_source_says(made: World) -> None:
    assert made.run().exit_code == 0
    source, there = made.cloud.portal.company.catalog, fields(made, "crm_products")
    props, sections, measures = (
        ids(made, one) for one in ("crm_product_props", "crm_catalog_sections", "crm_measures")
    )
    users, products = ids(made, "users"), ids(made, "crm_products")
    kinds = {1: "product", 3: "parent", 4: "offer", 7: "service"}
    assert {one["kind"] for one in there.values()} == set(kinds.values())
    for iblock, side in ((PRODUCTS, "product"), (OFFERS, "offer")):
        for number in source.products[iblock]:
            row, got = source.products[iblock].row(number), there[str(number)]
            assert (got["kind"], got["name"], got["xmlId"]) == (kinds[row["type"]], row["name"], row["xmlId"])
            assert got["measure"] == (measures[str(row["measure"])] if row["measure"] else None)
            assert got["createdBy"] == users[str(row["createdBy"])]
            assert got["iblockSectionId"] == (sections[str(row["iblockSectionId"])] if row["iblockSectionId"] else None)
            parent = row.get("parentId")
            assert got["parentId"] == (products[parent["value"]] if parent else None)
            assert set(got["properties"]) == {props[f"{side}:{one}"] for one in filled_properties(row, source)}


def filled_properties(row: dict[str, Any], source: Any) -> list[str]:
    names = [name.removeprefix("property") for name, value in row.items() if name.startswith("property") and value]
    known = {one: source.properties.row(int(one)) for one in names}
    return [one for one in names if known[one]["propertyType"] not in "EF"]


def test_values_of_lists_are_options_of_the_box(made: World) -> None:
    made.run()
    source, there = made.cloud.portal.company.catalog, fields(made, "crm_products")
    props, options = ids(made, "crm_product_props"), made.box.portal.imports.rows("crm_product_options")
    compared = 0
    for number in source.products[PRODUCTS]:
        for one in source.products[PRODUCTS].row(number)["property103"] or ():
            spelled = source.enums.row(int(one["value"]))["value"]
            sent = there[str(number)]["properties"][props["product:103"]]
            assert spelled in [options[value]["value"] for value in sent]
            compared += 1
    assert compared > 2


def test_pictures_arrive_and_are_asked_for_by_product(made: World) -> None:
    made.run()
    source, there = made.cloud.portal.company.catalog, fields(made, "crm_products")
    with_pictures = [number for number in source.products[PRODUCTS] if source.pictures(number)]
    for number in with_pictures:
        got = there[str(number)]
        shown = [one for one in (got["previewPicture"], got["detailPicture"], *got["morePhoto"]) if one]
        assert len(shown) == len(source.pictures(number))
    assert made.cloud.portal.stats.carried["catalog.productImage.list"] <= 2 + len(with_pictures) // 20


def test_what_cannot_travel_is_named(made: World) -> None:
    made.run()
    notes = " ".join(str(note) for note in made.entity("crm_catalog").notes)
    assert notes.count("crm_product_props: 2 skipped by rule") == 2
    assert made.entity("crm_catalog").verified


def test_another_catalogue_is_left_out_by_name(made: World) -> None:
    """A portal may have shops besides."""
    source = made.cloud.portal.company.catalog
    known = source.catalogs
    shop = {**known[0], "id": 31, "iblockId": 31, "name": "Shop"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(source), "catalogs", property(lambda _: [shop, *known]))
        made.run()
    assert len(made.imported("crm_products")) == sum(len(table) for table in source.products.values())
    assert [row[0] for row in made.sql("SELECT Name FROM SetAside WHERE RowKey LIKE 'excluded:crm_catalogs:%'")] == [
        "Shop"
    ]


# ---------------------------------------------------------------- options and a process that dies


def test_options_are_kept_before_their_property_counts_as_imported(made: World) -> None:
    """Whenever the process dies between the answer and the store, it asks again and is answered the same."""
    died: list[int] = []
    settle = SqliteStore.settle

    def dies(self: SqliteStore, stream: str, *about: Any, **more: Any) -> Any:
        if stream == "crm_product_props" and not died:
            died.append(made.sql("SELECT count(*) FROM IdMap WHERE RowKey LIKE 'crm_product_props.options:%'")[0][0])
            raise Halted("the light went out", code="DARK")
        return settle(self, stream, *about, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteStore, "settle", dies)
        with pytest.raises(Halted):
            made.run()
    assert died[0] > 0
    assert made.run().exit_code == 0
    assert {one for one, _ in effects(made).values()} == {1}
    assert effects(made)["source:crm_product_props:product:103"] == (1, 0)
    assert len(made.box.portal.imports.rows("crm_product_options")) == len(made.cloud.portal.company.catalog.enums)


def test_a_new_value_of_a_list_arrives_with_the_products_that_have_it(made: World) -> None:
    made.run()
    source = made.cloud.portal.company.catalog
    source.enums.put(470, {"id": 470, "propertyId": 101, "value": "Новый", "xmlId": "new", "def": "N", "sort": 1})
    number = source.products[PRODUCTS].ids[0]
    made.change("crm_products", id=str(number), fields={"property101": {"value": "470", "valueId": "1"}})
    assert made.run().exit_code == 0
    options, props = made.box.portal.imports.rows("crm_product_options"), ids(made, "crm_product_props")
    (value,) = fields(made, "crm_products")[str(number)]["properties"][props["product:101"]]
    assert options[value]["value"] == "Новый"


def test_a_value_that_is_emptied_is_emptied_there(made: World) -> None:
    made.run()
    source, props = made.cloud.portal.company.catalog, ids(made, "crm_product_props")
    number = next(one for one in source.products[PRODUCTS] if source.products[PRODUCTS].row(one)["property105"])
    assert fields(made, "crm_products")[str(number)]["properties"][props["product:105"]]
    made.change("crm_products", id=str(number), fields={"property105": None})
    assert made.run().exit_code == 0
    assert fields(made, "crm_products")[str(number)]["properties"][props["product:105"]] == []


def test_an_undo_forgets_the_options_too(made: World) -> None:
    made.run()
    assert made.sql("SELECT count(*) FROM IdMap WHERE RowKey LIKE 'crm_product_props.options:%'")[0][0] > 0
    with made.app() as app:
        scope = undo.find_scope(app.context, ("crm_catalog",))
        dry_run = undo.DryRun(app.context, scope)
        list(dry_run.walk())
        undo.Undo(app.context, scope, dry_run).take()
    assert made.sql("SELECT count(*) FROM IdMap WHERE RowKey LIKE 'crm_product_props.options:%'") == [(0,)]
    assert all(not made.imported(stream) for stream in STREAMS)


# ---------------------------------------------------------------- what is not as it should be


def test_records_that_name_what_is_gone_are_counted_by_name(made: World) -> None:
    source = made.cloud.portal.company.catalog
    offer, price = source.products[OFFERS].ids[0], source.prices.ids[-1]
    gone = {"value": "9610", "valueId": "1"}
    made.change("crm_products", id=str(offer), fields={"property97": gone, "parentId": gone})
    made.change("crm_prices", id=str(price), fields={"productId": 9610})
    simple = source.products[PRODUCTS].ids[0]
    made.change("crm_products", id=str(simple), fields={"measure": 99, "vatId": 98, "createdBy": 90_001})
    assert made.run().exit_code == 5
    failed = {
        row["RowKey"]: row["LastErrorCode"] for row in made.records("CrmProducts").values() if row["LastErrorCode"]
    }
    assert failed == {f"offer:{offer}": "REFERENCE_MISSING"}
    assert made.records("CrmPrices")[str(price)]["LastErrorCode"] == "REFERENCE_MISSING"
    got = fields(made, "crm_products")[str(simple)]
    assert (got["measure"], got["vatId"], got["createdBy"]) == (None, None, "1")


def test_ids_of_information_blocks_may_be_texts(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made.cloud.portal.company.catalog.catalogs
    names = ("iblockId", "productIblockId", "skuPropertyId")
    texts = [{**row, **{name: row[name] and str(row[name]) for name in names}} for row in rows]
    monkeypatch.setattr(Catalog, "catalogs", property(lambda _: texts))
    assert made.run().exit_code == 0
    assert any(one["properties"] for one in fields(made, "crm_products").values())
    assert fields(made, "crm_product_props")


def test_zero_is_a_value_of_a_property(made: World) -> None:
    number = made.cloud.portal.company.catalog.products[PRODUCTS].ids[0]
    made.change("crm_products", id=str(number), fields={"property107": {"value": 0, "valueId": "1"}})
    assert made.run().exit_code == 0
    own = ids(made, "crm_product_props")["product:107"]
    assert fields(made, "crm_products")[str(number)]["properties"][own] == ["0"]


def test_without_the_scope_of_the_catalogue_the_rest_goes(tmp_path: Path) -> None:
    scopes = ("user", "user_basic", "department", "user.userfield", "crm", "userfieldconfig", "import")
    with company(tmp_path, scopes=scopes) as made:
        made.settings["run"] = {}
        made.settings["entities"] = {name: {"enabled": False} for name in OTHERS}
        assert made.run().exit_code in (0, 5)
        assert made.imported("crm_deals")
        assert not made.imported("crm_currencies")


def test_a_box_of_the_first_version_gets_the_rest(tmp_path: Path) -> None:
    with company(tmp_path) as made:
        box = made.box.portal
        box.imports = Imports(now=made.clock.now, streams=())
        made.settings["run"] = {}
        made.settings["entities"] = {name: {"enabled": False} for name in OTHERS}
        with made.app() as app:
            fidelity.accept(app.context, fidelity.ask_target(app.context), "a test")
        assert made.run().exit_code in (0, 5)
        assert made.imported("crm_deals")
        assert not any(made.imported(stream) for stream in STREAMS)


def test_another_base_currency_stops_the_import(made: World) -> None:
    """It is never switched: the rates of the box would be wrong."""
    box = made.box.portal.company.catalog.currencies
    box["RUB"], box["USD"] = box["RUB"] | {"BASE": "N"}, box["USD"] | {"BASE": "Y"}
    ended = made.run()
    assert ended.exit_code == 3
    assert "the base currency of the box is USD, that of the source is RUB" in ended.message
    assert made.imported("users")
    assert not any(made.imported(stream) for stream in STREAMS)
    with made.app() as app:
        (found,) = [one for one in app.runner.examine(app.catalog.entities).failed if one.entity == "crm_catalog"]
        assert "make RUB the base currency" in found.fix
    box["RUB"], box["USD"] = box["RUB"] | {"BASE": "Y"}, box["USD"] | {"BASE": "N"}
    assert made.run().exit_code == 0
    assert made.entity("crm_catalog").verified


def test_a_box_that_may_not_be_asked_for_its_currency_gets_the_catalogue(tmp_path: Path) -> None:
    with company(tmp_path) as made:
        made.box.portal.scopes = ("import",)
        assert made.run().exit_code == 0
        assert made.imported("crm_products")


# ---------------------------------------------------------------- a delta pass


def sync(made: World) -> None:
    with made.app() as app:
        app.runner.run(app.chosen(()), delta=True, tick=made.leap())


def test_a_delta_pass_finds_what_changed_came_and_went(made: World) -> None:
    made.run()
    source = made.cloud.portal.company.catalog
    first, second, third = source.products[PRODUCTS].ids[:3]
    made.change("crm_products", id=str(first), fields={"name": "Другое имя"})
    (new,) = made.change("crm_products", "add")
    made.change("crm_products", "delete", id=str(third))
    price = next(one for one in source.prices if source.prices.row(one)["productId"] == second)
    made.change("crm_prices", id=str(price), fields={"price": 5})
    made.change("crm_catalog_sections", id="41", fields={"name": "Другой раздел"})
    before = effects(made)
    made.cloud.portal.stats.reset()
    sync(made)
    there = fields(made, "crm_products")
    assert (there[str(first)]["name"], there[str(new)]["kind"]) == ("Другое имя", "product")
    assert fields(made, "crm_prices")[str(price)]["price"] == 5
    assert fields(made, "crm_catalog_sections")["41"]["name"] == "Другой раздел"
    changed = {key for key, effect in effects(made).items() if before.get(key) != effect}
    products = {f"source:crm_products:{one}" for one in (first, new)}
    assert changed == {*products, f"source:crm_prices:{price}", "source:crm_catalog_sections:41"}
    deleted = made.sql("SELECT RowKey FROM CrmProducts WHERE DeletedUtc IS NOT NULL")
    assert (f"product:{third}",) in deleted
    assert made.stream("crm_products").drift == 0


def test_what_a_delta_pass_does_not_see_a_full_one_brings(made: World) -> None:
    made.run()
    source, props = made.cloud.portal.company.catalog, ids(made, "crm_product_props")
    number = source.products[PRODUCTS].ids[1]
    made.change("crm_products", id=str(number), undated=True, fields={"property105": {"value": "X", "valueId": "1"}})
    sync(made)
    assert fields(made, "crm_products")[str(number)]["properties"].get(props["product:105"]) != ["X"]
    stream = entities().streams["crm_products"]
    assert [getattr(one, "key", "") for one in stream.unseen] == [
        "delta.unseen.product_values",
        "delta.unseen.counted",
    ]
    assert made.run().exit_code == 0
    assert fields(made, "crm_products")[str(number)]["properties"][props["product:105"]] == ["X"]


def test_prices_of_stock_that_moves_are_no_change(made: World) -> None:
    made.run()
    number = made.cloud.portal.company.catalog.products[PRODUCTS].ids[0]
    before = effects(made)
    made.change("crm_products", id=str(number), undated=True, fields={"quantity": 3, "quantityReserved": 1})
    assert made.run().exit_code == 0
    assert effects(made) == before
