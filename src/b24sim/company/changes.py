"""People keep working while a portal is read: records appear, change and go."""

from collections.abc import Callable
from typing import Any

from b24sim.company.activities_changes import ACTIVITY_CHANGES
from b24sim.company.catalog_changes import CATALOG_CHANGES
from b24sim.company.chats import CLOSED, Chat
from b24sim.company.company import Company
from b24sim.company.crm_changes import CRM_CHANGES
from b24sim.company.feed_changes import FEED_CHANGES
from b24sim.company.groups import MEMBER, OWNER, Group
from b24sim.company.message_changes import add_message, chat_named, delete_message, update_message
from b24sim.company.recurring import RECURRING_CHANGES
from b24sim.company.requisites_changes import REQUISITE_CHANGES
from b24sim.company.tasks_changes import TASK_CHANGES
from b24sim.company.workflows_changes import WORKFLOW_CHANGES
from b24sim.errors import RestError, known_number
from b24sim.table import Row

Change = Callable[[Company, float, dict[str, Any]], list[int]]


def add_user(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    number = int(wish.get("id") or max(company.users.next_id(), *(bot + 1 for bot in company.bots), 1))
    pattern = company.users.row(company.people.ids[0])
    row = {key: value for key, value in pattern.items() if key != "PERSONAL_PHOTO" and not key.startswith("UF_USR_")}
    row |= {
        "ID": str(number),
        "NAME": "Новый",
        "LAST_NAME": f"Сотрудник {number}",
        "EMAIL": f"new{number}@company.example",
    }
    row |= {"XML_ID": "", "ACTIVE": True, "UF_DEPARTMENT": [1], "_TIMESTAMP_X": now}
    company.users.put(number, row | wish.get("fields", {}))
    return [number]


def update_user(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """Every write of the profile moves TIMESTAMP_X. A login does not (kernel 25.100), and whether another department
    does, when the structure is changed, is not documented: `"undated": true` is for both."""
    number = known_number(company.users.ids, wish)
    dated = {} if wish.get("undated") else {"_TIMESTAMP_X": now}
    company.users.put(number, company.users.row(number) | wish.get("fields", {}) | dated)
    return [number]


def delete_user(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    company.users.remove(known_number(company.users.ids, wish))
    return [int(wish["id"])]


def add_department(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    number = int(wish.get("id") or company.departments.next_id())
    row = {"ID": str(number), "NAME": f"Новый отдел {number}", "SORT": 500, "PARENT": "1"}
    company.departments.put(number, row | wish.get("fields", {}))
    return [number]


def update_department(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    number = known_number(company.departments.ids, wish)
    company.departments.put(number, company.departments.row(number) | wish.get("fields", {}))
    return [number]


def delete_department(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    company.departments.remove(known_number(company.departments.ids, wish))
    return [int(wish["id"])]


def add_group(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    number = int(wish.get("id") or company.groups.next_id())
    owner = int(wish.get("fields", {}).get("OWNER_ID", 1))
    # Place 0 is a plain group: neither secret nor archived.
    company.groups_by_id[number] = Group(number, 0, owner, "group", {owner: OWNER}, extra=_dated(company, now, wish))
    company.groups.put(number, company._group(number))
    return [number]


def update_group(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """DATE_UPDATE moves only where the writer names it: neither `sonet_group.update` does nor a change of members
    (kernel 25.100, module socialnetwork)."""
    number = known_number(company.groups.ids, wish)
    company.groups.put(number, company.groups.row(number) | dict(wish.get("fields", {})))
    return [number]


def delete_group(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    number = known_number(company.groups.ids, wish)
    company.groups.remove(number)
    del company.groups_by_id[number]
    return [number]


def add_member(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    group = company.groups_by_id[int(wish["group"])]
    group.roles[int(wish["user"])] = str(wish.get("fields", {}).get("ROLE", MEMBER))
    return _counted(company, group)


def delete_member(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    group = company.groups_by_id[int(wish["group"])]
    group.roles.pop(int(wish["user"]), None)
    return _counted(company, group)


def _counted(company: Company, group: Group) -> list[int]:
    row = company.groups.row(group.id)
    company.groups.put(group.id, row | {"NUMBER_OF_MEMBERS": str(len(group.roles))})
    return [group.id]


def add_chat(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    number = int(wish.get("id") or company.next_chat())
    fields = wish.get("fields", {})
    members = [int(user) for user in fields.get("users", [1])]
    kind, name = str(fields.get("message_type", CLOSED)), str(fields.get("name", f"Новый чат {number}"))
    company.chats[number] = Chat(number, 0, kind, name, int(fields.get("owner", members[0])), members, started=now)
    company.chats_version += 1
    return [number]


def update_chat(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    chat = chat_named(company, wish.get("id"))
    chat.writers, chat.founder = chat.writers or list(chat.members), chat.founder or chat.owner
    for name, value in wish.get("fields", {}).items():
        setattr(chat, {"users": "members", "manager_list": "managers"}.get(name, name), value)
    company.chats_version += 1
    return [chat.id]


def delete_chat(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    del company.chats[chat_named(company, wish.get("id")).id]
    company.chats_version += 1
    return [int(wish["id"])]


CHANGES: dict[tuple[str, str], Change] = {
    ("users", "add"): add_user,
    ("users", "update"): update_user,
    ("users", "delete"): delete_user,
    ("departments", "add"): add_department,
    ("departments", "update"): update_department,
    ("departments", "delete"): delete_department,
    ("groups", "add"): add_group,
    ("groups", "update"): update_group,
    ("groups", "delete"): delete_group,
    ("group_members", "add"): add_member,
    ("group_members", "update"): add_member,
    ("group_members", "delete"): delete_member,
    ("chats", "add"): add_chat,
    ("chats", "update"): update_chat,
    ("chats", "delete"): delete_chat,
    ("chat_messages", "add"): add_message,
    ("chat_messages", "update"): update_message,
    ("chat_messages", "delete"): delete_message,
    **FEED_CHANGES,
    **CRM_CHANGES,
    **CATALOG_CHANGES,
    **WORKFLOW_CHANGES,
    **TASK_CHANGES,
    **REQUISITE_CHANGES,
    **ACTIVITY_CHANGES,
    **RECURRING_CHANGES,
}
STREAM_OF = {
    "crm.requisite.": "crm_requisites",
    "crm.address.": "crm_addresses",
    "crm.activity.": "crm_activities",
    "crm.timeline.": "crm_comments",
    "voximplant.": "crm_calls",
    "crm.company.": "crm_companies",
    "crm.contact.": "crm_contacts",
    "crm.": "crm_deals",
    "catalog.price.": "crm_prices",
    "catalog.product.": "crm_products",
    "catalog.section.": "crm_catalog_sections",
    "user.": "users",
    "department.": "departments",
    "sonet_group.": "groups",
    "socialnetwork.": "groups",
    "log.blogpost.": "feed_posts",
    "log.blogcomment.": "feed_comments",
    "bizproc.": "workflow_templates",
    "task.checklistitem.": "task_checklists",
    "task.commentitem.": "task_comments",
    "tasks.": "tasks",
    "task.": "tasks",
}


def change(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """Carry out `{"stream", "op", "id", "fields", "count"}`; answers the ids it touched."""
    todo = CHANGES.get((str(wish.get("stream")), str(wish.get("op", "update"))))
    if todo is None:
        raise RestError("ERROR_ARGUMENT", f"known are {', '.join(f'{op} {stream}' for stream, op in CHANGES)}")
    return [number for _ in range(int(wish.get("count", 1))) for number in todo(company, now, wish)]


def grow(company: Company, now: float, method: str, rows: int) -> None:
    """Rows appear in whatever the method lists."""
    stream = next((name for prefix, name in STREAM_OF.items() if method.startswith(prefix)), "chat_messages")
    change(company, now, {"stream": stream, "op": "add", "count": rows})


def _dated(company: Company, now: float, wish: dict[str, Any]) -> Row:
    return {"DATE_UPDATE": company.moments.iso(now)} | dict(wish.get("fields", {}))
