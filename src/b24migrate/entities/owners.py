"""The CRM records that calls, activities and comments belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from b24migrate.entities.codes import RECORDS_OF, is_smart_type, owner
from b24migrate.model.fields import Resolve, Unresolved
from b24migrate.model.records import Args, Json
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.values import OddValue, is_number, reference, text, whole

# crm.timeline.comment.list and its neighbours name types by words
# (api-reference/crm/timeline/comments/crm-timeline-comment-list.md, api-reference/crm/data-types.md).
TYPE_NAMES = {1: "lead", 2: "deal", 3: "contact", 4: "company", 7: "quote", 31: "smart_invoice"}
TYPES_BY_NAME = {name: number for number, name in TYPE_NAMES.items()}
DYNAMIC = "dynamic_"


def owner_value(number: Json, source_id: Json) -> Args | None:
    """As it is sent, with the IDs of the source; None for every spelling of no owner. Raises OddValue."""
    kind, key = whole(number), reference(source_id)
    if not kind or key is None:
        return None
    if kind < 0 or not is_number(key):
        raise OddValue
    return {"ownerTypeId": kind, "ownerId": key}


def type_of(name: Json) -> int:
    """The number of a type that is named by a word; 0: it is not known. Raises OddValue."""
    word = (text(name) or "").lower()
    number = word.removeprefix(DYNAMIC)
    return int(number) if number != word and is_number(number) else TYPES_BY_NAME.get(word, 0)


def is_owner_type(number: int) -> bool:
    """Whether records of the type may be migrated: orders, old invoices and what is in the recycle bin never are."""
    return number in RECORDS_OF or is_smart_type(number)


def without_repeats(owners: Iterable[Args | None]) -> Iterator[Args]:
    """In their order."""
    met: set[tuple[int, str]] = set()
    for one in owners:
        if one is not None and (key := (int(one["ownerTypeId"]), str(one["ownerId"]))) not in met:
            met.add(key)
            yield one


def resolve_owner(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """Both of the target. Raises Unresolved."""
    if value is None:
        return None
    number = int(value["ownerTypeId"])
    if not is_owner_type(number):
        raise Unresolved(f"type {number}", str(value["ownerId"]))
    return owner(number, str(value["ownerId"]), resolve)


def resolve_first(one: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """Of several owners the first that the target has. Raises Unresolved for the first of all."""
    missing: Unresolved | None = None
    for owner_of in value:
        try:
            return resolve_owner(one, owner_of, resolve)
        except Unresolved as error:
            missing = missing or error
    if missing is not None:
        raise missing
    return None
