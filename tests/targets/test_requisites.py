"""Company details by the box's own methods: they arrive once and differ exactly as announced."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_migration import assert_as_announced

from b24migrate.ports import NATIVE

ENTITIES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems", "crm_requisites")
STREAMS = ("crm_requisite_presets", "crm_requisites", "crm_bank_details", "crm_addresses", "crm_requisite_links")


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Move]:
    """While answers get lost."""
    with moving(
        tmp_path_factory.mktemp("moved"), *ENTITIES, companies=4, contacts=5, deals=9, smart_items=4, requisites=11
    ) as move:
        move.lose(3, "crm.requisite.*", "crm.address.*")
        assert move.run().exit_code == 0
        move.world.strike_box()
        yield move


def test_they_arrive_once_and_differ_exactly_as_announced(moved: Move) -> None:
    assert moved.world.box.portal.stats.faults["lost"] > 10
    statuses = moved.statuses()
    assert [set(statuses[one]) for one in STREAMS] == [{"IMPORT_OK"}] * len(STREAMS)
    assert moved.twice() == []
    assert_as_announced(moved)


def test_templates_that_the_box_has_are_linked_and_the_others_made_with_their_fields(moved: Move) -> None:
    source, box = moved.world.cloud.portal.company.requisites, moved.world.box.portal.company.requisites
    ids = {int(key): int(row["TargetId"]) for key, row in moved.world.records("CrmRequisitePresets").items()}
    assert [ids[one] for one in (1, 2, 3)] == [1, 2, 3]
    for number in (4, 5):
        names = [
            [row["FIELD_NAME"] for row in one] for one in (source.preset_fields[number], box.preset_fields[ids[number]])
        ]
        assert names[0] == names[1]
    assert len(box.presets) == 5


def test_what_nobody_touched_on_the_box_goes_when_it_is_taken_back(moved: Move) -> None:
    requisites = moved.world.box.portal.company.requisites
    requisites.bank_details.put(7, {**requisites.bank_details.row(requisites.bank_details.ids[0]), "ID": "7"})
    requisites.bank_details.put(7, requisites.bank_details.row(7) | {"ORIGINATOR_ID": None})
    owner = requisites.bank_details.row(7)["ENTITY_ID"]
    with moved.app() as app:
        rows = [row for row in app.context.store.all_rows(NATIVE) if row.values["Stream"] in STREAMS]
        answers = [
            (stream, one)
            for stream in reversed(STREAMS)
            for one in app.context.target.delete(
                "crm",
                stream,
                [row.key.partition(":")[2] for row in rows if row.values["Stream"] == stream],
                dry_run=False,
            )
        ]
    kept = {
        stream: {str(one.reason) for name, one in answers if name == stream and one.status == "kept"}
        for stream in STREAMS
    }
    assert kept["crm_requisites"] == {"users added bank details to it"}
    assert not any(kept[one] for one in STREAMS[2:])
    assert [row["ENTITY_ID"] for row in map(requisites.bank_details.row, requisites.bank_details)] == [owner]
    assert list(map(str, requisites.requisites)) == [owner]
    assert not requisites.links.ids
    assert not requisites.addresses.ids
