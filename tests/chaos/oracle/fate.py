"""Which records cannot be imported, by the rules that are stated: nothing else may fail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.chaos.oracle import timeline
from tests.chaos.oracle.ids import LETTERS, STREAM_OF
from tests.chaos.oracle.source import REQUISITES, Fields, Json, Source

OWNERS = {**STREAM_OF, 8: "crm_requisites"}
NOT_STANDARD = ("codeactivity", "acmesyncactivity")
Bad = defaultdict[str, set[str]]


def failures(source: Source) -> Bad:
    """stream -> ids. In the order of import: what depends on a failed record may fail with it."""
    bad: Bad = defaultdict(set)
    bad["users"] = set(unimportable(source)) | set(source.linked)  # the linked are on the box, but not by a key
    nobody = bad["users"] - set(source.linked)
    bad["group_members"] = {key for key, row in source["group_members"].items() if str(row["USER_ID"]) in nobody}
    bad["crm_deals"] = {key for key, row in source["crm_deals"].items() if not _has_its_place(source, row)}
    # A deal that exists is required.
    bad["crm_quotes"] = {key for key, row in source["crm_quotes"].items() if str(row["dealId"]) in bad["crm_deals"]}
    _items_without_parents(source, bad)
    _requisites_without_owners(source, bad)
    schedules = source["crm_recurring"].items()
    bad["crm_recurring"] = {key for key, row in schedules if row["DEAL_ID"] in bad["crm_deals"]}
    _without_any_owner(source, bad)
    bad["tasks"] = {key for key, row in source["tasks"].items() if _is_lost(source, row, bad)}
    for stream in ("task_checklists", "task_comments"):
        bad[stream] = {key for key in source[stream] if key.partition(":")[0] in bad["tasks"]}
    bad["workflow_templates"] = {key for key, row in source["workflow_templates"].items() if runs_code(row["TEMPLATE"])}
    bad["feed_comments"] = {key for key in source["feed_comments"] if key.partition(":")[0] not in source["feed_posts"]}
    return bad


def unimportable(source: Source) -> dict[str, str]:
    """Users that cannot be imported, with their error codes."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for number, user in sorted(source["users"].items(), key=lambda entry: int(entry[0])):
        email = str(user.get("EMAIL") or "").strip().lower()
        if not email or not str(user.get("NAME") or "").strip():
            found[number] = "VALIDATION"
        elif email in taken:
            found[number] = "DUPLICATE_EMAIL"
        taken |= {email} - {""}
    return found


def runs_code(part: Json) -> bool:
    """PHP, or an activity that Bitrix24 does not have."""
    if isinstance(part, dict):
        kind = str(part.get("Type", "")).lower()
        return kind in NOT_STANDARD or "codecondition" in part or any(map(runs_code, part.values()))
    return isinstance(part, list) and any(map(runs_code, part))


def _has_its_place(source: Source, deal: Fields) -> bool:
    """A pipeline and a stage that the source still lists."""
    category = deal["categoryId"]
    stages = f"DEAL_STAGE_{category}" if category else "DEAL_STAGE"
    return f"2:{category}" in source["crm_categories"] and f"{stages}:{deal['stageId']}" in source["crm_stages"]


def _items_without_parents(source: Source, bad: Bad) -> None:
    """An existing parent is required: a child of a failed record fails, and so do its own children, unless a record
    must not wait for its parent."""
    before = -1
    while before != len(bad["crm_spitems"]):
        before = len(bad["crm_spitems"])
        for key, row in source["crm_spitems"].items():
            awaited = (one for one in parents(row) if not (source.in_turn and one[0] == "crm_spitems"))
            if any(number in bad[stream] for stream, number in awaited):
                bad["crm_spitems"].add(key)


def _requisites_without_owners(source: Source, bad: Bad) -> None:
    """Children of a failed record fail with it."""
    for stream in REQUISITES:
        for key, row in source[stream].items():
            kind, number = int(row.get("ENTITY_TYPE_ID", 8)), row.get("ENTITY_ID")
            owner = OWNERS.get(kind, "crm_spitems")
            if str(number if kind in OWNERS else f"{kind}:{number}") in bad[owner]:
                bad[stream].add(key)


def _without_any_owner(source: Source, bad: Bad) -> None:
    """An activity, a comment or an entry of which no owner arrives; and what is beside one of these."""

    def arrives(owner: Json) -> bool:
        stream, key = timeline.place_of(owner)
        return timeline.is_known(source, owner) and key not in bad[stream]

    for stream in ("crm_activities", "crm_comments", "crm_logs"):
        for key, row in timeline.asked(source, stream).items():
            owners = [row["owner"]] if stream == "crm_logs" else row.get("owners") or timeline.owners_of(row)
            if not any(map(arrives, owners)):
                bad[stream].add(key)
    for key in timeline.asked(source, "crm_notes"):
        if key[1:] in bad[{"a": "crm_activities", "c": "crm_comments"}[key[0]]]:
            bad["crm_notes"].add(key)


def orphans(source: Source, bad: Bad) -> list[tuple[str, str]]:
    """Items that arrived without their failed parent, with that parent. Verify must report them."""
    return [
        (key, number)
        for key, row in source["crm_spitems"].items()
        for stream, number in parents(row)
        if key not in bad["crm_spitems"] and stream == "crm_spitems" and number in bad[stream]
    ]


def parents(row: Fields) -> Iterator[tuple[str, str]]:
    """Stream and id of every parent."""
    for name, value in row.items():
        kind = name.removeprefix("parentId")
        if kind.isdecimal() and kind != name and value:
            yield (STREAM_OF[int(kind)], str(value)) if int(kind) in STREAM_OF else ("crm_spitems", f"{kind}:{value}")


def _is_lost(source: Source, task: Fields, bad: Bad) -> bool:
    """Its group is gone, or it is about a record of the CRM that failed."""
    group = str(task["groupId"] or 0)
    return (group != "0" and group not in source["groups"]) or any(
        number in bad[stream] for stream, number in map(named, links(task))
    )


def links(task: Fields) -> list[str]:
    return list(task["ufCrmTask"] or [])


def named(code: Json) -> tuple[str, str]:
    """Stream and id of a CRM code."""
    letters, _, number = str(code).partition("_")
    if letters.startswith("T"):
        return "crm_spitems", f"{int(letters[1:], 16)}:{number}"
    return LETTERS.get(letters, letters), number
