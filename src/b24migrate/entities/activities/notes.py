"""Notes on activities and comments, and entries that applications write into the timeline.

Each note costs a call, even if it does not exist, and so do the entries of each CRM record. They are an entity of
their own, which may be switched off (api-reference/crm/timeline/note, api-reference/crm/timeline/logmessage).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from b24migrate.entities.activities.reader import BINDINGS, pair_of
from b24migrate.entities.activities.reader import owners_of as owners_of_activity
from b24migrate.entities.codes import OWNER_STREAMS, RECORDS_OF
from b24migrate.entities.crm_comments.streams import BINDINGS as COMMENT_BINDINGS
from b24migrate.entities.crm_comments.streams import fetch_bound
from b24migrate.entities.crm_comments.streams import owners_of as owners_of_comment
from b24migrate.entities.crm_comments.streams import pair_of as named_pair_of
from b24migrate.entities.owners import owner_value, resolve_owner, type_of
from b24migrate.entities.readers import fetch_objects, is_not_found
from b24migrate.entities.user_refs import person
from b24migrate.messages import say
from b24migrate.model.answers import open_list, row_in
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import Field, Kind, Policy, Take, texts, times
from b24migrate.model.readings import ChildKeys, PerParent, Slices, Whole
from b24migrate.model.records import Args, Json, Row, Table
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.model.streams import ChangeRules, Entity, Stream, Written
from b24migrate.ports import Command, Source

NOTE, ENTRIES, ENTRY = "crm.timeline.note.get", "crm.timeline.logmessage.list", "crm.timeline.logmessage.get"
COMMENT, ACTIVITY = 1, 2  # `itemType`
KINDS = {"a": ACTIVITY, "c": COMMENT}  # by what the key of a note begins with
PAGE = 10  # entries

# ---------------------------------------------------------------- notes


def question(kind: int, item: str, owner: Sequence[Json]) -> Args:
    number, source_id = owner
    return {"ownerTypeId": int(number), "ownerId": int(source_id), "itemType": kind, "itemId": int(item)}


def owner_pair(owners: Sequence[Args]) -> list[Json]:
    """Of the record that a note is requested for; without one the portal decides."""
    first = owners[0] if owners else {"ownerTypeId": 0, "ownerId": "0"}
    return [first["ownerTypeId"], first["ownerId"]]


def bound_to(seen: SourceRecord) -> list[Args]:
    """An activity need not be bound to its main owner, and a note is shown for a bound one only (kernel crm 24.1300,
    Controller\\Timeline\\Note::checkBindings)."""
    owners = owners_of_activity(seen)
    bound = [owner_value(*pair) for pair in seen.extras.get("bindings") or ()]
    return [one for one in owners if one in bound] or owners


def note_of(stream: str, kind: int, mark: str, owners: Callable[[SourceRecord], list[Args]]) -> PerParent:
    return PerParent(
        of=stream,
        method=NOTE,
        params=lambda parent: question(kind, parent.id, owner_pair(owners(parent))),
        paging=Whole(),
        keys=ChildKeys(
            lambda parent, _: f"{mark}{parent.id}",
            shared=True,
            single=True,
            keeps=lambda parent: {"owner": owner_pair(owners(parent))},
        ),
    )


def refetch_notes(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    """By the activity or comment of the note. If the note is not found, one of the two was deleted, or it belongs to
    other records than before: no date tells that."""
    known = [one for one in wanted if one.extras.get("owner")]
    found = ask_for_notes(source, [(one, one.extras["owner"]) for one in known])
    missing = [one for one in known if one.id not in found]
    return found | ask_for_notes(source, find_other_owners(source, missing)) if missing else found


def ask_for_notes(source: Source, asked: Sequence[tuple[SourceRecord, Sequence[Json]]]) -> dict[str, Row]:
    commands = [Command(NOTE, question(KINDS[one.id[0]], one.id[1:], owner)) for one, owner in asked]
    found: dict[str, Row] = {}
    for (one, owner), answer in zip(asked, source.batch(commands) if commands else (), strict=True):
        if answer.error is not None:
            if not is_not_found(answer.error):
                raise answer.error
            continue
        extras = {**one.extras, "owner": list(owner)}
        found[one.id] = Row(one.id, msgspec.json.encode(row_in(answer.result, NOTE)), extras)
    return found


def find_other_owners(source: Source, notes: Sequence[SourceRecord]) -> list[tuple[SourceRecord, Sequence[Json]]]:
    """Each with a record that its activity or comment belongs to now; one that was deleted belongs to none."""
    commands = [
        Command(BINDINGS, {"activityId": int(one.id[1:])})
        if one.id.startswith("a")
        else Command(COMMENT_BINDINGS, {"filter": {"OWNER_ID": int(one.id[1:])}})
        for one in notes
    ]
    found: list[tuple[SourceRecord, Sequence[Json]]] = []
    for one, answer in zip(notes, source.batch(commands), strict=True):
        if isinstance(answer.error, Permanent):
            continue
        if one.id.startswith("a"):
            pairs = [pair_of(raw) for raw in open_list(answer.require(), (), BINDINGS).items]
        else:
            named = map(named_pair_of, open_list(answer.require(), (), COMMENT_BINDINGS).items)
            pairs = [[type_of(name), number] for name, number in named if type_of(name)]
        found += [(one, min(pairs))] if pairs else []
    return found


def beside(mark: str) -> Take:
    return lambda seen: seen.id[1:] if seen.id.startswith(mark) else None


crm_notes = Stream(
    name="crm_notes",
    table=Table("CrmNotes", "crm_notes"),
    read=(note_of("crm_activities", ACTIVITY, "a", bound_to),),
    more=(note_of("crm_comments", COMMENT, "c", owners_of_comment),),
    batch=100,
    fields=(
        Field("activityId", Kind.REF, take=beside("a"), to="crm_activities", policy=Policy.REQUIRE),
        Field("commentId", Kind.REF, take=beside("c"), to="crm_comments", policy=Policy.REQUIRE),
        Field("text", Kind.RICH),
        person("createdById", Policy.PLACEHOLDER),
        person("updatedById"),
        *times("createdTime", "updatedTime"),
    ),
    stamp="createdTime",
    changes=ChangeRules(noted_in=frozenset({"updatedTime", "updatedById"})),
    written=(Written("createdById", "createdTime"), Written("updatedById", "updatedTime")),
    fetch=refetch_notes,
    title=("text",),
    untaken=say("reason.only_module_notes"),
)


# ---------------------------------------------------------------- entries of applications


def entries_of(stream: str, number: Callable[[SourceRecord], int]) -> PerParent:
    """The documentation shows the list itself and calls its offset `start`; portals wrap it and read `offset`
    (b24-rest-docs#21, kernel crm 24.1300)."""
    return PerParent(
        of=stream,
        method=ENTRIES,
        params=lambda owner: {
            "entityTypeId": number(owner),
            "entityId": int(owner.child),
            "order": {"id": "asc"},
        },
        paging=Slices(offset="offset", also="start", limit="", size=PAGE),
        items=("logMessages",),
        unwrapped=True,
        keys=ChildKeys(
            lambda _, row: str(row["id"]),
            shared=True,
            keeps=lambda owner: {"owner": [number(owner), owner.child]},
        ),
    )


def _numbered(number: int) -> Callable[[SourceRecord], int]:
    return lambda _: number


READINGS = (
    *(entries_of(stream, _numbered(number)) for number, stream in RECORDS_OF.items()),
    entries_of("crm_spitems", lambda owner: int(owner.parent)),
)


def owner_of_entry(seen: SourceRecord) -> Json:
    owner = seen.extras.get("owner")
    return owner_value(*owner) if owner else None


crm_logs = Stream(
    name="crm_logs",
    table=Table("CrmLogs", "crm_logs"),
    read=READINGS[1:2],
    more=(READINGS[0], *READINGS[2:]),
    batch=100,
    fields=(
        *texts("title"),
        Field("text", Kind.RICH),
        *texts("iconCode"),
        person("authorId", Policy.PLACEHOLDER),
        *times("created"),
        Field("OWNER", Kind.CODED, take=owner_of_entry, code=resolve_owner, names=OWNER_STREAMS, policy=Policy.REQUIRE),
    ),
    stamp="created",
    written=(Written("authorId", "created"),),
    fetch=fetch_bound(
        fetch_objects(ENTRY, lambda source_id: {"id": int(source_id)}, inside="logMessage", id_field="id")
    ),
    covered=("OWNER",),
    untaken=say("reason.only_module_notes"),
)

ENTITIES = (
    Entity(
        name="crm_notes",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        streams=(crm_notes, crm_logs),
        optional=True,
        comes_with=("crm_activities", "crm_comments"),
        probes={ENTRIES: {"entityTypeId": 2, "entityId": 0}},
    ),
)
