"""One record on every side: what the source says now, what is staged, what is sent, what the target has."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.test_verify import findings, verify_everything
from tests.pipeline.world import World, small, world

from b24migrate.phases.read import put_aside
from b24migrate.phases.work import Work
from b24migrate.pipeline.looking_up import FieldNote, FieldVerdict, RecordVerdict, RecordView, SideState, record
from b24migrate.pipeline.looking_up.model import FieldRow
from b24migrate.records import Link, SetAside, Staged
from b24sim.imports.catalog import STREAMS
from b24sim.imports.deletion import delete_records

EVERYTHING = small(deals=8, companies=4, contacts=8, smart_types=2, smart_items=4, posts=4, templates=4, tasks=8)


@pytest.fixture
def everything(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, EVERYTHING) as made:
        made.run()
        yield made


def looked_up(made: World, stream: str, source_id: object, **more: Any) -> RecordView:
    with made.app() as app:
        found = record(app.work, stream, str(source_id), **more)
    assert found is not None
    return found


def field(view: RecordView, name: str) -> FieldRow:
    return next(one for one in view.fields if one.name == name)


def texts(row: FieldRow) -> tuple[str | None, ...]:
    return tuple(one.text if one else None for one in (row.source, row.staged, row.sent, row.target))


def first(made: World, table: str, status: str = "IMPORT_OK") -> str:
    return next(key for key, row in made.records(table).items() if row["Status"] == status)


def target_id(made: World, stream: str, source_id: str) -> str:
    ((found,),) = made.sql("SELECT TargetId FROM IdMap WHERE RowKey = ?", f"{stream}:{source_id}")
    return str(found)


def test_a_record_that_arrived_is_equal_and_says_where_it_is(talk: World) -> None:
    view = looked_up(talk, "groups", key := first(talk, "Groups"))
    assert (view.verdict, view.source.state, view.target.state) == (RecordVerdict.EQUAL, SideState.NOW, SideState.NOW)
    assert view.link is not None
    assert (view.link.target_id, view.link.origin) == (target_id(talk, "groups", key), "import")
    assert view.link.imported_at
    assert view.run
    assert view.title == texts(field(view, "NAME"))[0]
    assert not view.changed
    assert {one.verdict for one in view.fields} <= {
        FieldVerdict.EQUAL,
        FieldVerdict.REWRITTEN,
        FieldVerdict.NOT_SENT,
    }


def test_a_reference_is_rewritten_from_the_sources_id_to_the_targets(talk: World) -> None:
    view = looked_up(talk, "groups", first(talk, "Groups"))
    owner = field(view, "OWNER_ID")
    assert owner.source is not None
    there = target_id(talk, "users", owner.source.text)
    assert owner.verdict is FieldVerdict.REWRITTEN
    assert texts(owner) == (owner.source.text, owner.source.text, there, there)
    assert [(one.stream, one.id, one.target_id) for one in owner.names] == [("users", owner.source.text, there)]


def test_a_text_that_names_somebody_is_rewritten(talk: World) -> None:
    texts_found = [
        row
        for key in talk.records("ChatMessages")
        if "[USER=" in str((row := field(looked_up(talk, "chat_messages", key), "text")).source)
    ]
    assert texts_found
    assert {one.verdict for one in texts_found} == {FieldVerdict.REWRITTEN}


def test_times_are_compared_in_utc_whatever_offset_they_were_given_in(talk: World) -> None:
    view = looked_up(talk, "chat_messages", first(talk, "ChatMessages"))
    date = field(view, "date")
    source, _, sent, target = texts(date)
    assert str(source).endswith("+03:00")
    assert str(sent).endswith("Z")
    assert sent == target
    assert date.verdict is FieldVerdict.EQUAL
    assert view.times is not None
    assert (view.times.original, view.times.utc, view.times.offset_min) == (source, sent, 180)


def test_what_was_changed_on_the_source_since_differs_and_is_called_changed(talk: World) -> None:
    group = talk.cloud.portal.company.groups.ids[0]
    before = looked_up(talk, "groups", group).title
    talk.change("groups", id=group, fields={"NAME": "Переименована"})
    view = looked_up(talk, "groups", group)
    assert (view.verdict, view.changed) == (RecordVerdict.DIFFERS, True)
    name = field(view, "NAME")
    assert (name.verdict, name.changed) == (FieldVerdict.DIFFERS, True)
    assert texts(name) == ("Переименована", before, "Переименована", before)


def test_what_was_changed_on_the_target_by_hand_differs_and_nothing_else(talk: World) -> None:
    key = first(talk, "Groups")
    talk.box.portal.imports.edit("groups", target_id(talk, "groups", key), {"NAME": "<script>alert(1)</script>"})
    view = looked_up(talk, "groups", key)
    assert (view.verdict, view.changed) == (RecordVerdict.DIFFERS, False)
    assert [one.name for one in view.fields if one.verdict is FieldVerdict.DIFFERS] == ["NAME"]
    assert texts(field(view, "NAME"))[3] == "<script>alert(1)</script>"


def test_what_was_deleted_on_the_target_is_missing(talk: World) -> None:
    key = first(talk, "ChatMessages")
    there = f"source:chat:msg:{key.rpartition(':')[2]}"
    delete_records(talk.box.portal.imports._store, STREAMS["chat_messages"], [there])
    view = looked_up(talk, "chat_messages", key)
    assert (view.verdict, view.target.state) == (RecordVerdict.MISSING, SideState.GONE)
    assert field(view, "text").verdict is FieldVerdict.MISSING
    assert view.link is not None


def test_what_was_deleted_on_the_source_is_shown_as_it_was_staged(talk: World) -> None:
    group = talk.cloud.portal.company.groups.ids[-1]
    talk.change("groups", "delete", id=group)
    view = looked_up(talk, "groups", group)
    assert (view.verdict, view.source.state) == (RecordVerdict.EQUAL, SideState.GONE)
    assert texts(field(view, "NAME"))[0] == texts(field(view, "NAME"))[1]


def test_a_record_that_failed_says_why_and_what_to_do(small: World) -> None:
    small.box.portal.imports.fail_item("source:groups:*", "VALIDATION", times=1)
    small.run()
    view = looked_up(small, "groups", first(small, "Groups", "IMPORT_ERR"))
    assert (view.verdict, view.status, view.attempts) == (RecordVerdict.FAILED, "IMPORT_ERR", 1)
    assert view.trouble is not None
    assert view.trouble.code == "VALIDATION"
    assert view.trouble.at
    assert view.trouble.cause
    assert view.trouble.fix
    assert view.link is None
    assert field(view, "NAME").verdict is FieldVerdict.MISSING


def test_a_record_that_waits_shows_what_will_be_sent(small: World) -> None:
    small.run("users")
    small.run("groups", phases=("get",))
    view = looked_up(small, "groups", first(small, "Groups", "NEW"))
    assert view.verdict is RecordVerdict.WAITING
    assert field(view, "NAME").sent is not None
    assert field(view, "NAME").target is None


def test_what_a_rule_excludes_and_what_cannot_be_read_are_found_too(tmp_path: Path) -> None:
    with world(tmp_path, small(tasks=3, deals=2)) as made:
        made.run()
        excluded = made.sql("SELECT RowKey FROM SetAside WHERE Why = 'excluded' AND RowKey LIKE 'excluded:chats:%'")
        key = str(excluded[0][0]).removeprefix("excluded:chats:")
        view = looked_up(made, "chats", key)
        assert (view.verdict, view.status) == (RecordVerdict.EXCLUDED, "")
        assert view.aside is not None
        assert "task" in view.aside.reason
        impossible = made.sql("SELECT RowKey FROM SetAside WHERE Why = 'impossible'")
        stream, _, key = str(impossible[0][0]).removeprefix("impossible:").partition(":")
        view = looked_up(made, stream, key)
        assert view.verdict is RecordVerdict.IMPOSSIBLE
        assert view.title


def test_a_person_whom_the_target_had_is_linked_and_left_alone(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        user = made.cloud.portal.company.users.ids[1]
        made.run("users", phases=("custom-fields-get", "custom-fields-set", "get"))
        with made.app() as app:
            app.work.store.link("users", [Link(str(user), "77", origin="loaded")], now=app.work.clock.now())
        made.run("users", phases=("set",))
        view = looked_up(made, "users", user)
    assert (view.verdict, view.target.state) == (RecordVerdict.LINKED, SideState.CANNOT)
    assert view.link is not None
    assert (view.link.target_id, view.link.origin) == ("77", "loaded")


def test_a_reference_that_is_lost_is_only_on_the_source(small: World) -> None:
    small.run("users")
    small.run("groups", phases=("get",))
    group = small.cloud.portal.company.groups.ids[0]
    small.change("groups", id=group, fields={"OWNER_ID": "99999"})
    view = looked_up(small, "groups", group)
    owner = field(view, "OWNER_ID")
    assert owner.verdict is FieldVerdict.ONLY_SOURCE
    assert owner.unresolved == ("99999",)
    assert "99999" in view.problem


def test_findings_of_verify_are_shown_with_their_record(talk: World) -> None:
    key = first(talk, "Groups")
    talk.box.portal.imports.edit("groups", target_id(talk, "groups", key), {"NAME": "Another"})
    assert verify_everything(talk).exit_code == 5
    (found,) = looked_up(talk, "groups", key).findings
    assert (found.fate, found.field, found.actual) == ("differs", "NAME", "Another")
    others = [one for one in talk.records("Groups") if one != key]
    assert not any(looked_up(talk, "groups", one).findings for one in others)


def test_places_that_stay_as_they_were_are_shown_with_their_template(everything: World) -> None:
    kept = everything.sql("SELECT SourceId, Place, What FROM Unresolved")
    assert kept
    view = looked_up(everything, "workflow_templates", kept[0][0])
    assert (kept[0][1], kept[0][2]) in [(one.place, one.what) for one in view.places]


def test_files_are_shown_with_their_state(talk: World) -> None:
    views = [looked_up(talk, "chat_messages", key) for key in talk.records("ChatMessages")]
    files = [one for view in views for one in view.files]
    assert files
    assert {one.state for one in files} == {"imported"}
    assert all(one.target_id and one.size for one in files)
    (row,) = (field(view, "files") for view in views if view.files[:1] == (files[0],))
    assert row.verdict is FieldVerdict.REWRITTEN


def test_children_are_counted_without_a_walk(talk: World) -> None:
    group = talk.cloud.portal.company.groups.ids[0]
    (members,) = looked_up(talk, "groups", group).children
    there = [key for key in talk.records("GroupMembers") if key.startswith(f"{group}:")]
    assert (members.stream, members.read, members.more) == ("group_members", len(there), False)
    chat = max(talk.cloud.portal.company.chats.values(), key=len)
    (messages,) = looked_up(talk, "chats", chat.id).children
    assert (messages.stream, messages.read, messages.reported) == ("chat_messages", len(chat), len(chat))


def test_of_very_many_children_some_are_counted(small: World) -> None:
    with small.app() as app:
        stage(app.work, "groups", "7", {"NAME": "many"})
        for number in range(60):
            stage(app.work, "group_members", f"7:{number + 1}", {"USER_ID": number + 1})
        view = record(app.work, "groups", "7", ask=False)
    assert view is not None
    assert [(one.read, one.more) for one in view.children] == [(50, True)]


def test_what_another_method_told_is_said_to_be_as_it_was_read(talk: World) -> None:
    view = looked_up(talk, "groups", first(talk, "Groups"))
    assert field(view, "TYPE").note is FieldNote.AS_READ
    assert field(view, "NAME").note is None


# ---------------------------------------------------------------- portals that do not answer


def test_a_source_that_does_not_answer_is_a_sentence_and_the_rest_is_shown(talk: World) -> None:
    talk.strike_cloud({"method": "*", "kind": "500", "always": True})
    view = looked_up(talk, "groups", first(talk, "Groups"))
    assert view.source.state is SideState.FAILED
    assert view.source.message
    assert (view.verdict, view.target.state) == (RecordVerdict.EQUAL, SideState.NOW)


def test_a_target_that_does_not_answer_is_a_sentence_and_nothing_is_claimed(talk: World) -> None:
    talk.strike_box({"method": "*", "kind": "500", "always": True})
    view = looked_up(talk, "groups", first(talk, "Groups"))
    assert view.target.state is SideState.FAILED
    assert view.target.message
    assert view.verdict is RecordVerdict.IMPORTED
    assert {one.verdict for one in view.fields} == {FieldVerdict.UNKNOWN, FieldVerdict.NOT_SENT}


def test_portals_without_a_secret_are_not_asked(talk: World) -> None:
    with talk.app() as app:
        app.work.options = dataclasses.replace(app.work.options, absent=frozenset({"source", "target"}))
        app.work.source = app.work.target = None  # type: ignore[assignment]
        view = record(app.work, "groups", first(talk, "Groups"))
    assert view is not None
    assert (view.source.state, view.target.state) == (SideState.ABSENT, SideState.ABSENT)
    assert field(view, "NAME").staged is not None


def test_nobody_is_asked_who_shall_not_be_asked(talk: World) -> None:
    with talk.app() as app:
        app.work.source = app.work.target = None  # type: ignore[assignment]
        view = record(app.work, "groups", first(talk, "Groups"), ask=False)
    assert view is not None
    assert (view.source.state, view.target.state) == (SideState.NOT_ASKED, SideState.NOT_ASKED)
    assert view.verdict is RecordVerdict.IMPORTED


def test_looking_leaves_no_trace(everything: World) -> None:
    tables = ("EntitiesState", "Findings", "Compared", "Unresolved", "SetAside", "Tallies", "IdMap", "Incomplete")

    def all_of_it() -> list[list[tuple[Any, ...]]]:
        return [everything.sql(f'SELECT * FROM "{table}" ORDER BY 1, 2') for table in tables]  # noqa: S608

    before = all_of_it()
    for table, stream in (("CrmDeals", "crm_deals"), ("Tasks", "tasks"), ("WorkflowTemplates", "workflow_templates")):
        for key in everything.records(table):
            looked_up(everything, stream, key)
    assert all_of_it() == before


# ---------------------------------------------------------------- the same comparison as verify's


def test_a_record_differs_exactly_where_verify_finds_it(everything: World) -> None:
    streams = {"users": "Users", "groups": "Groups", "crm_deals": "CrmDeals", "tasks": "Tasks", "chats": "Chats"}
    for stream, table in streams.items():
        key = first(everything, table)
        names = {"users": "LAST_NAME", "groups": "NAME", "chats": "name"}
        there = target_id(everything, stream, key)
        everything.box.portal.imports.edit(stream, there, {names.get(stream, "title"): "Вручную"})
    everything.change("groups", id=everything.cloud.portal.company.groups.ids[1], fields={"NAME": "Иначе"})
    verify_everything(everything)
    found = {(one[0], one[2], one[3]) for one in findings(everything) if one[1] == "differs" and one[2] != "*"}
    assert len(found) >= 6
    with everything.app() as app:
        seen = {
            (stream, key, one.name)
            for stream in app.work.streams
            if stream in app.work.owner
            for key in everything.records(app.work.streams[stream].table.name)
            if (view := record(app.work, stream, key)) is not None and view.status == "IMPORT_OK"
            for one in view.fields
            if one.verdict is FieldVerdict.DIFFERS
        }
    assert seen == found


def test_verify_compares_custom_fields_that_the_source_does_not_tell_unless_they_are_named(everything: World) -> None:
    with everything.app() as app:
        views = [record(app.work, "tasks", key) for key in everything.records("Tasks")]
    view, row = next(
        (view, row)
        for view in views
        if view is not None and view.link is not None
        for row in view.fields
        if row.kind == "custom string" and row.sent is not None and row.verdict is FieldVerdict.EQUAL
    )
    assert view.link is not None
    everything.box.portal.imports.edit("tasks", view.link.target_id, {row.name: "Вручную"})
    verify_everything(everything)
    assert ("tasks", "differs", view.id, row.name) in [one[:4] for one in findings(everything)]


# ---------------------------------------------------------------- strange records


def stage(work: Work, stream: str, key: str, payload: object, **more: Any) -> None:
    staged = Staged(key, json.dumps(payload).encode(), **more)
    work.store.stage(work.streams[stream].table, [staged], run="made", pass_no=1)


@pytest.mark.parametrize(
    "stream", ["users", "groups", "chat_messages", "crm_deals", "tasks", "files", "feed_recipients"]
)
def test_a_payload_of_any_shape_can_be_looked_at(small: World, stream: str) -> None:
    strange = {
        "NAME": "x" * 1_000_000,
        "title": ["a", {"b": None}],
        "opportunity": "a lot",
        "UF_DEPARTMENT": {"1": "7"},
        "OWNER_ID": {"deep": [1]},
        "params": "none",
        "text": None,
        "kind": "disk",
        "id": "1",
        "entity": "chats",
        "stream": "chats",
    }
    with small.app() as app:
        stage(app.work, stream, "1:1", strange)
        view = record(app.work, stream, "1:1", ask=False)
    assert view is not None
    told = json.dumps(view.to_json())
    assert len(told) < 100_000
    (name,) = [one for one in view.fields if one.name == "NAME"]
    assert name.staged is not None
    assert (name.staged.length, len(name.staged.text)) == (1_000_000, 1000)


@pytest.mark.parametrize(
    "key", ["", "0", "999999", "a" * 5000, "\x00", "1\n", "\ud800", "..", "%", "1:2:3:4", "~", "☃"]
)
def test_nothing_is_known_of_what_does_not_exist(small: World, key: str) -> None:
    with small.app() as app:
        assert record(app.work, "users", key) is None
        assert record(app.work, "nowhere", "1") is None


@pytest.mark.parametrize(
    "key", ["9", "10", "2:30", "11:4", "b", "a:7", "STATUS:NEW", "☃:\ue000", "disk:12", "0", "007"]
)
def test_a_record_is_found_under_any_id_among_its_neighbours(small: World, key: str) -> None:
    with small.app() as app:
        for one in (
            "9",
            "10",
            "1",
            "2:30",
            "2:3",
            "11:4",
            "b",
            "a",
            "a:7",
            "STATUS:NEW",
            "☃:\ue000",
            "disk:12",
            "0",
            "007",
        ):
            stage(app.work, "groups", one, {"NAME": f"group {one}"})
        view = record(app.work, "groups", key, ask=False)
    assert view is not None
    assert (view.id, view.title) == (key, f"group {key}")


def test_one_that_was_set_aside_without_a_name_is_found(small: World) -> None:
    with small.app() as app:
        put_aside(app.work, [SetAside("chats", "private:12", "impossible", "nobody reads it", "Анна")])
        view = record(app.work, "chats", "private:12")
    assert view is not None
    assert (view.verdict, view.title, view.aside and view.aside.reason) == (
        RecordVerdict.IMPOSSIBLE,
        "Анна",
        "nobody reads it",
    )
