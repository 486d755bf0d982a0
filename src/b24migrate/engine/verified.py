"""Whether an entity is verified: no failed or incomplete record, no mismatch, no drift."""

from __future__ import annotations

from collections import Counter

import msgspec

from b24migrate.engine.phases.context import Work
from b24migrate.engine.phases.partial import incomplete
from b24migrate.model.records import Record, Status
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import FINDINGS, FORESEEN, INVENTORY, SPARED

MOST_FILES_LOOKED_AT = 10_000


class _Whose(msgspec.Struct):
    entity: str


def is_verified(work: Work, entity: Entity) -> bool:
    return all(stream_is_clean(work, stream) for stream in entity.streams) and not failed_files(work, entity)


def failed_files(work: Work, entity: Entity) -> int:
    """Files of the entity's records that could not be fetched or were refused."""
    return failed_files_by_entity(work)[entity.name]


def failed_files_by_entity(work: Work) -> Counter[str]:
    """Of the first ten thousand. Whose a file is stands in what is staged of it: for all entities that is read once."""
    table = work.streams["files"].table
    if not work.store.counts(table)[Status.IMPORT_ERR]:
        return Counter()
    failed = work.store.failed(table, MOST_FILES_LOOKED_AT)
    return Counter(_whose(one) for one in failed if one.status is Status.IMPORT_ERR)


def _whose(file: Record) -> str:
    """Nobody's where the row in the store is damaged; the file itself counts as failed."""
    try:
        return msgspec.json.decode(file.payload, type=_Whose).entity
    except msgspec.DecodeError:
        return ""


def stream_is_clean(work: Work, stream: Stream) -> bool:
    counts = work.store.counts(stream.table)
    imported = sum(counts.values()) == counts.get(Status.IMPORT_OK, 0)
    return imported and not mismatches(work, stream) and not drift(work, stream) and not incomplete(work, stream)


def mismatches(work: Work, stream: Stream) -> int:
    return work.store.count(FINDINGS, f"{stream.name}:")


def foreseen(work: Work, stream: Stream) -> int:
    """Differences that the target announced: no mismatches."""
    return work.store.count(FORESEEN, f"{stream.name}:")


def spared(work: Work, stream: Stream) -> int:
    """What the target announced, and what is equal all the same; told of by a full verify only."""
    return work.store.count(SPARED, f"{stream.name}:")


def drift(work: Work, stream: Stream) -> int:
    """What the latest inventory reported beyond what it retrieved; 0 where the source gives no total."""
    for row in work.store.rows(INVENTORY, prefix=f"{stream.name}:"):
        if row.values.get("IsLatest") and not row.values.get("Limited"):
            reported = row.values.get("ReportedTotal")
            return 0 if reported is None else int(reported) - int(row.values["RetrievedTotal"])
    return 0
