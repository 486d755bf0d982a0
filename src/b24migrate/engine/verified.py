"""Whether an entity is verified: no failed or incomplete record, no mismatch, no drift, no open conflict."""

from __future__ import annotations

from collections import Counter

import msgspec

from b24migrate.engine.phases.conflicts import count_open
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.partial import count_incomplete
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Record, Status
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import FINDINGS, FORESEEN, INVENTORY, SPARED

MOST_FILES_LOOKED_AT = 10_000


@prepared
class _FileOwner(msgspec.Struct):
    entity: str
    kind: str = ""


def is_verified(context: RunContext, entity: Entity) -> bool:
    return all(stream_is_clean(context, stream) for stream in entity.streams) and not count_failed_files(
        context, entity
    )


def count_failed_files(context: RunContext, entity: Entity) -> int:
    """Files of the entity's records that could not be fetched or were refused."""
    return count_failed_files_by_entity(context)[entity.name]


def count_failed_files_by_entity(context: RunContext) -> Counter[str]:
    """Of the first ten thousand. Whose a file is stands in what is staged of it: for all entities that is read once.
    Files that are moved where that is possible only do not count."""
    table = context.streams["files"].table
    if not context.store.counts(table)[Status.IMPORT_ERR]:
        return Counter()
    failed = context.store.failed(table, MOST_FILES_LOOKED_AT)
    owners = (_owner_of_file(one) for one in failed if one.status is Status.IMPORT_ERR)
    kinds = context.file_kinds
    return Counter(one.entity for one in owners if one.kind not in kinds or not kinds[one.kind].best_effort)


def _owner_of_file(file: Record) -> _FileOwner:
    """No owner where the row in the store is damaged; the file itself counts as failed."""
    try:
        return msgspec.json.decode(file.payload, type=_FileOwner)
    except msgspec.DecodeError:
        return _FileOwner("")


def stream_is_clean(context: RunContext, stream: Stream) -> bool:
    counts = context.store.counts(stream.table)
    imported = sum(counts.values()) == counts.get(Status.IMPORT_OK, 0) + counts.get(Status.DELETED, 0)
    return (
        imported
        and not count_differences(context, stream)
        and not count_drift(context, stream)
        and not count_incomplete(context, stream)
        and not count_open(context, stream)
    )


def count_differences(context: RunContext, stream: Stream) -> int:
    return context.store.count(FINDINGS, f"{stream.name}:")


def count_expected(context: RunContext, stream: Stream) -> int:
    """Differences that the target announced: no mismatches."""
    return context.store.count(FORESEEN, f"{stream.name}:")


def count_not_found(context: RunContext, stream: Stream) -> int:
    """Expected differences that verify did not find; only a full verify lists them."""
    return context.store.count(SPARED, f"{stream.name}:")


def count_drift(context: RunContext, stream: Stream) -> int:
    """The difference between the reported and the retrieved number in the latest inventory; 0 if the source gives no
    total."""
    for row in context.store.rows(INVENTORY, prefix=f"{stream.name}:"):
        if row.values.get("IsLatest") and not row.values.get("Limited"):
            reported = row.values.get("ReportedTotal")
            return 0 if reported is None else int(reported) - int(row.values["RetrievedTotal"])
    return 0
