"""Calls, activities, comments and notes arrive as they are at the source; what does not is counted by its rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.engine.skipped_records import GONE, closes, skipped
from tests.engine.world import World, small, world

from b24sim.company.activity_rows import KINDS
from b24sim.company.crm_world import place_of
from b24sim.dump import dump

Json = Any
CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
FAMILY = ("crm_calls", "crm_activities", "crm_comments", "crm_notes")
STREAMS = ("crm_calls", "crm_activities", "crm_comments", "crm_notes", "crm_logs")
PLAN = small(
    companies=3,
    contacts=4,
    deals=6,
    smart_types=1,
    smart_items=3,
    posts=0,
    templates=0,
    calls=12,
    crm_activities=60,
    crm_comments=30,
    log_entries=40,
    crm_notes=True,
)
GONE_DEAL = 48  # the id of the activity at place 43


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("activities"), PLAN) as made:
        made.change("crm_logs", "add", count=15, owners=[(2, 1)])
        made.settings = {**GONE, "run": {"verify_sample": 1000}}
        assert made.run(*CRM, *FAMILY).exit_code == 0
        yield made


def source(made: World, stream: str) -> dict[str, Json]:
    return {row["id"]: row["fields"] for row in dump(made.cloud.portal, stream)}


def sent(made: World, stream: str, number: object) -> dict[str, Json]:
    fields: dict[str, Json] = made.imported(stream)[f"source:{stream}:{number}"]["fields"]
    return fields


def target_id(made: World, stream: str, number: object) -> str:
    return str(made.imported(stream)[f"source:{stream}:{number}"]["id"])


def file_id(made: World, number: int) -> str:
    return str(made.imported("files")[f"source:file:disk:{number}"]["id"])


def of_kind(made: World, provider: str) -> dict[str, Json]:
    """Of the activities that a person wrote, the first of that kind."""
    rows = source(made, "crm_activities")
    return next(row for row in rows.values() if row["PROVIDER_TYPE_ID"] == provider or row["PROVIDER_ID"] == provider)


def owner(made: World, kind: int, number: int) -> dict[str, Json]:
    streams = {2: "crm_deals", 3: "crm_contacts", 4: "crm_companies"}
    if kind in streams:
        return {"ownerTypeId": kind, "ownerId": target_id(made, streams[kind], number)}
    smart = next(row for row in made.imported("crm_types").values())
    return {"ownerTypeId": int(smart["id"]), "ownerId": target_id(made, "crm_spitems", f"{kind}:{number}")}


def in_order(owners: list[dict[str, Json]]) -> list[tuple[Json, ...]]:
    return sorted((one["ownerTypeId"], one["ownerId"]) for one in owners)


@pytest.mark.parametrize("stream", STREAMS)
def test_every_record_is_in_one_class(moved: World, stream: str) -> None:
    assert closes(moved, stream)
    without_notes = {f"a{number}" for number in skipped(moved, "crm_activities")} if stream == "crm_notes" else set()
    there = source(moved, stream).keys() - without_notes
    assert len(moved.imported(stream)) + len(skipped(moved, stream)) == len(there) > 0
    assert moved.stream(stream).findings == moved.stream(stream).failed == 0


def test_what_only_shows_other_records_is_counted_by_provider(moved: World) -> None:
    left_out = {"CRM_TASKS_TASK", "IMOPENLINES_SESSION", "CONFIGURABLE_REST_APP", "PARTNER_WIDGET"}
    rows = source(moved, "crm_activities")
    wanted = Counter(row["PROVIDER_ID"] for row in rows.values() if row["PROVIDER_ID"] in left_out)
    rules = Counter(rule for rule in skipped(moved, "crm_activities").values() if "(" in rule or "unknown" in rule)
    assert wanted == {name: count for name in left_out for rule, count in rules.items() if name in rule}
    assert any("unknown activity type: PARTNER_WIDGET" in note for note in moved.entity("crm_activities").notes)


def test_orphans_and_messages_without_text_are_skipped(moved: World) -> None:
    rules = Counter(skipped(moved, "crm_activities").values())
    assert rules["belongs to no CRM record"] == sum(KINDS[place % 20].orphan for place in range(60))
    assert rules["message without text: the API does not return the text of SMS and messenger messages"] == 3


def test_a_compressed_letter_arrives_with_its_excerpt(moved: World) -> None:
    row = of_kind(moved, "EMAIL_COMPRESSED")
    fields = sent(moved, "crm_activities", row["ID"])
    assert (fields["PROVIDER_TYPE_ID"], fields["DESCRIPTION"]) == ("EMAIL", row["DESCRIPTION"])
    lost = moved.sql("SELECT RowKey FROM SetAside WHERE Why = 'impossible'")
    assert (f"impossible:crm_activities:{row['ID']}:body",) in lost


def test_a_letter_shows_its_pictures_and_links_on_the_box(moved: World) -> None:
    rows = source(moved, "crm_activities").values()
    row = next(one for one in rows if len(one["files"]) == 2 and one["OWNER_TYPE_ID"] == "2")
    fields = sent(moved, "crm_activities", row["ID"])
    first, second = (file_id(moved, number) for number in row["files"])
    assert fields["FILES"] == [first, second]
    whose = f"&amp;ownerTypeId=6&amp;ownerId={target_id(moved, 'crm_activities', row['ID'])}"
    assert f"/bitrix/tools/crm_show_file.php?fileId={first}{whose}" in fields["DESCRIPTION"]
    assert f'"bxacid:n{second}"' in fields["DESCRIPTION"]
    link = f"{moved.box.portal.company.portal_url}/crm/deal/details/{fields['OWNER']['ownerId']}/"
    assert link in fields["DESCRIPTION"]
    assert moved.cloud.portal.company.portal_url not in fields["DESCRIPTION"]
    assert "READ_CONFIRMED" not in fields["SETTINGS"]
    assert fields["SETTINGS"]["MESSAGE_HEADERS"] == row["SETTINGS"]["MESSAGE_HEADERS"]


def test_files_keep_the_names_that_they_have_on_the_drive(moved: World) -> None:
    company = moved.cloud.portal.company
    numbers = [one for row in source(moved, "crm_activities").values() for one in row["files"]]
    there = moved.imported("files")
    for number in numbers:
        file = company.drive_file(number)
        assert file is not None
        assert there[f"source:file:disk:{number}"]["fields"]["name"] == file.name


def test_a_todo_keeps_its_people_and_no_calendar(moved: World) -> None:
    row = of_kind(moved, "CRM_TODO")
    fields = sent(moved, "crm_activities", row["ID"])
    (person,) = row["SETTINGS"]["USERS"]
    assert fields["SETTINGS"]["USERS"] == [target_id(moved, "users", person)]
    assert "CALENDAR_SECTION_ID" not in fields["SETTINGS"]
    assert fields["DEADLINE"] is not None


def test_the_year_9999_is_no_deadline(moved: World) -> None:
    rows = {
        number: row for number, row in source(moved, "crm_activities").items() if row["DEADLINE"].startswith("9999")
    }
    known = [number for number in rows if number not in skipped(moved, "crm_activities")]
    assert known
    assert {sent(moved, "crm_activities", number)["DEADLINE"] for number in known} == {None}


def test_all_owners_arrive_but_those_that_are_never_migrated(moved: World) -> None:
    order, several = 14, 0
    for number, row in source(moved, "crm_activities").items():
        if number in skipped(moved, "crm_activities") or int(number) == GONE_DEAL:
            continue
        known = [owner(moved, kind, one) for kind, one in row["bindings"] if kind != order]
        several += len(known) > 1
        fields = sent(moved, "crm_activities", number)
        assert fields["OWNER"] == owner(moved, int(row["OWNER_TYPE_ID"]), int(row["OWNER_ID"]))
        assert in_order(fields["BINDINGS"]) == in_order(known)
    assert several > 5


def test_where_the_main_owner_is_gone_another_takes_its_place(moved: World) -> None:
    row = source(moved, "crm_activities")[str(GONE_DEAL)]
    assert place_of(GONE_DEAL) == 43
    gone, contact = row["bindings"]
    assert int(gone[1]) not in moved.cloud.portal.company.crm.items[2]
    fields = sent(moved, "crm_activities", GONE_DEAL)
    assert fields["OWNER"] == owner(moved, *contact)
    assert fields["BINDINGS"] == [fields["OWNER"]]


def test_a_call_is_found_by_its_activity_and_has_the_same_recording(moved: World) -> None:
    for number, row in source(moved, "crm_calls").items():
        fields = sent(moved, "crm_calls", number)
        if not row["CRM_ACTIVITY_ID"]:
            continue
        activity = sent(moved, "crm_activities", row["CRM_ACTIVITY_ID"])
        assert fields["CRM_ACTIVITY_ID"] == target_id(moved, "crm_activities", row["CRM_ACTIVITY_ID"])
        assert activity["ORIGIN_ID"] == f"VI_{row['CALL_ID']}"
        recording = row["RECORD_FILE_ID"]
        assert fields["RECORD_FILE"] == (file_id(moved, recording) if recording else None)
        assert activity["FILES"] == ([fields["RECORD_FILE"]] if recording else [])


def test_a_recording_that_the_operator_does_not_give_is_counted_and_ends_no_run(moved: World) -> None:
    links = [number for number, row in source(moved, "crm_calls").items() if row["CALL_RECORD_URL"]]
    assert links
    failed = moved.sql("SELECT RowKey FROM Files WHERE Status = 'IMPORT_ERR'")
    assert sorted(failed) == sorted((f"call:{number}",) for number in links)
    notes = moved.entity("crm_calls").notes
    assert all(any(f"file call:{number} is not migrated" in note for note in notes) for number in links)
    assert moved.entity("crm_calls").verified


def test_a_comment_in_several_lists_is_one_record(moved: World) -> None:
    rows = source(moved, "crm_comments")
    assert any(len(row["owners"]) > 1 for row in rows.values())
    for number, row in rows.items():
        fields = sent(moved, "crm_comments", number)
        wanted = [owner(moved, kind, one) for kind, one in row["owners"]]
        assert in_order(fields["OWNERS"]) == in_order(wanted)
        assert fields["FILES"] == [file_id(moved, one) for one in row["files"]]
    assert moved.imported("crm_comments")["source:crm_comments:1"]["created_count"] == 1


def test_emoji_that_the_timeline_tells_as_digits_arrive_as_emoji(moved: World) -> None:
    numbers = [number for number, row in source(moved, "crm_comments").items() if "😀" in row["COMMENT"]]
    assert numbers
    assert all("😀" in sent(moved, "crm_comments", number)["COMMENT"] for number in numbers)


def test_a_comment_names_the_same_file_on_the_box(moved: World) -> None:
    rows = source(moved, "crm_comments")
    number, row = next((number, row) for number, row in rows.items() if "[DISK FILE ID=" in row["COMMENT"])
    assert f"[DISK FILE ID=n{file_id(moved, row['files'][0])}]" in sent(moved, "crm_comments", number)["COMMENT"]


def test_notes_are_beside_what_they_were_beside(moved: World) -> None:
    for key, note in source(moved, "crm_notes").items():
        if key[0] == "a" and key[1:] in skipped(moved, "crm_activities"):
            continue
        name, stream = {"a": ("activityId", "crm_activities"), "c": ("commentId", "crm_comments")}[key[0]]
        fields = sent(moved, "crm_notes", key)
        assert fields[name] == target_id(moved, stream, key[1:])
        assert fields["text"] == note["text"]


def test_every_page_of_entries_is_read(moved: World) -> None:
    rows = source(moved, "crm_logs")
    most = max(Counter(tuple(row["owner"]) for row in rows.values()).values())
    assert most > 10
    for number, row in rows.items():
        fields = sent(moved, "crm_logs", number)
        assert (fields["title"], fields["OWNER"]) == (row["title"], owner(moved, *row["owner"]))


def test_a_second_run_changes_nothing(moved: World) -> None:
    before = {stream: moved.imported(stream) for stream in STREAMS}
    assert moved.run(*FAMILY).exit_code == 0
    assert {stream: moved.imported(stream) for stream in STREAMS} == before
