"""A store keeps key and values of a message beside its English text."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.stores.samples import EVERYTHING, GROUPS, NOON, TABLES, Time, imported, row, settle, stage

from b24migrate.messages import Message, join, render, say
from b24migrate.model.records import Job, Settled, Status
from b24migrate.ports import ENTITIES_STATE, FINDINGS, REGISTERS, Queue, Register, RegisterRow, Store
from b24migrate.stores import open_store

LINKED = say("record.link", field="OWNER_ID", stream="users", id="7", why=say("record.link_unfound"))
JOINED = join([say("loss.files_dropped", count=3), "a portal's own words"])
WITH_MESSAGES = [register for register in REGISTERS if register.messages]


def same(found: object, text: str) -> bool:
    return isinstance(found, Message) and found == text and render(found, "ru") == render(text, "ru") != text


def fail(store: Store, key: str, error: str) -> None:
    settle(store, Settled(key, Status.IMPORT_ERR, 1, "REFERENCE_MISSING", error))


def test_a_record_keeps_why_it_failed(store: Store) -> None:
    stage(store, row(1), row(2))
    fail(store, "1", LINKED)
    fail(store, "2", "Access denied.")
    one, two = store.records(GROUPS, EVERYTHING, 9)
    assert same(one.last_error, LINKED)
    assert two.last_error == "Access denied."
    assert not isinstance(two.last_error, Message)
    found = store.one_failed(GROUPS, Status.IMPORT_ERR, "REFERENCE_MISSING")
    assert found is not None
    (exported, _) = store.export(GROUPS, EVERYTHING, 9)
    assert exported["LastError"] == LINKED
    store.restore(GROUPS, [exported])
    assert same(store.get(GROUPS, ["1"])["1"].last_error, LINKED)


def test_it_goes_with_the_error(store: Store) -> None:
    stage(store, row(1), row(2), row(3))
    for key in ("1", "2", "3"):
        fail(store, key, LINKED)
    settle(store, imported(1))
    store.renew(GROUPS, row_keys=["2"])
    fail(store, "3", "Access denied.")
    assert [one.last_error for one in store.records(GROUPS, EVERYTHING, 9)] == [None, None, "Access denied."]
    assert [one["LastErrorMessage"] for one in store.export(GROUPS, EVERYTHING, 9)] == [None, None, None]


@pytest.mark.parametrize("register", WITH_MESSAGES, ids=lambda register: register.name)
def test_a_register_keeps_its_messages_wherever_they_are(store: Store, register: Register) -> None:
    first, last = register.columns[0], register.columns[-1]
    store.write(register, [RegisterRow("k", {first: {"notes": [JOINED, "x"]}, last: LINKED})])
    row_ = store.read(register, "k")
    assert row_ is not None
    assert set(row_.values) == set(register.columns)
    assert same(row_.values[last], LINKED)
    assert first == last or same(row_.values[first]["notes"][0], JOINED)
    assert store.swap(register, row_._replace(values={**row_.values, last: "plain"}))
    again = store.read(register, "k")
    assert again is not None
    assert again.values[last] == "plain"
    assert not isinstance(again.values[last], Message)


def test_a_dead_letter_keeps_its_reason(queue: Queue) -> None:
    queue.letter(Job("groups-set", "send"), code="X", reason=LINKED, now=NOON)
    queue.letter(Job("groups-get", "read"), code="X", reason="Access denied.", now=NOON)
    one, two = sorted(queue.dead(), key=lambda letter: letter.job.scope, reverse=True)
    assert same(one.reason, LINKED)
    assert two.reason == "Access denied."
    assert same(next(part for part in queue.dead_parts("groups-set")).reason, LINKED)


def test_a_store_of_before_there_were_messages_goes_on(tmp_path: Path) -> None:
    """Its rows are shown as they are, new ones have their messages."""
    before = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    stage(before.store, row(1), row(2))
    fail(before.store, "1", LINKED)
    before.store.write(FINDINGS, [RegisterRow("old", {"Note": LINKED})])
    before.queue.letter(Job("groups-set", "send"), code="X", reason=LINKED, now=NOON)
    before.store.close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as raw:
        for name in (*(table.name for table in TABLES), "DeadLetters", *(one.name for one in WITH_MESSAGES)):
            column = {"DeadLetters": "ReasonMessage"}.get(name, "Messages")
            column = "LastErrorMessage" if name in {table.name for table in TABLES} else column
            raw.execute(f'ALTER TABLE "{name}" DROP COLUMN {column}')
    after = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    fail(after.store, "2", LINKED)
    old, new = after.store.records(GROUPS, EVERYTHING, 9)
    assert old.last_error == LINKED
    assert not isinstance(old.last_error, Message)
    assert same(new.last_error, LINKED)
    found = after.store.read(FINDINGS, "old")
    assert found is not None
    assert found.values["Note"] == LINKED
    assert after.queue.dead()[0].reason == LINKED
    after.store.write(ENTITIES_STATE, [RegisterRow("groups", {"Notes": [LINKED]})])
    state = after.store.read(ENTITIES_STATE, "groups")
    assert state is not None
    assert same(state.values["Notes"][0], LINKED)
    after.store.close()
