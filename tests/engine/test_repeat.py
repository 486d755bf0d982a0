"""Run as often as you like: nothing is doubled, and only what changed is sent again."""

from __future__ import annotations

from typing import Any

from tests.engine.world import World

from b24migrate.engine.state import States
from b24migrate.ports import INVENTORY


def first_message(world: World) -> tuple[str, str]:
    """One of user 1 that carries nothing."""
    ((key,),) = world.sql(
        "SELECT RowKey FROM ChatMessages WHERE Payload LIKE '%\"author_id\":1,%' AND Payload LIKE '%\"params\":[]%'"
        " ORDER BY RowKey LIMIT 1"
    )
    chat, _, number = key.partition(":")
    return chat, number


def test_a_whole_migration_is_clean(talk: World) -> None:
    assert all(talk.entity(name).verified for name in ("users", "groups", "chats"))
    assert set(talk.effects().values()) <= {(1, 0), (1, 1)}
    assert talk.box.portal.imports.order_violations == 0
    assert talk.box.portal.imports.digest_mismatches == 0


def test_get_twice_changes_nothing(small: World) -> None:
    def staged() -> dict[str, Any]:
        columns = ("Ord", "Status", "Payload", "PayloadHash", "Attempts", "TargetId", "ImportedAtUtc", "Revision")
        tables = ("Users", "Departments", "Groups", "GroupMembers", "Chats", "ChatMessages", "Files")
        return {table: small.table(table, *columns) for table in tables}

    small.run()
    before = staged()
    small.run(phases=("get",))
    assert staged() == before
    assert {row["Status"] for rows in before.values() for row in rows} == {"IMPORT_OK"}


def test_set_twice_sends_nothing_new(small: World) -> None:
    small.run()
    before = small.effects()
    small.box.portal.stats.reset()
    small.run(phases=("set",))
    sent = {name for name in small.box.portal.stats.methods if name.endswith((".batch", ".put"))}
    assert sent == set()
    assert small.effects() == before


def test_a_further_run_changes_nothing_on_the_box(talk: World) -> None:
    before = talk.effects()
    assert talk.run().exit_code == 0
    assert talk.effects() == before


def test_an_edited_message_is_imported_again(talk: World) -> None:
    chat, number = first_message(talk)
    talk.change("chat_messages", id=int(number), chat=int(chat), fields={"text": "Исправлено"})
    assert talk.run().exit_code == 0
    row = talk.imported("chat_messages")[f"source:chat:msg:{number}"]
    assert (row["created_count"], row["updated_count"], row["fields"]["text"]) == (1, 1, "Исправлено")
    revisions = [(key, one["Revision"]) for key, one in talk.records("ChatMessages").items() if one["Revision"]]
    assert revisions == [(f"{chat}:{number}", 1)]


def test_a_counter_that_changed_is_no_change(talk: World) -> None:
    before = talk.effects()
    chat, number = first_message(talk)
    talk.change("chat_messages", id=int(number), chat=int(chat), fields={"params": [], "unread": True})
    talk.run()
    assert not [one for one in talk.records("ChatMessages").values() if one["Revision"]]
    assert talk.effects() == before


def test_what_appears_later_is_fetched_by_the_next_run(talk: World) -> None:
    before = talk.effects()
    (user,) = talk.change("users", "add")
    (group,) = talk.change("groups", "add", fields={"OWNER_ID": user, "NAME": "Новая"})
    (message,) = talk.change("chat_messages", "add")
    assert talk.run().exit_code == 0
    after = talk.effects()
    news = {f"source:users:{user}", f"source:groups:{group}", f"source:chat:msg:{message}"}
    assert after.keys() - before.keys() == news | {f"source:group_members:{group}:{user}"}
    assert {key: after[key] for key in before} == before


def test_of_all_that_was_counted_one_is_the_latest(talk: World) -> None:
    talk.clock.sleep(60)
    assert talk.run("users").exit_code == 0
    counted = talk.sql("SELECT count(*), sum(IsLatest), max(IsLatest) FROM SourceInventory WHERE Stream = 'users'")
    assert counted == [(2, 1, 1)]


def test_how_a_stream_was_read_is_kept_as_earlier_versions_wrote_it(talk: World) -> None:
    """Where it is spelled otherwise, all is read again."""
    with talk.app() as app:
        kept = States(app.context.store).read("chats").counts["readings"]
    assert kept["chats"] == "im.recent.list"
    assert kept["chat_messages"] == "im.dialog.messages.get down"


def test_of_several_inventories_the_last_is_the_latest(talk: World) -> None:
    talk.clock.sleep(60)
    assert talk.run("users", phases=("get",)).exit_code == 0
    with talk.app() as app:
        rows = sorted(
            app.context.store.rows(INVENTORY, prefix="users:"), key=lambda row: str(row.values["SnapshotUtc"])
        )
    assert [row.values["IsLatest"] for row in rows] == [0, 1]
