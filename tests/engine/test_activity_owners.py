"""Records and people that activities name, wherever they do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.engine.skipped_records import GONE, closes, skipped
from tests.engine.world import World, small, world

Json = Any
CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
PLAN = small(
    companies=2,
    contacts=3,
    deals=3,
    smart_types=1,
    smart_items=2,
    posts=0,
    templates=0,
    chats=0,
    crm_activities=1,
    crm_comments=3,
)
DEAL, CONTACT, COMPANY, OLD_INVOICE, ORDER, BIN = 2, 3, 4, 5, 14, 193
ROOM = "calendar_5_1207"
PICTURE = "/bitrix/tools/crm_show_file.php?fileId="


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("activity-owners"), PLAN) as made:
        made.settings = {**GONE, "run": {"verify_sample": 1000}}
        items = made.cloud.portal.company.crm.items
        contact, company, deal = items[CONTACT].ids[0], items[COMPANY].ids[0], items[DEAL].ids[0]
        clients = [
            {"ENTITY_TYPE_ID": CONTACT, "ENTITY_ID": contact},
            {"ENTITY_TYPE_ID": str(COMPANY), "ENTITY_ID": str(company)},
            {"ENTITY_TYPE_ID": CONTACT, "ENTITY_ID": 987_654},
        ]
        todo = {"CLIENTS": clients, "LOCATION": ROOM, "COLOR": "2"}
        made.change("crm_activities", "add", id=101, owners=[(DEAL, deal)], fields={"SETTINGS": todo, "LOCATION": ROOM})
        made.change("crm_activities", "add", id=102, owners=[(ORDER, 7)])
        made.change("crm_activities", "add", id=103, owners=[(OLD_INVOICE, 7)])
        made.change("crm_activities", "add", id=104, owners=[(BIN, 7)])
        made.change("crm_activities", "add", id=105, owners=[(ORDER, 7), (CONTACT, contact)])
        quoted = f'<img src="https://other.bitrix24.example{PICTURE}777"> <img src="{PICTURE}{on_drive(made)}">'
        letter = {"PROVIDER_ID": "CRM_EMAIL", "PROVIDER_TYPE_ID": "EMAIL", "TYPE_ID": "4", "DESCRIPTION": quoted}
        made.change("crm_activities", "add", id=106, owners=[(DEAL, deal)], fields=letter)
        assert made.run(*CRM, "crm_activities").exit_code == 0
        yield made


def on_drive(made: World) -> int:
    """A file that no activity has."""
    comments = made.cloud.portal.company.timeline.comments
    return next(int(file) for number in comments for file in comments.row(number)["_FILES"])


def sent(made: World, number: int) -> dict[str, Json]:
    fields: dict[str, Json] = made.imported("crm_activities")[f"source:crm_activities:{number}"]["fields"]
    return fields


def target_id(made: World, stream: str, number: int) -> str:
    return str(made.imported(stream)[f"source:{stream}:{number}"]["id"])


def test_the_clients_of_a_todo_are_those_of_the_box(moved: World) -> None:
    items = moved.cloud.portal.company.crm.items
    assert sent(moved, 101)["SETTINGS"]["CLIENTS"] == [
        {"ENTITY_TYPE_ID": CONTACT, "ENTITY_ID": target_id(moved, "crm_contacts", items[CONTACT].ids[0])},
        {"ENTITY_TYPE_ID": COMPANY, "ENTITY_ID": target_id(moved, "crm_companies", items[COMPANY].ids[0])},
    ]


def test_a_meeting_room_of_the_cloud_is_none_of_the_box(moved: World) -> None:
    fields = sent(moved, 101)
    assert fields["SETTINGS"].keys() == {"CLIENTS", "COLOR"}
    assert fields["LOCATION"] is None


def test_an_activity_of_a_record_that_is_never_migrated_is_skipped_by_a_rule(moved: World) -> None:
    rule = "belongs to an order, an old invoice or another record of a type that is not migrated"
    assert {number: skipped(moved, "crm_activities").get(number) for number in ("102", "103", "104")} == dict.fromkeys(
        ("102", "103", "104"), rule
    )
    contact = target_id(moved, "crm_contacts", moved.cloud.portal.company.crm.items[CONTACT].ids[0])
    assert sent(moved, 105)["OWNER"] == {"ownerTypeId": CONTACT, "ownerId": contact}
    assert closes(moved, "crm_activities")
    assert moved.entity("crm_activities").verified


def test_a_picture_of_another_portal_is_no_file_of_this_one(moved: World) -> None:
    asked = {key for (key,) in moved.sql("SELECT RowKey FROM Files")}
    assert f"disk:{on_drive(moved)}" in asked
    assert "disk:777" not in asked
