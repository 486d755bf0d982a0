"""Changes that move no date, records that come back, and what a portal counts afterwards."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.b24sim.client import call, control, result

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL
from b24sim.native.task_habits import TaskHabits

Json = Any
PLAN = Plan(seed=5, tasks=40, deals=60, contacts=40, companies=12)


@pytest.fixture
def portal() -> Iterator[Running]:
    with serve(Portal(Company(PLAN), clock=ManualClock())) as running:
        yield running


def mutate(running: Running, stream: str, op: str = "update", **wish: Json) -> list[int]:
    answer = control(running, "mutate", {"stream": stream, "op": op, **wish})
    assert "ids" in answer, answer
    found: list[int] = answer["ids"]
    return found


def item(running: Running, kind: int, number: int) -> Json:
    return result(running, "crm.item.get", {"entityTypeId": kind, "id": number})["item"]


def task(running: Running, number: int) -> Json:
    return result(running, "tasks.task.get", {"taskId": number, "select": ["*"]})["task"]


def dates(row: Json) -> tuple[str, str]:
    return row["changedDate"], row["activityDate"]


# ---------------------------------------------------------------- CRM


def test_a_restored_deal_has_another_id_and_its_old_dates(portal: Running) -> None:
    deals = portal.portal.company.crm.items[DEAL]
    number, highest = deals.ids[5], deals.ids[-1]
    before, rows = item(portal, DEAL, number), portal.portal.company.crm.product_rows(DEAL, number)
    mutate(portal, "crm_deals", "delete", id=number)
    (again,) = mutate(portal, "crm_deals", "restore", id=number)
    assert again > highest
    assert call(portal, "crm.item.get", {"entityTypeId": DEAL, "id": number}).json["error"] == "NOT_FOUND"
    assert item(portal, DEAL, again) == before | {"id": again}
    assert [row["productName"] for row in portal.portal.company.crm.product_rows(DEAL, again)] == [
        row["productName"] for row in rows
    ]


def test_no_id_is_given_twice(portal: Running) -> None:
    last = portal.portal.company.crm.items[DEAL].ids[-1]
    mutate(portal, "crm_deals", "delete", id=last)
    assert mutate(portal, "crm_deals", "add") == [last + 1]
    (chat,) = mutate(portal, "chats", "add")
    (message,) = mutate(portal, "chat_messages", "add", chat=chat)
    mutate(portal, "chat_messages", "delete", chat=chat, id=message, for_good=True)
    assert mutate(portal, "chat_messages", "add", chat=chat) == [message + 1]
    mutate(portal, "chats", "delete", id=chat)
    assert mutate(portal, "chats", "add") == [chat + 1]


def test_files_of_a_restored_record_can_still_be_opened(portal: Running) -> None:
    crm = portal.portal.company.crm
    number = next(n for n in crm.items[DEAL] if any(b"urlMachine" in part for part in [_raw(portal, n)]))
    mutate(portal, "crm_deals", "delete", id=number)
    (again,) = mutate(portal, "crm_deals", "restore", id=number)
    files = [value["id"] for value in item(portal, DEAL, again).values() if isinstance(value, dict) and "url" in value]
    assert files
    assert all(crm.file(file) for file in files)


def _raw(running: Running, number: int) -> bytes:
    return call(running, "crm.item.get", {"entityTypeId": DEAL, "id": number}).body


def test_a_deleted_company_leaves_its_records_without_a_date(portal: Running) -> None:
    crm = portal.portal.company.crm
    gone = crm.items[COMPANY].ids[3]
    deals = {n: row for n in crm.items[DEAL] if (row := crm.items[DEAL].row(n))["companyId"] == gone}
    contacts = {n: row for n in crm.items[CONTACT] if gone in (row := crm.items[CONTACT].row(n))["companyIds"]}
    assert deals
    assert contacts
    mutate(portal, "crm_companies", "delete", id=gone)
    for number, before in deals.items():
        assert item(portal, DEAL, number)["companyId"] == 0
        assert item(portal, DEAL, number)["updatedTime"] == before["updatedTime"]
        assert len(crm.product_rows(DEAL, number)) == len(call_rows(portal, number))
    for number, before in contacts.items():
        after = item(portal, CONTACT, number)
        assert gone not in (after["companyId"], *after["companyIds"])
        assert after["updatedTime"] == before["updatedTime"]


def call_rows(running: Running, number: int) -> Json:
    return result(running, "crm.deal.productrows.get", {"ID": number})


def test_what_is_written_past_a_record_keeps_its_time(portal: Running) -> None:
    number = portal.portal.company.crm.items[CONTACT].ids[4]
    before = item(portal, CONTACT, number)
    mutate(portal, "crm_contacts", id=number, fields={"companyIds": [1, 2], "companyId": 1}, undated=True)
    after = item(portal, CONTACT, number)
    assert (after["companyIds"], after["updatedTime"]) == ([1, 2], before["updatedTime"])
    mutate(portal, "crm_contacts", id=number, fields={"name": "X"})
    assert item(portal, CONTACT, number)["updatedTime"] > before["updatedTime"]


def test_a_deleted_option_empties_values_without_a_date(portal: Running) -> None:
    items = portal.portal.company.crm.items[DEAL]
    field = next(one for one in items.fields if one.kind == "enumeration" and not one.multiple)
    option = field.options[0][0]
    before = {number: items.row(number) for number in items}
    had = items.drop_option(field, option)
    assert had == [number for number, row in before.items() if row[field.code] == option]
    for number, row in before.items():
        after = item(portal, DEAL, number) if number in had else items.row(number)
        if number in had:
            assert after["updatedTime"] == row["updatedTime"]
        assert items.row(number) == row | ({field.code: None} if number in had else {})
    asked = {"moduleId": "crm", "id": field.id}
    options = result(portal, "userfieldconfig.get", asked)["field"]["enum"]
    assert [int(one["id"]) for one in options] == [one[0] for one in field.options[1:]]


# ---------------------------------------------------------------- tasks


def test_checklists_move_no_date_of_their_task(portal: Running) -> None:
    tasks = portal.portal.company.tasks
    number = next(n for n in tasks.table if tasks.checklist_size(n) > 1)
    before, items = task(portal, number), tasks.checklist(number)
    mutate(portal, "task_checklists", task=number, id=items[0]["ID"], fields={"IS_COMPLETE": "Y"})
    mutate(portal, "task_checklists", "add", task=number)
    mutate(portal, "task_checklists", "delete", task=number, id=items[1]["ID"])
    assert dates(task(portal, number)) == dates(before)


def test_a_comment_on_the_forum_dates_the_activity_and_nothing_else_does(portal: Running) -> None:
    number = portal.portal.company.tasks.table.ids[0]
    before, past = task(portal, number), "2020-02-02T10:00:00+03:00"
    (comment,) = mutate(
        portal, "task_comments", "add", task=number, where="forum", fields={"POST_DATE": past, "POST_MESSAGE": "x"}
    )
    after = task(portal, number)
    moments = portal.portal.company.moments
    assert after["changedDate"] == before["changedDate"]
    assert moments.parse(after["activityDate"]) == moments.parse(past)
    mutate(portal, "task_comments", task=number, id=comment, where="forum", fields={"POST_MESSAGE": "y"})
    edited = task(portal, number)
    assert (dates(edited), edited["commentsCount"]) == (dates(after), after["commentsCount"])
    mutate(portal, "task_comments", "delete", task=number, id=comment, where="forum")
    gone = task(portal, number)
    assert (dates(gone), gone["commentsCount"]) == (dates(after), before["commentsCount"])


@pytest.mark.parametrize(
    ("moves", "count", "activity"), [("nothing", 0, False), ("count", 1, False), ("activity", 1, True)]
)
def test_what_a_message_in_the_chat_of_a_task_moves_is_a_switch(moves: str, count: int, activity: bool) -> None:
    habits = TaskHabits(chat_moves=moves)
    with serve(Portal(Company(PLAN), clock=ManualClock(), task_habits=habits)) as running:
        number = next(n for n in running.portal.company.tasks.table if running.portal.company.tasks.chat_of(n))
        before = task(running, number)
        mutate(running, "task_comments", "add", task=number)
        after = task(running, number)
        assert int(after["commentsCount"]) - int(before["commentsCount"]) == count
        assert (after["activityDate"] > before["activityDate"]) is activity
        assert after["changedDate"] == before["changedDate"]


def test_a_task_comes_back_under_its_id_and_its_children_do_not_know(portal: Running) -> None:
    tasks = portal.portal.company.tasks
    parents = {n: int(tasks.table.row(n)["PARENT_ID"] or 0) for n in tasks.table}
    child, number = next((n, above) for n, above in parents.items() if above in tasks.table and above != n)
    before, below, items = task(portal, number), task(portal, child), tasks.checklist(number)
    mutate(portal, "tasks", "delete", id=number)
    assert result(portal, "tasks.task.get", {"taskId": number}) == []
    orphan = task(portal, child)
    assert (orphan["parentId"] or "0") == str(parents[number])
    assert dates(orphan) == dates(below)
    mutate(portal, "tasks", "restore", id=number)
    assert task(portal, number) == before
    assert tasks.checklist(number) == items
    assert task(portal, child)["parentId"] == orphan["parentId"]


def test_an_integration_may_set_the_date_of_a_change(portal: Running) -> None:
    number = portal.portal.company.tasks.table.ids[2]
    before = task(portal, number)
    mutate(portal, "tasks", id=number, fields={"TITLE": "now"})
    moved = task(portal, number)
    assert moved["changedDate"] > before["changedDate"]
    assert moved["activityDate"] == before["activityDate"]
    mutate(portal, "tasks", id=number, fields={"TITLE": "then", "CHANGED_DATE": "2019-01-01T00:00:00+03:00"})
    assert task(portal, number)["changedDate"] < before["changedDate"]


# ---------------------------------------------------------------- chats, groups, users


def dialog(running: Running, chat: int) -> Json:
    return result(running, "im.dialog.get", {"DIALOG_ID": f"chat{chat}"})


def recent(running: Running, chat: int) -> Json:
    rows = result(running, "im.recent.list", {"LIMIT": 200})["items"]
    return next(row for row in rows if row["chat_id"] == chat)


@pytest.mark.parametrize("place", [-1, 0, 7])
def test_a_message_deleted_for_good_is_no_longer_counted(portal: Running, place: int) -> None:
    company = portal.portal.company
    chat = company.chats[5]
    before, ids = dialog(portal, 5), [chat.id_at(one) for one in range(len(chat))]
    rows = {one: company.correspondence.row(chat, at) for at, one in enumerate(ids)}
    gone = ids[place]
    mutate(portal, "chat_messages", "delete", chat=5, id=gone, for_good=True)
    after, left = dialog(portal, 5), [one for one in ids if one != gone]
    assert after["message_count"] == before["message_count"] - 1
    assert after["last_message_id"] == left[-1]
    assert [chat.id_at(one) for one in range(len(chat))] == left
    assert {one: company.correspondence.row(chat, at) for at, one in enumerate(left)} == {
        one: row for one, row in rows.items() if one != gone
    }
    page = result(portal, "im.dialog.messages.get", {"DIALOG_ID": "chat5", "LAST_ID": left[-1] + 1, "LIMIT": 50})
    assert [row["id"] for row in page["messages"]] == left[::-1][:50]
    mutate(portal, "chat_messages", chat=5, id=left[9], fields={"text": "edited"})
    assert company.correspondence.row(chat, 9)["text"] == "edited"


def test_an_edit_is_marked_only_where_others_saw_the_message(portal: Running) -> None:
    chat = portal.portal.company.chats[5]
    first, second = chat.id_at(3), chat.id_at(4)
    before = portal.portal.company.correspondence.row(chat, 4)
    mutate(portal, "chat_messages", chat=5, id=first, fields={"text": "seen"})
    mutate(portal, "chat_messages", chat=5, id=second, fields={"text": "unseen"}, seen=False)
    assert portal.portal.company.correspondence.row(chat, 3)["params"]["IS_EDITED"] == "Y"
    assert portal.portal.company.correspondence.row(chat, 4) == before | {"text": "unseen"}


def test_the_date_of_a_chat_moves_with_an_edit_of_its_last_message_only(portal: Running) -> None:
    chat = portal.portal.company.chats[5]
    before = recent(portal, 5)
    mutate(portal, "chat_messages", chat=5, id=chat.id_at(2), fields={"text": "x"})
    assert recent(portal, 5)["date_update"] == before["date_update"]
    mutate(portal, "chat_messages", chat=5, id=chat.id_at(len(chat) - 1), fields={"text": "x"})
    moved = recent(portal, 5)
    assert moved["date_update"] > before["date_update"]
    assert moved["date_last_activity"] == before["date_last_activity"]
    since = portal.portal.company.moments.iso(portal.portal.clock.now() - 60)
    assert [row["chat_id"] for row in result(portal, "im.recent.get", {"LAST_SYNC_DATE": since})] == [5]
    mutate(portal, "chat_messages", "delete", chat=5, id=chat.id_at(len(chat) - 1), for_good=True)
    assert recent(portal, 5)["date_update"] <= before["date_update"]
    assert result(portal, "im.recent.get", {"LAST_SYNC_DATE": "rubbish"}) == result(portal, "im.recent.get")


def test_the_date_of_a_group_moves_only_where_it_is_named(portal: Running) -> None:
    number = portal.portal.company.groups.ids[0]
    before = portal.portal.company.groups.row(number)["DATE_UPDATE"]
    mutate(portal, "groups", id=number, fields={"NAME": "Another"})
    mutate(portal, "group_members", "add", group=number, user=7)
    row = portal.portal.company.groups.row(number)
    assert (row["NAME"], row["DATE_UPDATE"]) == ("Another", before)
    mutate(portal, "groups", id=number, fields={"DATE_UPDATE": "2026-11-01T00:00:00+03:00"})
    assert portal.portal.company.groups.row(number)["DATE_UPDATE"] > before


def test_a_login_is_no_change_of_the_profile(portal: Running) -> None:
    since = portal.portal.company.moments.iso(portal.portal.clock.now() - 1)
    asked = {"FILTER": {">=TIMESTAMP_X": since}}
    mutate(portal, "users", id=3, fields={"LAST_LOGIN": since, "IS_ONLINE": "Y"}, undated=True)
    assert result(portal, "user.get", asked) == []
    mutate(portal, "users", id=3, fields={"WORK_POSITION": "x"})
    assert [row["ID"] for row in result(portal, "user.get", asked)] == ["3"]
