"""Checklists of a task, flat as `task.checklistitem.getlist` has them and as the tree inside a task."""

from typing import Any

from b24sim.context import Context
from b24sim.methods.tasks_shape import attachments_shape
from b24sim.table import Row


def item_shape(context: Context, item: Row) -> Row:
    """Ids are strings, except that a root's parent is the number 0; a time that is not set is empty text."""
    company = context.portal.company
    toggled = item["TOGGLED_DATE"]
    return {
        "ID": str(item["ID"]), "TASK_ID": str(item["TASK_ID"]),
        "PARENT_ID": str(item["PARENT_ID"]) if item["PARENT_ID"] else 0,
        "CREATED_BY": str(item["CREATED_BY"]), "TITLE": item["TITLE"], "SORT_INDEX": str(item["SORT_INDEX"]),
        "IS_COMPLETE": "Y" if item["IS_COMPLETE"] else "N", "IS_IMPORTANT": "Y" if item["IS_IMPORTANT"] else "N",
        "TOGGLED_BY": str(item["TOGGLED_BY"]) if item["TOGGLED_BY"] else None,
        "TOGGLED_DATE": company.moments.iso(toggled) if toggled is not None else "",
        "MEMBERS": [_member(context, user, kind) for user, kind in item["MEMBERS"].items()],
        "ATTACHMENTS": attachments_shape(context, item["ATTACHMENTS"], signed=False) or [],
    }  # fmt: skip


def _member(context: Context, user: int, kind: str) -> Row:
    company = context.portal.company
    row = company.users.row(user) if user in company.users else {}
    return {
        "ID": str(user), "TYPE": kind, "NAME": company.name_of(user), "PERSONAL_PHOTO": None,
        "PERSONAL_GENDER": row.get("PERSONAL_GENDER", ""), "IMAGE": row.get("PERSONAL_PHOTO", ""), "IS_COLLABER": False,
    }  # fmt: skip


def tree(items: list[Row]) -> Row:
    """The tree that `tasks.task.get` adds: a nameless root, then the lists."""
    return {"nodeId": 0, "fields": {"id": None}, "action": [], "descendants": _below(items, 0)}


def _below(items: list[Row], parent: Any) -> list[Row]:
    return [
        {
            "nodeId": item["ID"],
            "fields": {"id": int(item["ID"]), "title": item["TITLE"]},
            "action": {"modify": True, "remove": True, "toggle": True},
            "descendants": _below(items, item["ID"]),
        }
        for item in items
        if item["PARENT_ID"] == parent
    ]
