"""A delta run brings what happened to calls, activities and comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import World, small

from b24migrate.engine.run import RunResult
from b24migrate.model.streams import PHASES

Json = Any
FAMILY = ("crm_calls", "crm_activities", "crm_comments", "crm_notes")
STREAMS = ("crm_calls", "crm_activities", "crm_comments", "crm_notes", "crm_logs")
CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
PLAN = small(
    companies=3,
    contacts=4,
    deals=6,
    smart_types=1,
    smart_items=2,
    posts=0,
    templates=0,
    calls=6,
    crm_activities=20,
    crm_comments=12,
    log_entries=6,
    crm_notes=True,
    chats=0,
)
DAY_S = 86_400
SETTINGS = {"run": {"entities": [*CRM, *FAMILY]}, "mapping": {"placeholder_user": "1"}}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("activities"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def made(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def sync(made: World, *, phases: Sequence[str] = PHASES) -> RunResult:
    with made.app() as app:
        return app.runner.run(app.chosen(FAMILY), phases, delta=True, tick=made.leap())


def fields(made: World, stream: str, number: object) -> dict[str, Json]:
    found: dict[str, Json] = made.imported(stream)[f"source:{stream}:{number}"]["fields"]
    return found


def kept(made: World) -> list[int]:
    """The activities that were migrated."""
    return [int(key) for key in made.records("CrmActivities")]


def test_activities_follow(made: World) -> None:
    changed, deleted, *_ = kept(made)
    (new,) = made.change("crm_activities", "add", owners=[(2, 1), (3, 2)])
    made.change("crm_activities", id=changed, fields={"SUBJECT": "Другая тема", "COMPLETED": "Y"})
    made.change("crm_activities", "delete", id=deleted)
    assert sync(made).exit_code == 0
    assert fields(made, "crm_activities", changed)["SUBJECT"] == "Другая тема"
    assert len(fields(made, "crm_activities", new)["BINDINGS"]) == 2
    assert made.deleted("CrmActivities") == {str(deleted)}
    assert made.entity("crm_activities").verified


def test_an_owner_that_came_later_comes_with_the_next_full_run(made: World) -> None:
    """No date tells of it, and a delta run says so."""
    number = kept(made)[0]
    before = fields(made, "crm_activities", number)["BINDINGS"]
    owners = made.cloud.portal.company.activities.bindings(number)
    more = next((2, deal) for deal in (1, 2, 3) if (2, deal) not in owners)
    made.change("crm_activities", id=number, owners=[*owners, more])
    assert sync(made).exit_code == 0
    assert fields(made, "crm_activities", number)["BINDINGS"] == before
    assert made.run(*FAMILY).exit_code == 0
    assert len(fields(made, "crm_activities", number)["BINDINGS"]) == len(before) + 1


def test_calls_follow(made: World) -> None:
    (new,) = made.change("crm_calls", "add")
    deleted = made.cloud.portal.company.activities.calls.ids[1]
    made.change("crm_calls", "delete", id=deleted)
    assert sync(made).exit_code == 0
    assert fields(made, "crm_calls", new)["CALL_ID"] == f"externalCall.new.{new}"
    assert made.deleted("CrmCalls") == {str(deleted)}


def test_comments_follow(made: World) -> None:
    changed, deleted, moved, *_ = (int(key) for key in made.records("CrmComments"))
    (new,) = made.change("crm_comments", "add", owners=[(3, 1), (4, 1)])
    made.change("crm_comments", id=changed, fields={"COMMENT": "Исправлено"})
    made.change("crm_comments", "delete", id=deleted)
    made.change("crm_comments", id=moved, owners=[(3, 1), (3, 2)])
    assert sync(made).exit_code == 0
    assert fields(made, "crm_comments", changed)["COMMENT"] == "Исправлено"
    assert len(fields(made, "crm_comments", new)["OWNERS"]) == 2
    assert [one["ownerTypeId"] for one in fields(made, "crm_comments", moved)["OWNERS"]] == [3, 3]
    assert made.deleted("CrmComments") == {str(deleted)}
    assert made.entity("crm_comments").verified


def test_notes_and_entries_follow(made: World) -> None:
    number, other = (key for key in list(made.records("CrmNotes"))[:2])
    made.change("crm_notes", id=number, fields={"text": "Другая"})
    made.change("crm_notes", "delete", id=other)
    (new,) = made.change("crm_logs", "add", owners=[(2, 1)])
    deleted = made.cloud.portal.company.timeline.entries.ids[0]
    made.change("crm_logs", "delete", id=deleted)
    assert sync(made).exit_code == 0
    assert fields(made, "crm_notes", number)["text"] == "Другая"
    assert made.deleted("CrmNotes") == {other}
    assert fields(made, "crm_logs", new)["title"] == f"Новая запись {new}"
    assert made.deleted("CrmLogs") == {str(deleted)}


def test_what_only_a_record_in_the_recycle_bin_has_is_deleted_although_it_is_found_by_its_id(made: World) -> None:
    deal = made.cloud.portal.company.crm.items[2].ids[0]
    (own,), (shared,) = (
        made.change("crm_comments", "add", owners=[(2, deal), *more], fields={"_FILES": []}) for more in ((), ((3, 1),))
    )
    (entry,) = made.change("crm_logs", "add", owners=[(2, deal)])
    assert sync(made).exit_code == 0
    made.change("crm_deals", "delete", id=deal)
    with made.app() as app:
        assert app.runner.run(app.chosen((*CRM, *FAMILY)), delta=True, tick=made.leap()).exit_code == 0
    assert {str(own)} <= made.deleted("CrmComments")
    assert {str(entry)} <= made.deleted("CrmLogs")
    assert [one["ownerTypeId"] for one in fields(made, "crm_comments", shared)["OWNERS"]] == [3]
    assert made.entity("crm_comments").verified


def test_a_day_on_which_nothing_happens_changes_nothing(made: World) -> None:
    before = {stream: made.imported(stream) for stream in STREAMS}
    made.cloud.portal.stats.reset()
    assert sync(made).exit_code == 0
    assert {stream: made.imported(stream) for stream in STREAMS} == before
    stats = made.cloud.portal.stats
    calls = Counter(stats.methods) + Counter(stats.inner)
    assert calls["crm.activity.binding.list"] == 0


def test_what_belonged_to_a_deleted_record_belongs_to_the_others(made: World) -> None:
    """The portal binds it to these and moves no date; its note is there as before."""
    company = made.cloud.portal.company
    deal, contact = company.crm.items[2].ids[0], company.crm.items[3].ids[0]
    (number,) = made.change("crm_activities", "add", owners=[(2, deal), (3, contact)])
    made.change("crm_notes", id=f"a{number}", fields={"text": "Заметка"})
    wait(made)
    assert sync_all(made).exit_code == 0
    wait(made)
    assert sync_all(made).exit_code == 0
    made.change("crm_deals", "delete", id=deal)
    assert sync_all(made).exit_code == 0
    assert [one["ownerTypeId"] for one in fields(made, "crm_activities", number)["BINDINGS"]] == [3]
    assert f"a{number}" not in made.deleted("CrmNotes")


def test_a_note_is_not_deleted_with_the_binding_that_it_was_read_by(made: World) -> None:
    """No date tells that an activity was removed from a record, so the note is asked for by the wrong one."""
    company = made.cloud.portal.company
    deal, contact = company.crm.items[2].ids[0], company.crm.items[3].ids[0]
    (number,) = made.change("crm_activities", "add", owners=[(2, deal), (3, contact)])
    made.change("crm_notes", id=f"a{number}", fields={"text": "Заметка"})
    wait(made)
    assert sync_all(made).exit_code == 0
    wait(made)
    made.change("crm_activities", id=number, owners=[(3, contact)])
    assert sync_all(made).exit_code == 0
    assert f"a{number}" not in made.deleted("CrmNotes")
    made.change("crm_notes", "delete", id=f"a{number}")
    assert sync_all(made).exit_code == 0
    assert f"a{number}" in made.deleted("CrmNotes")


def wait(made: World) -> None:
    """Beyond the overlap of two passes."""
    made.cloud.portal.clock.advance(DAY_S)
    made.clock.sleep(DAY_S)


def sync_all(made: World) -> RunResult:
    with made.app() as app:
        return app.runner.run(app.chosen(()), delta=True, tick=made.leap())
