"""One record on every side, where a portal is silent, and where the record is like no other; and the same as verify finds."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from tests.engine.record_views import field, first, looked_up, stage, target_id
from tests.engine.test_verify import findings, verify_everything
from tests.engine.world import World

from b24migrate.engine.phases.stage import write_set_aside
from b24migrate.insight.lookup import FieldVerdict, RecordVerdict, SideState, record
from b24migrate.model.records import SetAside

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
        context = app.context.with_options(absent=frozenset({"source", "target"}))
        context = dataclasses.replace(context, source=None, target=None)  # type: ignore[arg-type]
        view = record(context, "groups", first(talk, "Groups"))
    assert view is not None
    assert (view.source.state, view.target.state) == (SideState.ABSENT, SideState.ABSENT)
    assert field(view, "NAME").staged is not None


def test_nobody_is_asked_who_shall_not_be_asked(talk: World) -> None:
    with talk.app() as app:
        context = dataclasses.replace(app.context, source=None, target=None)  # type: ignore[arg-type]
        view = record(context, "groups", first(talk, "Groups"), ask=False)
    assert view is not None
    assert (view.source.state, view.target.state) == (SideState.NOT_ASKED, SideState.NOT_ASKED)
    assert view.verdict is RecordVerdict.IMPORTED


def test_looking_leaves_no_trace(whole: World) -> None:
    tables = ("EntitiesState", "Findings", "Compared", "Unresolved", "SetAside", "Tallies", "IdMap", "Incomplete")

    def all_of_it() -> list[list[tuple[Any, ...]]]:
        return [whole.sql(f'SELECT * FROM "{table}" ORDER BY 1, 2') for table in tables]  # noqa: S608

    before = all_of_it()
    for table, stream in (("CrmDeals", "crm_deals"), ("Tasks", "tasks"), ("WorkflowTemplates", "workflow_templates")):
        for key in whole.records(table):
            looked_up(whole, stream, key)
    assert all_of_it() == before


# ---------------------------------------------------------------- the same comparison as verify's


def test_a_record_differs_exactly_where_verify_finds_it(whole: World) -> None:
    streams = {"users": "Users", "groups": "Groups", "crm_deals": "CrmDeals", "tasks": "Tasks", "chats": "Chats"}
    for stream, table in streams.items():
        key = first(whole, table)
        names = {"users": "LAST_NAME", "groups": "NAME", "chats": "name"}
        there = target_id(whole, stream, key)
        whole.box.portal.imports.edit(stream, there, {names.get(stream, "title"): "Вручную"})
    whole.change("groups", id=whole.cloud.portal.company.groups.ids[1], fields={"NAME": "Иначе"})
    verify_everything(whole)
    found = {(one[0], one[2], one[3]) for one in findings(whole) if one[1] == "differs" and one[2] != "*"}
    assert len(found) >= 6
    with whole.app() as app:
        shown = {
            (stream, key, one.name)
            for stream in app.context.streams
            if stream in app.context.owner
            for key in whole.records(app.context.streams[stream].table.name)
            if (view := record(app.context, stream, key)) is not None and view.status == "IMPORT_OK"
            for one in view.fields
            if one.verdict is FieldVerdict.DIFFERS
        }
    assert shown == found


def test_verify_compares_custom_fields_that_the_source_does_not_tell_unless_they_are_named(whole: World) -> None:
    with whole.app() as app:
        views = [record(app.context, "tasks", key) for key in whole.records("Tasks")]
    view, row = next(
        (view, row)
        for view in views
        if view is not None and view.link is not None
        for row in view.fields
        if row.kind == "custom string" and row.sent is not None and row.verdict is FieldVerdict.EQUAL
    )
    assert view.link is not None
    whole.box.portal.imports.edit("tasks", view.link.target_id, {row.name: "Вручную"})
    verify_everything(whole)
    assert ("tasks", "differs", view.id, row.name) in [one[:4] for one in findings(whole)]


# ---------------------------------------------------------------- strange records


def test_a_payload_of_any_shape_can_be_looked_at(small: World) -> None:
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
        for stream in ("users", "groups", "chat_messages", "crm_deals", "tasks", "files", "feed_recipients"):
            stage(app.context, stream, "1:1", strange)
            view = record(app.context, stream, "1:1", ask=False)
            assert view is not None, stream
            assert len(json.dumps(view.to_json())) < 100_000, stream
            (name,) = [one for one in view.fields if one.name == "NAME"]
            assert name.staged is not None, stream
            assert (name.staged.length, len(name.staged.text)) == (1_000_000, 1000), stream


def test_nothing_is_known_of_what_does_not_exist(small: World) -> None:
    with small.app() as app:
        for key in ("", "0", "999999", "a" * 5000, "\x00", "1\n", "\ud800", "..", "%", "1:2:3:4", "~", "☃"):
            assert record(app.context, "users", key) is None
        assert record(app.context, "nowhere", "1") is None


IDS = ("9", "10", "1", "2:30", "2:3", "11:4", "b", "a", "a:7", "STATUS:NEW", "☃:\ue000", "disk:12", "0", "007")


def test_a_record_is_found_under_any_id_among_its_neighbours(small: World) -> None:
    with small.app() as app:
        for one in IDS:
            stage(app.context, "groups", one, {"NAME": f"group {one}"})
        for one in IDS:
            view = record(app.context, "groups", one, ask=False)
            assert view is not None, one
            assert (view.id, view.title) == (one, f"group {one}")


def test_one_that_was_set_aside_without_a_name_is_found(small: World) -> None:
    with small.app() as app:
        write_set_aside(app.context, [SetAside("chats", "private:12", "impossible", "nobody reads it", "Анна")])
        view = record(app.context, "chats", "private:12")
    assert view is not None
    assert (view.verdict, view.title, view.aside and view.aside.reason) == (
        RecordVerdict.IMPOSSIBLE,
        "Анна",
        "nobody reads it",
    )
