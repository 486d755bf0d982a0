"""The streams that hang on CRM records: calls, activities, comments, notes and entries of the log."""

from b24sim.imports.catalog_crm import Owner
from b24sim.imports.kinds import (
    BOOL,
    FILE,
    INT,
    NUM,
    OBJECT,
    TEXT,
    TIME,
    USER,
    Fields,
    Inspection,
    Many,
    Ref,
    Shape,
)
from b24sim.imports.stream import Stream

ACTIVITY, COMMENT, OWNER = Ref("crm_activities"), Ref("crm_comments"), Owner()
COMMUNICATION = Shape({"TYPE": TEXT, "VALUE": TEXT, "owner": OWNER}, ("TYPE",))


def _somewhere(fields: Fields, seen: Inspection) -> None:
    """A row without an owner is shown nowhere."""
    seen.field = "OWNERS"
    if fields.get("OWNERS") == []:
        raise seen.refuse("at least one owner is required")


def _beside_one(fields: Fields, seen: Inspection) -> None:
    seen.field = "activityId"
    if (fields.get("activityId") is None) == (fields.get("commentId") is None):
        raise seen.refuse("either activityId or commentId is required")


ACTIVITY_STREAMS = (
    Stream(
        "crm_calls",
        "crm",
        {
            **dict.fromkeys(("CALL_ID", "PHONE_NUMBER", "CALL_FAILED_CODE", "PORTAL_NUMBER", "CALL_CATEGORY"), TEXT),
            **dict.fromkeys(("CALL_FAILED_REASON", "COST_CURRENCY", "COMMENT"), TEXT),
            **dict.fromkeys(("CALL_TYPE", "CALL_DURATION", "CALL_VOTE", "RECORD_DURATION"), INT),
            "COST": NUM,
            "PORTAL_USER_ID": USER,
            "CALL_START_DATE": TIME,
            "owner": OWNER,
            "RECORD_FILE": FILE,
            "CRM_ACTIVITY_ID": ACTIVITY,
        },
        required=("CALL_ID", "CALL_TYPE", "CALL_START_DATE"),
    ),
    Stream(
        "crm_activities",
        "crm",
        {
            **dict.fromkeys(("PROVIDER_ID", "PROVIDER_TYPE_ID", "SUBJECT", "DESCRIPTION", "LOCATION"), TEXT),
            **dict.fromkeys(("ORIGINATOR_ID", "ORIGIN_ID"), TEXT),
            **dict.fromkeys(("TYPE_ID", "DESCRIPTION_TYPE", "STATUS", "PRIORITY", "DIRECTION"), INT),
            **dict.fromkeys(("CREATED", "LAST_UPDATED", "START_TIME", "END_TIME", "DEADLINE"), TIME),
            **dict.fromkeys(("RESPONSIBLE_ID", "AUTHOR_ID", "EDITOR_ID"), USER),
            **dict.fromkeys(("COMPLETED", "IS_INCOMING_CHANNEL"), BOOL),
            **dict.fromkeys(("SETTINGS", "PROVIDER_PARAMS"), OBJECT),
            "OWNER": OWNER,
            "BINDINGS": Many(OWNER),
            "COMMUNICATIONS": Many(COMMUNICATION),
            "FILES": Many(FILE),
        },
        required=("OWNER", "TYPE_ID"),
    ),
    Stream(
        "crm_comments",
        "crm",
        {"OWNERS": Many(OWNER), "AUTHOR_ID": USER, "CREATED": TIME, "COMMENT": TEXT, "FILES": Many(FILE)},
        required=("OWNERS", "AUTHOR_ID", "CREATED"),
        rules=(_somewhere,),
    ),
    Stream(
        "crm_notes",
        "crm",
        {
            "activityId": ACTIVITY,
            "commentId": COMMENT,
            "text": TEXT,
            **dict.fromkeys(("createdById", "updatedById"), USER),
            **dict.fromkeys(("createdTime", "updatedTime"), TIME),
        },
        required=("text",),
        rules=(_beside_one,),
    ),
    Stream(
        "crm_logs",
        "crm",
        {**dict.fromkeys(("title", "text", "iconCode"), TEXT), "authorId": USER, "created": TIME, "OWNER": OWNER},
        required=("OWNER", "title"),
    ),
)
