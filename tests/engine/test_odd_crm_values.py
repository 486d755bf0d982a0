"""One odd value in each record type of the rest of the CRM stops one record, with the field's name and without a bug."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from tests.engine.every_stream import CATALOG, everything, look
from tests.engine.test_odd_values import altering
from tests.engine.world import World

from b24migrate.entities.activities.reader import communications, files_of_activity, recording, settings
from b24migrate.entities.attachments import drive_refs, parse_size
from b24migrate.entities.catalog.streams import options
from b24migrate.entities.chats.streams import attached_files
from b24migrate.entities.crm.reader import multifields
from b24migrate.entities.crm.structure import stage_code
from b24migrate.entities.crm_comments.streams import files_of_comment
from b24migrate.entities.feed.streams import files_of_comment as files_of_feed_comment
from b24migrate.entities.owners import owner_value, type_of
from b24migrate.entities.recurring.streams import nearest_day
from b24migrate.entities.tasks.comments import behind_attachments
from b24migrate.entities.tasks.streams import member
from b24migrate.model import values
from b24migrate.model.fields import ABSENT
from b24migrate.model.source_records import SourceRecord

Json = Any
OBJECT = {"odd": [1]}
LONG = "9" * 5_000  # Python reads no number of so many digits


class Odd(NamedTuple):
    stream: str
    method: str
    inside: str  # where the list is; nothing: the answer itself
    id: str
    field: str
    value: Json
    told: str = ""  # the field of the contract, where it has another name


ODD = (
    Odd("crm_activities", "crm.activity.list", "", "ID", "FILES", 5),
    Odd("crm_calls", "voximplant.statistic.get", "", "ID", "RECORD_FILE_ID", OBJECT, "RECORD_FILE"),
    Odd("crm_comments", "crm.timeline.comment.list", "", "ID", "FILES", 7),
    Odd("crm_products", "catalog.product.list", "products", "id", "weight", "heavy"),
    Odd("crm_prices", "catalog.price.list", "prices", "id", "price", OBJECT),
    Odd("crm_requisites", "crm.requisite.list", "", "ID", "SORT", [[1]]),
    Odd("crm_bank_details", "crm.requisite.bankdetail.list", "", "ID", "COMMENTS", OBJECT),
    Odd("crm_recurring", "crm.deal.recurring.list", "", "ID", "PARAMS", 'a:1:{i:0;O:8:"stdClass":0:{}}'),
    Odd("crm_leads", "crm.item.list", "items", "id", "opportunity", OBJECT),
)


def spoil(made: World, one: Odd, victims: dict[str, str]) -> Callable[[], None]:
    """The first record that the method shows, each time it shows it."""

    def change(answer: Json) -> Json:
        rows = answer.get(one.inside) if one.inside and isinstance(answer, dict) else answer
        for row in rows if isinstance(rows, list) else ():
            if not isinstance(row, dict) or one.field not in {*row, "FILES"} or not is_of(one, row):
                continue
            number = str(row.get(one.id) or row[one.id.lower()])
            if number == victims.setdefault(one.stream, number):
                row[one.field] = one.value
        return answer

    return altering(made, one.method, change)


def is_of(one: Odd, row: Json) -> bool:
    return one.stream != "crm_leads" or row.get("entityTypeId") == 1


def key_on_box(stream: str, key: str) -> str:
    return key.rpartition(":")[2] if stream == "crm_products" else key


def test_one_odd_value_in_each_stream_fails_one_record_of_each(tmp_path: Path) -> None:
    victims: dict[str, str] = {}
    with everything(tmp_path) as made:
        honest = [spoil(made, one, victims) for one in ODD]
        assert made.run().exit_code == 5
        assert victims.keys() == {one.stream for one in ODD}
        assert made.letters() == []
        assert not list(tmp_path.glob("b24migrate-bug-*"))
        told = {one.stream: one.told or one.field for one in ODD}
        failed = {
            (name, key_on_box(name, key)): row
            for name, rows in look(made).staged.items()
            for key, row in rows.items()
            if row["LastErrorCode"]
        }
        odd = {key: row["LastError"] for key, row in failed.items() if row["LastErrorCode"] == "ODD_VALUE"}
        assert odd == {
            (name, victim): f"{told[name]} has a value of the wrong type in the source"
            for name, victim in victims.items()
        }
        others = {key: row["LastErrorCode"] for key, row in failed.items() if key not in odd and key[0] != "files"}
        assert set(others.values()) <= {"REFERENCE_MISSING"}
        for back in honest[::-1]:
            back()
        made.run()
        made.retry()
        assert made.run().exit_code == 0
        now = look(made)
        for name in CATALOG.streams:
            assert {row["Status"] for row in now.staged[name].values()} <= {"IMPORT_OK"}


def test_a_type_of_no_sense_in_one_comment_leaves_the_others_verified(tmp_path: Path) -> None:
    """A comment is asked for by its ID when it is verified, and is in the recycle bin if its type is not known."""
    with everything(tmp_path) as made:
        victim: list[str] = []

        def change(answer: Json) -> Json:
            if answer["ID"] == (victim or [answer["ID"]])[0]:
                victim[:] = [answer["ID"]]
                answer["ENTITY_TYPE"] = OBJECT
            return answer

        altering(made, "crm.timeline.comment.get", change)
        assert made.run().exit_code == 0
        assert victim
        assert made.letters() == []
        assert not list(tmp_path.glob("b24migrate-bug-*"))


# ---------------------------------------------------------------- the functions that say what is in a record


def record_with(**payload: Json) -> SourceRecord:
    return SourceRecord("1", payload, {})


@pytest.mark.parametrize("value", [5, "text", True, [OBJECT | {"id": OBJECT}]])
def test_what_is_no_list_of_files_is_told(value: Json) -> None:
    for files in (files_of_activity, files_of_comment):
        with pytest.raises(values.OddValue):
            list(files(record_with(FILES=value)))


@pytest.mark.parametrize("value", [None, "", False, [], {}, [5], {"a": {"id": None}}])
def test_no_files_are_none(value: Json) -> None:
    assert list(files_of_activity(record_with(FILES=value))) == list(files_of_comment(record_with(FILES=value))) == []


@pytest.mark.parametrize(
    ("told", "name"), [("a.txt", "a.txt"), (7, "7"), (OBJECT, ""), ([1], ""), (True, ""), (None, "")]
)
def test_what_is_no_name_of_a_file_names_none(told: Json, name: str) -> None:
    posted = SourceRecord("1:2", {"attach": [5]}, {"files": [{"id": 5, "name": told}]})
    written = SourceRecord("1:2", {"params": {"FILE_ID": [5]}}, {"files": [{"id": 5, "name": told}]})
    found = [*files_of_feed_comment(posted), *attached_files(written)]
    found += drive_refs({"1": {"ATTACHMENT_ID": 1, "FILE_ID": 5, "OBJECT_ID": 5, "NAME": told}})
    assert [one.name for one in found] == [name] * 3


def test_what_is_no_recording_and_no_address_is_told() -> None:
    for payload in ({"RECORD_FILE_ID": OBJECT}, {"CALL_RECORD_URL": [1]}):
        with pytest.raises(values.OddValue):
            list(recording(record_with(**payload)))
    for listed in (5, "a", [{"TYPE": OBJECT}], [{"ENTITY_TYPE_ID": "abc", "ENTITY_ID": 1}]):
        with pytest.raises(values.OddValue):
            communications(record_with(COMMUNICATIONS=listed))


@pytest.mark.parametrize(
    "pair", [(OBJECT, 1), (2, OBJECT), ("abc", 1), (2, "../x"), (2, LONG), (LONG, 2), (-2, 1), (2, "٣")]
)
def test_an_owner_that_is_no_number_is_told_and_not_taken_for_none(pair: tuple[Json, Json]) -> None:
    with pytest.raises(values.OddValue):
        owner_value(*pair)


@pytest.mark.parametrize("pair", [(0, 5), (2, 0), ("", ""), (None, "0"), (2, "")])
def test_no_owner_is_none(pair: tuple[Json, Json]) -> None:
    assert owner_value(*pair) is None


def test_what_is_no_list_of_objects_is_told() -> None:
    for listed in ([[1]], ["a"], [None], {"n0": 5}, "a"):
        with pytest.raises(values.OddValue):
            multifields(record_with(fm=listed))
    with pytest.raises(values.OddValue):
        behind_attachments(record_with(ATTACHED_OBJECTS={"1": [1]}))
    with pytest.raises(values.OddValue):
        list(files_of_feed_comment(record_with(attach=5)))
    for one in ([1], {"ID": OBJECT}):
        with pytest.raises(values.OddValue):
            member(record_with(), one, resolver())
    with pytest.raises(values.OddValue):
        stage_code(record_with(), "NEW", resolver())


def test_the_day_after_the_last_one_is_told() -> None:
    with pytest.raises(values.OddValue):
        nearest_day("NEXT")(record_with(NEXT="9999-12-31T23:59:59"))


def resolver() -> Any:
    """Asked for nothing."""


def test_a_type_by_its_word() -> None:
    assert [type_of(one) for one in ("LEAD", "dynamic_156", "dynamic_", f"dynamic_{LONG}", "", None)] == [
        1,
        156,
        0,
        0,
        0,
        0,
    ]
    with pytest.raises(values.OddValue):
        type_of(OBJECT)


@pytest.mark.parametrize("size", [LONG, "٣٤x", OBJECT, [1], "abc", True])
def test_a_size_that_is_none(size: Json) -> None:
    assert parse_size({"SIZE": size}) in (None, 1)


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-03:00", "0001-01-01T00:00:00+03:00"])
def test_a_time_beyond_all_times_is_none(text: str) -> None:
    zone = ZoneInfo("Europe/Moscow")
    assert values.moment(text, zone) is None
    assert values.stamp(text, zone) == values.NO_TIME
    assert values.day(text, zone) is None


@pytest.mark.parametrize(
    "known", [None, [], {}, {"SANITIZE_ON_VIEW": 0}, {"SANITIZE_ON_VIEW": None, "READ_CONFIRMED": 5}]
)
@pytest.mark.parametrize("provider", [{"PROVIDER_ID": "CRM_EMAIL"}, {"PROVIDER_ID": "", "TYPE_ID": "4"}])
def test_a_letter_in_html_is_always_cleaned_when_it_is_shown(known: Json, provider: Json) -> None:
    letter = record_with(**provider, DESCRIPTION_TYPE="3", SETTINGS=known)
    assert settings(letter) == {"SANITIZE_ON_VIEW": 1}
    assert settings(record_with(**provider, DESCRIPTION_TYPE=3)) == {"SANITIZE_ON_VIEW": 1}
    assert settings(record_with(**provider, DESCRIPTION_TYPE="3", SETTINGS={"A": 1, "SANITIZE_ON_VIEW": "Y"})) == {
        "A": 1,
        "SANITIZE_ON_VIEW": "Y",
    }


def test_settings_of_other_activities_stay_as_they_are() -> None:
    assert settings(record_with(PROVIDER_ID="CRM_EMAIL", DESCRIPTION_TYPE="1", SETTINGS={"A": 1})) == {"A": 1}
    assert settings(record_with(PROVIDER_ID="CRM_TODO", DESCRIPTION_TYPE="3", SETTINGS={"A": 1})) == {"A": 1}
    assert settings(record_with(PROVIDER_ID="CRM_TODO")) is ABSENT


def test_values_of_a_list_keep_their_ids() -> None:
    with_options = SourceRecord("1", {}, {"options": [{"id": 71, "value": "Red"}]})
    assert [one["id"] for one in options(with_options)] == ["71"]
