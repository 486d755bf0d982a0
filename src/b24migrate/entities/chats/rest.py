"""Chats, as `im.chat.*` makes them: every one a chat of several people, stamped by what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from b24migrate.entities.chats import rest_import, rest_rules
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json, in_order
from b24migrate.ports import Command
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, user_names
from b24migrate.targets.rest.journal import set_mark
from b24migrate.targets.rest.values import Column, columns
from b24migrate.targets.rest.writer import CreateResult, Known, Writer, create_one_by_one

ABOUT = "B24MIGRATE"  # the ENTITY_TYPE of our chats; their ENTITY_ID is the key
OPEN = "open"
TOLD = (
    Column("name", "name"),
    Column("description", "description"),
    Column("owner", "owner", back=values.optional_id),
    Column("manager_list", "manager_list", back=values.ids),
    Column("date_create", "date_create", back=values.utc),
    Column("color", "color"),
    Column("avatar", "avatar"),
    *columns((("entity_type", "entity_type"), ("entity_id", "entity_id")), values.unchanged, values.text),
)


def chat_title(box: Box, item: Item) -> str:
    fields = item.fields
    return str(fields.get("name") or ", ".join(user_names(box, fields.get("users") or ()).values()))


def chat_params(box: Box, item: Item) -> dict[str, Json]:
    """Never with the pair of a group: a second chat of a group breaks the chats of its tasks."""
    fields = item.fields
    sent = {
        "TYPE": "OPEN" if fields.get("type") == OPEN else "CHAT",
        "TITLE": chat_title(box, item),
        "DESCRIPTION": fields.get("description") or "",
        "USERS": fields.get("users") or [],
        "ENTITY_TYPE": ABOUT,
        "ENTITY_ID": item.key,
    }
    return {**sent, "AVATAR": box.file(str(fields["avatar"]))[1]} if fields.get("avatar") else sent


def add_chats(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    if not rest_import.is_import_available(box):
        yield from create_one_by_one("im.chat.add", lambda item: chat_params(box, item))(box, items)
        return
    for item in items:
        avatar = box.file(str(item.fields["avatar"]))[1] if item.fields.get("avatar") else ""
        try:
            number = rest_import.create(box, item, chat_title(box, item), avatar)
        except Permanent as error:
            yield CreateResult(item.key, error=error)
            continue
        rest_import.remember(box, item.key, number)
        yield CreateResult(item.key, number)


def find_chats(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    found = dict(_find_chat_ids(box, begun, ABOUT))
    imported = dict(_find_chat_ids(box, [key for key in begun if key not in found], rest_import.UNDER_IMPORT))
    for key, number in imported.items():
        rest_import.remember(box, key, number)
    return found | imported


def _find_chat_ids(box: Box, keys: Iterable[str], kind: str) -> Iterator[tuple[str, str]]:
    keys = list(keys)
    asked = [Command("im.chat.get", {"ENTITY_TYPE": kind, "ENTITY_ID": key}) for key in keys]
    pairs = zip(keys, box.questions(asked), strict=True)
    return ((key, str(said["ID"])) for key, said in pairs if said)


def complete_chat(box: Box, known: Known, item: Item) -> None:
    """Not before an import is over."""
    if not rest_import.is_under_way(box, known.target_id):
        give_chat_away(box, known, item.fields)


def give_chat_away(box: Box, known: Known, fields: Args) -> None:
    """Managers first: only the owner can appoint them, and loses that right with the chat. The webhook's owner stays a
    manager: no other user can remove a participant who leaves later (permission `manageUsersDelete`,
    api-reference/chats/chat-users/im-chat-user-delete.md)."""
    chat = f"chat{known.target_id}"
    about = box.question("im.dialog.get", {"DIALOG_ID": chat})
    if str(about.get("owner")) != box.owner:
        return
    named = values.ids(about.get("manager_list") or [])
    owner = fields.get("owner")
    leaves = bool(owner) and str(owner) != box.owner
    wanted = [*map(str, fields.get("manager_list") or ()), *([box.owner] if leaves else [])]
    gone = [user for user in named if user not in wanted] if fields.get("manager_list") is not None else []
    new = [user for user in wanted if user not in named]
    for user, manages in (*((user, "N") for user in gone), *((user, "Y") for user in new)):
        with suppress(Permanent):  # in no document: a box may not have it
            box.call("im.chat.setManager", {"CHAT_ID": known.target_id, "USER_ID": user, "IS_MANAGER": manages})
    if leaves:
        box.call("im.chat.setOwner", {"CHAT_ID": known.target_id, "USER_ID": owner})


def chat_trace(item: Item) -> Args:
    """The box gives a picture a number of its own, which only the journal knows. The other participants join at the end
    of an import."""
    return {name: item.fields.get(name) for name in ("avatar", "name", "users", "owner", "manager_list")}


def end_import(box: Box, some: Mapping[str, Known]) -> None:
    """After all messages are imported. Steps that are repeated after a crash change nothing."""
    ours = {key: one for key, one in some.items() if rest_import.was_imported(box, key)}
    if ours:
        rest_import.clear(box)
    said = box.questions([Command("im.dialog.get", {"DIALOG_ID": f"chat{one.target_id}"}) for one in ours.values()])
    for one, about in zip(ours.values(), said, strict=True):
        fields = one.trace if isinstance(one.trace, Mapping) else {}
        if about is None or str(about.get("owner")) != box.owner:
            continue
        if about.get("entity_type") == rest_import.UNDER_IMPORT:
            if fields.get("name") and fields["name"] != about.get("name"):
                box.call("im.chat.updateTitle", {"CHAT_ID": one.target_id, "TITLE": fields["name"]})
            rest_import.commit(box, one.target_id, values.ids(fields.get("users") or []))
        give_chat_away(box, one, fields)


def chat_picture(trace: Json) -> Json:
    return trace.get("avatar") if isinstance(trace, Mapping) else None


def update_chat(box: Box, known: Known, item: Item) -> None:
    """The box has no method for the description, and only the owner can change owner and managers. A participant who
    left is removed; if the box refuses that, the record fails. Of a chat under import the end changes the rest:
    what the box says of a change would be the newest message, and none may come before it."""
    if rest_import.is_under_way(box, known.target_id):
        return
    chat = {"CHAT_ID": known.target_id}
    about = box.question("im.dialog.get", {"DIALOG_ID": f"chat{known.target_id}"})
    name = chat_params(box, item)["TITLE"]
    if name != about.get("name"):
        box.call("im.chat.updateTitle", {**chat, "TITLE": name})
    avatar = item.fields.get("avatar")
    if avatar and avatar != chat_picture(known.trace):
        box.call("im.chat.updateAvatar", {**chat, "AVATAR": box.file(str(avatar))[1]})
    there = values.ids(box.question("im.chat.user.list", chat))
    new = [user for user in item.fields.get("users") or () if str(user) not in there]
    if new:
        box.call("im.chat.user.add", {**chat, "USERS": new, "HIDE_HISTORY": "N"})
    for user in gone_users(box, item, there):
        box.call("im.chat.user.delete", {**chat, "USER_ID": user})
    complete_chat(box, known, item)
    mark_unchanged(box, known, item)


def mark_unchanged(box: Box, known: Known, item: Item) -> None:
    """Marks what the box did not change, for the fidelity list."""
    there = read_chats(box, {item.key: known._replace(trace=chat_trace(item))}).get(item.key, {})
    for name in rest_rules.SET_ONCE:
        wanted = item.fields.get(name)
        same = wanted is None or in_order(wanted or "") == in_order(there.get(name) or "")
        set_mark(box, rest_rules.UNCHANGED, name, item.key, value=not same)


def gone_users(box: Box, item: Item, there: Sequence[str]) -> list[str]:
    """None where the source does not say who is in the chat."""
    if item.fields.get("users") is None:
        return []
    listed = (*item.fields["users"], *(item.fields.get("manager_list") or ()), item.fields.get("owner"), box.owner)
    stay = {str(user) for user in listed if user}
    return [user for user in there if user not in stay]


def read_chats(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    """The method that finds a chat by its stamp also shows whether the chat exists."""
    ids = [one.target_id for one in wanted.values()]
    about = box.questions([Command("im.dialog.get", {"DIALOG_ID": f"chat{one}"}) for one in ids])
    users = box.questions([Command("im.chat.user.list", {"CHAT_ID": one}) for one in ids])
    return {
        key: {
            **values.decode_columns(TOLD, said),
            "type": chat_kind(said),
            "users": values.ids(mine or []),
            "manager_list": source_managers(box, wanted[key], said),
        }
        for key, said, mine in zip(wanted, about, users, strict=True)
        if said
    }


def source_managers(box: Box, known: Known, about: Args) -> list[str]:
    """Without the webhook's owner, who stays a manager, unless the source also has this user as a manager."""
    named = (known.trace.get("manager_list") if isinstance(known.trace, Mapping) else None) or ()
    ours = box.owner in map(str, named)
    return [user for user in values.ids(about.get("manager_list") or []) if ours or user != box.owner]


def chat_kind(about: Args) -> str:
    """The entity type of a chat hides its type, but not the kind of its messages."""
    return OPEN if about.get("message_type") == "O" else "chat"


CHATS = Writer(
    stream="chats",
    entity="chats",
    needs=("im.chat.add", "im.chat.get", "im.dialog.get", "im.chat.user.list", *files.NEEDS),
    create=add_chats,
    trace=chat_trace,
    find=find_chats,
    finish=complete_chat,
    update=update_chat,
    read=read_chats,
    at_last=end_import,
    check=rest_import.check_import,
    stays=say("keep.chat"),
    rules=rest_rules.chat_rules,
)

WRITERS = (CHATS,)
