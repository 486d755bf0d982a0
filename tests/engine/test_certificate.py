"""The certificate: every source id in exactly one class, or none at all and the place that is wrong."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import CATALOG
from tests.engine.test_verify import verify_everything
from tests.engine.world import World, world
from tests.engine.world import small as small_plan

from b24migrate.app import copy_store
from b24migrate.engine.phases import verify
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.run import find_problems
from b24migrate.insight import certificate
from b24migrate.insight.certificate import Made, form
from b24migrate.model.errors import Halted, Stop, Unproven
from b24migrate.ports import COMPARED
from b24sim.imports.catalog import STREAMS
from b24sim.imports.deletion import delete_records

Json = Any


def make(made: World, name: str = "certificate.jsonl") -> tuple[Made, list[dict[str, Json]]]:
    """As it is returned, and the lines of its file; checked, too."""
    file = made.folder / name
    with made.app() as app:
        written = certificate.make(app.context, file)
    assert certificate.check(file) == written
    return written, [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def entries(lines: list[dict[str, Json]], **wanted: Json) -> dict[tuple[str, str], dict[str, Json]]:
    mine = [line for line in lines if "class" in line and all(line.get(name) == one for name, one in wanted.items())]
    found = {(line["stream"], line["id"]): line for line in mine}
    assert len(found) == len(mine)
    return found


def by_class(lines: list[dict[str, Json]], stream: str) -> Counter[str]:
    return Counter(line["class"] for line in entries(lines, stream=stream).values())


def refused(made: World, kind: type[Stop], *words: str) -> None:
    """In one sentence with these words, and without leaving anything behind."""
    with made.app() as app:
        before = sorted(path.name for path in made.folder.iterdir())
        with pytest.raises(kind) as stop:
            certificate.make(app.context, made.folder / "refused.jsonl")
        assert sorted(path.name for path in made.folder.iterdir()) == before
    for word in words:
        assert word in stop.value.message, stop.value
    assert stop.value.hint


def edit(made: World, sql: str, *values: Json) -> None:
    """By another hand, past our own code."""
    with closing(sqlite3.connect(made.folder / "b24migrate.db")) as connection, connection:
        assert connection.execute(sql, values).rowcount > 0


# ---------------------------------------------------------------- what stands in it


def test_every_staged_id_is_there_once_and_the_sums_close(talk: World) -> None:
    written, lines = make(talk)
    for sums in written.head.streams:
        counts = by_class(lines, sums.stream)
        assert all(getattr(sums, name) == counts[name] for name in form.CLASSES)
        if sums.stream == "files":
            continue
        about = talk.stream(sums.stream)
        assert (sums.reported, sums.retrieved, sums.excluded) == (about.source, about.read, about.excluded)
        assert sums.verified + sums.migrated == about.imported
        assert sums.verified == min(10, len(talk.imported(sums.stream)))
        staged = talk.records(CATALOG.streams[sums.stream].table.name)
        assert {key for _, key in entries(lines, stream=sums.stream)} >= set(staged)
    assert written.head.source == talk.cloud.webhook().split("/")[2]
    assert written.head.made_at == talk.sql("SELECT FinishedAtUtc FROM Runs WHERE RowKey = 'current'")[0][0]
    assert "/rest/" not in json.dumps(lines)


def test_an_id_says_what_it_became_and_of_what_it_was_made(talk: World) -> None:
    _, lines = make(talk)
    found = entries(lines, stream="chat_messages")
    for row in talk.table("ChatMessages", "RowKey", "PayloadHash", "TargetId"):
        line = found["chat_messages", row["RowKey"]]
        assert (line["content"], line["target"]) == (row["PayloadHash"], row["TargetId"])
        ((digest,),) = talk.sql("SELECT Digest FROM IdMap WHERE RowKey = ?", f"chat_messages:{row['RowKey']}")
        assert line["wire"] == digest
    for line in entries(lines, stream="files").values():
        assert len(line["content"]) == 64
        assert line["wire"] == line["content"]
    logged = talk.sql("SELECT count(*) FROM PageLog WHERE RowKey LIKE 'users:%'")
    assert [(sum(line.get("stream") == "users" and "page" in line for line in lines),)] == logged


def test_everything_compared_is_everything_verified(talk: World) -> None:
    assert verify_everything(talk).exit_code == 0
    _, lines = make(talk)
    for stream in ("users", "groups", "group_members", "chats", "chat_messages"):
        counts = by_class(lines, stream)
        # who is the target's own already was linked, not sent, so there is nothing to compare
        linked = len(entries(lines, stream=stream, origin="matched"))
        assert counts["verified"] == talk.stream(stream).imported - linked
        assert counts["migrated"] == linked


def test_a_company_with_everything_closes(whole: World) -> None:
    written, lines = make(whole)
    assert [one.stream for one in written.head.streams] == [*CATALOG.streams, "files"]
    assert all(one.verified for one in written.head.streams if one.stream != "files")
    assert entries(lines, **{"class": "excluded"})
    assert all(line["reason"] for line in entries(lines, **{"class": "impossible"}).values())


def test_the_same_store_gives_the_same_bytes(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make(talk, "one")
    monkeypatch.setattr("b24migrate.insight.certificate.facts.AT_ONCE", 7)  # much is laid aside and merged
    make(talk, "other")
    assert (talk.folder / "one").read_bytes() == (talk.folder / "other").read_bytes()


@pytest.mark.slow
def test_a_store_on_azure_gives_the_same_bytes(talk: World, azure_store: str) -> None:
    make(talk, "here")
    assert copy_store(f"sqlite:///{talk.folder}/b24migrate.db", azure_store).equal
    with talk.app(store={"url": azure_store}) as app:
        certificate.make(app.context, talk.folder / "there")
        assert (talk.folder / "there").read_bytes() == (talk.folder / "here").read_bytes()
        before = {row.key: row.values["Ids"] for row in app.context.store.rows(COMPARED)}
        app.runner.run(app.chosen(), ("verify",))
        assert {row.key.partition(":")[0] for row in app.context.store.rows(COMPARED)} == {
            key.partition(":")[0] for key in before
        }
        certificate.make(app.context, talk.folder / "again")
    assert certificate.check(talk.folder / "again").head.streams == certificate.check(talk.folder / "here").head.streams


def test_what_failed_says_its_code_and_what_cannot_be_read_its_reason(tmp_path: Path) -> None:
    with world(tmp_path, small_plan(foreign_chats=0.5), webhooks=(1,)) as made:
        broken = made.cloud.portal.company.users.ids[-1]
        made.change("users", id=broken, fields={"NAME": ""})
        assert made.run(run={"user_coverage": 0.5}).exit_code == 5
        written, lines = make(made)
        failed = entries(lines, **{"class": "failed"})
        assert failed["users", str(broken)]["code"] == "VALIDATION"
        assert failed["users", str(broken)]["reason"]
        assert "target" not in failed["users", str(broken)]
        assert len(failed) == sum(one.failed for one in written.head.streams)
        impossible = entries(lines, stream="chats", **{"class": "impossible"})
        assert len(impossible) == made.stream("chats").impossible > 0
        assert all(line["reason"] for line in impossible.values())


def test_what_verify_found_different_is_migrated_and_not_verified(talk: World) -> None:
    group = talk.cloud.portal.company.groups.ids[0]
    talk.change("groups", id=group, fields={"NAME": "Переименована"})
    assert verify_everything(talk).exit_code == 5
    _, lines = make(talk)
    found = entries(lines, stream="groups")
    assert found["groups", str(group)]["class"] == "migrated"
    assert found["groups", str(group)]["reason"] == "verify found differs: NAME"
    assert by_class(lines, "groups") == {"migrated": 1, "verified": len(found) - 1}


def test_what_was_sent_again_since_is_not_verified_any_more(talk: World) -> None:
    verify_everything(talk)
    chat = max(talk.cloud.portal.company.chats.values(), key=len)
    number = chat.id_at(2)
    talk.change("chat_messages", id=number, chat=chat.id, fields={"text": "Исправлено", "params": []})
    assert talk.run(phases=("get", "set")).exit_code == 0
    _, lines = make(talk)
    found = entries(lines, stream="chat_messages")
    assert [key for (_, key), line in found.items() if line["class"] == "migrated"] == [f"{chat.id}:{number}"]


# ---------------------------------------------------------------- when there is none


def test_without_a_run_there_is_nothing_to_certify(small: World) -> None:
    refused(small, Halted, "Nothing is migrated yet")


def test_a_phase_that_is_not_done_is_named(small: World) -> None:
    small.run(phases=("get", "set"))
    refused(small, Halted, "users-verify is pending")


def test_a_stopped_run_is_named(small: World) -> None:
    small.strike_cloud({"method": "im.recent.list", "kind": "error", "code": "ACCESS_DENIED"})
    assert small.run().exit_code in (3, 4)
    refused(small, Halted, "has not finished", "chats-get")


def test_a_limited_get_has_none(small: World) -> None:
    small.run(run={"test_limit": 2})
    refused(small, Unproven, "departments", "test limit")


def test_drift_has_none(talk: World) -> None:
    edit(talk, "UPDATE SourceInventory SET ReportedTotal = ReportedTotal + 1 WHERE Stream = 'groups'")
    refused(talk, Unproven, "groups: the source reports 5, 4 were read")


def test_records_too_many_are_a_mismatch_without_a_sign(talk: World) -> None:
    edit(talk, "UPDATE SourceInventory SET RetrievedTotal = RetrievedTotal + 2 WHERE Stream = 'groups'")
    with talk.app() as app:
        entities = [one for one in app.context.entities if one.name == "groups"]
        assert list(map(str, find_problems(app.context, entities, ("get",)))) == ["groups: count mismatch of 2"]
    assert talk.stream("groups").drift == -2


EDITS: dict[str, tuple[Sequence[str], type[Stop], str]] = {
    "a record is gone": (
        ["DELETE FROM Groups WHERE RowKey = '{id}'"],
        Unproven,
        "groups {id} was verified, but its saved copy is gone",
    ),
    "a record and what verify knew are gone": (
        ["DELETE FROM Groups WHERE RowKey = '{id}'", "DELETE FROM Compared WHERE Stream = 'groups'"],
        Unproven,
        "groups: the store counts 4 records as IMPORT_OK, but 3 are there",
    ),
    "all trace of a record is gone": (
        [
            "DELETE FROM Groups WHERE RowKey = '{id}'",
            "DELETE FROM Compared WHERE Stream = 'groups'",
            "UPDATE Tallies SET Records = Records - 1 WHERE TableName = 'Groups' AND Status = 'IMPORT_OK'",
        ],
        Unproven,
        "groups: 4 were read, but 3 migrated, 0 failed, 0 excluded make 3",
    ),
    "it waits again": (["UPDATE Groups SET Status = 'NEW' WHERE RowKey = '{id}'"], Halted, "groups {id} is NEW"),
    "it is to be retried": (
        ["UPDATE Groups SET Status = 'ERROR_RETRY' WHERE RowKey = '{id}'"],
        Halted,
        "groups {id} is ERROR_RETRY",
    ),
    "it failed for no reason": (
        ["UPDATE Groups SET Status = 'IMPORT_ERR' WHERE RowKey = '{id}'"],
        Unproven,
        "groups {id} failed without a reason",
    ),
    "it failed for a made-up reason": (
        ["UPDATE Groups SET Status = 'IMPORT_ERR', LastErrorCode = 'X' WHERE RowKey = '{id}'"],
        Unproven,
        "groups: the store counts 4 records as IMPORT_OK, but 3 are there",
    ),
    "its link is gone": (
        ["DELETE FROM IdMap WHERE RowKey = 'groups:{id}'"],
        Unproven,
        "groups {id} counts as imported, but has no link",
    ),
    "its link is another": (
        ["UPDATE IdMap SET TargetId = '9999' WHERE RowKey = 'groups:{id}'"],
        Unproven,
        "and 9999 in its link",
    ),
    "it is excluded as well": (
        [
            "INSERT INTO SetAside (PartitionKey, RowKey, Why, Reason) VALUES ('aside', 'excluded:groups:{id}', 'excluded', 'x')"
        ],
        Unproven,
        "groups {id} is in two classes: staged (IMPORT_OK), excluded",
    ),
    "one more is excluded": (
        [
            "INSERT INTO SetAside (PartitionKey, RowKey, Why, Reason) VALUES ('aside', 'excluded:groups:99', 'excluded', 'x')"
        ],
        Unproven,
        "groups: 4 were read, but 4 migrated, 0 failed, 1 excluded make 5",
    ),
    "a page is gone": (
        ["DELETE FROM PageLog WHERE RowKey LIKE 'groups:%'"],
        Unproven,
        "groups: 1 pages were read, 0 are in the page log",
    ),
    "the inventory is gone": (
        ["DELETE FROM SourceInventory WHERE Stream = 'groups'"],
        Unproven,
        "groups: 0 latest inventories",
    ),
    "a phase runs": (
        ["UPDATE EntitiesState SET Phases = replace(Phases, 'done', 'running') WHERE RowKey = 'groups'"],
        Halted,
        "groups-",
    ),
}


def test_a_store_that_was_changed_by_another_hand_is_refused_with_the_place(talk: World) -> None:
    make(talk)
    store, kept = talk.folder / "b24migrate.db", (talk.folder / "b24migrate.db").read_bytes()
    group = talk.cloud.portal.company.groups.ids[1]
    for statements, kind, words in EDITS.values():
        for sql in statements:
            edit(talk, sql.format(id=group))
        refused(talk, kind, words.format(id=group))
        store.write_bytes(kept)
    assert make(talk, "again")[0] == make(talk)[0]  # all of that was the edits' doing


def test_a_record_that_is_missing_on_the_box_has_none(talk: World) -> None:
    kept = talk.box.portal.imports._store
    delete_records(kept, STREAMS["chat_messages"], [next(iter(talk.imported("chat_messages")))])
    verify_everything(talk)
    refused(talk, Unproven, "chat_messages: verify counted records missing (count)")


# ---------------------------------------------------------------- killed


class Killed(BaseException):
    """Nobody catches it."""


def kill_at(context: RunContext, moment: int, *, before: bool) -> None:
    """The process is killed at its n-th note of what is equal, before or after it is written."""
    write, notes = context.store.write, count(1)

    def dying(register: Json, rows: Json) -> None:
        dies = register is COMPARED and next(notes) == moment  # the other hand may write one at the same time
        if dies and before:
            raise Killed
        write(register, rows)
        if dies:
            raise Killed

    context.store.write = dying  # type: ignore[method-assign]


def verify_all_of(made: World, moment: int = 0, *, before: bool = False) -> None:
    with made.app(run={"workers": 1}) as opened:
        app = opened.with_context(opened.context.with_options(verify_all=True))
        kill_at(app.context, moment, before=before)
        app.runner.run(app.chosen(), ("verify",), tick=made.leap())


def equal_to(made: World) -> set[tuple[str, str]]:
    """What verify remembers: stream and id."""
    rows = made.sql("SELECT Stream, Ids FROM Compared")
    return {(stream, one) for stream, ids in rows for one, _ in json.loads(ids)}


def test_a_verify_that_was_killed_remembers_exactly_what_it_compared(
    talk: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "AT_ONCE", 5)
    verify_all_of(talk)
    whole = equal_to(talk)
    _, lines = make(talk, "undisturbed")
    for moment, before in ((1, True), (3, False), (8, True)):
        with pytest.raises(Killed):
            verify_all_of(talk, moment, before=before)
        refused(talk, Halted, "has not finished")
        verify_all_of(talk)
        assert equal_to(talk) == whole, (moment, before)
        _, again = make(talk, "disturbed")
        assert entries_without_place(again) == entries_without_place(lines), (moment, before)


def entries_without_place(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The head says which run it was, and so every line follows something else."""
    return [{**line, "after": ""} for line in lines if "class" in line]


def test_a_new_verify_forgets_what_an_earlier_one_compared(talk: World) -> None:
    verify_all_of(talk)
    talk.run(phases=("verify",), run={"verify_sample": 1})
    _, lines = make(talk)
    assert by_class(lines, "chat_messages")["verified"] == 1
