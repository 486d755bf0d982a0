"""Workgroups and projects, with their members and roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from b24migrate.entities.readers import fetch_one_by_one, is_link, mark_unread
from b24migrate.messages import say
from b24migrate.model.answers import id_of, open_list, row_in
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, Take, flags, texts, times
from b24migrate.model.readings import Enrichment, Keyset, Listing, PerParent, Whole
from b24migrate.model.records import Json, Page, Row, SetAside, Table
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import ChangeRules, DeletionRules, Entity, Mention, Stream, Written
from b24migrate.ports import Answer, Command, Source

BY_ID = Keyset(filter="FILTER", id="ID", ascending={"ORDER": {"ID": "ASC"}}, descending={"ORDER": {"ID": "DESC"}})
UNLISTED = say("skip.unlisted")
MORE = ["ID", "TYPE", "PROJECT_DATE_START", "PROJECT_DATE_FINISH", "SCRUM_MASTER_ID"]

DENIED = "ACCESS_DENIED"


def enrich(source: Source, rows: Sequence[Row]) -> list[Row]:
    """`sonet_group.get` has no type, no project dates and no scrum master; `socialnetwork.api.workgroup.list` does."""
    ids = [row.source_id for row in rows]
    commands = [
        Command(
            "socialnetwork.api.workgroup.list",
            {
                "filter": {">=ID": ids[at], "<=ID": ids[min(at + 50, len(ids)) - 1]},
                "select": MORE,
                "order": {"ID": "ASC"},
                "params": {"IS_ADMIN": "Y"},
                "start": -1,
            },
        )
        for at in range(0, len(ids), 50)
    ]
    more: dict[str, Json] = {}
    for answer in source.batch(commands):
        for raw in open_list(answer.require(), ("workgroups",), "socialnetwork.api.workgroup.list").items:
            workgroup = row_in(raw, "socialnetwork.api.workgroup.list")
            more[id_of(raw, "id", "socialnetwork.api.workgroup.list")] = workgroup
    done = [row._replace(extras={"workgroup": more[row.source_id]}) if row.source_id in more else row for row in rows]
    return read_extranet(source, done)


def read_extranet(source: Source, rows: Sequence[Row]) -> list[Row]:
    """The list covers one site; extranet groups are requested individually. Their dates come in the portal's own format
    without an offset, which cannot be read safely, so only the type is taken."""
    unknown = [row.source_id for row in rows if not row.extras]
    commands = [Command("socialnetwork.api.workgroup.get", {"params": {"groupId": one}}) for one in unknown]
    answers = dict(zip(unknown, source.batch(commands), strict=True))
    return [add_type(row, answers[row.source_id]) if row.source_id in answers else row for row in rows]


def add_type(row: Row, answer: Answer) -> Row:
    """A group that the method does not know has no type; a refused group is incomplete."""
    if isinstance(answer.error, Permanent):
        return mark_unread(row, say("part.group_type"), answer.error) if answer.error.code == DENIED else row
    details = answer.decode()
    known = isinstance(details, dict) and details.get("TYPE")
    return row._replace(extras={"workgroup": {"type": details["TYPE"]}}) if known else row


def dismissed_members(
    source: Source, groups: Mapping[str, tuple[SourceRecord, set[str]]], grants: Callable[[str], bool]
) -> Page:
    """`sonet_group.user.get` lists the active members only, and the group counts all of them
    (api-reference/sonet-group/members/sonet-group-user-get.md). `socialnetwork.api.workgroup.get` names the dismissed
    as well; without that scope their number is all there is to know. Every group is asked: the number that was staged
    may be of an earlier pass, and where one person joined when another was dismissed the list is as long."""
    named = grants("socialnetwork")
    commands = [
        Command("socialnetwork.api.workgroup.get", {"params": {"groupId": one}})
        if named
        else Command("sonet_group.get", {"FILTER": {"ID": one}, "IS_ADMIN": "Y"})
        for one in groups
    ]
    page = Page()
    for one, answer in zip(groups, source.batch(commands), strict=True):
        if answer.error is not None and not isinstance(answer.error, Permanent):
            raise answer.error
        group, listed = groups[one]
        details = details_of(answer) or group.payload
        members = {user: role for user, role in roles_of(details).items() if user not in listed}
        for user, role in members.items():
            page.rows.append(Row(f"{one}:{user}", msgspec.json.encode({"USER_ID": user, "ROLE": role})))
        name = str(group.payload.get("NAME") or one)
        for number in range(member_count(details) - len(listed) - len(members)):
            page.aside.append(SetAside("group_members", f"{one}:unlisted{number + 1}", "impossible", UNLISTED, name))
    return page


def find_dismissed(source: Source, members: Sequence[SourceRecord]) -> set[str]:
    """They disappear from the lists of all their groups at once, which is not a sign of lost rights."""
    users = sorted({one.child for one in members})
    commands = [Command("user.get", {"FILTER": {"ID": user}, "ADMIN_MODE": True}) for user in users]
    dismissed: set[str] = set()
    for user, answer in zip(users, source.batch(commands), strict=True):
        answer.raise_if_unheard()
        rows = open_list(answer.result, (), "user.get").items if answer.error is None else []
        dismissed.update(user for raw in rows if row_in(raw, "user.get").get("ACTIVE") is False)
    return {one.id for one in members if one.child in dismissed}


def member_count(group: Mapping[str, Json]) -> int:
    return int(group.get("NUMBER_OF_MEMBERS") or 0)


def details_of(answer: Answer) -> Mapping[str, Json]:
    details = msgspec.json.decode(answer.result) if answer.result else None
    if isinstance(details, list):
        details = details[0] if details else None
    return details if isinstance(details, dict) else {}


def roles_of(group: Mapping[str, Json]) -> dict[str, str]:
    """Invited people are not among the members."""
    moderators = {str(one) for one in values_of(group.get("MODERATOR_MEMBERS"))}
    owner = str(group.get("OWNER_ID"))
    members = [str(one) for one in values_of(group.get("MEMBERS"))]
    return {one: "A" if one == owner else "E" if one in moderators else "K" for one in members}


def values_of(listed: Json) -> Iterable[Json]:
    """PHP sends a list with gaps as a map."""
    return listed.values() if isinstance(listed, dict) else listed or ()


def take_detail(name: str) -> Take:
    """Values that no method returned are omitted: null would mean empty."""
    return lambda record: record.extras.get("workgroup", {}).get(name, ABSENT)


def image(record: SourceRecord) -> Iterable[FileRef]:
    url = record.payload.get("IMAGE")
    if is_link(url):
        yield FileRef.of_link("group", record.id, str(url))


groups = Stream(
    name="groups",
    table=Table("Groups", "groups"),
    # Without IS_ADMIN even an administrator does not get secret groups of other users.
    read=(Listing("sonet_group.get", BY_ID, params={"IS_ADMIN": "Y"}, enrich=Enrichment(enrich, "socialnetwork")),),
    batch=20,
    fields=(
        *texts("NAME"),
        Field("DESCRIPTION", Kind.RICH),
        Field("OWNER_ID", Kind.REF, to="users", policy=Policy.PLACEHOLDER),
        *flags("ACTIVE", "VISIBLE", "OPENED", "CLOSED", "PROJECT"),
        Field("TYPE", take=take_detail("type")),
        *texts("SUBJECT_NAME", "KEYWORDS"),
        *times("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY"),
        Field("PROJECT_DATE_START", Kind.TIME, take=take_detail("projectDateStart")),
        Field("PROJECT_DATE_FINISH", Kind.TIME, take=take_detail("projectDateFinish")),
        Field("SCRUM_MASTER_ID", Kind.REF, take=take_detail("scrumMasterId"), to="users"),
        Field("IMAGE", Kind.FILE, take=lambda record: [ref.key for ref in image(record)]),
    ),
    stamp="DATE_CREATE",
    written=(Written("OWNER_ID", "DATE_CREATE"),),
    # Any activity in a group moves it (api-reference/sonet-group/sonet-group-get.md).
    changes=ChangeRules(volatile=frozenset({"DATE_ACTIVITY"}), noted_in=frozenset({"DATE_UPDATE", "DATE_ACTIVITY"})),
    files=image,
    fetch=fetch_one_by_one("sonet_group.get", lambda source_id: {"FILTER": {"ID": source_id}, "IS_ADMIN": "Y"}),
    # Its pages below have words in their path; one with another id in it is not changed.
    mentions=(Mention(r"/workgroups/group/(\d+)(?=(?:/[a-z_]+)*/?(?:[^\w/?&#-]|$))", link=True),),
    covered=("OWNER_ID",),
)

group_members = Stream(
    name="group_members",
    table=Table("GroupMembers", "groupMembers"),
    # All at once, no paging; the parameter is ID, not GROUP_ID.
    read=(
        PerParent(
            of="groups",
            method="sonet_group.user.get",
            params=lambda group: {"ID": group.id},
            paging=Whole(),
            id="USER_ID",
            empty_is_alarm=True,
            unlisted=dismissed_members,
        ),
    ),
    batch=50,
    batch_option="batch_members",
    fields=(
        Field("GROUP_ID", Kind.REF, take=lambda record: record.parent, to="groups", policy=Policy.REQUIRE),
        Field("USER_ID", Kind.REF, to="users", policy=Policy.REQUIRE),
        *texts("ROLE"),
    ),
    title=("USER_ID", "ROLE"),
    deletions=DeletionRules(access=True, excused=find_dismissed),
)

ENTITIES = (
    Entity(
        name="groups",
        wire="groups",
        scopes=("sonet_group",),
        needs_admin=True,
        streams=(groups, group_members),
        optional_scopes={"socialnetwork": say("loss.group_details")},
    ),
)
