"""What changes at the source changes on the box with the next run, and nothing else does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from tests.engine.changes import CASES, NEW_NAME, Expected, Firm, move_volatile
from tests.engine.every_stream import CATALOG, SENDING, Snapshot, everything, look
from tests.engine.world import World
from tests.targets.everything import Move, moving

from b24migrate.model.records import in_order
from b24sim.company.company import Company

Json = Any
HASHED_BEFORE = frozenset({"chat_messages", "feed_posts", "tasks", "crm_deals", "crm_types", "crm_stages"})
GET_AND_SET = ("custom-fields-get", "custom-fields-set", "get", "set")


# ---------------------------------------------------------------- the import module


@dataclass(frozen=True)
class Changed:
    firm: Firm
    quiet: Sequence[str]  # what was written after only volatile fields had moved
    hashes: Mapping[str, Mapping[str, str]]  # after that run, by stream
    expected: Mapping[str, Expected]
    after: Snapshot
    once_more: Sequence[str]  # what was written when nothing had changed


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Changed]:
    with everything(tmp_path_factory.mktemp("changed")) as made:
        made.run(phases=GET_AND_SET)
        firm = Firm(made, look(made))
        move_volatile(firm.company)
        forget_hashes(made)
        quiet = written(made)
        hashes = {name: look_up_hashes(made, name) for name in CATALOG.streams}
        forget_hashes(made)
        expected = {case.__name__: case(firm) for case in CASES}
        made.run(phases=GET_AND_SET)
        after = look(made)
        yield Changed(firm, quiet, hashes, expected, after, written(made))


def forget_hashes(made: World) -> None:
    """As earlier versions staged records of most streams. By other rules than today they hashed the rest."""
    with closing(sqlite3.connect(made.folder / "b24migrate.db", timeout=60)) as store, store:
        for name, stream in CATALOG.streams.items():
            other = "NULL" if name not in HASHED_BEFORE else "'0000'"
            store.execute(f'UPDATE "{stream.table.name}" SET PayloadHash = {other}')  # noqa: S608
        store.execute("UPDATE Files SET PayloadHash = NULL")


def look_up_hashes(made: World, stream: str) -> dict[str, str]:
    rows = made.table(CATALOG.streams[stream].table.name, "RowKey", "PayloadHash")
    return {row["RowKey"]: row["PayloadHash"] for row in rows}


def written(made: World) -> list[str]:
    """What a further run writes."""
    made.box.portal.stats.reset()
    made.run(phases=GET_AND_SET)
    return [name for name in made.box.portal.stats.methods if name.endswith(SENDING)]


@pytest.mark.parametrize("case", [one.__name__ for one in CASES])
def test_a_change_arrives(changed: Changed, case: str) -> None:
    stream, row_key, fields, _ = changed.expected[case]
    there = changed.after.box[stream][CATALOG.streams[stream].key_of(row_key)]["fields"]
    assert {name: in_order(there.get(name)) for name in fields} == {name: in_order(one) for name, one in fields.items()}
    row = changed.after.staged[stream][row_key]
    assert (row["Status"], row["Revision"]) == ("IMPORT_OK", 1)


def test_another_photo_is_another_file(changed: Changed) -> None:
    _, row_key, *_ = changed.expected["new_photo"]
    before, after = (
        one.box["users"][f"source:users:{row_key}"]["fields"] for one in (changed.firm.first, changed.after)
    )
    assert before["PERSONAL_PHOTO"] != after["PERSONAL_PHOTO"]
    files = changed.firm.made.imported("files")
    assert {f"source:file:user:{row_key}", f"source:file:user:{row_key}:1"} <= files.keys()


def test_nothing_else_is_sent(changed: Changed) -> None:
    wanted = {(one.stream, one.row_key) for one in changed.expected.values()}
    wanted |= {other for one in changed.expected.values() for other in one.also}
    keys = {(stream, CATALOG.streams[stream].key_of(row_key)) for stream, row_key in wanted}
    updated: dict[tuple[str, str], int] = {}
    for stream in CATALOG.streams:
        before, after = changed.firm.first.effects(stream), changed.after.effects(stream)
        updated |= {(stream, key): after[key][1] - before[key][1] for key in before if after[key] != before[key]}
    assert updated == dict.fromkeys(keys, 1)


def test_what_moves_by_itself_is_no_change(changed: Changed) -> None:
    assert changed.quiet == []


@pytest.mark.parametrize("stream", CATALOG.streams)
def test_a_store_of_an_earlier_version_gets_its_hashes(changed: Changed, stream: str) -> None:
    assert changed.hashes[stream] == changed.firm.first.column(stream, "PayloadHash")


def test_without_a_change_nothing_is_sent(changed: Changed) -> None:
    assert changed.once_more == []


def test_activity_in_a_group_is_no_difference(talk: World) -> None:
    groups = talk.cloud.portal.company.groups
    for number in groups.ids:
        groups.put(number, groups.row(number) | {"DATE_ACTIVITY": "2030-01-01T00:00:00+03:00"})
    assert talk.run("groups").exit_code == 0
    assert talk.stream("groups").findings == 0


# ---------------------------------------------------------------- a box without the module


@pytest.fixture(scope="module")
def by_rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Move, dict[str, str]]]:
    """Departments, users, groups and chats by the box's own methods; then all of these cases at once."""
    with moving(tmp_path_factory.mktemp("rest"), "users", "groups", "chats", messages=20) as move:
        made = move.world
        assert move.run(phases=GET_AND_SET).exit_code == 0
        company, staged = made.cloud.portal.company, {name: made.records(name) for name in TABLES}
        chosen = choose_by_rest(company, staged)
        change_by_rest(made, company, chosen)
        made.box.portal.stats.reset()
        ended = move.run(phases=GET_AND_SET)
        assert ended.exit_code == 0, ended.message
        yield move, chosen


TABLES = ("Departments", "Users", "Groups", "GroupMembers", "Chats")


def choose_by_rest(company: Company, staged: Mapping[str, Mapping[str, Json]]) -> dict[str, str]:
    chats = [
        chat
        for chat in company.chats.values()
        if str(chat.id) in staged["Chats"] and chat.type == "chat" and not chat.entity_type and len(chat.members) > 3
    ]
    people = [user for user in company.users.ids if company.is_active(user) and user > 2]
    group = next(
        one for one in company.groups_by_id.values() if len([u for u in one.roles if company.is_active(u)]) > 2
    )
    department = next(one for one in company.departments.ids if company.departments.row(one).get("PARENT"))
    chat = chats[0]
    left = next(
        user for user in chat.members if user not in (chat.owner, 1, *chat.managers) and company.is_active(user)
    )
    return {
        "department": str(department),
        "user": str(next(user for user in people if user not in (group.owner, left, chat.owner))),
        "group": str(group.id),
        "owner": str(next(user for user in group.roles if user != group.owner and company.is_active(user))),
        "chat": str(chat.id),
        "left": str(left),
    }


def change_by_rest(made: World, company: Company, chosen: Mapping[str, str]) -> None:
    made.change("departments", id=chosen["department"], fields={"NAME": NEW_NAME})
    made.change("users", id=chosen["user"], fields={"ACTIVE": False, "WORK_PHONE": ""})
    group = company.groups_by_id[int(chosen["group"])]
    made.change("groups", id=chosen["group"], fields={"OWNER_ID": chosen["owner"], "DESCRIPTION": NEW_NAME})
    made.change("group_members", group=group.id, user=group.owner, fields={"ROLE": "K"})
    made.change("group_members", group=group.id, user=chosen["owner"], fields={"ROLE": "A"})
    members = [user for user in company.chats[int(chosen["chat"])].members if str(user) != chosen["left"]]
    made.change("chats", id=chosen["chat"], fields={"users": members, "name": NEW_NAME, "description": NEW_NAME})


def on_box(move: Move, table: str, row_key: str) -> int:
    ((target,),) = move.world.sql(f"SELECT TargetId FROM {table} WHERE RowKey = ?", row_key)  # noqa: S608
    return int(target)


def test_the_box_without_the_module_follows(by_rest: tuple[Move, dict[str, str]]) -> None:
    move, chosen = by_rest
    box = move.world.box.portal.company
    assert box.departments.row(on_box(move, "Departments", chosen["department"]))["NAME"] == NEW_NAME
    user = box.users.row(on_box(move, "Users", chosen["user"]))
    assert (user["ACTIVE"], user.get("WORK_PHONE") or "") == (False, "")
    owner = on_box(move, "Users", chosen["owner"])
    group = box.groups.row(on_box(move, "Groups", chosen["group"]))
    assert (group["DESCRIPTION"], str(group["OWNER_ID"])) == (NEW_NAME, str(owner))
    chat = box.chats[on_box(move, "Chats", chosen["chat"])]
    assert (chat.name, on_box(move, "Users", chosen["left"]) in chat.members) == (NEW_NAME, False)


def test_the_box_without_the_module_is_left_alone_where_nothing_changed(by_rest: tuple[Move, dict[str, str]]) -> None:
    move, _ = by_rest
    updates = [name for name in move.world.box.portal.stats.methods if name.endswith((".update", ".add", ".delete"))]
    assert updates  # what changed was written
    changed = {(table, key) for table in TABLES for key, row in move.world.records(table).items() if row["Revision"]}
    assert len(changed) == 6
    move.world.box.portal.stats.reset()
    assert move.run(phases=GET_AND_SET).exit_code == 0
    methods = move.world.box.portal.stats.methods
    assert [name for name in methods if name.endswith((".update", ".add", ".delete", ".create"))] == []


def test_what_such_a_box_cannot_change_is_foreseen(by_rest: tuple[Move, dict[str, str]]) -> None:
    move, _ = by_rest
    assert move.run(phases=("verify",)).exit_code == 0
    assert move.unforeseen == []
    assert move.foreseen()["chats", "description"] == 1
