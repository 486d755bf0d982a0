"""Every stream of the contract outside the CRM, one value each, and the table of them all."""

from collections.abc import Mapping

from b24sim.imports.catalog_activities import ACTIVITY_STREAMS
from b24sim.imports.catalog_crm import CRM_STREAMS, CrmBinding
from b24sim.imports.catalog_products import CATALOG_STREAMS, PRODUCT_OPTIONS
from b24sim.imports.items import ITEMS
from b24sim.imports.kinds import (
    ANY,
    BOOL,
    DATE,
    FILE,
    INT,
    OBJECT,
    OWNER,
    TEXT,
    TIME,
    TREE,
    USER,
    USER_OR_SYSTEM,
    Fields,
    Inspection,
    ItemFault,
    Lookup,
    Many,
    Prefixed,
    Ref,
    Shape,
    Tally,
    one_of,
)
from b24sim.imports.recurring import RECURRING_STREAMS
from b24sim.imports.requisites import REQUISITE_STREAMS
from b24sim.imports.stream import Stream

DEPARTMENT, GROUP, POST, TASK = Ref("departments"), Ref("groups"), Ref("feed_posts"), Ref("tasks")
CHAT = Ref("chats", "CHAT_NOT_FOUND")
RECIPIENT = Prefixed({"U": USER, "SG": GROUP, "DR": DEPARTMENT}, frozenset({"UA"}))


def _root_department(fields: Fields, box: Lookup) -> str | None:
    """A company has one root: whatever comes without a parent is that one."""
    return box.root_department if fields.get("PARENT") is None else None


def _email_is_free(fields: Fields, seen: Inspection) -> None:
    taken_by = seen.box.find("users", ("EMAIL",), (fields["EMAIL"],))
    if taken_by not in (None, seen.itself):
        raise ItemFault("DUPLICATE_EMAIL", "EMAIL", f"EMAIL: user {taken_by} has the same address")


def _group_of_chat_exists(fields: Fields, seen: Inspection) -> None:
    if fields.get("entity_type") == "SONET_GROUP" and fields.get("entity_id") is not None:
        seen.field = "entity_id"
        GROUP.check(fields["entity_id"], seen)


def _params_without_what_travels_elsewhere(fields: Fields, seen: Inspection) -> None:
    params = fields.get("params")
    if isinstance(params, dict) and params.keys() & {"FILE_ID", "LIKE"}:
        seen.field = "params"
        raise seen.refuse("FILE_ID and LIKE travel as files and reactions")


USER_FIELDS_OF_EVERY_BOX = (
    *("UF_EMPLOYMENT_DATE", "UF_TIMEMAN", "UF_SKILLS", "UF_INTERESTS", "UF_WEB_SITES", "UF_XING", "UF_LINKEDIN"),
    *("UF_FACEBOOK", "UF_TWITTER", "UF_SKYPE", "UF_SKYPE_LINK", "UF_ZOOM", "UF_DISTRICT", "UF_PHONE_INNER"),
)

PEOPLE = (
    Stream(
        "departments",
        "users",
        {"NAME": TEXT, "PARENT": DEPARTMENT, "SORT": INT, "UF_HEAD": USER},
        required=("NAME",),
        linked_to=_root_department,
        kept_when_linked=frozenset({"NAME", "PARENT"}),
    ),
    Stream(
        "users",
        "users",
        {
            **dict.fromkeys(("NAME", "LAST_NAME", "SECOND_NAME", "EMAIL", "XML_ID", "USER_TYPE", "TIME_ZONE"), TEXT),
            **dict.fromkeys(("DATE_REGISTER", "PERSONAL_BIRTHDAY"), DATE),
            **dict.fromkeys(USER_FIELDS_OF_EVERY_BOX, ANY),
            "ACTIVE": BOOL,
            "UF_DEPARTMENT": Many(DEPARTMENT),
            "PERSONAL_PHOTO": FILE,
        },
        required=("NAME", "EMAIL"),
        patterns=((r"(PERSONAL|WORK)_[A-Z0-9_]+", TEXT),),
        rules=(_email_is_free,),
        indexes=(("EMAIL",),),
    ),
)

GROUPS = (
    Stream(
        "groups",
        "groups",
        {
            **dict.fromkeys(("NAME", "DESCRIPTION", "TYPE", "SUBJECT_NAME", "KEYWORDS"), TEXT),
            **dict.fromkeys(("ACTIVE", "VISIBLE", "OPENED", "CLOSED", "PROJECT"), BOOL),
            **dict.fromkeys(("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY"), TIME),
            **dict.fromkeys(("PROJECT_DATE_START", "PROJECT_DATE_FINISH"), TIME),
            "OWNER_ID": OWNER,
            "SCRUM_MASTER_ID": USER,
            "IMAGE": FILE,
        },
        required=("NAME", "OWNER_ID"),
    ),
    Stream(
        "group_members",
        "groups",
        {"GROUP_ID": GROUP, "USER_ID": USER, "ROLE": one_of("A", "E", "K")},
        required=("GROUP_ID", "USER_ID", "ROLE"),
    ),
)

CHATS = (
    Stream(
        "chats",
        "chats",
        {
            **dict.fromkeys(("type", "name", "description", "color", "entity_type", "entity_id"), TEXT),
            "owner": OWNER,
            "manager_list": Many(USER),
            "users": Many(USER),
            "date_create": TIME,
            "avatar": FILE,
        },
        required=("type",),
        rules=(_group_of_chat_exists,),
    ),
    Stream(
        "chat_messages",
        "chats",
        {
            "chat_id": CHAT,
            "author_id": USER_OR_SYSTEM,
            "date": TIME,
            "text": TEXT,
            "params": OBJECT,
            "files": Many(FILE),
            "reactions": Tally(),
        },
        required=("chat_id", "author_id", "date"),
        rules=(_params_without_what_travels_elsewhere,),
    ),
)

FEED = (
    Stream(
        "feed_posts",
        "feed",
        {
            **dict.fromkeys(("TITLE", "DETAIL_TEXT"), TEXT),
            "AUTHOR_ID": USER,
            "DATE_PUBLISH": TIME,
            "DEST": Many(RECIPIENT),
            "IMPORTANT": BOOL,
            "TAGS": Many(TEXT),
            "FILES": Many(FILE),
        },
        required=("AUTHOR_ID", "DATE_PUBLISH"),
    ),
    Stream(
        "feed_comments",
        "feed",
        {"post_id": POST, "author_id": USER, "date": TIME, "text": TEXT, "files": Many(FILE)},
        required=("post_id", "author_id", "date"),
    ),
)

TASKS = (
    Stream(
        "tasks",
        "tasks",
        {
            **dict.fromkeys(("title", "description", "status", "priority"), TEXT),
            **dict.fromkeys(("createdBy", "responsibleId", "changedBy", "closedBy"), USER),
            **dict.fromkeys(("accomplices", "auditors"), Many(USER)),
            **dict.fromkeys(("createdDate", "changedDate", "closedDate", "dateStart"), TIME),
            **dict.fromkeys(("deadline", "startDatePlan", "endDatePlan"), TIME),
            "groupId": GROUP,
            "parentId": TASK,
            "timeEstimate": INT,
            "tags": Many(TEXT),
            "ufCrmTask": Many(CrmBinding()),
            "ufTaskWebdavFiles": Many(FILE),
        },
        required=("title", "createdBy", "responsibleId"),
    ),
    Stream(
        "task_checklists",
        "tasks",
        {
            **dict.fromkeys(("IS_COMPLETE", "IS_IMPORTANT"), BOOL),
            **dict.fromkeys(("CREATED_BY", "TOGGLED_BY"), USER),
            "TASK_ID": TASK,
            "PARENT_ID": Ref("task_checklists"),
            "TITLE": TEXT,
            "SORT_INDEX": INT,
            "TOGGLED_DATE": TIME,
            "MEMBERS": Many(Shape({"ID": USER, "TYPE": TEXT}, ("ID",))),
        },
        required=("TASK_ID", "TITLE"),
    ),
    Stream(
        "task_comments",
        "tasks",
        {"task_id": TASK, "author_id": USER_OR_SYSTEM, "date": TIME, "text": TEXT, "files": Many(FILE)},
        required=("task_id", "author_id", "date"),
    ),
)

WORKFLOWS = (
    Stream(
        "workflow_templates",
        "workflows",
        {
            **dict.fromkeys(("MODULE_ID", "ENTITY", "DOCUMENT_TYPE", "NAME", "DESCRIPTION"), TEXT),
            **dict.fromkeys(("TEMPLATE", "PARAMETERS", "VARIABLES", "CONSTANTS"), TREE),
            "AUTO_EXECUTE": INT,
            "USER_ID": USER,
            "MODIFIED": TIME,
        },
        required=("MODULE_ID", "ENTITY", "DOCUMENT_TYPE", "NAME"),
    ),
)

# What came after the first version of the contract: `import.info` lists it under `streams`.
ANNOUNCED: tuple[Stream, ...] = (
    *ITEMS,
    *CATALOG_STREAMS,
    *REQUISITE_STREAMS,
    *ACTIVITY_STREAMS,
    *RECURRING_STREAMS,
)
STREAMS: Mapping[str, Stream] = {
    stream.name: stream for stream in (*PEOPLE, *GROUPS, *CHATS, *FEED, *TASKS, *WORKFLOWS, *CRM_STREAMS, *ANNOUNCED)
}
# What a box keeps beside the records of the contract, and nobody names in a call.
INNER: tuple[Stream, ...] = (PRODUCT_OPTIONS,)
ENTITIES = ("users", "groups", "chats", "feed", "tasks", "workflows", "crm")
