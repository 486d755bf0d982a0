"""The data of calls and activities, also from other methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from b24migrate.entities.activities.providers import COMPRESSED, is_compressed, provider_of, skip_reason
from b24migrate.entities.owners import is_owner_type, owner_value, resolve_owner, type_of, without_repeats
from b24migrate.entities.readers import is_link, mark_unread
from b24migrate.messages import Message, say
from b24migrate.model.answers import id_of, open_list
from b24migrate.model.errors import NO_SUCH_METHOD, Permanent
from b24migrate.model.fields import ABSENT, Resolve, Take, Unresolved
from b24migrate.model.readings import Reading
from b24migrate.model.records import REFUSED, Args, Json, Row, SetAside
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.values import members, reference, text, whole
from b24migrate.ports import Command, Source

BINDINGS = "crm.activity.binding.list"
BODY, FOREIGN = say("skip.compressed_body"), say("skip.activity_owner")
NEVER = "9999-"  # a time in this year means no time
# The portal sets these when a letter is read, which does not change the activity.
NOTED_BY_ITSELF = frozenset({"READ_CONFIRMED", "CLICK_CONFIRMED"})
OF_THE_PORTAL = frozenset({"CALENDAR_SECTION_ID"})  # IDs of records that are not migrated
# A meeting room and its booking (kernel calendar, Rooms\Util::parseLocation).
ROOM = re.compile(r"(?:calendar|ECMR)_\d+(?:_\d+)?")
LETTER, HTML, CLEANED = "CRM_EMAIL", 3, "SANITIZE_ON_VIEW"
# A letter shows its pictures by these (kernel crm 24.1300, CCrmEMail and CCrmActivity). With a portal before it, it may
# be a picture of another portal; those of the letter itself are among its files.
INLINE = re.compile(r"(?:bxacid:n?|(?<![\w/.:%-])/bitrix/tools/crm_show_file\.php\?fileId=)(\d+)", re.IGNORECASE)


# ---------------------------------------------------------------- activities


def with_bindings(source: Source, rows: Sequence[Row]) -> list[Row]:
    """Each activity with all its owners: the listing returns the main one only, and the method takes one activity
    (api-reference/crm/timeline/activities/binding/crm-activity-binding-list.md). Excluded activities are not
    requested."""
    wanted = [row for row in rows if skip_reason(msgspec.json.decode(row.payload)) is None]
    commands = [Command(BINDINGS, {"activityId": int(row.source_id)}) for row in wanted]
    found: dict[str, Row] = {}
    for row, answer in zip(wanted, source.batch(commands), strict=True):
        if isinstance(answer.error, Permanent) and answer.error.code != NO_SUCH_METHOD:
            found[row.source_id] = mark_unread(row, say("part.bindings"), answer.error)
            continue
        pairs = sorted(map(pair_of, open_list(answer.require(), (), BINDINGS).items))
        found[row.source_id] = row._replace(extras={**(row.extras or {}), "bindings": pairs})
    return [found.get(row.source_id, row) for row in rows]


def pair_of(raw: msgspec.Raw) -> list[int]:
    return [int(id_of(raw, name, BINDINGS)) for name in ("entityTypeId", "entityId")]


def owners_of(seen: SourceRecord) -> list[Args]:
    """The main one first."""
    main = owner_value(seen.payload.get("OWNER_TYPE_ID"), seen.payload.get("OWNER_ID"))
    return list(without_repeats([main, *(owner_value(*pair) for pair in seen.extras.get("bindings") or ())]))


def candidates(seen: SourceRecord) -> Json:
    """If the main owner is not migrated, another one replaces it, because an activity without an owner is shown
    nowhere. This is not a list, since the parts of a list are resolved separately."""
    return tuple(owners_of(seen))


def communications(seen: SourceRecord) -> Json:
    listed = seen.payload.get("COMMUNICATIONS", ABSENT)
    if listed is ABSENT:
        return ABSENT
    return [
        {
            "TYPE": text(one.get("TYPE")),
            "VALUE": text(one.get("VALUE")),
            "owner": owner_value(one.get("ENTITY_TYPE_ID"), one.get("ENTITY_ID")),
        }
        for one in members(listed)
        if isinstance(one, dict)
    ]


def resolve_communication(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """An address is kept without the record that it belongs to."""
    try:
        return {**value, "owner": resolve_owner(seen, value["owner"], resolve)}
    except Unresolved:
        return {**value, "owner": None}


def emails(seen: SourceRecord) -> list[str]:
    listed = communications(seen)
    return [one["VALUE"] or "" for one in (() if listed is ABSENT else listed) if one["TYPE"] == "EMAIL"]


def settings(seen: SourceRecord) -> Json:
    """A letter in HTML is marked to be cleaned whenever it is shown. Without the mark the kernel shows it as it is
    (crm 25.100, Activity/Provider/Email), and a script in it would run."""
    listed = seen.payload.get("SETTINGS", ABSENT)
    left_out = NOTED_BY_ITSELF | OF_THE_PORTAL
    # PHP writes an empty list for an empty map.
    kept: dict[str, Json] | None = None
    if isinstance(listed, dict):
        kept = {name: part for name, part in listed.items() if name not in left_out and not is_room(part)}
    if provider_of(seen.payload) == LETTER and whole(seen.payload.get("DESCRIPTION_TYPE")) == HTML:
        return {**(kept or {}), CLEANED: (kept or {}).get(CLEANED) or 1}
    return ABSENT if listed is ABSENT else kept


def place(seen: SourceRecord) -> Json:
    """A room has another id on every portal."""
    value = seen.payload.get("LOCATION", ABSENT)
    return None if is_room(value) else value


def is_room(value: Json) -> bool:
    return isinstance(value, str) and ROOM.fullmatch(value) is not None


def resolve_settings(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """A to-do has users that take part, and clients (kernel crm 24.1300, ToDo\\Block). Those who did not arrive take no
    part."""
    if not isinstance(value, dict):
        return value
    named = {"USERS": _user, "CLIENTS": _client}
    lists = {name: part for name in named if isinstance(part := value.get(name), list)}
    return {
        **value,
        **{name: [known for one in part if (known := named[name](seen, one, resolve))] for name, part in lists.items()},
    }


def _user(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    try:
        return resolve("users", str(value))
    except Unresolved:
        return None


def _client(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
    if not isinstance(value, dict):
        return None
    try:
        owner = resolve_owner(seen, owner_value(value.get("ENTITY_TYPE_ID"), value.get("ENTITY_ID")), resolve)
    except Unresolved:
        return None
    return owner and {"ENTITY_TYPE_ID": owner["ownerTypeId"], "ENTITY_ID": owner["ownerId"]}


def map_or_nothing(name: str) -> Take:
    def take(seen: SourceRecord) -> Json:
        value = seen.payload.get(name, ABSENT)
        return value if value is ABSENT or isinstance(value, dict) else None

    return take


def time_or_nothing(name: str) -> Take:
    """A deadline in the year 9999 means that there is no deadline."""

    def take(seen: SourceRecord) -> Json:
        value = seen.payload.get(name, ABSENT)
        return None if isinstance(value, str) and (value.startswith(NEVER) or ".9999" in value) else value

    return take


def leave_out(seen: SourceRecord) -> Message | None:
    """By what made it, or because none of its owners is ever migrated. An activity whose owners were refused waits for
    the next run."""
    if (reason := skip_reason(seen.payload)) is not None or REFUSED in seen.extras:
        return reason
    return None if any(is_owner_type(one["ownerTypeId"]) for one in owners_of(seen)) else FOREIGN


def provider_type(seen: SourceRecord) -> Json:
    """A compressed letter has an excerpt but no body, so it is sent as an ordinary one."""
    value = seen.payload.get("PROVIDER_TYPE_ID", ABSENT)
    return "EMAIL" if value == COMPRESSED else value


def listed_files(seen: SourceRecord) -> Iterator[FileRef]:
    """Ids of Drive objects; their links hold no key (api-reference/crm/timeline/activities). Missing where there are
    none."""
    for one in members(seen.payload.get("FILES")):
        if isinstance(one, dict) and (number := reference(one.get("id"))):
            yield FileRef("disk", number)


def files_of_activity(seen: SourceRecord) -> Iterator[FileRef]:
    """With the pictures in the text, which need not be listed."""
    yield from listed_files(seen)
    body = seen.payload.get("DESCRIPTION")
    for number in INLINE.findall(body) if isinstance(body, str) else ():
        yield FileRef("disk", number)


def attachments(seen: SourceRecord) -> Json:
    return [ref.key for ref in listed_files(seen)]


def find_compressed(
    _: Source, staged: Callable[[str], Iterable[SourceRecord]], __: Sequence[Reading]
) -> Iterator[SetAside]:
    """Emails of which only an excerpt can be read."""
    for one in staged("crm_activities"):
        if is_compressed(one.payload):
            yield SetAside(
                "crm_activities", f"{one.id}:body", "impossible", BODY, text(one.payload.get("SUBJECT")) or ""
            )


# ---------------------------------------------------------------- calls


def owner_of_call(seen: SourceRecord) -> Json:
    return owner_value(type_of(seen.payload.get("CRM_ENTITY_TYPE")), seen.payload.get("CRM_ENTITY_ID"))


def recording(seen: SourceRecord) -> Iterator[FileRef]:
    """On the Drive; else where the operator keeps it, under a link that may have expired
    (api-reference/telephony/voximplant/voximplant-statistic-get.md)."""
    number, link = reference(seen.payload.get("RECORD_FILE_ID")), text(seen.payload.get("CALL_RECORD_URL"))
    if number:
        yield FileRef("disk", number)
    elif link and is_link(link):
        yield FileRef.of_link("call", seen.id, link)


def recording_keys(seen: SourceRecord) -> Json:
    return [ref.key for ref in recording(seen)]
