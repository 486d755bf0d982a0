"""Departments and users, as `department.*` and `user.*` take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.errors import Permanent
from b24migrate.ports import Command
from b24migrate.records import Args, Item, Json
from b24migrate.target.rest import files, rules_people, spelling
from b24migrate.target.rest.box import Box, by_the_dozen, inside
from b24migrate.target.rest.custom import as_sent, as_told, in_wrapping
from b24migrate.target.rest.making import one_by_one
from b24migrate.target.rest.spelling import Column
from b24migrate.target.rest.within import UNSEEN, beginning
from b24migrate.target.rest.words import Held, Known, Made, Writer, stamp

# ---------------------------------------------------------------- departments

# There is no field for a stamp, so a department is made under its stamp for a name, and gets its own at once.
BY_ID = {"sort": "ID", "order": "ASC"}
OF_DEPARTMENT = (
    Column("NAME", "NAME"),
    Column("PARENT", "PARENT", back=spelling.one_id),
    Column("SORT", "SORT", lambda value: value or 500, spelling.whole),  # without it the core may reset it
    Column("UF_HEAD", "UF_HEAD", spelling.id_or_none, spelling.one_id),
)


def add_departments(box: Box, items: Sequence[Item]) -> Iterator[Made]:
    """The root is the box's own, whatever it is called."""
    for item in items:
        if item.fields.get("PARENT") in spelling.NOTHING:
            yield _the_root(box, item)
        else:
            yield from _add_department(box, [item])


_add_department = one_by_one(
    "department.add", lambda item: {**spelling.written(OF_DEPARTMENT, item.fields), "NAME": stamp(item.key)}
)


def _the_root(box: Box, item: Item) -> Made:
    try:
        return Made(item.key, root(box), linked=True)
    except Permanent as error:
        return Made(item.key, error=error)


def root(box: Box) -> str:
    return box.kept("root department", lambda: topmost(box), 3600.0)


def topmost(box: Box) -> str:
    rows = box.pages("department.get", BY_ID)
    found = next((str(row["ID"]) for row in rows if not spelling.one_id(row.get("PARENT"))), None)
    if found is None:
        raise Permanent("the box has no topmost department to put others below", code="ERROR_NOT_FOUND")
    return found


def find_departments(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in begun:
        for row in inside(box.question("department.get", {"NAME": stamp(key)})):
            if row.get("NAME") == stamp(key):
                found[key] = str(row["ID"])
    return found


def update_department(box: Box, known: Known, item: Item) -> None:
    box.call("department.update", {"ID": known.target_id, **spelling.written(OF_DEPARTMENT, item.fields)})


def read_departments(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    asked = {"ID": [one.target_id for one in wanted.values()], **BY_ID}
    rows = {str(row["ID"]): row for row in box.pages("department.get", asked)}
    return {
        key: spelling.told(OF_DEPARTMENT, rows[one.target_id]) for key, one in wanted.items() if one.target_id in rows
    }


def in_departments(box: Box, wanted: Mapping[str, Known]) -> Iterator[Held]:
    """Its people stay, whoever they are: no method deletes them."""
    ids = {one.target_id: key for key, one in wanted.items()}
    people = [Command("user.get", {"FILTER": {"UF_DEPARTMENT": one}, "ADMIN_MODE": True}) for one in ids]
    for key, said in zip(ids.values(), box.questions(people), strict=True):
        if said is None or next(inside(said), None) is not None:
            yield Held(key, UNSEEN if said is None else "people are in it")
    below = box.lists([Command("department.get", {"PARENT": one, **BY_ID}) for one in ids])
    ours = beginning(box, "departments") if any(below) else {}
    for key, rows in zip(ids.values(), below, strict=True):
        yield from (Held(key, "it has departments below it", ours.get(str(row["ID"]), "")) for row in rows)


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
    inside=in_departments,
)


# ---------------------------------------------------------------- users

TEXTS = ("NAME", "LAST_NAME", "SECOND_NAME", "EMAIL", "TIME_ZONE")
OF_USER = (
    *(Column(name, name, lambda value: value or "") for name in TEXTS),
    Column("ACTIVE", "ACTIVE", spelling.letter, spelling.flag),
    Column("UF_DEPARTMENT", "UF_DEPARTMENT", back=spelling.ids),
    *(
        Column(name, name, lambda value: value or "", spelling.day)
        for name in ("PERSONAL_BIRTHDAY", "UF_EMPLOYMENT_DATE")
    ),
)
TOLD_ONLY = (
    Column("XML_ID", "XML_ID"),
    Column("USER_TYPE", "USER_TYPE"),
    Column("DATE_REGISTER", "DATE_REGISTER", back=spelling.day),
)
OWN = frozenset(one.wire for one in (*OF_USER, *TOLD_ONLY)) | {"PERSONAL_PHOTO"}


def user_params(box: Box, item: Item) -> dict[str, Json]:
    """Who has no department cannot be added as an employee, and an outsider must not become one: he is put into the
    root department, dismissed."""
    fields = item.fields
    sent = spelling.written(OF_USER, fields)
    if not fields.get("UF_DEPARTMENT"):
        sent |= {"UF_DEPARTMENT": [root(box)], "ACTIVE": "N"}
    rest = {name: value for name, value in fields.items() if name not in OWN}
    if "PERSONAL_PHOTO" in fields:
        photo = fields["PERSONAL_PHOTO"]
        sent["PERSONAL_PHOTO"] = list(box.file(str(photo))) if photo else ""
    return {**sent, **as_sent(box, "users", rest, in_wrapping), "XML_ID": xml_id(item)}


def xml_id(item: Item) -> str:
    """The source's own where it has one: together with the e-mail it is as good as a stamp."""
    return str(item.fields.get("XML_ID") or stamp(item.key))


def add_users(box: Box, items: Sequence[Item]) -> Iterator[Made]:
    return one_by_one("user.add", lambda item: user_params(box, item))(box, items)


def newest_people(box: Box) -> list[str]:
    asked = {"FILTER": {">ID": 0}, "sort": "ID", "order": "DESC", "start": -1, "ADMIN_MODE": True}
    return [str(row["ID"]) for row in inside(box.question("user.get", asked))]


def find_users(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """Somebody who was there before may have the same e-mail and the same code, and is none of ours."""
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
    for some in by_the_dozen(emails):
        yield from inside(box.question("user.get", {"FILTER": {"EMAIL": some}, "ADMIN_MODE": True}))


def by_email(box: Box, emails: Sequence[str]) -> dict[str, str]:
    asked = {email.casefold() for email in emails}
    found = {_known_by(row.get("EMAIL")): str(row["ID"]) for row in with_emails(box, emails)}
    return {email: found[email] for email in asked & found.keys()}


def dismiss(box: Box, known: Known, item: Item) -> None:
    """Adding somebody who is inactive is documented nowhere."""
    if not item.fields.get("ACTIVE", True) or not item.fields.get("UF_DEPARTMENT"):
        box.call("user.update", {"ID": known.target_id, "ACTIVE": "N"})


def update_user(box: Box, known: Known, item: Item) -> None:
    box.call("user.update", {"ID": known.target_id, **user_params(box, item)})


def read_users(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    """With everything else that the box says, as it says it."""
    asked = {"FILTER": {"ID": [one.target_id for one in wanted.values()]}, "ADMIN_MODE": True}
    rows = {str(row["ID"]): row for row in inside(box.question("user.get", asked))}
    return {key: told_user(box, rows[one.target_id]) for key, one in wanted.items() if one.target_id in rows}


def told_user(box: Box, row: Args) -> Args:
    others = {name: value for name, value in row.items() if name not in OWN}
    photo = {"PERSONAL_PHOTO": row.get("PERSONAL_PHOTO")}
    return {**as_told(box, "users", others), **photo, **spelling.told((*OF_USER, *TOLD_ONLY), row)}


USERS = Writer(
    stream="users",
    entity="users",
    needs=("user.get", "user.add", "user.update", *files.NEEDS),
    create=add_users,
    trace=lambda item: {"EMAIL": item.fields.get("EMAIL"), "XML_ID": xml_id(item)},
    before=lambda box, _: {"after": box.highest("users", lambda: newest_people(box))},
    find=find_users,
    finish=dismiss,
    update=update_user,
    read=read_users,
    stays="a box deletes nobody by REST; dismiss the person, or delete it in the administrator's panel",
    rules=lambda _: rules_people.USERS,
)
