"""Kinds of changes that the API of a portal shows, and what moves without a change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.engine.every_stream import CATALOG, Snapshot
from tests.engine.world import World

from b24sim.company.company import Company
from b24sim.company.crm_ids import DEAL
from b24sim.company.people import UF_STRING
from b24sim.table import Table

Json = Any
NEW_NAME = "Переименовано"


class Expected(NamedTuple):
    """One record that was changed, and what the box must have of it. `also`: others that change with it."""

    stream: str
    row_key: str
    fields: Mapping[str, Json]
    also: Sequence[tuple[str, str]] = ()


@dataclass
class Firm:
    """A company that was migrated once. Each case takes records that no other one has touched."""

    made: World
    first: Snapshot
    taken: set[tuple[str, str]] = field(default_factory=set)

    @property
    def company(self) -> Company:
        return self.made.cloud.portal.company

    def payload(self, stream: str, row_key: str) -> dict[str, Json]:
        found: dict[str, Json] = json.loads(self.first.staged[stream][row_key]["Payload"])
        return found

    def sent(self, stream: str, row_key: str) -> dict[str, Json]:
        found: dict[str, Json] = self.first.box[stream][CATALOG.streams[stream].key_of(row_key)]["fields"]
        return found

    def target(self, stream: str, row_key: str | int) -> str:
        return str(self.first.staged[stream][str(row_key)]["TargetId"])

    def take(self, stream: str, suits: Callable[[dict[str, Json]], Json] = lambda _: True) -> str:
        for row_key in self.first.staged[stream]:
            there = self.first.box[stream][CATALOG.streams[stream].key_of(row_key)]
            if (stream, row_key) not in self.taken and not there["linked"] and suits(self.payload(stream, row_key)):
                self.taken.add((stream, row_key))
                return row_key
        raise AssertionError(f"no record of {stream} is left for this case")

    def change(self, stream: str, row_key: str, fields: Mapping[str, Json], **place: Json) -> None:
        self.made.change(stream, **(place or {"id": row_key}), fields=dict(fields))


def without(table: Table, row_key: str, *names: str) -> None:
    row = table.row(int(row_key))
    table.put(int(row_key), {name: value for name, value in row.items() if name not in names})


# ---------------------------------------------------------------- departments, users


def moved_department(firm: Firm) -> Expected:
    key = firm.take("departments", lambda row: row.get("PARENT") and not row.get("UF_HEAD"))
    other = next(
        one for one in firm.first.staged["departments"] if one not in (key, firm.payload("departments", key)["PARENT"])
    )
    firm.change("departments", key, {"PARENT": other, "SORT": 77})
    return Expected("departments", key, {"PARENT": firm.target("departments", other), "SORT": 77})


def new_head(firm: Firm) -> Expected:
    key = firm.take("departments", lambda row: row.get("PARENT") and row.get("UF_HEAD"))
    head = next(one for one in firm.first.staged["users"] if one != firm.payload("departments", key)["UF_HEAD"])
    firm.change("departments", key, {"UF_HEAD": head})
    return Expected("departments", key, {"UF_HEAD": firm.target("users", head)})


def no_head(firm: Firm) -> Expected:
    """The portal leaves out what is empty."""
    key = firm.take("departments", lambda row: row.get("PARENT") and row.get("UF_HEAD"))
    without(firm.company.departments, key, "UF_HEAD")
    return Expected("departments", key, {"UF_HEAD": None})


def dismissed_user(firm: Firm) -> Expected:
    key = firm.take("users", lambda row: row["ACTIVE"] and int(row["ID"]) > 2)
    firm.change("users", key, {"ACTIVE": False})
    return Expected("users", key, {"ACTIVE": False})


def emptied_user(firm: Firm) -> Expected:
    """Clears the field in both spellings."""
    key = firm.take("users", lambda row: row.get("PERSONAL_STREET") and row["WORK_PHONE"] and row.get(UF_STRING))
    without(firm.company.users, key, "PERSONAL_STREET", "SECOND_NAME")
    firm.change("users", key, {"WORK_PHONE": "", UF_STRING: ""})
    code = next(name for name, value in firm.sent("users", key).items() if value and "Табель" in str(value))
    return Expected("users", key, dict.fromkeys(("PERSONAL_STREET", "SECOND_NAME", "WORK_PHONE", code)))


def new_photo(firm: Firm) -> Expected:
    key = firm.take("users", lambda row: bool(row.get("PERSONAL_PHOTO")))
    firm.company.pictures["main", int(key)] = b"\x89PNG another"
    firm.change("users", key, {"PERSONAL_PHOTO": f"{firm.company.portal_url}/upload/main/{key}/new.png"})
    return Expected("users", key, {})


# ---------------------------------------------------------------- groups


def new_owner(firm: Firm) -> Expected:
    active = firm.company.is_active
    key = firm.take("groups", lambda row: sum(map(active, firm.company.groups_by_id[int(row["ID"])].roles)) > 2)
    group = firm.company.groups_by_id[int(key)]
    old, new = group.owner, next(user for user in group.roles if user != group.owner and active(user))
    firm.change("groups", key, {"OWNER_ID": str(new), "DESCRIPTION": NEW_NAME, "CLOSED": "Y"})
    firm.change("group_members", key, {"ROLE": "A"}, group=key, user=new)
    firm.change("group_members", key, {"ROLE": "K"}, group=key, user=old)
    members = [("group_members", f"{key}:{user}") for user in (old, new)]
    firm.taken.update(members)
    fields = {"OWNER_ID": firm.target("users", new), "DESCRIPTION": NEW_NAME, "CLOSED": True}
    return Expected("groups", key, fields, members)


def new_role(firm: Firm) -> Expected:
    key = firm.take("group_members", lambda row: row.get("ROLE") == "K")
    group, _, user = key.partition(":")
    firm.change("group_members", key, {"ROLE": "E"}, group=group, user=user)
    return Expected("group_members", key, {"ROLE": "E"})


# ---------------------------------------------------------------- chats


def is_group_chat(row: dict[str, Json]) -> bool:
    return row.get("type") == "chat" and not row.get("entity_type") and row["user_counter"] > 3


def left_chat(firm: Firm) -> Expected:
    key = firm.take("chats", is_group_chat)
    chat = firm.company.chats[int(key)]
    left = next(user for user in chat.members if user not in (chat.owner, 1, 2))
    stay = [user for user in chat.members if user != left]
    firm.change("chats", key, {"users": stay, "manager_list": [one for one in chat.managers if one != left]})
    there = firm.sent("chats", key)["users"]
    return Expected("chats", key, {"users": [one for one in there if one != firm.target("users", left)]})


def reader_left_chat(firm: Firm) -> Expected:
    """The first webhook no longer sees the chat; the second one returns its participants."""
    both = {1, 2}
    key = firm.take("chats", lambda row: is_group_chat(row) and both <= {*firm.company.chats[int(row["id"])].members})
    chat = firm.company.chats[int(key)]
    firm.change("chats", key, {"users": [user for user in chat.members if user != 1], "owner": 2})
    there = firm.sent("chats", key)["users"]
    owner = firm.target("users", 2)
    return Expected("chats", key, {"users": [one for one in there if one != firm.target("users", 1)], "owner": owner})


def renamed_chat(firm: Firm) -> Expected:
    key = firm.take("chats", is_group_chat)
    chat = firm.company.chats[int(key)]
    owner, manager = [user for user in chat.members if user != chat.owner and str(user) in firm.first.staged["users"]][
        :2
    ]
    firm.change("chats", key, {"name": NEW_NAME, "owner": owner, "manager_list": [manager]})
    managers = [firm.target("users", manager)]
    return Expected("chats", key, {"name": NEW_NAME, "owner": firm.target("users", owner), "manager_list": managers})


def edited_message(firm: Firm) -> Expected:
    key = firm.take("chat_messages")
    chat, _, number = key.partition(":")
    firm.change("chat_messages", key, {"text": NEW_NAME}, chat=chat, id=number)
    return Expected("chat_messages", key, {"text": NEW_NAME})


def deleted_message(firm: Firm) -> Expected:
    """It stays in its place, without its text."""
    key = firm.take("chat_messages")
    chat, _, number = key.partition(":")
    firm.made.change("chat_messages", "delete", chat=chat, id=number)
    return Expected("chat_messages", key, {"text": "Сообщение удалено", "params": {"IS_DELETED": "Y"}, "files": []})


# ---------------------------------------------------------------- feed, tasks, CRM, templates


def edited_post(firm: Firm) -> Expected:
    key = firm.take("feed_posts")
    firm.change("feed_posts", key, {"DETAIL_TEXT": NEW_NAME})
    return Expected("feed_posts", key, {"DETAIL_TEXT": NEW_NAME})


def changed_task(firm: Firm) -> Expected:
    key = firm.take("tasks", lambda row: row["responsibleId"] in firm.first.staged["users"])
    firm.change("tasks", key, {"DEADLINE": "2027-03-01T10:00:00+03:00", "AUDITORS": ["1"], "TAGS": ["срочно"]})
    fields = {"deadline": "2027-03-01T07:00:00Z", "auditors": [firm.target("users", 1)], "tags": ["срочно"]}
    return Expected("tasks", key, fields)


def ticked_item(firm: Firm) -> Expected:
    key = firm.take("task_checklists", lambda row: row["IS_COMPLETE"] in (False, "N"))
    task, _, number = key.partition(":")
    firm.taken.add(("tasks", task))
    firm.change("task_checklists", key, {"IS_COMPLETE": True, "TITLE": NEW_NAME}, task=task, id=number)
    return Expected("task_checklists", key, {"IS_COMPLETE": True, "TITLE": NEW_NAME}, [("tasks", task)])


def changed_deal(firm: Firm) -> Expected:
    """Another amount, other rows, and a custom field that is empty now."""
    rows = firm.company.crm.product_rows
    key = firm.take("crm_deals", lambda row: bool(custom_text(row) and rows(DEAL, row["id"])))
    name, sent = custom_text(firm.payload("crm_deals", key)), firm.sent("crm_deals", key)
    first, *others = rows(DEAL, int(key))
    others = [{**first, "productName": NEW_NAME}, *others]
    firm.change("crm_deals", key, {"opportunity": 1234.5, name: "", "productRows": others})
    named = [{**sent["productRows"][0], "productName": NEW_NAME}, *sent["productRows"][1:]]
    value = firm.payload("crm_deals", key)[name]
    code = next(one for one, there in sent.items() if there == value and one.startswith("UF_"))
    return Expected("crm_deals", key, {"opportunity": 1234.5, code: None, "productRows": named})


def custom_text(row: Mapping[str, Json]) -> str:
    mine = [name for name, value in row.items() if name.startswith("UF_") and isinstance(value, str) and " " in value]
    return mine[0] if mine else ""


def moved_stage(firm: Firm) -> Expected:
    key = firm.take("crm_stages")
    for row in firm.company.crm.statuses:
        if f"{row['ENTITY_ID']}:{row['STATUS_ID']}" == key:
            row |= {"SORT": "777", "NAME": NEW_NAME}
    return Expected("crm_stages", key, {"SORT": 777, "NAME": NEW_NAME})


def changed_template(firm: Firm) -> Expected:
    key = firm.take("workflow_templates", lambda row: bool(row["TEMPLATE"]))
    tree = firm.company.workflows.templates.row(int(key))["TEMPLATE"]
    tree = [{**tree[0], "Properties": {**tree[0]["Properties"], "Title": NEW_NAME}}]
    firm.change("workflow_templates", key, {"NAME": NEW_NAME, "TEMPLATE": tree})
    return Expected("workflow_templates", key, {"NAME": NEW_NAME})


CASES = (
    *(moved_department, new_head, no_head, dismissed_user, emptied_user, new_photo, new_owner, new_role),
    *(
        reader_left_chat,
        left_chat,
        renamed_chat,
        edited_message,
        deleted_message,
        edited_post,
        changed_task,
        ticked_item,
    ),
    *(changed_deal, moved_stage, changed_template),
)


# ---------------------------------------------------------------- what moves by itself


def move_volatile(company: Company) -> None:
    """Somebody signs in, reads and talks: fields move, and no record has changed."""
    for number in company.users.ids:
        row = company.users.row(number)
        moved = {
            "LAST_LOGIN": company.moments.iso(1.9e9),
            "IS_ONLINE": "Y",
            "LAST_ACTIVITY_DATE": "2030-01-01 00:00:00",
        }
        if row.get("PERSONAL_PHOTO"):
            moved["PERSONAL_PHOTO"] = f"{row['PERSONAL_PHOTO']}?token={number}"
        company.users.put(number, row | moved)
    for number in company.groups.ids:
        row = company.groups.row(number)
        company.groups.put(number, row | {"DATE_ACTIVITY": company.moments.iso(1.9e9), "NUMBER_OF_MEMBERS": "99"})
    for chat in company.chats.values():
        chat.extra |= {
            "counter": 7,
            "user_counter": 99,
            "message_count": 99,
            "last_message_id": 9,
            "mute_list": {"1": True},
        }
    company.chats_version += 1
    for task in company.tasks.table.ids:
        row = company.tasks.table.row(task)
        company.tasks.table.put(task, row | {"ACTIVITY_DATE": 1_900_000_000, "COMMENTS_COUNT": "9", "FAVORITE": "Y"})
    deals = company.crm.items[DEAL]
    for deal in deals.ids:
        moved = {"lastActivityTime": company.moments.iso(1.9e9), "isReturnCustomer": "Y", "isRepeatedApproach": "Y"}
        deals.put(deal, {"_productRows": company.crm.product_rows(DEAL, deal)} | deals.row(deal) | moved)
    for post in company.feed.posts.values():
        post.extra |= {"NUM_COMMENTS": "99", "VIEWS": "7"}
        company.feed_rows.posts.put(post.id, company.feed_rows.post_row(post.id))
    for number in company.workflows.templates.ids:
        company.workflows.templates.put(number, company.workflows.templates.row(number) | {"IS_MODIFIED": "Y"})
