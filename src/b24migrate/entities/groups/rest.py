"""Workgroups, projects and their members, as `sonet_group.*` takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.entities.groups import rest_rules
from b24migrate.entities.groups.rest_dates import DATES
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, in_chunks, items_at, rows_at
from b24migrate.targets.rest.deletion import UNSEEN, child_keys, select_tasks, stamped_key
from b24migrate.targets.rest.values import Column, columns
from b24migrate.targets.rest.writer import Content, CreateResult, Known, Writer, create_one_by_one, stamp_key

# ---------------------------------------------------------------- groups

FLAGS = ("VISIBLE", "OPENED", "CLOSED", "PROJECT")
OF_GROUP = (
    *(Column(name, name, lambda value: value or "") for name in ("NAME", "DESCRIPTION", "KEYWORDS")),
    Column("OWNER_ID", "OWNER_ID", values.id_or_none, values.optional_id),
    *columns(((name, name) for name in FLAGS), values.yes_or_no, values.flag),
)
TOLD_ONLY = (
    Column("ACTIVE", "ACTIVE", back=values.flag),
    Column("SUBJECT_NAME", "SUBJECT_NAME"),
    *columns(((name, name) for name in ("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY")), values.unchanged, values.utc),
)
# From another method. The dates of a project limit those of its tasks, so they are set when all tasks are there.
MORE = (
    Column("TYPE", "type"),
    Column("SCRUM_MASTER_ID", "scrumMasterId", back=values.optional_id),
    Column("PROJECT_DATE_START", "projectDateStart", back=values.utc),
    Column("PROJECT_DATE_FINISH", "projectDateFinish", back=values.utc),
)


MOST_ALIKE = 1_000


def group_params(box: Box, item: Item) -> dict[str, Json]:
    fields = item.fields
    sent = values.encode_columns(OF_GROUP, fields)
    if fields.get("SCRUM_MASTER_ID"):
        sent["SCRUM_MASTER_ID"] = fields["SCRUM_MASTER_ID"]
    if fields.get("IMAGE"):
        sent["IMAGE"] = list(box.file(str(fields["IMAGE"])))
    return sent


def add_groups(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """A group has no field for a stamp, so it is created with its stamp as its name and renamed at once."""
    return create_one_by_one(
        "sonet_group.create", lambda item: {**group_params(box, item), "NAME": stamp_key(item.key)}
    )(box, items)


def find_groups(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for keys in in_chunks(begun):
        stamps = {stamp_key(key): key for key in keys}
        rows = rows_at(box.question("sonet_group.get", {"FILTER": {"NAME": list(stamps)}, "IS_ADMIN": "Y"}))
        found |= {stamps[str(row["NAME"])]: str(row["ID"]) for row in rows if str(row.get("NAME")) in stamps}
    return found


def name_group(box: Box, known: Known, item: Item) -> None:
    change(box, known, {"NAME": item.fields.get("NAME") or ""})


def change(box: Box, known: Known, params: Args) -> None:
    """A box has no two groups of one name (kernel socialnetwork classes/general/group.php, option
    check_group_name_enable): the second gets a number behind it."""
    asked = {"GROUP_ID": known.target_id, **params}
    try:
        box.call("sonet_group.update", asked)
    except Permanent as error:
        name = free_name(box, known, str(params.get("NAME") or ""))
        if not name:
            raise
        try:
            box.call("sonet_group.update", {**asked, "NAME": name})
        except Permanent:
            raise error from None


def free_name(box: Box, known: Known, name: str) -> str:
    """Empty where no other group has the name: then it is not the reason. One that the group has already stays."""
    if not name or not _others_named(box, known, name):
        return ""
    own = str(read_rows(box, [known.target_id]).get(known.target_id, {}).get("NAME") or "")
    if numbered_name(own, name):
        return own
    taken = (f"{name} ({number})" for number in range(2, MOST_ALIKE))
    return next((one for one in taken if not _others_named(box, known, one)), "")


def numbered_name(own: str, name: str) -> bool:
    """Whether it is the name with a number behind it."""
    return own.startswith(f"{name} (") and own.endswith(")") and own[len(name) + 2 : -1].isdecimal()


def _others_named(box: Box, known: Known, name: str) -> bool:
    rows = rows_at(box.question("sonet_group.get", {"FILTER": {"NAME": name}, "IS_ADMIN": "Y"}))
    return any(str(row["ID"]) != known.target_id for row in rows)


def update_group(box: Box, known: Known, item: Item) -> None:
    params = group_params(box, item)
    if "IMAGE" in item.fields and not item.fields["IMAGE"]:
        params["IMAGE_FILE_ID"] = 0
    owner = params.pop("OWNER_ID", 0)
    change(box, known, params)
    row = read_rows(box, [known.target_id]).get(known.target_id, {})
    if owner and str(row.get("OWNER_ID")) != str(owner):
        box.call("sonet_group.setowner", {"GROUP_ID": known.target_id, "USER_ID": owner})


def read_rows(box: Box, ids: Sequence[str]) -> dict[str, Args]:
    asked = {"FILTER": {"ID": list(ids)}, "ORDER": {"ID": "ASC"}, "IS_ADMIN": "Y"}
    return {str(row["ID"]): row for row in box.pages("sonet_group.get", asked)}


def read_groups(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    ids = [one.target_id for one in wanted.values()]
    rows = read_rows(box, ids)
    select = ["ID", "TYPE", "SCRUM_MASTER_ID", *DATES]
    asked = {"filter": {"ID": ids}, "select": select, "order": {"ID": "ASC"}, "params": {"IS_ADMIN": "Y"}}
    more = {str(row["id"]): row for row in box.pages("socialnetwork.api.workgroup.list", asked, "workgroups")}
    there = {key: one.target_id for key, one in wanted.items() if one.target_id in rows}
    return {
        key: {
            **values.decode_columns((*OF_GROUP, *TOLD_ONLY), rows[one]),
            **values.decode_columns(MORE, more.get(one, {})),
            "IMAGE": rows[one].get("IMAGE"),
        }
        for key, one in there.items()
    }


def group_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    keys = {one.target_id: key for key, one in wanted.items()}
    said = box.questions([Command("socialnetwork.api.workgroup.get", {"params": {"groupId": one}}) for one in keys])
    for (group, key), about in zip(keys.items(), said, strict=True):
        others = {user for user, _ in roles_in(about or {})} - fixed_members(box, about or {})
        there = {f"{group}:{user}" for user in others}
        if about is None or (there and there - child_keys(box, "group_members", key).keys()):
            yield Content(key, UNSEEN if about is None else say("keep.joined"))
    for row in select_tasks(box, {"GROUP_ID": list(keys)}, "GROUP_ID", "XML_ID"):
        if str(row.get("groupId")) in keys and not stamped_key(box, "tasks", row.get("xmlId"), str(row["id"])):
            yield Content(keys[str(row["groupId"])], say("keep.tasks"))
    yield from drive_contents(box, keys)


def fixed_members(box: Box, about: Args) -> set[str]:
    """Users that a group always has, and who created it."""
    return {box.owner, *(str(about.get(name)) for name in ("OWNER_ID", "SCRUM_MASTER_ID"))}


def drive_contents(box: Box, keys: Mapping[str, str]) -> Iterator[Content]:
    """We put nothing there: files of ours are on the drive of the webhook's owner."""
    asked = {"filter": {"ENTITY_TYPE": "group", "ENTITY_ID": list(keys)}, "order": {"ID": "ASC"}}
    drives = {str(row["ID"]): str(row["ENTITY_ID"]) for row in box.pages("disk.storage.getlist", asked)}
    said = box.questions([Command("disk.storage.getchildren", {"id": one}) for one in drives])
    for group, files_there in zip(drives.values(), said, strict=True):
        if group in keys and next(rows_at(files_there), None) is not None:
            yield Content(keys[group], say("keep.files"))


def date_projects(box: Box, some: Mapping[str, Known]) -> None:
    wanted = {key: _dates(one) for key, one in some.items()}
    there = read_groups(box, {key: one for key, one in some.items() if wanted[key]})
    for key, told in there.items():
        if any(told[name] != date for name, date in wanted[key].items()):
            box.call("sonet_group.update", {"GROUP_ID": some[key].target_id, **wanted[key]})


def _dates(one: Known) -> dict[str, Json]:
    kept = one.trace if isinstance(one.trace, Mapping) else {}
    return {name: kept[name] for name in DATES if kept.get(name)}


GROUPS = Writer(
    stream="groups",
    entity="groups",
    needs=(
        "sonet_group.get",
        "sonet_group.create",
        "sonet_group.update",
        "socialnetwork.api.workgroup.list",
        *files.NEEDS,
    ),
    create=add_groups,
    trace=lambda item: {name: item.fields.get(name) for name in DATES},
    find=find_groups,
    finish=name_group,
    update=update_group,
    read=read_groups,
    at_last=date_projects,
    delete=lambda box, known: box.call("sonet_group.delete", {"GROUP_ID": known.target_id}),
    inside=group_contents,
    restless=frozenset({"DATE_UPDATE", "DATE_ACTIVITY", *DATES}),
    rules=rest_rules.group_rules,
)


# ---------------------------------------------------------------- members

OWNER, MODERATOR, MEMBER = "A", "E", "K"
NOT_TAKEN = say("target.no_member")
NOT_REMOVED = say("keep.leader")


def add_members(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """A member who is there already is not added again, so a lost answer needs no search. Whom the box does not take is
    not named in its answer, and neither is who was there."""
    for item in items:
        try:
            added = values.ids(box.call("sonet_group.user.add", membership(item)))
        except Permanent as error:
            yield CreateResult(item.key, error=error)
            continue
        there = str(item.fields["USER_ID"]) in added or read_members(box, {item.key: Known(member_id(item))})
        yield (
            CreateResult(item.key, member_id(item))
            if there
            else CreateResult(item.key, error=Permanent(NOT_TAKEN, code="EMPTY"))
        )


def membership(item: Item) -> Args:
    return {"GROUP_ID": item.fields["GROUP_ID"], "USER_ID": item.fields["USER_ID"]}


def member_id(item: Item) -> str:
    return f"{item.fields['GROUP_ID']}:{item.fields['USER_ID']}"


def give_role(box: Box, _: Known, item: Item) -> None:
    role = item.fields.get("ROLE")
    if role == OWNER:
        box.call("sonet_group.setowner", membership(item))
    elif role == MODERATOR:
        box.call("sonet_group.user.update", {**membership(item), "ROLE": role})


def change_role(box: Box, known: Known, item: Item) -> None:
    if item.fields.get("ROLE") == MEMBER:
        box.call("sonet_group.user.update", {**membership(item), "ROLE": MEMBER})
    give_role(box, known, item)


def read_members(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    """By the method that returns dismissed members too."""
    groups = sorted({one.target_id.partition(":")[0] for one in wanted.values()})
    said = box.questions([Command("socialnetwork.api.workgroup.get", {"params": {"groupId": one}}) for one in groups])
    roles = {
        (group, user): role for group, about in zip(groups, said, strict=True) for user, role in roles_in(about or {})
    }
    found: dict[str, Args] = {}
    for key, one in wanted.items():
        group, _, user = one.target_id.partition(":")
        if (group, user) in roles:
            found[key] = {"GROUP_ID": group, "USER_ID": user, "ROLE": roles[group, user]}
    return found


def roles_in(about: Args) -> Iterator[tuple[str, str]]:
    if not about:
        return
    yield from ((one, MEMBER) for one in values.ids(items_at(about, "MEMBERS")))
    yield from ((one, MODERATOR) for one in values.ids(items_at(about, "MODERATOR_MEMBERS")))
    if about.get("OWNER_ID"):
        yield str(about["OWNER_ID"]), OWNER


def inseparable_members(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """The owner and the Scrum master cannot be removed (sonet-group/members/sonet-group-user-delete.md). They leave
    with the group."""
    groups = sorted({one.target_id.partition(":")[0] for one in wanted.values()})
    asked = [Command("socialnetwork.api.workgroup.get", {"params": {"groupId": one}}) for one in groups]
    leaders = {
        f"{group}:{about.get(name)}"
        for group, about in zip(groups, box.questions(asked), strict=True)
        for name in ("OWNER_ID", "SCRUM_MASTER_ID")
        if about
    }
    yield from (Content(key, NOT_REMOVED, part=True) for key, one in wanted.items() if one.target_id in leaders)


def remove_member(box: Box, known: Known) -> None:
    """The answer names those who were removed, and no others."""
    group, _, user = known.target_id.partition(":")
    if user not in values.ids(box.call("sonet_group.user.delete", {"GROUP_ID": group, "USER_ID": user})):
        raise Permanent(NOT_REMOVED, code="EMPTY")


MEMBERS = Writer(
    stream="group_members",
    entity="groups",
    needs=("socialnetwork.api.workgroup.get", "sonet_group.user.add", "sonet_group.user.update"),
    create=add_members,
    find=lambda _box, _begun: {},
    finish=give_role,
    update=change_role,
    read=read_members,
    delete=remove_member,
    inside=inseparable_members,
)

WRITERS = (GROUPS, MEMBERS)
