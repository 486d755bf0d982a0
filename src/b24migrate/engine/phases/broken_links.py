"""verify: links that lead to no record of the target."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.comparison import finding_row, is_compared, write_findings
from b24migrate.engine.phases.compose import Composer
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.delta import is_delta
from b24migrate.engine.phases.missed import covered_key
from b24migrate.engine.phases.pull_through import current_pass, pull_new_records
from b24migrate.engine.phases.removal import uncovered
from b24migrate.model.records import Fate, Finding, Job, Record, Span, digest, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import DELETIONS, FINDINGS, PASSES, RegisterRow

AT_ONCE = 100


def start(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    known = is_covered(context, stream)
    context.store.discard(PASSES, [covered_key(stream)])  # a verify that does not come to its end is none
    kinds = ("cover-found", "cover-sent", *(["cover-changed"] if known else []))
    jobs = [Job(scope, kind, {"stream": stream.name, "after": ""}) for kind in kinds]
    return jobs if known else [*jobs, *lanes.seed(context, scope, "cover", stream, pending=False)]


def cover(context: RunContext, job: Job) -> Follow:
    """Owners, participants: every one of them mapped, in every imported record."""
    stream = context.streams[job.args["stream"]]
    records = context.store.records(stream.table, lanes.rest_of_lane(job), AT_ONCE)
    if not records:
        return []
    write_findings(context, find_dangling(context, stream, records))
    return lanes.next_lane_job(job, records[-1])


def cover_changed(context: RunContext, job: Job) -> Follow:
    """After a delta pass: every record that it met. The references of the others are as they were."""
    stream, span = context.streams[job.args["stream"]], Span(str(job.args["after"]))
    met = current_pass(context, stream)
    while records := context.store.by_pass(stream.table, span, AT_ONCE, pass_no=met, shown=True):
        write_findings(context, find_dangling(context, stream, records))
        span = Span(order_key(records[-1].row_key))
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": span.lo})]
    return []


def cover_sent(context: RunContext, job: Job) -> Follow:
    """Every record that was sent since although no pass met it."""
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    prefix = uncovered(stream)
    while rows := context.store.some_rows(DELETIONS, prefix, after, AT_ONCE):
        records = context.store.get(stream.table, [row.key.removeprefix(prefix) for row in rows])
        write_findings(context, find_dangling(context, stream, list(records.values())))
        context.store.discard(DELETIONS, [row.key for row in rows])
        after = rows[-1].key
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    return []


def cover_found(context: RunContext, job: Job) -> Follow:
    """Forgets the references of an earlier verify that are resolved by now."""
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    while rows := context.store.some_rows(FINDINGS, f"{stream.name}:", after, AT_ONCE):
        open_ones = [row for row in rows if row.values["Fate"] == Fate.DANGLING.value]
        records = context.store.get(stream.table, sorted({str(row.values["SourceId"]) for row in open_ones}))
        left = {finding_row(one).key for one in find_dangling(context, stream, list(records.values()))}
        context.store.discard(FINDINGS, [row.key for row in open_ones if row.key not in left])
        after = rows[-1].key
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    return []


def find_dangling(context: RunContext, stream: Stream, records: Sequence[Record]) -> list[Finding]:
    composer = Composer(context, stream, late=True)
    composed = [composer.compose(one) for one in records if is_compared(one)]
    pull_new_records(context, [named for one in composed for named in one.brings])
    return [
        Finding(stream.name, Fate.DANGLING, one.record.row_key, field, source_id)
        for one in composed
        # A record that the source does not have either is no longer a reference.
        for field, source_id in (composer.compose(one.record).unresolved if one.brings else one.unresolved)
        if field in stream.covered
    ]


def is_covered(context: RunContext, stream: Stream) -> bool:
    """Whether an earlier verify looked at all records, and no link has been removed since: then those that a delta pass
    did not meet are as they were."""
    if not stream.covered or context.options.verify_all:
        return False
    row = context.store.read(PASSES, covered_key(stream))
    of_delta = is_delta(context, stream, current_pass(context, stream))
    return of_delta and row is not None and row.values["Basis"] == rules_of(context, stream)


def note_covered(context: RunContext, job: Job) -> Follow:
    entity = next(one for one in context.entities if one.name == job.args["entity"])
    streams = [one for one in entity.streams if one.covered]
    rows = [RegisterRow(covered_key(one), {"Basis": rules_of(context, one)}) for one in streams]
    context.store.write(PASSES, rows)
    return []


def rules_of(context: RunContext, stream: Stream) -> str:
    """Of the fields that are covered: another policy resolves other references."""
    policies = [(one.name, str(context.policy(stream, one.name, one.policy))) for one in stream.refs]
    return digest([policies, context.options.placeholder_user])


def forget_the_others(context: RunContext, stream: Stream) -> None:
    """All findings but these."""
    after = ""
    while rows := context.store.some_rows(FINDINGS, f"{stream.name}:", after, AT_ONCE):
        after = rows[-1].key
        context.store.discard(FINDINGS, [row.key for row in rows if row.values["Fate"] != Fate.DANGLING.value])
