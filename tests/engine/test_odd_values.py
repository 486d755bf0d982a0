"""One odd value stops one record, never the migration: it is told with stream and id, and a retry completes it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import PLAN, SETTINGS
from tests.engine.refusals import BROKEN, holds, refuse
from tests.engine.world import World, world
from tests.engine.world import small as plan_of

from b24migrate.engine import jobs as perform
from b24migrate.engine.phases import bug, stage
from b24migrate.engine.phases.compose import Composer
from b24migrate.model.records import Job, Record
from b24migrate.stores.sqlite import queue
from b24sim.context import Method
from b24sim.phpjson import decode, encode
from b24sim.portal import Portal
from b24sim.result import Result

Json = Any
GET, SET = ("get",), ("set", "verify")


def altering(made: World, name: str, change: Callable[[Json], Json]) -> Callable[[], None]:
    """The cloud changes what this method answers, until the returned function is called."""
    return alter_answers(made.cloud.portal, name, change)


def alter_answers(portal: Portal, name: str, change: Callable[[Json], Json]) -> Callable[[], None]:
    """The portal changes what this method answers, until the returned function is called."""
    methods = portal.methods
    find = methods.find

    def found(wanted: str) -> Method | None:
        known = find(wanted)
        if known is None or wanted != name:
            return known

        def altered(context: Any, params: Any) -> Result:
            result = known.call(context, params)
            return replace(result, value=change(decode(encode(result.value))))

        return replace(known, call=altered)

    methods.find = found  # type: ignore[method-assign, assignment]

    def honest() -> None:
        methods.find = find  # type: ignore[method-assign]

    return honest


def one_of(made: World) -> str:
    """A user whose record is all right."""
    rows = made.table("Users", "RowKey", "Payload")
    return str(next(row["RowKey"] for row in rows if json.loads(row["Payload"])["EMAIL"] and row["RowKey"] != "1"))


def write(made: World, table: str, key: str, payload: str) -> str:
    """Past our own code. Returns what was there."""
    import sqlite3
    from contextlib import closing

    ((before,),) = made.sql(f'SELECT Payload FROM "{table}" WHERE RowKey = ?', key)  # noqa: S608
    with closing(sqlite3.connect(made.folder / "b24migrate.db", timeout=60)) as store, store:
        store.execute(f'UPDATE "{table}" SET Payload = ? WHERE RowKey = ?', (payload, key))  # noqa: S608
    return str(before)


@pytest.mark.parametrize("odd", ["object", "broken", "deep"])
def test_a_staged_record_that_makes_no_sense_fails_alone_and_can_be_retried(small: World, odd: str) -> None:
    assert small.run("users", phases=GET).exit_code == 0
    victim = one_of(small)
    ((payload,),) = small.sql("SELECT Payload FROM Users WHERE RowKey = ?", victim)
    spoilt = {
        "object": json.dumps({**json.loads(payload), "LAST_NAME": {"odd": [1]}}),
        "broken": '{"ID": "',
        "deep": f'{{"ID": "{victim}", "LAST_NAME": {"[" * 3000}{"]" * 3000}}}',
    }[odd]
    write(small, "Users", victim, spoilt)
    ended = small.run("users", phases=SET)
    assert ended.exit_code == 5
    users = small.records("Users")
    code = "ODD_VALUE" if odd == "object" else "BROKEN_ROW"
    assert {key: row["LastErrorCode"] for key, row in users.items() if row["Status"] != "IMPORT_OK"} == {victim: code}
    write(small, "Users", victim, payload)
    assert small.retry("users").exit_code == 0
    assert small.records("Users")[victim]["Status"] == "IMPORT_OK"


def test_a_damaged_row_is_read_again_by_the_next_run(small: World) -> None:
    small.run("users", phases=GET)
    victim = one_of(small)
    write(small, "Users", victim, "{")
    small.run("users", phases=SET)
    small.run("users")
    assert small.retry("users").exit_code == 0


def test_an_unknown_exception_of_a_job_is_a_dead_letter_and_the_rest_goes_on(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    close = perform.PERFORMERS["close"]
    monkeypatch.setitem(
        perform.PERFORMERS, "close", lambda context, job: broken() if job.scope == "chats-get" else close(context, job)
    )
    ended = small.run()
    assert ended.exit_code == 4
    assert "chats-get failed" in ended.message
    ((scope, kind, code, _),) = small.letters()
    assert (scope, kind, code) == ("chats-get", "close", "UNEXPECTED")
    ((attempts, reason),) = small.sql("SELECT Attempts, Reason FROM DeadLetters")
    assert attempts == 2  # and the third, by which it was buried
    assert "chats-get/close(" in reason
    assert "ZeroDivisionError" in reason
    assert any(note.startswith("Unexpected error ZeroDivisionError") for note in small.entity("chats").notes)
    assert small.entity("groups").verified
    monkeypatch.undo()
    assert small.retry().exit_code == 0
    assert small.letters() == []
    assert small.entity("chats").verified


def test_an_unknown_exception_of_a_record_fails_that_record_alone(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.run("users", phases=GET)
    victim = one_of(small)
    composed = Composer._compose

    def odd(self: Composer, record: Record, one: Any) -> Any:
        if record.row_key == victim:
            raise AttributeError("no such thing")
        return composed(self, record, one)

    monkeypatch.setattr(Composer, "_compose", odd)
    assert small.run("users", phases=SET).exit_code == 5
    users = small.records("Users")
    assert {key for key, row in users.items() if row["Status"] != "IMPORT_OK"} == {victim}
    assert (users[victim]["LastErrorCode"], users[victim]["Attempts"]) == ("UNEXPECTED", 3)
    ((scope, _, code, args),) = small.letters()
    assert (scope, code, json.loads(args)["record"]) == ("users-set", "UNEXPECTED", victim)
    monkeypatch.undo()
    assert small.retry("users").exit_code == 0


def test_a_call_that_nobody_understands_fails_only_the_record_that_is_to_blame(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from b24migrate.targets.module import ImportTarget

    small.run("users", phases=GET)
    victim = one_of(small)
    send = ImportTarget.send

    def odd(self: ImportTarget, wire: str, stream: str, items: Any, *, run: str) -> Any:
        if any(item.key == f"source:users:{victim}" for item in items):
            raise KeyError("odd")
        return send(self, wire, stream, items, run=run)

    monkeypatch.setattr(ImportTarget, "send", odd)
    small.run("users", phases=SET)
    assert {key for key, row in small.records("Users").items() if row["Status"] != "IMPORT_OK"} == {victim}


def test_a_row_that_cannot_be_staged_is_counted_as_incomplete_until_it_can(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = str(list(small.cloud.portal.company.groups.ids)[1])
    looked_at = stage.examine_batch

    def odd(context: Any, stream: Any, rows: Any, *more: Any) -> Any:
        if stream.name == "groups" and any(row.source_id == victim for row in rows):
            raise IndexError
        return looked_at(context, stream, rows, *more)

    monkeypatch.setattr(stage, "examine_batch", odd)
    ended = small.run()
    assert (ended.exit_code, ended.message) == (5, "groups: 1 incomplete")
    assert small.letters() == []
    monkeypatch.undo()
    assert small.run().exit_code == 0


@pytest.mark.parametrize("odd", ["../x", None, {"a": 1}], ids=("a path", "nothing", "an object"))
def test_a_record_without_a_usable_id_keeps_no_other_from_being_read(small: World, odd: Json) -> None:
    def change(rows: Json) -> Json:
        return [{**row, "ID": odd} if row["ID"] == "5" else row for row in rows]

    honest = altering(small, "user.get", change)
    ended = small.run("users")
    assert ended.exit_code == 5
    assert "users: count mismatch of " in ended.message
    assert small.letters() == []
    assert small.records("Users").keys() == {str(one) for one in range(1, 13)} - {"5"}
    assert any(note.startswith("user.get: a record ") for note in small.entity("users").notes)
    honest()
    assert small.run("users").exit_code == 0


def test_rows_in_another_order_are_asked_for_again(small: World) -> None:
    turns = iter([True, True])

    def change(rows: Json) -> Json:
        return rows[::-1] if next(turns, False) else rows

    altering(small, "user.get", change)
    assert small.run("users").exit_code == 0


@pytest.mark.parametrize("size", ["abc", [1], {"a": 1}, 10**30, -1])
def test_a_size_that_is_no_number_is_no_size(size: Json) -> None:
    from b24migrate.engine.phases.files import parse_size

    assert parse_size(size) is None
    assert parse_size("12") == 12


def test_a_file_whose_row_is_damaged_fails_alone(small: World) -> None:
    small.run("users", "groups", "chats", phases=GET)
    files = [row["RowKey"] for row in small.table("Files", "RowKey")]
    write(small, "Files", files[0], "[]")
    small.run(phases=SET)
    failed = {row["RowKey"]: row["LastErrorCode"] for row in small.table("Files", "RowKey", "LastErrorCode")}
    assert {key: code for key, code in failed.items() if code} == {files[0]: "BROKEN_ROW"}


def test_a_pulled_through_record_whose_details_always_fail_does_not_bury_the_pull(tmp_path: Path) -> None:
    with world(tmp_path, PLAN, webhooks=(1, 2)) as made:
        made.settings = {**SETTINGS, "run": {**SETTINGS.get("run", {}), "test_limit": 2}}
        refuse(made, "socialnetwork.api.workgroup.list", lambda asked: not holds(asked, first_group(made)), BROKEN)
        made.run()
        assert any(row["PulledThrough"] for row in made.records("Groups").values())
        assert made.letters() == []


def first_group(made: World) -> int:
    return min(made.cloud.portal.company.groups.ids)


@pytest.mark.parametrize(
    ("entity", "method"),
    [("crm_spitems", "userfieldconfig.get"), ("tasks", "task.item.userfield.get")],
)
def test_one_odd_description_of_a_custom_field_keeps_no_other_from_being_read(
    tmp_path: Path, entity: str, method: str
) -> None:
    with world(tmp_path, PLAN, webhooks=(1, 2)) as made:
        made.settings = SETTINGS
        found: list[Json] = []

        def change(description: Json) -> Json:
            field = description.get("field", description) if isinstance(description, dict) else {}
            found.append(field.get("id", field.get("ID")))
            return "odd" if found[-1] == found[0] else description

        honest = altering(made, method, change)
        phases = ("custom-fields-get",)
        assert made.run("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals").exit_code == 0
        assert made.run(entity, phases=phases).exit_code in (0, 5)
        fields = made.sql("SELECT count(*) FROM CustomFields WHERE PartitionKey = ?", entity)
        assert made.letters() == []
        notes = [one for one in made.entity(entity).notes if "is not read completely" in one]
        assert len(notes) == 1
        assert method in notes[0]
        honest()
        made.run(entity, phases=phases)
        assert made.sql("SELECT count(*) FROM CustomFields WHERE PartitionKey = ?", entity) == fields


def test_a_full_disk_is_no_fault_of_a_job(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setitem(perform.PERFORMERS, "close", full)
    with pytest.raises(OSError, match="No space"):
        small.run("users")
    assert small.letters() == []
    monkeypatch.undo()
    assert small.run("users").exit_code == 0


def test_the_code_is_the_one_with_a_page() -> None:
    from b24migrate.messages.pages import PAGES

    assert bug.UNEXPECTED in PAGES


def test_a_job_whose_row_is_damaged_fails_its_step_and_the_next_run_reads_everything(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = queue._put
    spoilt: list[str] = []

    def spoiling(connection: sqlite3.Connection, jobs: Sequence[Job], *more: Any) -> None:
        put(connection, jobs, *more)
        if not spoilt and jobs and jobs[0].scope == "users-get":  # before any worker can take it
            spoilt.append(jobs[0].id)
            connection.execute("UPDATE Jobs SET Args = '{' WHERE Id = ?", (jobs[0].id,))

    monkeypatch.setattr(queue, "_put", spoiling)
    ended = small.run("users")
    assert ended.exit_code == 4
    assert "users-get failed" in ended.message
    assert [(scope, code) for scope, _, code, _ in small.letters()] == [("users-get", "BROKEN_ROW")]
    assert small.run("users").exit_code in (0, 5)
    assert small.letters() == []
    assert {row["Status"] for row in small.records("Users").values()} == {"IMPORT_OK"}


@pytest.mark.parametrize("odd", ["text", [1], {"title": "no id"}, {"id": [3]}])
def test_odd_rows_of_a_count_fail_a_delta_run_without_a_bug(tmp_path: Path, odd: Any) -> None:
    plan = plan_of(companies=3, contacts=3, deals=4, templates=0, posts=0, smart_types=0)
    with world(tmp_path, plan) as made:
        made.settings = {"run": {"user_coverage": 0.5, "entities": ["users", "crm_structure", "crm_companies"]}}
        assert made.run().exit_code == 0
        method = made.cloud.portal.method("crm.item.list")

        def answer(context: Any, params: Any) -> Any:
            counted = "<=id" in (params.get("filter") or {}) and int(params.get("start", 0)) >= 0
            return Result(encode({"items": [odd]}), total=3) if counted else method.call(context, params)

        with pytest.MonkeyPatch.context() as patch, made.app() as app:
            patch.setitem(made.cloud.portal.methods._methods, method.name, replace(method, call=answer))
            ended = app.runner.run(app.chosen(()), delta=True, tick=made.leap())
        assert ended.exit_code == 4
        assert {(scope, code) for scope, _, code, _ in made.letters()} == {("crm-companies-get", "STRANGE_RESULT")}
        assert not list(tmp_path.glob("b24migrate-bug-*"))
        assert made.run().exit_code == 0
