"""The analysis before a migration: checks both portals, samples, forecasts. It reads the source and nothing else; what
it remembers is a row or two of its own in the store."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from zoneinfo import ZoneInfo

from b24migrate.engine import plan, probe
from b24migrate.engine.analysis import Analysis
from b24migrate.engine.diagnosis import Diagnosis, refusal
from b24migrate.engine.doctor import examine
from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.forecast import meter as cost
from b24migrate.insight.forecast.build import Builder, Need, count_calls
from b24migrate.insight.forecast.estimate import Basis, Situation, forecast, remember
from b24migrate.insight.forecast.meter import Computer, Gauge, Meter, TargetPace, measure_target
from b24migrate.insight.forecast.model import (
    Estimate,
    Forecast,
    MethodFacts,
    PipelineFacts,
    StreamFacts,
    Survey,
)
from b24migrate.insight.forecast.sample import Sampled
from b24migrate.insight.forecast.sampler import Sampler
from b24migrate.insight.forecast.schedule import Limits, Used, Workers
from b24migrate.insight.forecast.source import Notice, SourceSurvey, add_parents
from b24migrate.messages import join, say
from b24migrate.model.streams import Entity
from b24migrate.model.values import utc_text
from b24migrate.ports import QUOTA
from b24migrate.ports.quota import Bucket, decode_quota

SHARE = 0.02
EMPLOYEE = "employee"
OUTSIDERS = frozenset({"extranet", "email", "bot", "collaber", "shop"})


def survey(
    context: RunContext,
    meter: Meter,
    entities: Sequence[Entity],
    limits: Limits,
    *,
    timezone: ZoneInfo,
    named: Collection[str] = (),
    share: float = SHARE,
    notice: Notice = lambda _: None,
) -> Survey:
    """Raises Stop if the source does not answer. A target is not required."""
    began = context.clock.monotonic()
    notice("both ends")
    diagnosis = _check_portals(context, entities, timezone, named)
    entities = [one for one in entities if one.name not in diagnosis.facts.left_out]
    context = context.with_facts(Analysis(True, True, diagnosis.facts).for_phases)
    probe.load_habits(context)
    gauge, pace = Gauge(context.clock), measure_target(context)
    look = SourceSurvey(context, meter, Sampler(context, meter, share), notice)
    skipped = _closed(diagnosis)
    for entity in add_parents(context, entities):
        if entity.name not in skipped:
            look.survey(entity, wanted=entity in entities)
            gauge.measure()
    needs = [look.need(entity) for entity in look.wanted]
    computer = gauge.computer
    made_from = _describe_run(context, meter, limits, needs, computer=computer, pace=pace)
    times = forecast(
        made_from.courses,
        made_from.situation,
        slower_s=_slower_s(needs, pace),
        own_error=computer.error,
        basis=_basis(look, limits, share, pace),
        talk={entity.name for entity in context.entities if entity.talk},
    )
    took_s = context.clock.monotonic() - began
    found = _describe_source(context, meter, look, diagnosis, share=share, took_s=took_s, needs=needs, times=times)
    remember(context.store, found, made_from)
    return found


def _check_portals(
    context: RunContext, entities: Sequence[Entity], timezone: ZoneInfo, named: Collection[str]
) -> Diagnosis:
    """Raises Stop if the source cannot be read, but not for missing parts of the target."""
    diagnosis = examine(
        context.source,
        context.target,
        context.store,
        entities,
        timezone=timezone,
        clock=context.clock,
        named=named,
    )
    for check in diagnosis.failed:
        if not check.entity and not check.gate.startswith("auth.target") and check.name != "target":
            raise refusal(check)
    return diagnosis


def _describe_run(
    context: RunContext, meter: Meter, limits: Limits, needs: Sequence[Need], *, computer: Computer, pace: TargetPace
) -> Basis:
    """The work of a run, with its limits and workers."""
    workers = Workers(
        context.options.workers, lanes.thread_count(context.options.workers), computer.scale(cost.STAGE_S)
    )
    builder = Builder(context.options, meter.costs, meter.pace, pace, computer, workers, meter.payer)
    used = Used(_level(context, limits), tuple(meter.spent_s.items()))
    before = plan.current(context.store)
    return Basis(tuple(map(builder.course, needs)), Situation(limits, workers, used), before.id if before else "")


def _describe_source(
    context: RunContext,
    meter: Meter,
    look: SourceSurvey,
    diagnosis: Diagnosis,
    *,
    share: float,
    took_s: float,
    needs: Sequence[Need],
    times: Forecast,
) -> Survey:
    return Survey(
        at=utc_text(context.clock.now()),
        share=share,
        took_s=took_s,
        requests=round(meter.used.requests),
        scopes=diagnosis.facts.scopes,
        admin=diagnosis.facts.admin,
        webhooks=len(context.source.owners),
        warnings=(*(check.message for check in (*diagnosis.failed, *diagnosis.warnings)), *look.warnings),
        skipped={**_closed(diagnosis), **look.troubles},
        streams=tuple(
            _stream_facts(context, entity, look.sampler.found[stream.name])
            for entity in look.wanted
            for stream in entity.streams
        ),
        methods=tuple(_methods(needs, meter)),
        files=tuple(one.facts for one in look.files.values()),
        fields=tuple(look.fields),
        pipelines=tuple(_pipelines(look)),
        seats=_seats(look.sampler.found.get(context.people)),
        impossible=tuple(look.impossible),
        unread_people=look.unread_people,
        forecast=times,
        file_limit=look.file_limit,
        large_files=tuple(sorted(look.large_files, key=lambda one: (-one.bytes, one.key))),
        all_met=share >= 1 or all(one.met >= one.count for one in look.sampler.found.values() if one.stream.files),
    )


def _closed(diagnosis: Diagnosis) -> dict[str, str]:
    """Entities that the source does not give to this webhook."""
    failed = [check for check in diagnosis.failed if check.entity and check.gate.startswith("auth.cloud")]
    return {check.entity: check.message for check in failed}


def _level(context: RunContext, limits: Limits) -> float:
    """How full the bucket is after the analysis: a run that starts at once finds it so."""
    now = context.clock.now().timestamp()
    bucket = Bucket(limits.per_second, limits.bucket)
    return max((bucket.level(decode_quota(row), now) for row in context.store.rows(QUOTA)), default=0.0)


def _slower_s(needs: Sequence[Need], pace: TargetPace) -> dict[str, float]:
    """How much longer a call may take than assumed, if the target was not measured."""
    per_record_s = cost.SLOW_RECORD_S - cost.RECORD_S
    return {
        need.entity.name: per_record_s * max((one.batch for one in need.streams), default=0)
        for need in needs
        if not pace.knows(need.entity)
    }


def _stream_facts(context: RunContext, entity: Entity, sampled: Sampled) -> StreamFacts:
    records = Estimate.from_error(round(sampled.count), sampled.uncertain, exact=sampled.exact, basis=sampled.basis)
    return StreamFacts(sampled.stream.name, entity.name, records, sampled.met, context.reading(sampled.stream).method)


def _methods(needs: Sequence[Need], meter: Meter) -> Iterator[MethodFacts]:
    calls = count_calls(needs)
    for name in sorted(calls, key=lambda one: -calls[one]):
        cost = meter.costs.get(name)
        yield MethodFacts(name, cost.seconds if cost else 0.0, cost.calls if cost else 0, math.ceil(calls[name]))


def _basis(look: SourceSurvey, limits: Limits, share: float, pace: TargetPace) -> tuple[str, ...]:
    tried = sum(found.tried for found in look.files.values())
    pace_of_requests = look.meter.pace
    source = say("forecast.source_free")
    if limits.per_second:
        source = say("forecast.source_limits", count=f"{limits.per_second:g}", bucket=f"{limits.bucket:g}")
    if limits.operating_s:
        key = "forecast.execution_batches" if look.meter.batch_pays else "forecast.execution"
        source = say(key, source=source, seconds=f"{limits.operating_s:g}")
    return (
        say("forecast.sample", share=share, count=round(look.meter.used.requests)),
        source,
        say("forecast.request", seconds=pace_of_requests.request_s),
        say("forecast.files_tried", count=tried) if tried else say("forecast.files_assumed"),
        _box(look, pace),
        say("forecast.at_once"),
    )


def _box(look: SourceSurvey, pace: TargetPace) -> str:
    key = "forecast.box" if pace.answers else "forecast.box_silent"
    notes: list[str] = [say(key, seconds=f"{pace.call_s:.2f}")]
    known = sorted({entity.wire for entity in look.wanted if pace.knows(entity)})
    if known:
        notes.append(say("forecast.box_measured"))
    if len(known) < len({entity.wire for entity in look.wanted}):
        assumed, slow = f"{cost.RECORD_S * 1000:.1f}", f"{cost.SLOW_RECORD_S * 1000:.0f}"
        rest = "forecast.box_assumed_rest" if known else "forecast.box_assumed"
        notes.append(say(rest, assumed=assumed, slow=slow))
    return join(notes)


def _pipelines(look: SourceSurvey) -> Iterator[PipelineFacts]:
    for sampled in look.sampler.found.values():
        for one in sampled.rows if sampled.stream.pipelines else ():
            yield PipelineFacts(one.parent, one.child, str(one.payload.get("name") or ""))


def _seats(people: Sampled | None) -> Estimate | None:
    """Active people of the company: those who will sign in to the box. Bots are never listed."""
    if people is None or not people.rows:
        return None
    active = [one for one in people.rows if one.payload.get("ACTIVE") in (True, "Y", "1", "true")]
    inside = [one for one in active if str(one.payload.get("USER_TYPE") or EMPLOYEE) not in OUTSIDERS]
    share = len(inside) / len(people.rows)
    whole = len(people.rows) >= people.count
    error = math.sqrt(share * (1 - share) / len(people.rows)) / share if share and not whole else 0.0
    return Estimate.from_error(
        round(share * people.count), error, exact=whole, basis=say("forecast.people", count=len(people.rows))
    )
