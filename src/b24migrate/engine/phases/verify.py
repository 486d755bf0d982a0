"""verify: counts, and a sample that is read again and compared field by field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from zlib import crc32

import msgspec

from b24migrate.engine.phases import broken_links, conflicts, lanes
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.comparison import (
    EXPECTED,
    ExpectedDifferences,
    ask_source_again,
    is_compared,
    latest_version,
    sent_records,
    write_findings,
)
from b24migrate.engine.phases.compose import BROKEN_ROW, FAULTS, NOT_ALLOWED, ComposedRecord, Composer
from b24migrate.engine.phases.context import Follow, RunContext, decode_readable
from b24migrate.engine.phases.delta import is_delta
from b24migrate.engine.phases.enrichment import in_halves
from b24migrate.engine.phases.inventory import count_in_pass, count_kept, count_unshown
from b24migrate.engine.phases.pull_through import current_pass
from b24migrate.engine.phases.read import SLOWLY, smaller_slice
from b24migrate.engine.phases.read_children import GENTLY_AFTER
from b24migrate.messages import say
from b24migrate.model.errors import Limited, Permanent, Transient
from b24migrate.model.records import (
    NOWHERE,
    Args,
    Fate,
    Finding,
    Job,
    Link,
    Record,
    Row,
    Span,
    Status,
    order_key,
)
from b24migrate.model.streams import Stream
from b24migrate.ports import (
    COMPARED,
    FINDINGS,
    FORESEEN,
    INVENTORY,
    SPARED,
    VERIFIED,
    RegisterRow,
    TargetRecord,
)

AT_ONCE = 100
FAILED_LOOKED_AT = 2_000  # they are in memory at once
LAST_SENT = "sent"  # no field, but all of them as they were sent last
NOT_TOLD = say("verify.first_version")
FOUND = (VERIFIED, COMPARED, FINDINGS, FORESEEN, SPARED)  # the registers that a verify writes for each stream


def forget_findings(context: RunContext, job: Job) -> Follow:
    """Clears the results of the last verify. It is a stage of its own: when several processes start a verify at once,
    no worker may clear results while another one writes them."""
    entity = next(one for one in context.entities if one.name == job.args["entity"])
    for stream in entity.streams:
        for register in FOUND:
            if register is FINDINGS and broken_links.is_covered(context, stream):
                broken_links.forget_the_others(context, stream)
            else:
                context.store.erase(register, f"{stream.name}:")
    return []


def start(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    """The jobs are independent of one another."""
    jobs = [Job(scope, "count", {"stream": stream.name})]
    if context.options.verify_all:
        jobs += lanes.seed(context, scope, "compare", stream, pending=False)
    elif is_delta(context, stream, current_pass(context, stream)):
        jobs.append(Job(scope, "compare-changed", {"stream": stream.name, "after": ""}))
    else:
        jobs.append(Job(scope, "sample", {"stream": stream.name}))
    if stream.covered:
        jobs += broken_links.start(context, scope, stream)
    return jobs


# ---------------------------------------------------------------- counts


def count(context: RunContext, job: Job) -> Follow:
    """Every linked record must be on the target, and no other. The records are looked up only if the numbers differ."""
    stream = context.streams[job.args["stream"]]
    write_findings(context, find_gone(context, stream))
    there, after = count_on_target(context, stream, job.args, context.time_is_up)
    if after:
        return [Job(job.scope, job.kind, {**job.args, "after": after, "there": there})]
    sent = context.store.counts(stream.table).get(Status.IMPORT_OK, 0) - count_linked(context, stream)
    if there > sent:
        sent += count_earlier(context, stream)
    if there == sent:
        return []
    fate = Fate.EXTRA if there > sent else Fate.MISSING
    difference = Finding(stream.name, fate, "*", "count", str(sent), str(there))
    write_findings(context, [ExpectedDifferences(context, stream).count_finding(difference)])
    return lanes.seed(context, job.scope, "reconcile", stream, pending=False)


def count_on_target(
    context: RunContext, stream: Stream, so_far: Args = MappingProxyType({}), enough: Callable[[], bool] = lambda: False
) -> tuple[int, str]:
    """How many the target has, and from where to go on when it was `enough` for now ("": nowhere). One that does not
    count them itself is leafed through."""
    there, after = int(so_far.get("there", 0)), str(so_far.get("after", ""))
    while True:
        page, cursor, count = context.target.listing(context.owner[stream.name].wire, stream.name, after)
        if count is not None:
            return count, ""
        there += len(page)
        if cursor is None or enough():
            return there, cursor or ""
        after = cursor


def find_gone(context: RunContext, stream: Stream) -> list[Finding]:
    """Earlier staged records that the latest full pass neither showed nor proved to be deleted, although a deletion
    could be proven."""
    latest = [
        row.values for row in context.store.rows(INVENTORY, prefix=f"{stream.name}:") if row.values.get("IsLatest")
    ]
    if not latest or latest[0].get("Limited"):
        return []
    pass_no = current_pass(context, stream)
    kept = count_kept(context, stream, pass_no)
    shown = count_in_pass(context, stream, pass_no) + kept
    unshown = count_unshown(context, stream, pass_no) - kept
    if unshown <= 0:
        return []
    staged, note = shown + unshown, say("verify.not_shown", count=unshown)
    return [Finding(stream.name, Fate.EXTRA, "*", "source", str(shown), str(staged), note)]


def count_linked(context: RunContext, stream: Stream) -> int:
    """Records that count as imported although nothing was sent."""
    return int(context.store.counters(f"linked:{stream.name}").get(f"linked:{stream.name}", 0))


def count_earlier(context: RunContext, stream: Stream) -> int:
    """Records that failed after a change: the target has what was sent before. `errors` lists them."""
    failed = [one.row_key for one in context.store.failed(stream.table, FAILED_LOOKED_AT)]
    links = context.store.links(stream.name, failed) if failed else {}
    return sum(one.origin == "import" and one.target_id != NOWHERE for one in links.values())


def reconcile(context: RunContext, job: Job) -> Follow:
    """Names the records that should be on the target and are not."""
    stream = context.streams[job.args["stream"]]
    records = context.store.records(stream.table, lanes.rest_of_lane(job), AT_ONCE)
    if not records:
        return []
    keys = {stream.key_of(one.row_key): one for one, _ in sent_records(context, stream, records)}
    there = context.target.read(context.owner[stream.name].wire, stream.name, list(keys)) if keys else {}
    expected_differences = ExpectedDifferences(context, stream)
    missing = [keys[key] for key in keys if key not in there]
    known = {one.id: one for one in decode_readable(missing, stream)}
    write_findings(
        context,
        [
            expected_differences.missing_finding(known[one.row_key])
            if one.row_key in known
            else Finding(stream.name, Fate.MISSING, one.row_key)
            for one in missing
        ],
    )
    return lanes.next_lane_job(job, records[-1])


# ---------------------------------------------------------------- field by field


def sample(context: RunContext, job: Job) -> Follow:
    """Compares a few records with the source's current ones."""
    stream = context.streams[job.args["stream"]]
    seed = crc32(f"{context.run}:{stream.name}".encode())
    records = context.store.sample(stream.table, context.options.verify_sample, seed=seed, status=Status.IMPORT_OK)
    done, size = int(job.args.get("done", 0)), int(job.args.get(SLOWLY, AT_ONCE))
    for start in range(done, len(records), size):
        if start > done and context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "done": start})]
        some = records[start : start + size]
        if slower := _compare_or_slow_down(context, stream, job, {**job.args, "done": start}, some):
            return slower
    return []


def compare(context: RunContext, job: Job) -> Follow:
    """Compares every record of a lane with the source's current one."""
    stream = context.streams[job.args["stream"]]
    records = context.store.records(stream.table, lanes.rest_of_lane(job), int(job.args.get(SLOWLY, AT_ONCE)))
    if not records:
        return []
    return _compare_or_slow_down(context, stream, job, job.args, records) or lanes.next_lane_job(job, records[-1])


def compare_changed(context: RunContext, job: Job) -> Follow:
    """After a delta pass: every record that it met."""
    stream = context.streams[job.args["stream"]]
    span, most = Span(str(job.args["after"])), int(job.args.get(SLOWLY, AT_ONCE))
    met = current_pass(context, stream)
    records = context.store.by_pass(stream.table, span, most, pass_no=met, shown=True)
    if not records:
        return []
    going_on = [Job(job.scope, job.kind, {**job.args, "after": order_key(records[-1].row_key)})]
    return _compare_or_slow_down(context, stream, job, job.args, records) or going_on


def _compare_or_slow_down(
    context: RunContext, stream: Stream, job: Job, args: Args, records: Sequence[Record]
) -> list[Job]:
    """After a limit: the job with `args` that compares fewer records at a time."""
    try:
        compared = [one for one in records if is_compared(one)]
        compare_records(context, stream, compared, gently=job.failures >= GENTLY_AFTER)
    except Limited as limit:
        return [slower_job(job, limit, args, len(records))]
    return []


def slower_job(job: Job, limit: Limited, args: Args, tried: int) -> Job:
    """The job that goes on with fewer records, behind those that were compared. Raises the limit if that is the same
    job. It follows at once, in one write with the end of this one: if both remained after a crash, records that both
    compare would count twice. The limit, which is known by then, parks it."""
    if limit.midway:
        args = {**args, SLOWLY: smaller_slice(tried)}
    if args == job.args:
        raise limit
    return Job(job.scope, job.kind, args, failures=job.failures)


def compare_records(context: RunContext, stream: Stream, records: Sequence[Record], *, gently: bool = False) -> None:
    sent = sent_records(context, stream, records)
    if not sent:
        return
    keys = [stream.key_of(one.row_key) for one, _ in sent]
    there = context.target.read(context.owner[stream.name].wire, stream.name, keys)
    now = _ask_source(context, stream, [one for one, _ in sent], gently=gently)
    composer, expected_differences = Composer(context, stream, late=True), ExpectedDifferences(context, stream)
    equal: list[tuple[str, str]] = []

    def compared(one: Record, link: Link, found: TargetRecord | None) -> list[Finding]:
        latest = latest_version(stream, one, now.get(one.row_key))
        expected = composer.compose(one, latest)
        if expected.problem is not None and expected.problem[0] in FAULTS:
            return [Finding(stream.name, Fate.DIFFERS, one.row_key, note=expected.problem[1])]
        findings = expected_differences.findings(latest, expected.fields, found)
        if found is not None and expected.problem and expected.problem[0] == NOT_ALLOWED:
            findings.append(Finding(stream.name, Fate.DIFFERS, one.row_key, note=expected.problem[1]))
        if found is not None and any(finding.fate is Fate.FORESEEN for finding in findings):
            findings += find_unsent(stream, composer.compose(one), link)
        return findings

    for one, link in sent:
        found = there.get(stream.key_of(one.row_key))
        try:
            findings = compared(one, link, found)
        except msgspec.DecodeError:
            findings = [Finding(stream.name, Fate.DIFFERS, one.row_key, note=BROKEN_ROW[1])]
        except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
            error = unexpected(context, bug, context.owner[stream.name].name, f"{stream.name} {one.row_key}")
            findings = [Finding(stream.name, Fate.DIFFERS, one.row_key, note=error.message)]
        findings = conflicts.explain(context, stream, one, findings)
        write_findings(context, findings)
        if found is not None and all(finding.fate in EXPECTED for finding in findings):
            equal.append((one.row_key, link.digest))
    remember_equal(context, stream, sent[0][0].row_key, equal)


def find_unsent(stream: Stream, composed: ComposedRecord, link: Link) -> list[Finding]:
    """A rule that the target converts a field also hides values that it never got, such as later changes that the
    target does not accept."""
    if composed.problem is not None or composed.item(stream).digest == link.digest:
        return []
    return [Finding(stream.name, Fate.DIFFERS, composed.record.row_key, LAST_SENT, note=NOT_TOLD)]


def remember_equal(context: RunContext, stream: Stream, first: str, equal: Sequence[tuple[str, str]]) -> None:
    """Which records were found equal, or to differ only as expected, with the digest of what had been sent: one that is
    sent again differently is not among them any more. Under the first that was looked at, so that a repeated job writes
    the same row. Their number is kept too, so that status need not read them all."""
    ids, key = [list(one) for one in equal], f"{stream.name}:{first}"
    context.store.write(COMPARED, [RegisterRow(key, {"Stream": stream.name, "Ids": ids})])
    context.store.write(VERIFIED, [RegisterRow(key, {"Equal": len(ids)})])


def _ask_source(context: RunContext, stream: Stream, records: Sequence[Record], *, gently: bool) -> dict[str, Row]:
    """In a delta run what its pass has met is minutes old, and what changed since the next one brings. Gently, one that
    cannot be read again is compared as it was read before."""
    if context.options.delta and not context.options.verify_all:
        met = current_pass(context, stream)
        records = [one for one in records if one.pass_no < met]

    def ask(some: Sequence[Record]) -> dict[str, Row]:
        try:
            return ask_source_again(context, stream, some)
        except (Permanent, Transient) as error:
            if isinstance(error, Transient) and not (gently and error.own and len(some) == 1):
                raise
            note = say("note.sample_unread", stream=stream.name, why=error.sentence)
            context.note(context.owner[stream.name].name, note, "info")
            return {}

    answers = in_halves(ask, records) if gently else [ask(records)]
    return {key: row for rows in answers for key, row in rows.items()}
