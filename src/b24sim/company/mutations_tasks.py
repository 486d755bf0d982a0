"""Daily changes of tasks, their checklists and comments."""

from typing import Any

from b24sim.company import tasks_changes as changes
from b24sim.company.message_changes import DELETED_TEXT
from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, RESTORED, Day
from b24sim.company.plan import DAY
from b24sim.table import Row

NEW_CARD = ("chat", "chat", "forum")


def change_tasks(day: Day) -> None:
    company, table = day.company, day.company.tasks.table
    for number in day.some(table.ids):
        trap = day.kind(("", "", "", "changed_date_set"))
        fields: Row = day.one((
            {"TITLE": f"Задача {day.word()}"},
            {"DEADLINE": int(day.now()) + day.chance.randrange(30 * DAY), "TAGS": [day.word()]},
            {"DESCRIPTION": f"Описание {day.word()}", "PRIORITY": str(day.chance.randrange(3))},
        ))  # fmt: skip
        if trap:
            fields["CHANGED_DATE"] = int(table.row(number)["CHANGED_DATE"]) - day.chance.randrange(1, 30 * DAY)
        changes.update_task(company, day.now(), {"id": number, "fields": fields})
        day.report.note("tasks", CHANGED, number, trap)
    staff = day.staff() or [1]
    for _ in range(day.amount(len(table), CREATIONS)):
        fields = {"TITLE": f"Задача {day.word()}", "CREATED_BY": "1", "RESPONSIBLE_ID": str(day.one(staff))}
        with_chat = company.plan.new_card or day.one(NEW_CARD) == "chat"
        (number,) = changes.add_task(company, day.now(), {"fields": fields, "chat": with_chat})
        day.report.note("tasks", CREATED, number)
        chat = company.tasks.chat_of(number)
        if chat:
            day.report.note("chats", CREATED, chat.id)
    gone: set[int] = set()
    for number in day.some(table.ids, DELETIONS):
        _note_parts(day, number, DELETED)
        changes.delete_task(company, day.now(), {"id": number, "children": False})
        day.report.note("tasks", DELETED, number)
        gone.add(number)
    for number in changes.raise_children(company, gone) if gone else ():
        day.report.note("tasks", CHANGED, number, "parent_deleted")
    kept = [number for number in sorted(company.tasks.recycled) if number not in gone]
    for number in kept[: day.amount(len(table), RESTORED)] if day.wants("task_restored") else ():
        changes.restore_task(company, day.now(), {"id": number})
        day.report.note("tasks", CREATED, number, "task_restored", as_it_was=True)
        _note_parts(day, number, CREATED)


def _note_parts(day: Day, number: int, done: str) -> None:
    """What goes and comes with a task."""
    tasks = day.company.tasks
    for item in tasks.checklist(number):
        day.report.note("task_checklists", done, f"{number}:{item['ID']}", as_it_was=True)
    copies = set()
    for row in tasks.forum(number):
        copies.add(tasks.message_of(number, row["ID"]))
        day.report.note("task_comments", done, f"{number}:f{row['ID']}", as_it_was=True)
    chat = tasks.chat_of(number)
    if chat is None:
        return
    day.report.note("chats", done, chat.id, as_it_was=True)
    for message in map(chat.id_at, range(len(chat))):
        day.report.note("chat_messages", done, f"{chat.id}:{message}", as_it_was=True)
        if message not in copies:
            day.report.note("task_comments", done, f"{number}:m{message}", as_it_was=True)


def change_checklists(day: Day) -> None:
    company = day.company
    for number in day.some(company.tasks.table.ids) if day.wants("checklist") else ():
        items = company.tasks.checklist(number)
        change = day.kind(("tick", "rename", "add", "delete")) if items else "add"
        wish: dict[str, Any] = {"task": number}
        if change == "add":
            wish["fields"] = {"TITLE": f"Пункт {day.word()}", "PARENT_ID": items[0]["ID"] if items else 0}
            (item,) = changes.add_item(company, day.now(), wish)
            day.report.note("task_checklists", CREATED, f"{number}:{item}", "checklist")
            continue
        above = {item["PARENT_ID"] for item in items}
        chosen = day.one(items)
        item = wish["id"] = chosen["ID"]
        if change == "delete" and item not in above:
            changes.delete_item(company, day.now(), wish)
            day.report.note("task_checklists", DELETED, f"{number}:{item}", "checklist")
            continue
        ticked = {"IS_COMPLETE": not chosen["IS_COMPLETE"]}
        wish["fields"] = ticked if change == "tick" else {"TITLE": f"Пункт {day.word()}"}
        changes.update_item(company, day.now(), wish)
        day.report.note("task_checklists", CHANGED, f"{number}:{item}", "checklist")


def change_comments(day: Day) -> None:
    company = day.company
    for number in day.some(company.tasks.table.ids):
        _say(day, number)
    for number in day.some(company.tasks.table.ids):
        _change_comment(day, number)


def _say(day: Day, number: int) -> None:
    company, text = day.company, f"Комментарий {day.word()}"
    chat = company.tasks.chat_of(number)
    wish: dict[str, Any] = {"task": number}
    if chat and not day.wants("comment_in_chat"):
        return
    if chat:
        wish["fields"] = {"text": text, "author_id": day.one(chat.members)}
        (message,) = changes.add_comment(company, day.now(), wish)
        trap = "" if company.task_chat_moves == "activity" else "comment_in_chat"
        day.report.note("task_comments", CREATED, f"{number}:m{message}", trap)
        day.report.note("chat_messages", CREATED, f"{chat.id}:{message}")
        return
    trap = day.kind(("", "", "comment_dated_back"))
    wish["fields"] = {"POST_MESSAGE": text}
    if trap:
        wish["fields"]["POST_DATE"] = company.moments.iso(day.now() - day.chance.randrange(DAY, 90 * DAY))
    (comment,) = changes.add_comment(company, day.now(), wish)
    day.report.note("task_comments", CREATED, f"{number}:f{comment}", trap)


def _change_comment(day: Day, number: int) -> None:
    """Comments that were copied into the chat are left alone: there they would be two."""
    company, tasks = day.company, day.company.tasks
    forum = [row["ID"] for row in tasks.forum(number) if tasks.message_of(number, row["ID"]) is None]
    chat, deletes = tasks.chat_of(number), day.chance.random() < DELETIONS
    if forum:
        comment = day.one(forum)
        wish = {"task": number, "id": comment, "where": "forum", "fields": {"POST_MESSAGE": f"Правка {day.word()}"}}
        if deletes and day.wants("comment_deleted"):
            changes.delete_comment(company, day.now(), wish)
            day.report.note("task_comments", DELETED, f"{number}:f{comment}", "comment_deleted")
        elif day.wants("comment_edited"):
            changes.update_comment(company, day.now(), wish)
            day.report.note("task_comments", CHANGED, f"{number}:f{comment}", "comment_edited")
    elif chat and len(chat):
        copies = {tasks.message_of(number, row["ID"]) for row in tasks.forum(number)}
        place = day.chance.randrange(len(chat))
        row = company.correspondence.row(chat, place)
        if row["author_id"] and row["text"] != DELETED_TEXT and row["id"] not in copies and "LIKE" not in row["params"]:
            trap = "message_deleted" if deletes else "message_edited"
            wish = {"task": number, "id": row["id"], "where": "chat", "fields": {"text": f"Правка {day.word()}"}}
            (changes.delete_comment if deletes else changes.update_comment)(company, day.now(), wish)
            day.report.note("task_comments", CHANGED, f"{number}:m{row['id']}", trap)
            day.report.note("chat_messages", CHANGED, f"{chat.id}:{row['id']}", trap)
