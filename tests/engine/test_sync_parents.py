"""A delta run brings what becomes of the parents of CRM items: another one, none, and one that is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.test_sync import PLAN, SETTINGS, sync
from tests.engine.world import World

Json = Any
PREFIX = "parentId"
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


def test_a_deleted_one_is_taken_away_without_a_date(crm: World) -> None:
    """The portal removes the relation in its table (kernel crm, Cleaning\\Cleaner::cleanup)."""
    key, row = next(find_children(crm, OF_DEAL))
    crm.change("crm_deals", "delete", id=row[OF_DEAL])
    crm.change("crm_spitems", id=key, fields={OF_DEAL: None}, undated=True)
    assert sync(crm).exit_code == 0
    assert OF_DEAL not in parents(crm, key)
