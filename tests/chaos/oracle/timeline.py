"""Calls, activities, comments, notes and log entries of CRM records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.chaos.oracle.ids import STREAM_OF, Ids, utc, yes
from tests.chaos.oracle.source import TIMELINE, Fields, Json, Source
from tests.chaos.oracle.texts import rewritten

Owner = tuple[int, int]
ORDER = 14
OWNER_WORDS = {"LEAD": 1, "CONTACT": 3, "COMPANY": 4}
NAMES = {1: "lead", 2: "deal", 3: "contact", 4: "company", 7: "quote", 31: "smart_invoice", ORDER: "order"}
# Records of other parts of the portal, and unknown types.
SHOWN_ONLY = frozenset({"CRM_TASKS_TASK", "IMOPENLINES_SESSION", "CONFIGURABLE_REST_APP", "PARTNER_WIDGET"})
MESSAGES = frozenset({"CRM_SMS", "CRM_WHATSAPP"})
COMPRESSED = "_COMPRESSED"
NO_SETTING = frozenset({"READ_CONFIRMED", "CALENDAR_SECTION_ID"})
PICTURE = r"(bxacid:n)(\d+)"
LINKED = r"(/bitrix/tools/crm_show_file\.php\?fileId=)(\d+)(&amp;ownerTypeId=6&amp;ownerId=)(\d+)"
OF_A_CALL = (
    *("PHONE_NUMBER", "PORTAL_NUMBER", "CALL_CATEGORY", "CALL_FAILED_CODE", "CALL_FAILED_REASON", "COMMENT"),
    "COST_CURRENCY",
)


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    activities, comments = asked(source, "crm_activities"), asked(source, "crm_comments")
    made = {
        "crm_calls": {key: _call(row, ids) for key, row in source["crm_calls"].items()},
        "crm_activities": {key: _activity(row, ids) for key, row in activities.items()},
        "crm_comments": {key: _comment(row, ids) for key, row in comments.items()},
        "crm_notes": {key: _note(key, row, ids) for key, row in asked(source, "crm_notes").items()},
        "crm_logs": {key: _entry(row, ids) for key, row in asked(source, "crm_logs").items()},
    }
    assert made.keys() == set(TIMELINE)
    return made


# ---------------------------------------------------------------- which records there are


def asked(source: Source, stream: str) -> dict[str, Fields]:
    """Those that the lists show: comments and entries of a record that is not migrated are not requested."""
    rows = source[stream]
    if stream == "crm_activities":
        return {key: row for key, row in rows.items() if key not in source.excluded_activities}
    if stream == "crm_notes":
        beside = {"a": asked(source, "crm_activities"), "c": asked(source, "crm_comments")}
        return {key: row for key, row in rows.items() if key[1:] in beside[key[0]]}
    owners = {key: [row["owner"]] if stream == "crm_logs" else row["owners"] for key, row in rows.items()}
    return {key: row for key, row in rows.items() if any(is_known(source, one) for one in owners[key])}


def excerpts(source: Source) -> list[str]:
    """Letters of robots: a portal shows their first characters only (crm-activity-list.md)."""
    rows = asked(source, "crm_activities").items()
    return [key for key, row in rows if row["PROVIDER_TYPE_ID"].endswith(COMPRESSED)]


def is_excluded(row: Fields) -> bool:
    silent = row["PROVIDER_ID"] in MESSAGES and not row["DESCRIPTION"]
    return row["PROVIDER_ID"] in SHOWN_ONLY or silent or row["OWNER_ID"] == "0"


def is_known(source: Source, owner: Json) -> bool:
    stream, key = place_of(owner)
    return key in source[stream] if stream in source.rows else False


def place_of(owner: Json) -> tuple[str, str]:
    kind, number = owner
    if kind == ORDER:
        return "crm_orders", str(number)
    return (STREAM_OF[kind], str(number)) if kind in STREAM_OF else ("crm_spitems", f"{kind}:{number}")


def owners_of(row: Fields) -> list[Owner]:
    """Of an activity, the main one first."""
    main = (int(row["OWNER_TYPE_ID"]), int(row["OWNER_ID"]))
    return list(dict.fromkeys([main, *sorted(map(tuple, row["bindings"]))]))


# ---------------------------------------------------------------- what of them arrives


def _call(row: Fields, ids: Ids) -> Fields:
    kind = OWNER_WORDS.get(row["CRM_ENTITY_TYPE"] or "", 0)
    recording = row["RECORD_FILE_ID"]
    return {
        "CALL_ID": row["CALL_ID"],
        "CALL_TYPE": int(row["CALL_TYPE"]),
        "PORTAL_USER_ID": ids.author(row["PORTAL_USER_ID"]),
        **{name: row[name] for name in OF_A_CALL},
        **{name: int(row[name]) for name in ("CALL_DURATION", "CALL_VOTE")},
        "RECORD_DURATION": int(row["RECORD_DURATION"]) if row["RECORD_DURATION"] else None,
        "COST": float(row["COST"]),
        "CALL_START_DATE": utc(row["CALL_START_DATE"]),
        "owner": _owner((kind, int(row["CRM_ENTITY_ID"])), ids) if kind else None,
        "RECORD_FILE": ids.file(f"disk:{recording}") if recording else None,
        "CRM_ACTIVITY_ID": ids.record("crm_activities", row["CRM_ACTIVITY_ID"]),
    }


def _activity(row: Fields, ids: Ids) -> Fields:
    known = [there for one in owners_of(row) if (there := _owner(one, ids))]
    text = rewritten(ids, row["DESCRIPTION"]) or ""
    text = re.sub(PICTURE, lambda found: found[1] + (ids.file(f"disk:{found[2]}") or found[2]), text)
    return {
        "OWNER": known[0] if known else None,
        "BINDINGS": known,
        "COMMUNICATIONS": [
            {
                "TYPE": one["TYPE"],
                "VALUE": one["VALUE"],
                "owner": _owner((int(one["ENTITY_TYPE_ID"]), int(one["ENTITY_ID"])), ids),
            }
            for one in row["communications"]
        ],
        **{name: int(row[name]) for name in ("TYPE_ID", "DESCRIPTION_TYPE", "STATUS", "PRIORITY", "DIRECTION")},
        **{name: row[name] for name in ("PROVIDER_ID", "SUBJECT", "LOCATION", "ORIGINATOR_ID", "ORIGIN_ID")},
        "PROVIDER_TYPE_ID": row["PROVIDER_TYPE_ID"].removesuffix(COMPRESSED),
        "DESCRIPTION": re.sub(re.escape(ids.source.url) + LINKED, lambda found: _shown_file(found, ids), text),
        **{name: utc(row[name]) for name in ("CREATED", "LAST_UPDATED", "START_TIME", "END_TIME")},
        "DEADLINE": None if row["DEADLINE"].startswith("9999") else utc(row["DEADLINE"]),
        "COMPLETED": yes(row["COMPLETED"]),
        "IS_INCOMING_CHANNEL": yes(row["IS_INCOMING_CHANNEL"]),
        **{name: ids.author(row[name]) for name in ("RESPONSIBLE_ID", "AUTHOR_ID")},
        "EDITOR_ID": ids.user(row["EDITOR_ID"]),
        "SETTINGS": _settings(row["SETTINGS"], ids),
        "PROVIDER_PARAMS": row["PROVIDER_PARAMS"] or None,
        "FILES": ids.files(f"disk:{one}" for one in row["files"]),
    }


def _shown_file(link: re.Match[str], ids: Ids) -> str:
    """Its file and its activity, both or neither."""
    file, activity = ids.file(f"disk:{link[2]}"), ids.record("crm_activities", link[4])
    return f"{ids.box_url}{link[1]}{file}{link[3]}{activity}" if file and activity else link[0]


def _settings(settings: Json, ids: Ids) -> Json:
    if not isinstance(settings, dict):
        return None
    kept = {name: value for name, value in settings.items() if name not in NO_SETTING}
    return {**kept, "USERS": ids.users(kept["USERS"])} if "USERS" in kept else kept


def _comment(row: Fields, ids: Ids) -> Fields:
    named = sorted((NAMES.get(kind, f"dynamic_{kind}"), number, kind) for kind, number in row["owners"])
    return {
        "OWNERS": [there for _, number, kind in named if (there := _owner((kind, number), ids))],
        "AUTHOR_ID": ids.author(row["AUTHOR_ID"]),
        "CREATED": utc(row["CREATED"]),
        "COMMENT": rewritten(ids, row["COMMENT"]),
        "FILES": ids.files(f"disk:{one}" for one in row["files"]),
    }


def _note(key: str, row: Fields, ids: Ids) -> Fields:
    return {
        "activityId": ids.record("crm_activities", key[1:]) if key[0] == "a" else None,
        "commentId": ids.record("crm_comments", key[1:]) if key[0] == "c" else None,
        "text": rewritten(ids, row["text"]),
        "createdById": ids.author(row["createdById"]),
        "updatedById": ids.user(row["updatedById"]),
        **{name: utc(row[name]) for name in ("createdTime", "updatedTime")},
    }


def _entry(row: Fields, ids: Ids) -> Fields:
    return {
        **{name: row[name] for name in ("title", "iconCode")},
        "text": rewritten(ids, row["text"]),
        "authorId": ids.author(row["authorId"]),
        "created": utc(row["created"]),
        "OWNER": _owner(row["owner"], ids),
    }


def _owner(owner: Json, ids: Ids) -> Json:
    kind, number = owner
    stream, key = place_of(owner)
    there, record = ids.type(kind), ids.record(stream, key)
    return {"ownerTypeId": int(there), "ownerId": record} if there and record and number else None


def files(source: Source) -> Iterator[str]:
    """Objects of the Drive."""
    yield from (str(row["RECORD_FILE_ID"]) for row in source["crm_calls"].values() if row["RECORD_FILE_ID"])
    for stream in ("crm_activities", "crm_comments"):
        yield from (str(one) for row in asked(source, stream).values() for one in row["files"])
