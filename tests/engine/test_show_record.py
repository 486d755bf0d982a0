"""One record on every side: what the source says now, what is staged, what is sent, what the target has."""

from __future__ import annotations

from pathlib import Path

from tests.engine.record_views import all_of, field, first, looked_up, stage, target_id, texts
from tests.engine.test_verify import verify_everything
from tests.engine.world import World, world

from b24migrate.insight.lookup import FieldNote, FieldVerdict, RecordVerdict, SideState, record
from b24migrate.model.records import Link
from b24sim.imports.catalog import STREAMS
from b24sim.imports.deletion import delete_records


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
    found = [field(view, "text") for view in all_of(talk, "ChatMessages", "chat_messages")]
    texts_found = [one for one in found if "[USER=" in str(one.source)]
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


def test_what_a_rule_excludes_and_what_cannot_be_read_are_found_too(whole: World) -> None:
    excluded = whole.sql("SELECT RowKey FROM SetAside WHERE Why = 'excluded' AND RowKey LIKE 'excluded:chats:%'")
    key = str(excluded[0][0]).removeprefix("excluded:chats:")
    view = looked_up(whole, "chats", key)
    assert (view.verdict, view.status) == (RecordVerdict.EXCLUDED, "")
    assert view.aside is not None
    assert "task" in view.aside.reason
    impossible = whole.sql("SELECT RowKey FROM SetAside WHERE Why = 'impossible'")
    stream, _, key = str(impossible[0][0]).removeprefix("impossible:").partition(":")
    view = looked_up(whole, stream, key)
    assert view.verdict is RecordVerdict.IMPOSSIBLE
    assert view.title


def test_a_person_whom_the_target_had_is_linked_and_left_alone(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        user = made.cloud.portal.company.users.ids[1]
        made.run("users", phases=("custom-fields-get", "custom-fields-set", "get"))
        with made.app() as app:
            app.context.store.link("users", [Link(str(user), "77", origin="loaded")], now=app.context.clock.now())
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


def test_places_that_stay_as_they_were_are_shown_with_their_template(whole: World) -> None:
    kept = whole.sql("SELECT SourceId, Place, What FROM Unresolved")
    assert kept
    view = looked_up(whole, "workflow_templates", kept[0][0])
    assert (kept[0][1], kept[0][2]) in [(one.place, one.what) for one in view.places]


def test_files_are_shown_with_their_state(talk: World) -> None:
    views = all_of(talk, "ChatMessages", "chat_messages")
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
    assert (messages.stream, messages.read, messages.reported) == ("chat_messages", len(chat), None)


def test_of_very_many_children_some_are_counted(small: World) -> None:
    with small.app() as app:
        stage(app.context, "groups", "7", {"NAME": "many"})
        for number in range(60):
            stage(app.context, "group_members", f"7:{number + 1}", {"USER_ID": number + 1})
        view = record(app.context, "groups", "7", ask=False)
    assert view is not None
    assert [(one.read, one.more) for one in view.children] == [(50, True)]


def test_what_another_method_told_is_said_to_be_as_it_was_read(talk: World) -> None:
    view = looked_up(talk, "groups", first(talk, "Groups"))
    assert field(view, "TYPE").note is FieldNote.AS_READ
    assert field(view, "NAME").note is None
