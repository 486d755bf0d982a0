"""Chats with their participants, and the whole history of their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from b24migrate.entities import probes
from b24migrate.entities.chats.details import dialog_of, refetch_chats, refetch_messages, reread_chats
from b24migrate.entities.chats.reader import UNKNOWN_KIND, gather, gather_again, message_count, read_list, skip_rule
from b24migrate.entities.codes import OWNER_STREAMS, record_of, type_id
from b24migrate.entities.readers import is_link
from b24migrate.entities.unseen import UNSEEN_VERSIONS
from b24migrate.messages import say
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, Resolve, texts, times
from b24migrate.model.readings import (
    Again,
    Backward,
    Gather,
    IdPages,
    JoinedList,
    Parents,
    PerParent,
    Reading,
    Slices,
    Tail,
)
from b24migrate.model.records import Args, Json, SetAside, Table
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import ChangeRules, DeletionRules, Entity, Mention, Stream, Written
from b24migrate.model.values import file_name
from b24migrate.ports import Source

# Only a portal with a gateway of its own has this name as a listing method; its sibling `im.chat.get` then lists too.
LISTS_MESSAGES = "im.chat.message.list"
PRIVATE = say("skip.private")
CHAT_KINDS = {"DEAL": "crm_deals", "CONTACT": "crm_contacts", "COMPANY": "crm_companies", "LEAD": "crm_leads"}


# ---------------------------------------------------------------- data of the records


def avatar(record: SourceRecord) -> Iterable[FileRef]:
    url = record.payload.get("avatar")
    if is_link(url):
        yield FileRef.of_link("chat", record.id, str(url))


def is_thread(record: SourceRecord) -> bool:
    """Comments under a post of a channel."""
    return str(record.payload.get("parent_chat_id") or "0") != "0"


def channel_of(record: SourceRecord) -> Json:
    return str(record.payload["parent_chat_id"]) if is_thread(record) else ABSENT


def post_of(record: SourceRecord) -> Json:
    return f"{channel_of(record)}:{record.payload.get('parent_message_id')}" if is_thread(record) else ABSENT


def chat_subject(record: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """12`.|The entity of a chat, if its type is known: a group, or a CRM item such as `DEAL|12`.|12`."""
    text = str(value or "")
    if record.payload.get("entity_type") == "SONET_GROUP":
        return resolve("groups", text) if text not in ("", "0") else None
    kind, bar, source_id = text.partition("|")
    if record.payload.get("entity_type") != "CRM" or not bar:
        return text
    smart = kind.removeprefix("DYNAMIC_")
    if smart.isdecimal():
        return f"DYNAMIC_{type_id(int(smart), resolve)}|{record_of(int(smart), source_id, resolve)}"
    return f"{kind}|{resolve(CHAT_KINDS.get(kind, kind), source_id)}"


def params_of(record: SourceRecord) -> Mapping[str, Json]:
    """PHP returns an empty map as []; very old messages have null."""
    params = record.payload.get("params")
    return params if isinstance(params, dict) else {}


def other_params(record: SourceRecord) -> Args:
    return {name: value for name, value in params_of(record).items() if name not in ("FILE_ID", "LIKE")}


def is_from_portal(message: SourceRecord) -> bool:
    """It has no author, and reports who joined or left, among others."""
    return str(message.payload.get("author_id") or 0) == "0"


def reactions(record: SourceRecord) -> Args:
    likes = params_of(record).get("LIKE")
    return {"LIKE": len(likes)} if likes else {}


def file_ids(record: SourceRecord) -> list[str]:
    ids = params_of(record).get("FILE_ID") or []
    return [str(one) for one in (ids.values() if isinstance(ids, dict) else ids if isinstance(ids, list) else [ids])]


def join_files(row: Args, files: Mapping[str, Json]) -> Args | None:
    """Keeps of each attached file what is needed to fetch it; its links expire and are requested later."""
    mine = [files[one] for one in file_ids(SourceRecord("", row, {})) if one in files]
    kept = [{"id": one["id"], "name": one.get("name", ""), "size": one.get("size")} for one in mine]
    return {"files": kept} if kept else None


def attached_files(record: SourceRecord) -> Iterable[FileRef]:
    known = {str(one["id"]): one for one in record.extras.get("files", [])}
    for file_id in file_ids(record):
        details = known.get(file_id, {})
        yield FileRef(
            "disk", file_id, name=file_name(details.get("name")), size=details.get("size"), place=f"chat{record.parent}"
        )


def chat_type(record: SourceRecord) -> str:
    if record.payload.get("message_type") == "P" or record.payload.get("type") in ("private", "user"):
        return "private"
    return str(record.payload.get("type") or "chat")


def find_private_chats(
    source: Source, staged: Callable[[str], Iterable[SourceRecord]], readings: Sequence[Reading]
) -> Iterable[SetAside]:
    """A webhook sees its owner's chats only: the private chats between all the others stay where they are."""
    if any(reading.needs == LISTS_MESSAGES for reading in readings):
        return
    for user in staged("users"):
        if user.id not in source.owners:
            name = (
                f"{user.payload.get('NAME') or ''} {user.payload.get('LAST_NAME') or ''}".strip() or f"user {user.id}"
            )
            yield SetAside("chats", f"private:{user.id}", "impossible", PRIVATE, name)


# ---------------------------------------------------------------- the streams

chats = Stream(
    name="chats",
    table=Table("Chats", "chats"),
    key="source:chat:{id}",
    read=(
        Gather("im.chat.get", read_list, needs=LISTS_MESSAGES),
        Gather("im.recent.list", gather, again=gather_again, fetch=reread_chats),
    ),
    batch=20,
    fields=(
        Field("type", take=chat_type),
        *texts("name"),
        Field("description", Kind.RICH),
        Field("owner", Kind.REF, to="users", policy=Policy.PLACEHOLDER),
        Field("manager_list", Kind.REFS, to="users"),
        Field("users", Kind.REFS, take=lambda record: record.extras.get("users", ABSENT), to="users"),
        *times("date_create"),
        *texts("color"),
        Field("avatar", Kind.FILE, take=lambda record: [ref.key for ref in avatar(record)]),
        *texts("entity_type"),
        Field("entity_id", Kind.CODED, code=chat_subject, names=("groups", *OWNER_STREAMS)),
        Field("parent_chat_id", Kind.REF, take=channel_of, to="chats", late=True, beyond=True),
        Field("parent_message_id", Kind.REF, take=post_of, to="chat_messages", late=True, beyond=True),
    ),
    stamp="date_create",
    written=(Written("owner", "date_create"),),
    files=avatar,
    exclude=lambda record: skip_rule(record.payload),
    unsure=UNKNOWN_KIND,
    fetch=refetch_chats,
    # A deleted and a hidden dialog have one error, ACCESS_ERROR (api-reference/chats/im-dialog-get.md).
    deletions=DeletionRules(unprovable=True),
    mentions=(
        Mention(r"\[CHAT=(?:chat)?(\d+)"),
        Mention(r"/online/\?IM_DIALOG=chat(\d+)(?![\w&])", link=True),
    ),
    covered=("users",),
    unseen=(say("delta.unseen.chat_people"),),
)

# Ids grow with creation, and a message that is deleted for good lowers the number. Old methods refuse edits after three
# days (kernel 25.100); the portal may set another limit (api-reference/chats/messages/index.md). A search needs no text
# and brings 200 messages (api-reference/chats/messages/im-dialog-messages-search.md); whether it shows all kinds is not
# documented.
TAIL = Tail(
    "last_message_id",
    "message_count",
    "date",
    days=3,
    ids=IdPages(
        "im.dialog.messages.search",
        200,
        lambda chat, below: {"CHAT_ID": int(chat.id), "LAST_ID": below, "LIMIT": 200, "ORDER": {"ID": "DESC"}},
        ("messages",),
    ),
    shows_change=is_from_portal,
)

chat_messages = Stream(
    name="chat_messages",
    table=Table("ChatMessages", "chat_messages"),
    key="source:chat:msg:{child}",
    read=(
        PerParent(
            of="chats",
            method=LISTS_MESSAGES,
            params=lambda chat: {"CHAT_ID": chat.id},
            paging=Slices(),
            items=("messages",),
            joined=JoinedList("files", join_files),
            needs=LISTS_MESSAGES,
        ),
        PerParent(
            of="chats",
            method="im.dialog.messages.get",
            params=lambda chat: {"DIALOG_ID": dialog_of(chat)},
            paging=Backward(),
            items=("messages",),
            parents=Parents(expected=message_count),
            again=Again((TAIL.last, TAIL.count), tail=TAIL),
            joined=JoinedList("files", join_files),
        ),
    ),
    batch=100,
    batch_option="batch_messages",
    ordered=True,
    fields=(
        Field("chat_id", Kind.REF, take=lambda record: record.parent, to="chats", policy=Policy.REQUIRE),
        Field("author_id", Kind.REF, to="users", policy=Policy.PLACEHOLDER, keep=frozenset({"0"})),
        *times("date"),
        Field("text", Kind.RICH),
        Field("params", Kind.TREE, take=other_params, inside={"CHAT_USER": "users", "NOTIFY": "users"}),
        Field("files", Kind.FILES, take=lambda record: [ref.key for ref in attached_files(record)]),
        Field("reactions", Kind.AS_IS, take=reactions),
    ),
    stamp="date",
    written=(Written("author_id", "date"),),
    changes=ChangeRules(whole_payload=True, volatile=frozenset({"unread", "viewed", "viewed_by_others", "replaces"})),
    files=attached_files,
    fetch=refetch_messages,
    mentions=(Mention(r"\[CONTEXT=chat(\d+)/(\d+)"),),
    title=("text",),
    unseen=(say("delta.unseen.chat_messages"), UNSEEN_VERSIONS),
)

ENTITIES = (
    Entity(
        name="chats",
        wire="chats",
        scopes=("im",),
        every_webhook=True,
        streams=(chats, chat_messages),
        optional_scopes={"disk": say("loss.chat_files")},
        unreadable=find_private_chats,
        probes={LISTS_MESSAGES: {"CHAT_ID": 0, "LIMIT": 1}},
        talk=True,
        unreadable_by="users",
        habits=(probes.messages,),
    ),
)
