"""A delta run brings what becomes of the parents of CRM items: another one, none, and one that is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.test_sync import PLAN, SETTINGS, sync
from tests.engine.world import World

from b24migrate.engine.gates import READS
from b24migrate.model.events import Event, PhaseChanged

Json = Any
PREFIX = "parentId"
DAY_S = 86_400
OF_DEAL, OF_CONTACT = f"{PREFIX}2", f"{PREFIX}3"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("crm"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def crm(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def find_children(made: World, parent: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Items of smart processes that have such a parent."""
    items = made.cloud.portal.company.crm.items
    for smart in made.cloud.portal.company.crm.smart_types:
        for number in items[smart.entity_type_id]:
            row = items[smart.entity_type_id].row(number)
            if row.get(parent):
                yield f"{smart.entity_type_id}:{number}", row


def parents(made: World, key: str) -> dict[str, str]:
    """What the box has of them."""
    fields = made.imported("crm_spitems")[f"source:crm_spitems:{key}"]["fields"]
    return {name: value for name, value in fields.items() if name.startswith(PREFIX) and value}


def target(made: World, table: str, key: str) -> str:
    return str(made.records(table)[key]["TargetId"])


@pytest.mark.parametrize("empty", [None, 0])
def test_one_that_was_taken_away_is_gone(crm: World, empty: Json) -> None:
    key, _ = next(find_children(crm, OF_DEAL))
    assert OF_DEAL in parents(crm, key)
    crm.change("crm_spitems", id=key, fields={OF_DEAL: empty})
    assert sync(crm).exit_code == 0
    assert OF_DEAL not in parents(crm, key)


def test_one_of_another_type_takes_its_place(crm: World) -> None:
    key, _ = next(find_children(crm, OF_DEAL))
    contact = next(iter(crm.records("CrmContacts")))
    crm.change("crm_spitems", id=key, fields={OF_DEAL: None, OF_CONTACT: int(contact)})
    assert sync(crm).exit_code == 0
    assert parents(crm, key) == {OF_CONTACT: target(crm, "CrmContacts", contact)}


def test_one_that_the_target_does_not_have_takes_the_place_of_none(crm: World) -> None:
    """A link that is dropped is empty there, as any other."""
    key, _ = next(find_children(crm, OF_DEAL))
    crm.change("crm_spitems", id=key, fields={OF_DEAL: template_of_deals(crm)})
    sync(crm)
    assert OF_DEAL not in parents(crm, key)


def template_of_deals(made: World) -> int:
    """A rule leaves it out."""
    left_out = made.sql("SELECT RowKey FROM SetAside WHERE RowKey LIKE 'excluded:crm_deals:%'")
    return int(left_out[0][0].rpartition(":")[2])


def test_a_deleted_one_is_taken_away_without_a_date(crm: World) -> None:
    """The portal removes the relation in its table (kernel crm, Cleaning\\Cleaner::cleanup)."""
    key, row = next(find_children(crm, OF_DEAL))
    crm.change("crm_deals", "delete", id=row[OF_DEAL])
    crm.change("crm_spitems", id=key, fields={OF_DEAL: None}, undated=True)
    assert sync(crm).exit_code == 0
    assert OF_DEAL not in parents(crm, key)


# ---------------------------------------------------------------- of records that were read and sent before


def with_item_above(made: World) -> tuple[str, str, str]:
    """A deal below an item of a smart process: deals go first. Also the name of the field on either side."""
    number = made.cloud.portal.company.crm.smart_types[0].entity_type_id
    item = str(made.cloud.portal.company.crm.items[number].ids[-1])
    deal = next(iter(made.records("CrmDeals")))
    made.change("crm_deals", id=deal, fields={f"{PREFIX}{number}": int(item)})
    made.cloud.portal.clock.advance(DAY_S)  # beyond the overlap: the next pass does not read it as changed
    made.clock.sleep(DAY_S)
    assert sync(made).exit_code == 0
    assert deal_parents(made, deal) == [target(made, "CrmSpItems", f"{number}:{item}")]
    return deal, f"{number}:{item}", f"{PREFIX}{number}"


def deal_parents(made: World, deal: str) -> list[str]:
    fields = made.imported("crm_deals")[f"source:crm_deals:{deal}"]["fields"]
    return [value for name, value in fields.items() if name.startswith(PREFIX) and value]


def delete_item(made: World, deal: str, item: str, field: str) -> None:
    made.change("crm_spitems", "delete", id=item)
    made.change("crm_deals", id=deal, fields={field: None}, undated=True)


def test_what_named_a_record_is_sent_although_its_turn_is_over(crm: World) -> None:
    """Deals are sent before it is known that an item is deleted."""
    deal, item, field = with_item_above(crm)
    delete_item(crm, deal, item, field)
    assert sync(crm).exit_code == 0
    assert deal_parents(crm, deal) == []


def test_a_report_sends_nothing_of_it(crm: World) -> None:
    deal, item, field = with_item_above(crm)
    delete_item(crm, deal, item, field)
    with crm.app() as app:
        app.runner.run(app.chosen(), phases=tuple(READS), delta=True, tick=crm.leap())
    assert deal_parents(crm, deal) != []
    assert sync(crm).exit_code == 0
    assert deal_parents(crm, deal) == []


def test_a_full_run_knows_of_a_deletion_after_it_has_read_what_names_it(crm: World) -> None:
    deal, item, field = with_item_above(crm)

    def delete_when_deals_are_read(event: Event) -> None:
        if isinstance(event, PhaseChanged) and (event.entity, event.phase, event.state) == ("crm_deals", "get", "done"):
            delete_item(crm, deal, item, field)

    crm._saw = delete_when_deals_are_read  # type: ignore[method-assign]
    assert crm.run().exit_code == 0
    assert deal_parents(crm, deal) == []
