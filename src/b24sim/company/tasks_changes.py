"""Tasks, items of their checklists and comments appear, change and go while a portal is read."""

from typing import Any

from b24sim.company import tasks_fields as fields
from b24sim.company.chats import TASK, Chat
from b24sim.company.company import Company
from b24sim.company.message_changes import add_message, delete_message, update_message
from b24sim.company.tasks import ENTITY
from b24sim.company.tasks_crew import parent_of, place_of
from b24sim.company.tasks_rows import derived
from b24sim.errors import RestError
from b24sim.table import Row

TIMES = {*fields.TIMES, *fields.CUSTOM_TIMES}
FLAGS = ("IS_COMPLETE", "IS_IMPORTANT")
FLAGS_OF_TASKS = (
    *("MULTITASK", "NOT_VIEWED", "REPLICATE", "TASK_CONTROL", "MATCH_WORK_TIME", "FAVORITE"),
    *("ALLOW_CHANGE_DEADLINE", "ALLOW_TIME_TRACKING"),
)

FIRST_TOPIC = 100_000


def add_task(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """`fields` in upper case, as a filter names them; `chat` false makes a task of the old kind."""
    tasks = company.tasks
    number = int(wish.get("id") or max(tasks.table.next_id(), 1_000))
    tasks.own_checklists.pop(number, None)
    tasks.own_comments.pop(number, None)
    row: Row = dict.fromkeys(fields.PLAIN) | dict.fromkeys((*fields.SYSTEM, *fields.CUSTOM))
    row |= dict.fromkeys(FLAGS_OF_TASKS, "N")
    row |= {
        "ID": str(number), "TITLE": f"Новая задача {number}", "DESCRIPTION": "", "DESCRIPTION_IN_BBCODE": "Y",
        "STATUS": "2", "PRIORITY": "1", "GROUP_ID": "0", "CREATED_BY": "1", "RESPONSIBLE_ID": "1", "CHANGED_BY": "1",
        "ACCOMPLICES": [], "AUDITORS": [], "COMMENTS_COUNT": "0", "SERVICE_COMMENTS_COUNT": "0", "_TAGS": [],
        "CREATED_DATE": int(now), "CHANGED_DATE": int(now), "ACTIVITY_DATE": int(now), "TIME_ESTIMATE": "0",
        fields.CRM: False, fields.FILES: False,
    }  # fmt: skip
    row |= _wished_fields(company, wish)
    if wish.get("chat", True):
        row["CHAT_ID"] = _new_chat(company, now, row)
    tasks.table.put(number, derived(row))
    return [number]


def _new_chat(company: Company, now: float, row: Row) -> int:
    people = (row["CREATED_BY"], row["RESPONSIBLE_ID"], *row["ACCOMPLICES"], *row["AUDITORS"])
    members = [user for user in dict.fromkeys(int(user) for user in people) if user in company.users] or [1]
    number = company.next_chat()
    chat = Chat(number, 0, TASK, row["TITLE"], members[0], members, started=now)
    chat.entity_type, chat.entity_id = ENTITY, row["ID"]
    company.chats[number] = chat
    company.chats_version += 1
    return number


def update_task(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """CHANGED_DATE moves, unless an integration names another one; ACTIVITY_DATE does not (kernel 25.100)."""
    number = _known(company, wish.get("id"))
    moved = {"CHANGED_DATE": int(now)}
    company.tasks.table.put(number, derived(company.tasks.table.row(number) | moved | _wished_fields(company, wish)))
    return [number]


def delete_task(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """Its chat goes with it, and what was attached cannot be opened any more. `"children": false` leaves what is below
    it to `raise_children`."""
    number, tasks = _known(company, wish.get("id")), company.tasks
    chat = tasks.chat_of(number)
    tasks.recycled[number] = (tasks.table.row(number), chat)
    if chat:
        del company.chats[chat.id]
        company.chats_version += 1
    tasks.table.remove(number)
    if wish.get("children", True):
        raise_children(company, {number})
    return [number]


def restore_task(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """From the recycle bin: with the id and the dates it had (kernel 25.100), its checklists and comments."""
    number = int(wish.get("id", 0))
    if number not in company.tasks.recycled:
        raise RestError("ERROR_NOT_FOUND", f"no deleted task {number}", 404)
    row, chat = company.tasks.recycled.pop(number)
    if chat:
        company.chats[chat.id] = chat
        company.chats_version += 1
    company.tasks.table.put(number, row)
    return [number]


def raise_children(company: Company, gone: set[int]) -> list[int]:
    """What was below deleted tasks moves up to theirs, or to nothing: written in the table, without a date
    (kernel 25.100). Answers which tasks these are."""
    table, moved = company.tasks.table, []
    for number in table:
        own, place = table.changed(number), place_of(company, number)
        parent = int(own["PARENT_ID"] or 0) if own else parent_of(company, place) if place is not None else 0
        if parent in gone:
            above = int(company.tasks.recycled[parent][0]["PARENT_ID"] or 0)
            above = 0 if above in gone or above == number else above
            table.put(number, derived(table.row(number) | {"PARENT_ID": str(above) if above else None}))
            moved.append(number)
    return moved


def add_item(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """`task` says where; `fields` are those of task.checklistitem.getlist. Whatever happens to an item moves no date of
    the task (kernel 25.100)."""
    task = _known(company, wish.get("task", next(iter(company.tasks.table), None)))
    items = _own_items(company, task)
    number = int(wish.get("id") or company.tasks.next_item())
    row: Row = {
        "ID": number, "TASK_ID": task, "PARENT_ID": 0, "CREATED_BY": 1, "TITLE": f"Новый пункт {number}",
        "SORT_INDEX": len(items), "IS_COMPLETE": False, "IS_IMPORTANT": False, "TOGGLED_BY": 0, "TOGGLED_DATE": None,
        "MEMBERS": {}, "ATTACHMENTS": [],
    }  # fmt: skip
    items.append(row | _item(company, wish))
    return [number]


def update_item(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    task, place = _item_place(company, wish)
    items = _own_items(company, task)
    items[place] = items[place] | _item(company, wish)
    return [int(wish["id"])]


def delete_item(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    task, place = _item_place(company, wish)
    del _own_items(company, task)[place]
    return [int(wish["id"])]


def add_comment(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """To the task's chat, or to the forum where there is none or `where` is forum. CHANGED_DATE does not move;
    ACTIVITY_DATE becomes that of the comment on the forum, which may lie in the past (kernel 25.100). What a message
    in the chat moves is not documented (tasks-new.md): `Company.task_chat_moves`."""
    tasks = company.tasks
    task = _known(company, wish.get("task", next(iter(tasks.table), None)))
    chat = None if wish.get("where") == "forum" else tasks.chat_of(task)
    count = str(int(tasks.table.row(task)["COMMENTS_COUNT"]) + 1)
    if chat:
        moved: dict[str, Row] = {
            "count": {"COMMENTS_COUNT": count},
            "activity": {"COMMENTS_COUNT": count, "ACTIVITY_DATE": int(now)},
        }
        _touch(company, task, **moved.get(company.task_chat_moves, {}))
        return add_message(company, now, {"chat": chat.id, "fields": wish.get("fields", {})})
    number = tasks.next_comment()
    row: Row = {"ID": number, "AUTHOR_ID": 1, "POST_DATE": int(now), "POST_MESSAGE": f"Новый комментарий {number}"}
    row |= {"ATTACHED": []} | _comment(company, wish)
    _own_comments(company, task).append(row)
    topic = tasks.table.row(task)["FORUM_TOPIC_ID"] or str(FIRST_TOPIC + task)
    at = int(row["POST_DATE"])
    _touch(company, task, FORUM_TOPIC_ID=topic, FORUM_ID="8", ACTIVITY_DATE=at, COMMENTS_COUNT=count)
    return [number]


def update_comment(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    task, place = _comment_place(company, wish)
    if place is None:
        return update_message(company, now, _in_chat(company, task, wish))
    rows = _own_comments(company, task)
    rows[place] = rows[place] | _comment(company, wish)
    return [int(wish["id"])]


def delete_comment(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """On the forum it is gone, and only the count falls (kernel 25.100); in a chat its place stays."""
    task, place = _comment_place(company, wish)
    if place is None:
        return delete_message(company, now, _in_chat(company, task, wish))
    del _own_comments(company, task)[place]
    _touch(company, task, COMMENTS_COUNT=str(max(0, int(company.tasks.table.row(task)["COMMENTS_COUNT"]) - 1)))
    return [int(wish["id"])]


def _wished_fields(company: Company, wish: dict[str, Any]) -> Row:
    """Times may come as text; tags lie apart."""
    asked: Row = dict(wish.get("fields", {}))
    for name in TIMES & asked.keys():
        asked[name] = company.moments.parse(asked[name]) if isinstance(asked[name], str) else asked[name]
    if "TAGS" in asked:
        asked["_TAGS"] = list(asked.pop("TAGS"))
    return asked


def _item(company: Company, wish: dict[str, Any]) -> Row:
    asked: Row = dict(wish.get("fields", {}))
    for name in asked.keys() & {"PARENT_ID", "CREATED_BY", "SORT_INDEX", "TOGGLED_BY"}:
        asked[name] = int(asked[name] or 0)
    for name in asked.keys() & {*FLAGS}:
        asked[name] = asked[name] in (True, "Y")
    if "TOGGLED_DATE" in asked:
        asked["TOGGLED_DATE"] = company.moments.parse(asked["TOGGLED_DATE"])
    if "MEMBERS" in asked:
        asked["MEMBERS"] = {int(member["ID"]): str(member.get("TYPE", "A")) for member in asked["MEMBERS"]}
    return asked


def _comment(company: Company, wish: dict[str, Any]) -> Row:
    asked: Row = dict(wish.get("fields", {}))
    if "AUTHOR_ID" in asked:
        asked["AUTHOR_ID"] = int(asked["AUTHOR_ID"])
    if "POST_DATE" in asked:
        asked["POST_DATE"] = company.moments.parse(asked["POST_DATE"])
    return asked


def _known(company: Company, number: Any) -> int:
    if int(number or 0) not in company.tasks.table:
        raise RestError("ERROR_NOT_FOUND", f"no task {number}", 404)
    return int(number)


def _touch(company: Company, task: int, **moved: Any) -> None:
    company.tasks.table.put(task, company.tasks.table.row(task) | moved)


def _own_items(company: Company, task: int) -> list[Row]:
    return company.tasks.own_checklists.setdefault(task, company.tasks.checklist(task))


def _own_comments(company: Company, task: int) -> list[Row]:
    return company.tasks.own_comments.setdefault(task, company.tasks.forum(task))


def _item_place(company: Company, wish: dict[str, Any]) -> tuple[int, int]:
    task = _known(company, wish.get("task"))
    for place, item in enumerate(company.tasks.checklist(task)):
        if item["ID"] == int(wish["id"]):
            return task, place
    raise RestError("ERROR_NOT_FOUND", f"task {task} has no item {wish['id']}", 404)


def _comment_place(company: Company, wish: dict[str, Any]) -> tuple[int, int | None]:
    """The place on the forum; None sends the search to the task's chat."""
    task = _known(company, wish.get("task"))
    ids = [row["ID"] for row in company.tasks.forum(task)]
    number = int(wish["id"])
    return task, ids.index(number) if number in ids and wish.get("where") != "chat" else None


def _in_chat(company: Company, task: int, wish: dict[str, Any]) -> dict[str, Any]:
    chat = company.tasks.chat_of(task)
    if chat is None:
        raise RestError("ERROR_NOT_FOUND", f"task {task} has no comment {wish['id']}", 404)
    return wish | {"chat": chat.id}


TASK_CHANGES = {
    ("tasks", "add"): add_task,
    ("tasks", "update"): update_task,
    ("tasks", "delete"): delete_task,
    ("tasks", "restore"): restore_task,
    ("task_checklists", "add"): add_item,
    ("task_checklists", "update"): update_item,
    ("task_checklists", "delete"): delete_item,
    ("task_comments", "add"): add_comment,
    ("task_comments", "update"): update_comment,
    ("task_comments", "delete"): delete_comment,
}
