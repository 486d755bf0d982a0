"""Which activities are migrated, by what made them.

An activity of these providers is the record itself. Others only show a record that another part of the portal keeps:
each has a rule (api-reference/crm/timeline/activities/activity-base/crm-activity-list.md, kernel crm 24.1300).
"""

from __future__ import annotations

from collections.abc import Mapping

from b24migrate.messages import Message, say
from b24migrate.model.records import Json
from b24migrate.model.values import text

COMPRESSED = "EMAIL_COMPRESSED"
MESSAGES = frozenset({"CRM_SMS", "CRM_WHATSAPP", "CRM_NOTIFICATION"})
MIGRATED = MESSAGES | {
    *("VOXIMPLANT_CALL", "CRM_EMAIL", "CRM_MEETING", "CRM_TODO", "CRM_WEBFORM", "CRM_REQUEST"),
    *("CRM_EXTERNAL_CHANNEL", "VISIT_TRACKER", "CRM_CALL_TRACKER"),
}
SHADOWS = {
    **dict.fromkeys(("TASKS", "CRM_TASKS_TASK", "CRM_TASKS_TASK_COMMENT"), "skip.activity_task"),
    "IMOPENLINES_SESSION": "skip.activity_dialog",
    **dict.fromkeys(("REST_APP", "CONFIGURABLE_REST_APP"), "skip.activity_application"),
    "CRM_DOCUMENT": "skip.activity_document",
    **dict.fromkeys(("CRM_PAYMENT", "CRM_DELIVERY", "STORE_DOCUMENT"), "skip.activity_sale"),
    **dict.fromkeys(("CRM_BOOKING", "CRM_CALENDAR_SHARING", "ZOOM"), "skip.activity_appointment"),
    **dict.fromkeys(("CALL_LIST", "CRM_LF_MESSAGE", "CRM_WAIT"), "skip.activity_portal"),
}
BEGINNINGS = {"CRM_SIGN_": "skip.activity_document", "CRM_BIZPROC_": "skip.activity_workflow"}
# Activities from before there were providers.
BY_TYPE = {"1": "CRM_MEETING", "2": "VOXIMPLANT_CALL", "3": "TASKS", "4": "CRM_EMAIL"}
UNKNOWN = "skip.activity_unknown"
ORPHAN, SILENT = say("skip.activity_orphan"), say("skip.activity_message")


def provider_of(payload: Mapping[str, Json]) -> str:
    named = text(payload.get("PROVIDER_ID")) or ""
    return named or BY_TYPE.get(str(payload.get("TYPE_ID")), "")


def skip_reason(payload: Mapping[str, Json]) -> Message | None:
    """The rule by which an activity is skipped, with its provider: they are counted by it."""
    provider = provider_of(payload)
    if provider in MIGRATED:
        # The text of a message is kept by the messaging service. Some portals copy it into the activity.
        silent = provider in MESSAGES and not (text(payload.get("DESCRIPTION")) or "").strip()
        return SILENT if silent else ORPHAN if not has_owner(payload) else None
    found = SHADOWS.get(provider) or next((rule for name, rule in BEGINNINGS.items() if provider.startswith(name)), "")
    return say(found or UNKNOWN, provider=provider or f"TYPE_ID {payload.get('TYPE_ID')}")


def has_owner(payload: Mapping[str, Json]) -> bool:
    return all(str(payload.get(name) or "0") != "0" for name in ("OWNER_TYPE_ID", "OWNER_ID"))


def is_compressed(payload: Mapping[str, Json]) -> bool:
    """Mail of robots and of the sender: only an excerpt of 200 characters can be read, and no attachment."""
    return payload.get("PROVIDER_TYPE_ID") == COMPRESSED
