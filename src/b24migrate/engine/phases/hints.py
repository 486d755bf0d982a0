"""get: selects the parents whose children are requested, by hints in the parents.

A parent may say that it has none (`Parents.has_any`), and a portal may keep the children of some parents elsewhere
(`Parents.elsewhere`). These are hints, not facts, so a sample of these parents is requested. One child found there
refutes the hint. Then all of them are requested, in this pass and in every later one. A parent without a hint is always
requested.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from zlib import crc32

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.moved import watched_fields
from b24migrate.model.readings import PerParent
from b24migrate.model.records import Job
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CHECKPOINTS, RegisterRow

NONE = "none"  # parents that say they have no children
ELSEWHERE = "elsewhere"  # parents whose children may be in another place
# Of all parents so many are in the sample, or this share where that is more. Which ones their ids decide: spread over
# all of them, and the same in every process and pass.
LEAST_SAMPLED, SHARE = 400, 0.01
PAGES_OF_A_READING = 1_000_000  # page numbers: each reading has a range of its own
SIZE, REST = "size", "rest"  # of a job's args: how many parents there are; the hint whose other parents are asked now


def hint_of(reading: PerParent, parent: SourceRecord) -> str:
    """The hint by which the parent is requested only as part of a sample; empty: it is always requested."""
    try:
        has_any = reading.parents.has_any(parent)
    except (ValueError, TypeError, AttributeError):
        has_any = None
    return NONE if has_any is False else ELSEWHERE if reading.parents.elsewhere(parent) else ""


def sampled_share(parents: float) -> float:
    return min(1.0, max(SHARE, LEAST_SAMPLED / max(1.0, parents)))


def is_sampled(parent: str, parents: int) -> bool:
    return crc32(f"sample:{parent}".encode()) < sampled_share(parents) * 2**32


def count_parents(context: RunContext, reading: PerParent) -> int:
    return sum(context.store.counts(context.streams[reading.of].table).values())


def narrow_trust(reading: PerParent, parents: int) -> PerParent:
    """The reading that proves the end of each walk in the sample, also where a short page looks like it."""
    trusted = reading.parents.uncounted
    narrowed = replace(reading.parents, uncounted=lambda one: trusted(one) and not is_sampled(one.id, parents))
    return replace(reading, parents=narrowed)


# ---------------------------------------------------------------- what the store remembers


def refuted_before(context: RunContext, stream: Stream, which: int, pass_no: int) -> frozenset[str]:
    """The hints of a reading that an earlier pass refuted. A hint that this pass refutes stays in use until its end,
    and a separate job requests the other parents. If the latest values are not kept, a parent's hint dates from its
    last change, and a new child does not change it: so only the first pass uses the hint that a parent has no
    children."""
    rows = {hint: context.store.read(CHECKPOINTS, refuted_key(stream, which, hint)) for hint in (NONE, ELSEWHERE)}
    refuted = {hint for hint, row in rows.items() if row is not None and int(row.values["Pass"]) < pass_no}
    reading = context.reading(stream, which)
    fresh = isinstance(reading, PerParent) and bool(watched_fields(context, context.streams[reading.of]))
    return frozenset(refuted if pass_no == 1 or fresh else {*refuted, NONE})


def refute(context: RunContext, stream: Stream, which: int, hint: str, pass_no: int) -> None:
    context.store.write(CHECKPOINTS, [RegisterRow(refuted_key(stream, which, hint), {"Pass": pass_no})])


def known_with_hints(context: RunContext, stream: Stream, pass_no: int) -> Known:
    """The known facts about the stream, with the refuted hints of its listing."""
    return context.known(stream)._replace(
        refuted=lambda hint: context.store.read(CHECKPOINTS, refuted_key(stream, 0, hint)) is not None,
        refute=lambda hint: refute(context, stream, 0, hint, pass_no),
    )


def refuted_key(stream: Stream, which: int, hint: str) -> str:
    """Of no pass: it is not forgotten when the next one begins."""
    return f"hint:{stream.name}:{which}:{hint}"


def rest_jobs(
    context: RunContext, job: Job, stream: Stream, reading: PerParent, with_children: Iterable[SourceRecord]
) -> list[Job]:
    """Jobs that ask the other parents of the hints that these parents refute."""
    which = int(job.args.get("which", 0))
    found = sorted({hint_of(reading, parent) for parent in with_children} - {""})
    args = {name: job.args[name] for name in ("stream", "pass", "which", SIZE) if name in job.args}
    return [
        Job(job.scope, "pack", {**args, REST: hint, "after": "", "n": first_lane(which, hint)})
        for hint in found
        if context.store.read(CHECKPOINTS, refuted_key(stream, which, hint)) is None
    ]


def first_lane(which: int, hint: str = "") -> int:
    """The number of the first lane: the pages of each reading, and of each hint's other parents, have their own."""
    return which * PAGES_OF_A_READING + {"": 0, NONE: 1, ELSEWHERE: 2}[hint] * PAGES_OF_A_READING // 10
