"""im.*, files and downloads."""

from typing import Any

import pytest
from tests.b24sim.client import call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.other_chats import FIRST_CHAT_ID
from b24sim.message_habits import MessageHabits


def recent(running: Running, user: int = 1) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    while True:
        page = result(running, "im.recent.list", {"OFFSET": len(items), "LIMIT": 20}, user)
        items += page["items"]
        if not page["hasMore"]:
            return items


def history(running: Running, dialog: str, user: int = 1) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        cursor = rows[0]["id"] if rows else 0
        page = result(running, "im.dialog.messages.get", {"DIALOG_ID": dialog, "LAST_ID": cursor, "LIMIT": 50}, user)
        if not page["messages"]:
            return rows
        rows = page["messages"][::-1] + rows


def test_the_recent_list_holds_ones_own_chats(cloud: Running) -> None:
    items = recent(cloud)
    mine = {chat.id for chat in cloud.portal.company.chats.values() if 1 in chat.members and chat.kind not in "AT"}
    assert {item["chat_id"] for item in items} == mine
    assert mine < set(cloud.portal.company.chats)
    pinned = [item["pinned"] for item in items]
    assert pinned == sorted(pinned, reverse=True)
    ordinary = [item["date_last_activity"] for item in items if not item["pinned"]]
    assert ordinary == sorted(ordinary, reverse=True)
    assert {type(item["id"]) for item in items if item["type"] == "user"} == {int}
    reply = call(cloud, "im.recent.list", {"LIMIT": 1}).json
    assert reply["total"] == -1


def test_the_recent_list_holds_every_kind_but_comments(cloud: Running) -> None:
    """Talks with the assistant come only where they are asked for; chats of groups go by two names."""

    def kinds(**params: str) -> set[str]:
        items = result(cloud, "im.recent.list", {"LIMIT": 200, **params})["items"]
        return {item["chat"].get("message_type", "P") for item in items}

    assert kinds() >= {"P", "C", "O", "N", "L", "B", "S"}
    assert not kinds() & {"A", "T"}
    assert kinds(ONLY_COPILOT="Y") == {"A"}
    assert "L" not in kinds(SKIP_OPENLINES="Y")
    items = recent(cloud)
    assert {str(item["id"])[:2] for item in items if item["type"] == "chat"} == {"ch", "sg"}
    assert {item["chat"]["type"] for item in items if "lines" in item} == {"lines", "livechat"}


def test_comments_under_a_post_are_a_chat_of_their_own(cloud: Running) -> None:
    thread = next(chat for chat in cloud.portal.company.chats.values() if chat.kind == "T")
    answer = result(cloud, "im.dialog.get", {"DIALOG_ID": thread.dialog_id})
    assert (answer["type"], answer["parent_chat_id"], answer["parent_message_id"]) == ("comment", *thread.parent)
    assert result(cloud, "im.dialog.get", {"DIALOG_ID": f"chat{thread.parent[0]}"})["message_type"] in {"N", "J"}


def test_closed_chats_are_closed_even_to_administrators(cloud: Running) -> None:
    foreign = next(chat for chat in cloud.portal.company.chats.values() if 1 not in chat.members and chat.kind == "C")
    for method in ("im.dialog.get", "im.dialog.messages.get"):
        reply = call(cloud, method, {"DIALOG_ID": foreign.dialog_id})
        assert (reply.status, reply.json["error"]) == (403, "ACCESS_ERROR")
    assert result(cloud, "im.chat.user.list", {"CHAT_ID": foreign.id}) == []
    assert call(cloud, "im.dialog.get").json["error"] == "DIALOG_ID_EMPTY"


def test_open_chats_are_open_to_employees(cloud: Running) -> None:
    company = cloud.portal.company
    chat = next(chat for chat in company.chats.values() if chat.kind == "O" and 5 not in chat.members)
    assert result(cloud, "im.dialog.get", {"DIALOG_ID": chat.dialog_id}, user=5)["role"] == "guest"


def test_dialogs_have_three_kinds_of_names(cloud: Running) -> None:
    company = cloud.portal.company
    private = next(chat for chat in company.chats.values() if chat.kind == "P" and 1 in chat.members)
    peer = next(user for user in private.members if user != 1)
    assert result(cloud, "im.dialog.get", {"DIALOG_ID": str(peer)})["id"] == private.id
    group = next(group for group in company.groups_by_id.values() if group.chat)
    assert result(cloud, "im.dialog.get", {"DIALOG_ID": f"sg{group.id}"})["entity_id"] == str(group.id)
    kinds = {chat.type for chat in company.chats.values()}
    assert kinds >= {"private", "chat", "open", "channel", "openChannel", "sonetGroup", "tasksTask"}


def test_a_whole_history_can_be_walked_down(cloud: Running) -> None:
    rows = history(cloud, "chat5")
    ids = [row["id"] for row in rows]
    about = result(cloud, "im.dialog.get", {"DIALOG_ID": "chat5"})
    assert ids == sorted(set(ids))
    assert (len(ids), ids[-1]) == (about["message_count"], about["last_message_id"])
    down = result(cloud, "im.dialog.messages.get", {"DIALOG_ID": "chat5", "LAST_ID": 0, "LIMIT": 50})["messages"]
    assert [row["id"] for row in down] == ids[:-51:-1]
    older = result(cloud, "im.dialog.messages.get", {"DIALOG_ID": "chat5", "LAST_ID": ids[10], "LIMIT": 500})[
        "messages"
    ]
    assert [row["id"] for row in older] == ids[9::-1]
    dates = [row["date"] for row in rows]
    assert dates == sorted(dates)


def test_upwards_there_is_no_order_and_from_nothing_the_newest_come_along(cloud: Running) -> None:
    ids = [row["id"] for row in history(cloud, "chat5")]
    asked = {"DIALOG_ID": "chat5", "FIRST_ID": ids[9], "LIMIT": 50}
    above = [row["id"] for row in result(cloud, "im.dialog.messages.get", asked)["messages"]]
    assert above != sorted(above)
    assert sorted(above) == ids[10:60]
    first = [row["id"] for row in result(cloud, "im.dialog.messages.get", asked | {"FIRST_ID": 0})["messages"]]
    assert set(ids[:50]) < set(first)
    assert ids[-1] in first


@pytest.mark.parametrize(
    "habits",
    [MessageHabits("oldest"), MessageHabits("mixed"), MessageHabits(pages="short"), MessageHabits(pages="unread")],
)
def test_pages_have_other_habits_on_other_portals(habits: MessageHabits) -> None:
    portal = Portal(Company(Plan(chats=4, messages=900, seed=2)), clock=ManualClock(), message_habits=habits)
    chat = max(portal.company.chats.values(), key=len)
    with serve(portal) as running:
        asked = {"DIALOG_ID": chat.dialog_id, "LAST_ID": chat.id_at(len(chat) - 20), "LIMIT": 50}
        rows = result(running, "im.dialog.messages.get", asked)["messages"]
    ids = [row["id"] for row in rows]
    assert (ids == sorted(ids)) == (habits.order == "oldest")
    assert (ids == sorted(ids, reverse=True)) == (habits.pages == "short")
    assert [row["id"] for row in rows if row["unread"]] == (
        [chat.id_at(len(chat) - 1), chat.id_at(len(chat) - 2)] if habits.pages == "unread" else []
    )
    assert (len(ids) < 50) == (habits.pages == "short")


def test_counters_of_messages_drift(cloud: Running) -> None:
    off = {
        chat.id: result(cloud, "im.dialog.get", {"DIALOG_ID": chat.dialog_id})["message_count"] - len(chat)
        for chat in cloud.portal.company.chats.values()
        if chat.kind != "P" and 1 in chat.members
    }
    assert any(off.values())
    assert sum(map(bool, off.values())) < len(off) / 5


def test_without_a_cursor_there_are_more_than_asked_for(cloud: Running) -> None:
    assert len(result(cloud, "im.dialog.messages.get", {"DIALOG_ID": "chat5", "LIMIT": 10})["messages"]) > 10
    refused = call(cloud, "im.dialog.messages.get", {"DIALOG_ID": "chat5", "FIRST_ID": "abc"})
    assert (refused.status, refused.json["error"]) == (400, "FIRST_ID_STRING")


def test_messages_come_in_all_sorts(cloud: Running) -> None:
    rows = history(cloud, "chat5")
    texts = "\n".join(row["text"] for row in rows)
    for piece in ("$result[", "<script>", "[USER=", "😀", "[CODE]"):
        assert piece in texts
    assert max(len(row["text"]) for row in rows) > 65_536
    params = [row["params"] for row in rows]
    assert [] in params
    for key in ("IS_EDITED", "IS_DELETED", "LIKE", "CODE", "FILE_ID"):
        assert any(key in value for value in params if value)
    assert any(row["author_id"] == 0 and row["uuid"] is None for row in rows)


def test_chats_are_of_very_uneven_length(cloud: Running) -> None:
    lengths = sorted(len(chat) for chat in cloud.portal.company.chats.values() if chat.id < FIRST_CHAT_ID)
    assert lengths[0] == 0
    assert lengths[-1] > 10 * lengths[len(lengths) // 2]
    assert sum(lengths) == 3000


def test_authors_and_files_come_with_the_page(cloud: Running) -> None:
    files = authors = 0
    cursor = 0
    for _ in range(5):
        page = result(cloud, "im.dialog.messages.get", {"DIALOG_ID": "chat5", "LAST_ID": cursor, "LIMIT": 50})
        wanted = [number for row in page["messages"] for number in (row["params"] or {}).get("FILE_ID", [])]
        assert [file["id"] for file in page["files"]] == wanted
        assert {user["id"] for user in page["users"]} == {row["author_id"] for row in page["messages"]} - {0}
        files, authors, cursor = files + len(wanted), authors + len(page["users"]), page["messages"][-1]["id"]
    assert files
    assert authors


def test_files_can_be_fetched_with_the_right_link_only(cloud: Running) -> None:
    record = control(cloud, "dump?stream=files&visible_to=1")["records"][0]["fields"]
    about = result(cloud, "disk.file.get", {"id": record["id"]})
    assert about["SIZE"] == str(record["size"])
    agent = {"User-Agent": "test/1"}
    assert len(send(about["DOWNLOAD_URL"], headers=agent).body) == record["size"]
    wrong = send(about["DOWNLOAD_URL"] + "x", headers=agent)
    assert (wrong.status, wrong.headers["content-type"].startswith("text/html")) == (200, True)
    assert send(about["DOWNLOAD_URL"], headers={"User-Agent": ""}).status == 404
    session = send(record["urlDownload"], headers=agent)
    assert session.body.startswith(b"<!DOCTYPE html>")
    once = result(cloud, "im.v2.File.download", {"dialogId": f"chat{record['chatId']}", "fileId": record["id"]})[
        "downloadUrl"
    ]
    assert len(send(once, headers=agent).body) == record["size"]
    assert send(once, headers=agent).body.startswith(b"<!DOCTYPE html>")
    assert call(cloud, "disk.file.get", {"id": 1}).json["error"] == "ERROR_NOT_FOUND"


def test_foreign_files_are_denied_and_some_files_are_empty(cloud: Running) -> None:
    everything = control(cloud, "dump?stream=files")["records"]
    mine = {record["id"] for record in control(cloud, "dump?stream=files&visible_to=1")["records"]}
    assert len(everything) == 60
    assert any(record["fields"]["size"] == 0 for record in everything)
    foreign = [record["id"] for record in everything if record["id"] not in mine]
    assert all(call(cloud, "disk.file.get", {"id": number}).json["error"] == "ACCESS_DENIED" for number in foreign)


def test_pictures_are_public(cloud: Running) -> None:
    company = cloud.portal.company
    user = next(row for number in company.users if "PERSONAL_PHOTO" in (row := company.users.row(number)))
    photo = send(user["PERSONAL_PHOTO"])
    assert (photo.status, photo.headers["content-type"], photo.body[:4]) == (200, "image/png", b"\x89PNG")
    group = next(row for number in company.groups if "IMAGE" in (row := company.groups.row(number)))
    assert send(group["IMAGE"]).status == 200
    assert send(f"{cloud.url}/upload/main/999999/photo.png").status == 404


def test_members_as_ids_and_as_objects(cloud: Running) -> None:
    company = cloud.portal.company
    chat = next(
        chat for chat in company.chats.values() if 1 in chat.members and not all(map(company.is_active, chat.members))
    )
    assert sorted(result(cloud, "im.chat.user.list", {"CHAT_ID": chat.id})) == sorted(chat.members)
    shown = result(cloud, "im.dialog.users.list", {"DIALOG_ID": chat.dialog_id, "LIMIT": 200})
    assert {user["id"] for user in shown} == {user for user in chat.members if company.is_active(user)}
    after = call(cloud, "im.dialog.users.list", {"DIALOG_ID": chat.dialog_id, "LAST_ID": shown[0]["id"]}).json
    assert "total" not in after


def test_the_search_doubles_as_a_pager(cloud: Running) -> None:
    page = result(cloud, "im.dialog.messages.search", {"CHAT_ID": 5, "ORDER": {"ID": "ASC"}, "LIMIT": 200})
    assert len(page["messages"]) == 200
    assert page["messages"][0]["chatId"] == 5
    found = result(cloud, "im.dialog.messages.search", {"CHAT_ID": 5, "SEARCH_MESSAGE": "script"})
    assert found["messages"]
    assert all("script" in row["text"] for row in found["messages"])
    assert result(cloud, "im.dialog.messages.search", {"CHAT_ID": 5, "LIMIT": 200, "ORDER": {"ID": "ASC"}})["reactions"]


def test_entities_resolve_to_chats_and_nothing_is_listed(cloud: Running) -> None:
    task = next(chat for chat in cloud.portal.company.chats.values() if chat.entity_type == "TASKS_TASK")
    assert result(cloud, "im.chat.get", {"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": task.entity_id}) == {"ID": task.id}
    assert result(cloud, "im.chat.get", {"CHAT_ID": 5}) is None
    assert call(cloud, "im.chat.message.list", {"CHAT_ID": 5}).status == 404
    assert result(cloud, "im.search.chat.list", {"FIND": task.name[:4]})
    assert result(cloud, "im.user.get", {"ID": 7})["id"] == 7
    assert result(cloud, "im.user.list.get", {"ID": [7, 10**6]})[str(10**6)] is None


def test_some_portals_list_chats() -> None:
    plan = Plan(users=80, chats=70, messages=500, seed=2)
    with serve(Portal(Company(plan), listing_chats=True, clock=ManualClock())) as running:
        assert result(running, "method.get", {"name": "im.chat.message.list"})["isExisting"] is True
        first = call(running, "im.chat.get", {"start": 0}).json
        rest = call(running, "im.chat.get", {"start": first["next"]}).json
        chats = first["result"] + rest["result"]
        assert len(chats) == first["total"] == rest["total"]
        longest = max(chats, key=lambda chat: int(chat["message_count"]))
        page = call(running, "im.chat.message.list", {"CHAT_ID": longest["id"], "OFFSET": 10, "LIMIT": 50}).json
        assert page["total"] == longest["message_count"]
        assert [row["id"] for row in page["result"]["messages"]] == [
            row["id"] for row in history(running, longest["dialog_id"])
        ][10:60]


def test_bots_write_but_are_no_users() -> None:
    portal = Portal(Company(Plan(messages=2000, bots=1, seed=4)), clock=ManualClock())
    with serve(portal) as running:
        bot = portal.company.bots[0]
        assert result(running, "user.get", {"FILTER": {"ID": bot}, "ADMIN_MODE": 1}) == []
        assert result(running, "im.user.get", {"ID": bot})["bot"] is True
        assert any(row["author_id"] == bot for row in history(running, "chat5"))


@pytest.mark.parametrize("zone", ["Europe/Moscow", "Europe/Berlin", "Asia/Kolkata"])
def test_times_are_written_in_the_servers_zone(zone: str) -> None:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from b24sim.moments import Moments

    moments = Moments(zone)
    for unix in range(1_700_000_000, 1_740_000_000, 1_234_567):
        assert moments.iso(unix) == datetime.fromtimestamp(unix, ZoneInfo(zone)).isoformat()
