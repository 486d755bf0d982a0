"""Departments and users, as `department.*` and `user.*` take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date

from b24migrate.entities.users import rest_rules
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command, TargetCheck
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, in_chunks, rows_at
from b24migrate.targets.rest.deletion import UNSEEN, keys_with_prefix
from b24migrate.targets.rest.fields import decode_custom, encode_custom, older_methods, wrapped_file
from b24migrate.targets.rest.values import Column
from b24migrate.targets.rest.writer import (
    Content,
    CreateResult,
    Known,
    Writer,
    create_one,
    create_one_by_one,
    stamp_key,
)

# ---------------------------------------------------------------- departments

# A department has no field for a stamp, so it is created with its stamp as its name and renamed at once.
BY_ID = {"sort": "ID", "order": "ASC"}
OF_DEPARTMENT = (
    Column("NAME", "NAME"),
    Column("PARENT", "PARENT", back=values.optional_id),
    Column("SORT", "SORT", lambda value: value or 500, values.whole),  # without it the core may reset it
    Column("UF_HEAD", "UF_HEAD", values.id_or_none, values.optional_id),
)


def add_departments(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """The root is the box's own, whatever it is called."""
    for item in items:
        if item.fields.get("PARENT") in values.NOTHING:
            yield _link_root(box, item)
        else:
            yield from _add_department(box, [item])


def _add_department(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """A box with the newer company structure answers the number of a node, which no other method knows (kernel intranet
    lib/Repository/HrDepartmentRepository.php): the department itself is found by its stamp."""
    for made in _added_department(box, items):
        found = find_departments(box, {made.key: None}) if made.error is None else {}
        yield CreateResult(made.key, found.get(made.key, made.target_id), made.error)


_added_department = create_one_by_one(
    "department.add", lambda item: {**values.encode_columns(OF_DEPARTMENT, item.fields), "NAME": stamp_key(item.key)}
)


def _link_root(box: Box, item: Item) -> CreateResult:
    try:
        return CreateResult(item.key, root(box), linked=True)
    except Permanent as error:
        return CreateResult(item.key, error=error)


def root(box: Box) -> str:
    return box.kept("root department", lambda: topmost(box), 3600.0)


def topmost(box: Box) -> str:
    rows = box.pages("department.get", BY_ID)
    found = next((str(row["ID"]) for row in rows if not values.optional_id(row.get("PARENT"))), None)
    if found is None:
        raise Permanent(say("target.no_root"), code="ERROR_NOT_FOUND")
    return found


def find_departments(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in begun:
        for row in rows_at(box.question("department.get", {"NAME": stamp_key(key)})):
            if row.get("NAME") == stamp_key(key):
                found[key] = str(row["ID"])
    return found


def update_department(box: Box, known: Known, item: Item) -> None:
    box.call("department.update", {"ID": known.target_id, **values.encode_columns(OF_DEPARTMENT, item.fields)})


def read_departments(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    asked = {"ID": [one.target_id for one in wanted.values()], **BY_ID}
    rows = {str(row["ID"]): row for row in box.pages("department.get", asked)}
    return {
        key: values.decode_columns(OF_DEPARTMENT, rows[one.target_id])
        for key, one in wanted.items()
        if one.target_id in rows
    }


def department_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """Its users stay: no method deletes them."""
    ids = {one.target_id: key for key, one in wanted.items()}
    people = [Command("user.get", {"FILTER": {"UF_DEPARTMENT": one}, "ADMIN_MODE": True}) for one in ids]
    for key, said in zip(ids.values(), box.questions(people), strict=True):
        if said is None or next(rows_at(said), None) is not None:
            yield Content(key, UNSEEN if said is None else say("keep.people"))
    below = box.lists([Command("department.get", {"PARENT": one, **BY_ID}) for one in ids])
    ours = keys_with_prefix(box, "departments") if any(below) else {}
    for key, rows in zip(ids.values(), below, strict=True):
        yield from (Content(key, say("keep.departments"), ours.get(str(row["ID"]), "")) for row in rows)


DEPARTMENTS = Writer(
    stream="departments",
    entity="users",
    needs=("department.get", "department.add", "department.update"),
    create=add_departments,
    find=find_departments,
    finish=update_department,
    update=update_department,
    read=read_departments,
    delete=lambda box, known: box.call("department.delete", {"ID": known.target_id}),
    inside=department_contents,
)


# ---------------------------------------------------------------- users

TEXTS = ("NAME", "LAST_NAME", "SECOND_NAME", "EMAIL", "TIME_ZONE")
OF_USER = (
    *(Column(name, name, lambda value: value or "") for name in TEXTS),
    Column("ACTIVE", "ACTIVE", values.yes_or_no, values.flag),
    Column("UF_DEPARTMENT", "UF_DEPARTMENT", back=values.ids),
    Column("PERSONAL_BIRTHDAY", "PERSONAL_BIRTHDAY", lambda value: value or "", values.day),
)
HIRED = "UF_EMPLOYMENT_DATE"
# `user.add` and `user.update` convert the birthday only; the day of employment must have the format of the box's site,
# which no method returns (kernel rest lib/api/user.php prepareSaveData, main lib/userfield/types/datetype.php).
DAY_FORMATS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m-%d", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d")
FORMAT_S = 3600.0
NOBODY_AT = "b24migrate.invalid"  # a domain that never has mail (RFC 2606)
TOLD_ONLY = (
    Column(HIRED, HIRED, back=values.day),
    Column("XML_ID", "XML_ID"),
    Column("USER_TYPE", "USER_TYPE"),
    Column("DATE_REGISTER", "DATE_REGISTER", back=values.day),
)
OWN = frozenset(one.wire for one in (*OF_USER, *TOLD_ONLY)) | {"PERSONAL_PHOTO"}


def user_params(box: Box, item: Item) -> dict[str, Json]:
    """A user without a department cannot be added as an employee, and an external user must not become one: such a user
    is added to the root department as dismissed."""
    fields = item.fields
    sent = values.encode_columns(OF_USER, fields)
    if not fields.get("UF_DEPARTMENT"):
        sent |= {"UF_DEPARTMENT": [root(box)], "ACTIVE": "N"}
    rest = {name: value for name, value in fields.items() if name not in OWN}
    if "PERSONAL_PHOTO" in fields:
        photo = fields["PERSONAL_PHOTO"]
        sent["PERSONAL_PHOTO"] = list(box.file(str(photo))) if photo else ""
    return {**sent, **encode_custom(box, "users", rest, wrapped_file), "XML_ID": xml_id(item)}


def xml_id(item: Item) -> str:
    """The source's own where it has one: together with the e-mail it is as good as a stamp."""
    return str(item.fields.get("XML_ID") or stamp_key(item.key))


def is_dismissed(item: Item) -> bool:
    """On the box: users who are not active or have no department."""
    return not item.fields.get("ACTIVE", True) or not item.fields.get("UF_DEPARTMENT")


def first_email(item: Item) -> str:
    """The email address under which a user is created. The box mails an invitation to it at once, also to dismissed
    users (kernel rest lib/api/user.php, intranet CIntranetInviteDialog::InviteUser); they are created with an address
    that reaches nobody, and get their own right after."""
    number = item.key.rpartition(":")[2]
    return f"user{number}@{NOBODY_AT}" if is_dismissed(item) else str(item.fields.get("EMAIL") or "")


def add_users(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """A box registers a user first and may refuse the fields afterwards, so a refused user is searched for."""
    for item in items:
        before = box.highest("users", lambda: newest_people(box))
        made = create_one(box, item, "user.add", lambda one: {**user_params(box, one), "EMAIL": first_email(one)}, str)
        if made.error is not None:
            left = find_users(box, {item.key: {**user_trace(item), "after": before}}).get(item.key)
            with suppress(Permanent):
                if left:
                    update_user(box, Known(left), item)
                    made = CreateResult(item.key, left)
        yield made


def user_trace(item: Item) -> Args:
    return {"EMAIL": first_email(item), "XML_ID": xml_id(item)}


def newest_people(box: Box) -> list[str]:
    asked = {"FILTER": {">ID": 0}, "sort": "ID", "order": "DESC", "start": -1, "ADMIN_MODE": True}
    return [str(row["ID"]) for row in rows_at(box.question("user.get", asked))]


def find_users(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """A user who was there before may have the same email and the same code, and is not ours."""
    wanted = {(_known_by(trace["EMAIL"]), str(trace["XML_ID"])): key for key, trace in begun.items()}
    found: dict[str, str] = {}
    for row in with_emails(box, [str(trace["EMAIL"]) for trace in begun.values()]):
        key = wanted.get((_known_by(row.get("EMAIL")), str(row.get("XML_ID"))))
        if key and int(row["ID"]) > int(begun[key].get("after") or 0):
            found[key] = str(row["ID"])
    return found


def _known_by(email: Json) -> str:
    return str(email).strip().casefold()


def with_emails(box: Box, emails: Sequence[str]) -> Iterator[Args]:
    for some in in_chunks(emails):
        yield from rows_at(box.question("user.get", {"FILTER": {"EMAIL": some}, "ADMIN_MODE": True}))


def by_email(box: Box, emails: Sequence[str]) -> dict[str, str]:
    asked = {email.casefold() for email in emails}
    found = {_known_by(row.get("EMAIL")): str(row["ID"]) for row in with_emails(box, emails)}
    return {email: found[email] for email in asked & found.keys()}


def complete(box: Box, known: Known, item: Item) -> None:
    """No page documents how to add an inactive user."""
    if is_dismissed(item):
        own = {"EMAIL": item.fields.get("EMAIL") or ""}
        box.call("user.update", {"ID": known.target_id, "ACTIVE": "N", **own})
    hire(box, known, item)


def update_user(box: Box, known: Known, item: Item) -> None:
    box.call("user.update", {"ID": known.target_id, **user_params(box, item)})
    hire(box, known, item)


def hire(box: Box, known: Known, item: Item) -> None:
    """Sets the date of employment. Its format is tried once for a box. A date that the box accepts in no format is
    omitted, and verify reports it."""
    day = item.fields.get(HIRED)
    if not day:
        if HIRED in item.fields:
            box.call("user.update", {"ID": known.target_id, HIRED: ""})
        return
    formats: list[str] = box.kept("format of days", lambda: list(DAY_FORMATS), FORMAT_S)
    when = date.fromisoformat(str(day))
    for one in list(formats):
        if _accepts_day(box, known, f"{when:{one}}") and (len(formats) == 1 or _has(box, known, str(day))):
            if when.day != when.month:  # else it proves nothing
                formats[:] = [one]
            return


def _accepts_day(box: Box, known: Known, day: str) -> bool:
    try:
        box.call("user.update", {"ID": known.target_id, HIRED: day})
    except Permanent:
        return False
    return True


def _has(box: Box, known: Known, day: str) -> bool:
    """Whether the box understood that very day: 03/04 is one in two formats."""
    return read_users(box, {"": known}).get("", {}).get(HIRED) == day


def read_users(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    """With all other fields of the box, unchanged."""
    asked = {"FILTER": {"ID": [one.target_id for one in wanted.values()]}, "ADMIN_MODE": True}
    rows = {str(row["ID"]): row for row in rows_at(box.question("user.get", asked))}
    return {key: decode_user(box, rows[one.target_id]) for key, one in wanted.items() if one.target_id in rows}


def decode_user(box: Box, row: Args) -> Args:
    others = {name: value for name, value in row.items() if name not in OWN}
    photo = {"PERSONAL_PHOTO": row.get("PERSONAL_PHOTO")}
    return {**decode_custom(box, "users", others), **photo, **values.decode_columns((*OF_USER, *TOLD_ONLY), row)}


INVITATIONS = TargetCheck(
    say("doctor.name.invitations"),
    True,
    say("check.invitations"),
)

USERS = Writer(
    stream="users",
    entity="users",
    needs=("user.get", "user.add", "user.update", *files.NEEDS),
    create=add_users,
    trace=user_trace,
    before=lambda box, _: {"after": box.highest("users", lambda: newest_people(box))},
    find=find_users,
    finish=complete,
    update=update_user,
    halfway=True,
    custom_fields=older_methods("user.userfield"),
    by_email=by_email,
    read=read_users,
    stays=say("keep.user"),
    rules=lambda _: rest_rules.USERS,
    check=lambda _: INVITATIONS,
)

WRITERS = (DEPARTMENTS, USERS)
