"""Users and the departments they work in."""

from __future__ import annotations

from collections.abc import Iterable

from b24migrate.entities import probes
from b24migrate.entities.custom_fields import list_fields
from b24migrate.entities.readers import fetch_one_by_one, is_link
from b24migrate.messages import say
from b24migrate.model.fields import Field, Kind, Policy, Rest, days, flags, texts, wholes
from b24migrate.model.readings import Keyset, Listing, Offset
from b24migrate.model.records import Table
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import ChangeRules, CustomFields, CustomValues, Entity, Mention, NaturalKey, Stream

# `user.get` takes the order as two strings, not as an object.
BY_ID = Keyset(
    filter="FILTER", id="ID", ascending={"sort": "ID", "order": "ASC"}, descending={"sort": "ID", "order": "DESC"}
)


# A page of a person itself: what lies below it has ids of other records in its path.
PAGE = r"/company/personal/user/(\d+)(?=/?(?:[^\w/?&#-]|$))"
DIALOG = r"/online/\?IM_DIALOG=(\d+)(?![\w&])"


def photo(record: SourceRecord) -> Iterable[FileRef]:
    url = record.payload.get("PERSONAL_PHOTO")
    if is_link(url):
        yield FileRef.of_link("user", record.id, str(url))


departments = Stream(
    name="departments",
    table=Table("Departments", "departments"),
    # Lower-case `sort` orders; upper-case SORT would be a filter by the number.
    read=(Listing("department.get", Offset(), params={"sort": "ID", "order": "ASC"}),),
    fields=(
        *texts("NAME"),
        Field("PARENT", Kind.REF, to="departments", policy=Policy.REQUIRE),
        *wholes("SORT"),
        Field("UF_HEAD", Kind.REF, to="users", late=True),
    ),
    changes=ChangeRules(omits_empty=True),
    fetch=fetch_one_by_one("department.get", lambda source_id: {"ID": source_id}),
    adopted=lambda record: not record.payload.get("PARENT"),  # the root
    mentions=(Mention(r"/company/structure\.php\?set_filter_structure=Y&structure_UF_DEPARTMENT=(\d+)", link=True),),
)

users = Stream(
    name="users",
    table=Table("Users", "users"),
    # Without ADMIN_MODE, extranet users and some dismissed ones are missing.
    read=(Listing("user.get", BY_ID, params={"ADMIN_MODE": True}),),
    fields=(
        *texts("NAME", "LAST_NAME", "SECOND_NAME", "EMAIL", "XML_ID", "USER_TYPE", "TIME_ZONE"),
        *flags("ACTIVE"),
        Field("UF_DEPARTMENT", Kind.REFS, to="departments"),
        *days("DATE_REGISTER", "PERSONAL_BIRTHDAY", "UF_EMPLOYMENT_DATE"),
        Field("PERSONAL_PHOTO", Kind.FILE, take=lambda record: [ref.key for ref in photo(record)]),
    ),
    rest=Rest(("PERSONAL_", "WORK_", "UF_")),
    changes=ChangeRules(omits_empty=True),
    custom=CustomValues(("UF_USR_",), late_types=frozenset({"employee"})),
    stamp="DATE_REGISTER",
    natural=NaturalKey("EMAIL", code="DUPLICATE_EMAIL"),
    title=("NAME", "SECOND_NAME", "LAST_NAME", "EMAIL"),
    emails=lambda record: [str(record.payload.get("EMAIL") or "")],
    required=("NAME", "EMAIL"),
    files=photo,
    fetch=fetch_one_by_one("user.get", lambda source_id: {"FILTER": {"ID": source_id}, "ADMIN_MODE": True}),
    mentions=(Mention(r"\[USER=(\d+)"), Mention(PAGE, link=True), Mention(DIALOG, link=True)),
)

ENTITIES = (
    Entity(
        name="users",
        wire="users",
        scopes=("user", "department"),
        needs_admin=True,
        streams=(departments, users),
        optional_scopes={"user.userfield": say("loss.user_fields")},
        custom_fields=CustomFields("users", "user.userfield", list_fields("user.userfield.list")),
        matches_users=True,
        habits=(probes.users,),
    ),
)
