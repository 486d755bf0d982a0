"""The truth for the check of a client: every record of a stream, whatever the REST methods would show."""

from collections.abc import Iterator
from typing import Any

from b24sim import dump_activities, dump_catalog, dump_crm, dump_feed, dump_tasks
from b24sim.company.chats import THREAD
from b24sim.context import Context
from b24sim.errors import RestError
from b24sim.methods.dialogs import avatar, dialog_shape, file_shape
from b24sim.portal import Portal
from b24sim.table import Row, Table, shown

STREAMS = (
    *("users", "departments", "groups", "group_members", "chats", "chat_messages", "files", "user_fields"),
    *("feed_posts", "feed_comments", "workflow_templates"),
    *dump_tasks.MAKERS,
    *dump_crm.MAKERS,
    *dump_catalog.MAKERS,
    *dump_activities.MAKERS,
)


def dump(portal: Portal, stream: str, user: int | None = None) -> list[dict[str, Any]]:
    """On a box what was imported, with digests and counts; on a cloud the source's records, as far as a user sees."""
    if portal.is_box:
        return [record | {"imported_at": str(record["imported_at"])} for record in portal.imports.dump(stream)]
    company = portal.company
    if stream in {"users", "departments", "groups"}:
        table: Table = getattr(company, stream)
        return [{"id": str(number), "fields": _all(table.row(number))} for number in table]
    if stream not in STREAMS:
        raise RestError("ERROR_ARGUMENT", f"streams are {', '.join(STREAMS)}")
    return list(_MAKERS[stream](portal, user))


def counts(portal: Portal) -> dict[str, int]:
    """How many records of each stream there are."""
    company = portal.company
    return {
        "users": len(company.users),
        "departments": len(company.departments),
        "groups": len(company.groups),
        "group_members": sum(len(group.roles) for group in company.groups_by_id.values()),
        "chats": len(company.chats),
        "chat_messages": sum(len(chat) for chat in company.chats.values()),
        "files": company.correspondence.files,
        "feed_posts": len(company.feed.posts),
        "feed_comments": len(company.feed_rows.comments),
        "workflow_templates": len(company.workflows.templates),
        **dump_tasks.counts(portal),
        **dump_crm.counts(portal),
        **dump_catalog.counts(portal),
        **dump_activities.counts(portal),
    }


def _all(row: Row) -> Row:
    hidden = {name.removeprefix("_"): value for name, value in row.items() if name.startswith("_")}
    return shown(row) | {"hidden": hidden}


def _members(portal: Portal, _user: int | None) -> Iterator[Row]:
    for group in portal.company.groups_by_id.values():
        for user, role in group.roles.items():
            fields = {"GROUP_ID": str(group.id), "USER_ID": str(user), "ROLE": role}
            yield {"id": f"{group.id}:{user}", "fields": fields, "active": portal.company.is_active(user)}


def _chats(portal: Portal, user: int | None) -> Iterator[Row]:
    context = _context(portal)
    for chat in portal.company.chats.values():
        if user is None or portal.company.readable(chat, user):
            fields = dialog_shape(context, chat) | {"users": chat.members, "avatar": avatar(context, chat)}
            yield {"id": str(chat.id), "fields": fields, "recent_for": [] if chat.kind == THREAD else chat.members}


def _messages(portal: Portal, user: int | None) -> Iterator[Row]:
    for chat in portal.company.chats.values():
        if user is None or portal.company.readable(chat, user):
            for place in range(len(chat)):
                row = portal.company.correspondence.row(chat, place)
                yield {"id": f"{chat.id}:{row['id']}", "fields": row}


def _files(portal: Portal, user: int | None) -> Iterator[Row]:
    """Files of chats; those of tasks are counted with the tasks."""
    context, chats = _context(portal), portal.company.chats
    for message in _messages(portal, user):
        if chats[message["fields"]["chat_id"]].script:
            continue
        for number in (message["fields"]["params"] or {}).get("FILE_ID", []):
            yield {"id": str(number), "fields": file_shape(context, number)}


def _user_fields(portal: Portal, _user: int | None) -> Iterator[Row]:
    for row in portal.company.user_fields:
        yield {"id": row["FIELD_NAME"], "fields": _all(row)}


def _context(portal: Portal) -> Context:
    return Context(portal, portal.caller(next(iter(portal.webhooks))))


_MAKERS = {
    "group_members": _members,
    "chats": _chats,
    "chat_messages": _messages,
    "files": _files,
    "user_fields": _user_fields,
    "feed_posts": dump_feed.posts,
    "feed_comments": dump_feed.comments,
    "workflow_templates": dump_feed.templates,
    **dump_tasks.MAKERS,
    **dump_crm.MAKERS,
    **dump_catalog.MAKERS,
    **dump_activities.MAKERS,
}
