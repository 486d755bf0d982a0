"""Chats, as `im.chat.*` makes them: every one a chat of several people, stamped by what it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.errors import Permanent
from b24migrate.ports import Command
from b24migrate.records import Args, Item, Json
from b24migrate.target.rest import files, rules_chats, spelling
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.making import one_by_one
from b24migrate.target.rest.names import names_of
from b24migrate.target.rest.spelling import Column, columns
from b24migrate.target.rest.words import Known, Made, Writer

ABOUT = "B24MIGRATE"  # the ENTITY_TYPE of our chats; their ENTITY_ID is the key
OPEN = "open"
TOLD = (
    Column("name", "name"),
    Column("description", "description"),
    Column("owner", "owner", back=spelling.one_id),
    Column("manager_list", "manager_list", back=spelling.ids),
    Column("date_create", "date_create", back=spelling.utc),
    Column("color", "color"),
    Column("avatar", "avatar"),
    *columns((("entity_type", "entity_type"), ("entity_id", "entity_id")), spelling.as_it_is, spelling.text),
)


def chat_params(box: Box, item: Item) -> dict[str, Json]:
    """Never with the pair of a group: a second chat of a group breaks the chats of its tasks."""
    fields = item.fields
    sent = {
        "TYPE": "OPEN" if fields.get("type") == OPEN else "CHAT",
        "TITLE": fields.get("name") or ", ".join(names_of(box, fields.get("users") or ()).values()),
        "DESCRIPTION": fields.get("description") or "",
        "USERS": fields.get("users") or [],
        "ENTITY_TYPE": ABOUT,
        "ENTITY_ID": item.key,
    }
    return {**sent, "AVATAR": box.file(str(fields["avatar"]))[1]} if fields.get("avatar") else sent


def add_chats(box: Box, items: Sequence[Item]) -> Iterator[Made]:
    return one_by_one("im.chat.add", lambda item: chat_params(box, item))(box, items)


def find_chats(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    asked = [Command("im.chat.get", {"ENTITY_TYPE": ABOUT, "ENTITY_ID": key}) for key in begun]
    pairs = zip(begun, box.questions(asked), strict=True)
    return {key: str(said["ID"]) for key, said in pairs if said}


def hand_over(box: Box, known: Known, item: Item) -> None:
    """Managers first: only the owner names them, and who has given the chat away is none any more."""
    chat = f"chat{known.target_id}"
    about = box.question("im.dialog.get", {"DIALOG_ID": chat})
    if str(about.get("owner")) != box.owner:
        return
    for user in item.fields.get("manager_list") or ():
        try:
            box.call("im.chat.setManager", {"CHAT_ID": known.target_id, "USER_ID": user})
        except Permanent:
            continue  # in no document: a box may not have it
    owner = item.fields.get("owner")
    if owner and str(owner) != box.owner:
        box.call("im.chat.setOwner", {"CHAT_ID": known.target_id, "USER_ID": owner})


def trace(item: Item) -> Args:
    """The box gives a picture a number of its own: which one it got only we know."""
    return {"avatar": item.fields.get("avatar")}


def picture_of(trace: Json) -> Json:
    return trace.get("avatar") if isinstance(trace, Mapping) else None


def update_chat(box: Box, known: Known, item: Item) -> None:
    """The description cannot be changed any more."""
    chat = {"CHAT_ID": known.target_id}
    about = box.question("im.dialog.get", {"DIALOG_ID": f"chat{known.target_id}"})
    name = chat_params(box, item)["TITLE"]
    if name != about.get("name"):
        box.call("im.chat.updateTitle", {**chat, "TITLE": name})
    avatar = item.fields.get("avatar")
    if avatar and avatar != picture_of(known.trace):
        box.call("im.chat.updateAvatar", {**chat, "AVATAR": box.file(str(avatar))[1]})
    there = spelling.ids(box.question("im.chat.user.list", chat))
    new = [user for user in item.fields.get("users") or () if str(user) not in there]
    if new:
        box.call("im.chat.user.add", {**chat, "USERS": new, "HIDE_HISTORY": "N"})
    hand_over(box, known, item)


def read_chats(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    """The method that looks a chat up by its stamp says whether it is there at all."""
    ids = [one.target_id for one in wanted.values()]
    about = box.questions([Command("im.dialog.get", {"DIALOG_ID": f"chat{one}"}) for one in ids])
    users = box.questions([Command("im.chat.user.list", {"CHAT_ID": one}) for one in ids])
    return {
        key: {**spelling.told(TOLD, said), "type": kind_of(said), "users": spelling.ids(mine or [])}
        for key, said, mine in zip(wanted, about, users, strict=True)
        if said
    }


def kind_of(about: Args) -> str:
    """What a chat is about hides its type, but not what its messages are."""
    return OPEN if about.get("message_type") == "O" else "chat"


CHATS = Writer(
    stream="chats",
    entity="chats",
    needs=("im.chat.add", "im.chat.get", "im.dialog.get", "im.chat.user.list", *files.NEEDS),
    create=add_chats,
    trace=trace,
    find=find_chats,
    finish=hand_over,
    update=update_chat,
    read=read_chats,
    stays="a box deletes no chats by REST; leave it, or hide it",
    rules=rules_chats.of_chats,
)
