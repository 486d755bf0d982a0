"""Comments in the timeline of CRM records.

A portal lists them for one record at a time, without a filter by ID or time, and nothing shows which records have any:
a pass requests those of every record (api-reference/crm/timeline/comments/crm-timeline-comment-list.md). A comment that
was written to a lead is also in the list of the deal that the lead became. It is one record with several owners.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from b24migrate.entities.attachments import resolve_rows
from b24migrate.entities.codes import OWNER_STREAMS, RECORDS_OF
from b24migrate.entities.owners import (
    DYNAMIC,
    TYPE_NAMES,
    owner_value,
    resolve_owner,
    type_of,
    without_repeats,
)
from b24migrate.entities.readers import fetch_objects, mark_unread
from b24migrate.entities.unseen import UNSEEN_VERSIONS
from b24migrate.entities.user_refs import person
from b24migrate.messages import say
from b24migrate.model.answers import decode_emoji, id_of, open_list, row_in, unexpected_answer
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, times
from b24migrate.model.readings import ChildKeys, Enrichment, PerParent, Slices
from b24migrate.model.records import Args, Json, Row, Table
from b24migrate.model.source_records import Fetch, FileRef, Known, SourceRecord
from b24migrate.model.streams import Entity, Stream, Written
from b24migrate.model.values import OddValue, members, reference, text
from b24migrate.ports import Answer, Command, Source

LIST, GET, BINDINGS = "crm.timeline.comment.list", "crm.timeline.comment.get", "crm.timeline.bindings.list"
ATTACHED = re.compile(r"\[DISK FILE ID=(\d{1,18})", re.IGNORECASE)


# ---------------------------------------------------------------- reading


def list_of(name: Callable[[SourceRecord], str]) -> Callable[[SourceRecord], Args]:
    """Both names in the filter are required, and every other one is ignored."""
    return lambda owner: {"filter": {"ENTITY_TYPE": name(owner), "ENTITY_ID": int(owner.child)}, "order": {"ID": "ASC"}}


def comments_of(stream: str, name: Callable[[SourceRecord], str]) -> PerParent:
    return PerParent(
        of=stream,
        method=LIST,
        params=list_of(name),
        paging=Slices(offset="start", limit=""),
        id="ID",
        keys=ChildKeys(lambda _, row: str(row["ID"]), shared=True, lists=lambda seen: len(owners_of(seen))),
        enrich=Enrichment(with_owners_and_files, "crm"),
    )


def with_owners_and_files(source: Source, rows: Sequence[Row]) -> list[Row]:
    """A text that was edited names its pictures by their attachments."""
    return resolve_rows(source, with_owners(source, rows), named_attachments)


def named_attachments(payload: Mapping[str, Json]) -> list[str]:
    text = payload.get("COMMENT")
    return ATTACHED.findall(text) if isinstance(text, str) else []


def with_owners(source: Source, rows: Sequence[Row]) -> list[Row]:
    """Each comment with all records that it belongs to (api-reference/crm/timeline/bindings). If they are refused, it
    belongs to the record in whose list it was found."""
    commands = [Command(BINDINGS, {"filter": {"OWNER_ID": int(row.source_id)}}) for row in rows]
    done: list[Row] = []
    for row, answer in zip(rows, source.batch(commands), strict=True):
        if isinstance(answer.error, Permanent):
            found = row_in(row.payload, LIST)
            owners = [[found.get("ENTITY_TYPE"), found.get("ENTITY_ID")]]
            known = mark_unread(row, say("part.owners"), answer.error)
        else:
            owners = sorted(map(pair_of, open_list(answer.require(), (), BINDINGS).items))
            known = row
        done.append(known._replace(extras={**(known.extras or {}), "owners": owners}))
    return done


def pair_of(raw: msgspec.Raw) -> list[Json]:
    kind = row_in(raw, BINDINGS).get("ENTITY_TYPE")
    if not isinstance(kind, str):
        raise unexpected_answer(BINDINGS, ("ENTITY_TYPE",))
    return [kind, int(id_of(raw, "ENTITY_ID", BINDINGS))]


def fetch_bound(fetch: Fetch) -> Fetch:
    """Without those that belong only to records in the recycle bin. No list has them, yet they are found by their
    ID until the bin is emptied (kernel crm 24.1300, TimelineManager::transferOwnership); there each type is called
    `sus_deal` and the like."""

    def fetch_some(source: Source, wanted: Sequence[SourceRecord], known: Known) -> dict[str, Row]:
        found = fetch(source, wanted, known)
        doubtful = [one for one, row in found.items() if not _has_known_type(row)]
        commands = [Command(BINDINGS, {"filter": {"OWNER_ID": int(one)}}) for one in doubtful]
        answers = zip(doubtful, source.batch(commands) if commands else (), strict=True)
        in_bin = {one for one, answer in answers if _is_in_bin(answer)}
        return {one: row for one, row in found.items() if one not in in_bin}

    return fetch_some


def _has_known_type(row: Row) -> bool:
    try:
        return bool(type_of(row_in(row.payload, GET).get("ENTITY_TYPE")))
    except OddValue:
        return False


def _is_in_bin(answer: Answer) -> bool:
    if isinstance(answer.error, Permanent):
        return False
    if answer.error is not None:
        raise answer.error
    owners = [pair_of(raw) for raw in open_list(answer.result, (), BINDINGS).items]
    return bool(owners) and not any(type_of(name) for name, _ in owners)


def _named(name: str) -> Callable[[SourceRecord], str]:
    return lambda _: name


def _name_of_item(owner: SourceRecord) -> str:
    return f"{DYNAMIC}{owner.parent}"


READINGS = (
    *(comments_of(RECORDS_OF[number], _named(name)) for number, name in TYPE_NAMES.items()),
    comments_of("crm_spitems", _name_of_item),
)


# ---------------------------------------------------------------- data of a comment


def owners_of(seen: SourceRecord) -> list[Args]:
    """The owners from the bindings. The payload names the record in whose list it was found, which varies."""
    named = seen.extras.get("owners") or ()
    return list(without_repeats(owner_value(type_of(name), number) for name, number in named))


def words(seen: SourceRecord) -> Json:
    """The timeline keeps emoji like the forum, and this method returns them so (kernel crm 24.1300, CommentEntry)."""
    return decode_emoji(seen.payload.get("COMMENT", ABSENT))


def files_of_comment(seen: SourceRecord) -> Iterator[FileRef]:
    """A map by the ID of the Drive object; missing without files. The links need the session of a browser."""
    for one in members(seen.payload.get("FILES")):
        if isinstance(one, dict) and (number := reference(one.get("id"))):
            yield FileRef("disk", number, name=text(one.get("name")) or "", size=one.get("size"))


crm_comments = Stream(
    name="crm_comments",
    table=Table("CrmComments", "crm_comments"),
    read=READINGS[1:2],
    more=(READINGS[0], *READINGS[2:]),
    batch=100,
    fields=(
        Field("OWNERS", Kind.CODED, take=owners_of, code=resolve_owner, names=OWNER_STREAMS, some=True),
        person("AUTHOR_ID", Policy.PLACEHOLDER),
        *times("CREATED"),
        Field("COMMENT", Kind.RICH, take=words),
        Field("FILES", Kind.FILES, take=lambda seen: [ref.key for ref in files_of_comment(seen)]),
    ),
    stamp="CREATED",
    written=(Written("AUTHOR_ID", "CREATED"),),
    files=files_of_comment,
    fetch=fetch_bound(fetch_objects(GET, lambda source_id: {"id": source_id})),
    title=("COMMENT",),
    untaken=say("reason.only_module_comments"),
    unseen=(UNSEEN_VERSIONS,),
)

ENTITIES = (
    Entity(
        name="crm_comments",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        streams=(crm_comments,),
        optional=True,
        probes={LIST: {"filter": {"ENTITY_TYPE": "deal", "ENTITY_ID": 0}}},
        optional_scopes={"disk": say("loss.comment_files")},
    ),
)
