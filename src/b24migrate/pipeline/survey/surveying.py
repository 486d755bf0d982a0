"""`analyze`: looks at both ends and at a sample of everything, foretells how long a migration will take, and
remembers it. It only reads; what it remembers is one row of its own in the store."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from b24migrate.errors import Permanent
from b24migrate.phases.custom_values import folded
from b24migrate.phases.values import utc_text
from b24migrate.phases.work import Work
from b24migrate.pipeline.analysis import Analysis
from b24migrate.pipeline.diagnosis import Diagnosis
from b24migrate.pipeline.doctor import examine
from b24migrate.pipeline.runner import refusal
from b24migrate.pipeline.state import DONE, EntityState, States
from b24migrate.pipeline.survey import files as filing
from b24migrate.pipeline.survey.asking import patiently
from b24migrate.pipeline.survey.forecasting import BOX_BYTES_PER_S, BOX_CALL_S, Need, Pace, forecast
from b24migrate.pipeline.survey.metering import Meter
from b24migrate.pipeline.survey.model import (
    Compared,
    Estimate,
    FieldFacts,
    Impossible,
    MethodFacts,
    PipelineFacts,
    StreamFacts,
    Survey,
)
from b24migrate.pipeline.survey.playing import Limits
from b24migrate.pipeline.survey.sampling import Sampled, Sampler
from b24migrate.ports import ANALYSIS, RegisterRow, Store
from b24migrate.records import Json
from b24migrate.streams import Each, Entity, PerParent, Seen

KEY = "survey"
SHARE = 0.02
PIPELINES = "crm_categories"
EMPLOYEE = "employee"
OUTSIDERS = frozenset({"extranet", "email", "bot", "collaber", "shop"})
Notice = Callable[[str], None]


def survey(
    work: Work,
    meter: Meter,
    entities: Sequence[Entity],
    limits: Limits,
    *,
    timezone: ZoneInfo,
    share: float = SHARE,
    notice: Notice = lambda _: None,
) -> Survey:
    """Raises Stop when the source cannot be asked; a target that is not there yet is no hindrance."""
    began = work.clock.monotonic()
    notice("both ends")
    seen = examine(work.source, work.target, work.store, entities, timezone=timezone, clock=work.clock)
    for check in seen.failed:
        if not check.entity and not check.gate.startswith("auth.target") and check.name != "target":
            raise refusal(check)
    work.facts = Analysis(True, True, seen.facts).for_phases
    look = _Look(work, meter, Sampler(work, meter, share), notice)
    skipped = _closed(seen)
    for entity in with_needed(work, entities):
        if entity.name not in skipped:
            look.at(entity, wanted=entity in entities)
    found = _told(look, seen, limits, share=share, took_s=work.clock.monotonic() - began)
    work.store.write(ANALYSIS, [RegisterRow(KEY, {"Data": found.to_json()})])
    return found


def last(store: Store) -> Survey | None:
    """The analysis that was made last."""
    row = store.read(ANALYSIS, KEY)
    return None if row is None else Survey.from_json(row.values["Data"])


def compared(store: Store) -> list[Compared]:
    """The last forecast beside the phases that are done."""
    made = last(store)
    states = States(store)
    found: list[Compared] = []
    for one in made.forecast.entities if made else ():
        state = states.read(one.entity)
        # Files are fetched in get and uploaded in set: the two together are what can be compared with them.
        got, sent = phase_s(state, "get"), phase_s(state, "set")
        if got is not None:
            found.append(Compared(one.entity, "get", one.get_s + one.fetch_s, got))
        if sent is not None:
            found.append(Compared(one.entity, "set", one.total_s - one.get_s - one.fetch_s, sent))
    return found


def phase_s(state: EntityState, phase: str) -> float | None:
    one = state.phase(phase)
    if one.state != DONE or not one.started or not one.finished:
        return None
    return (datetime.fromisoformat(one.finished) - datetime.fromisoformat(one.started)).total_seconds()


# ---------------------------------------------------------------- looking


class _Look:
    """What has been found so far, entity by entity."""

    def __init__(self, work: Work, meter: Meter, sampler: Sampler, notice: Notice) -> None:
        self.work = work
        self.meter = meter
        self.sampler = sampler
        self.notice = notice
        self.wanted: list[Entity] = []
        self.fields: list[FieldFacts] = []
        self.files: dict[str, filing.FoundFiles] = {}
        self.impossible: list[Impossible] = []
        self.troubles: dict[str, str] = {}

    def at(self, entity: Entity, *, wanted: bool) -> None:
        self.notice(entity.name)
        try:
            fields = self._custom_fields(entity)
            for stream in (*entity.aids, *entity.streams):
                self.sampler.sample(stream)
        except Permanent as error:
            self.troubles[entity.name] = str(error)
            return
        if not wanted:
            return
        self.wanted.append(entity)
        self.fields += self._filled(entity, fields)
        streams = [self.sampler.found[stream.name] for stream in entity.streams]
        found = filing.look(self.work, self.meter, entity.name, streams)
        if found:
            self.files[entity.name] = found
        self.impossible += self._impossible(entity)

    def staged(self, name: str) -> Iterator[Seen]:
        """The sampled records in place of the staged ones; in order of their parents, as those are."""
        sampled = self.sampler.found.get(name)
        return iter(sorted(sampled.rows if sampled else (), key=_order))

    def _custom_fields(self, entity: Entity) -> Sequence[Mapping[str, Json]]:
        custom = entity.custom_fields
        if custom is None or not self.work.facts.grants(custom.scope):
            return ()
        try:
            fields = patiently(self.work.clock, lambda: custom.read(self.work.source, self.staged))
        except Permanent:
            return ()
        self.sampler.codes[entity.name] = [str(field["FIELD_NAME"]) for field in fields]
        return fields

    def _filled(self, entity: Entity, fields: Sequence[Mapping[str, Json]]) -> Iterator[FieldFacts]:
        custom = entity.custom_fields
        if custom is None:
            return
        rows = self.sampler.found[custom.stream].rows if custom.stream in self.sampler.found else []
        for field in fields:
            code, of = str(field["FIELD_NAME"]), str(field.get("OF") or "")
            mine = [row for row in rows if not of or row.parent == of]
            filled = sum(1 for row in mine if not _is_empty(_value(row.payload, code)))
            labels: Mapping[str, str] = field.get("LABELS") or {}
            label = str(labels.get("en") or labels.get("ru") or "")
            yield FieldFacts(entity.name, code, str(field.get("USER_TYPE_ID") or ""), label, filled, len(mine), of)

    def _impossible(self, entity: Entity) -> Iterator[Impossible]:
        for stream in entity.streams:
            sampled = self.sampler.found[stream.name]
            for reason, count in sampled.aside.items():
                yield Impossible(stream.name, reason, _of_part(count, sampled.asides_of))
        if entity.unreadable is None:
            return
        of = self.sampler.found.get(entity.unreadable_by)
        if of is None or not of.rows:
            return
        readings = [self.work.reading(stream) for stream in entity.streams]
        aside = Counter((one.stream, one.reason) for one in entity.unreadable(self.work.source, self.staged, readings))
        for (stream_name, reason), count in aside.items():
            # Of people the portal told how many there are; those with a webhook are the exception.
            yield Impossible(stream_name, reason, _of_part(count, of.kept_count / len(of.kept)))


def _order(one: Seen) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdecimal() else (0, part) for part in one.id.split(":"))


def _of_part(count: int, part: float) -> Estimate:
    error = math.sqrt(max(0.0, 1 - 1 / part) / count) if count and part > 1 else 0.0
    return Estimate.of(count * part, error, exact=part <= 1, basis=f"{count} met in the sample")


def _value(payload: Mapping[str, Json], code: str) -> Json:
    if code in payload:
        return payload[code]
    wanted = folded(code)
    return next((value for name, value in payload.items() if folded(name) == wanted), None)


def _is_empty(value: Json) -> bool:
    return value is None or value is False or value in ("", [], {})


def with_needed(work: Work, entities: Sequence[Entity]) -> list[Entity]:
    """With those whose records are the parents of what these have."""
    names = {entity.name for entity in entities}
    for entity in entities:
        for stream in (*entity.aids, *entity.streams):
            parents = {one.of for one in (*stream.read, *stream.more) if isinstance(one, Each | PerParent)}
            names |= {work.owner[name].name for name in parents if name in work.owner}
        if entity.unreadable_by in work.owner:
            names.add(work.owner[entity.unreadable_by].name)
        if entity.custom_fields and entity.custom_fields.types in work.owner:
            names.add(work.owner[entity.custom_fields.types].name)
    return [entity for entity in work.entities if entity.name in names]


def _closed(seen: Diagnosis) -> dict[str, str]:
    """Entities that the source does not give to this webhook."""
    failed = [check for check in seen.failed if check.entity and check.gate.startswith("auth.cloud")]
    return {check.entity: check.message for check in failed}


# ---------------------------------------------------------------- telling


def _told(look: _Look, seen: Diagnosis, limits: Limits, *, share: float, took_s: float) -> Survey:
    work, meter = look.work, look.meter
    needs = [_need(look, entity) for entity in look.wanted]
    streams = tuple(
        _stream_facts(work, entity, look.sampler.found[stream.name])
        for entity in look.wanted
        for stream in entity.streams
    )
    foretold = forecast(
        needs,
        limits,
        meter.costs,
        request_s=meter.request_s,
        workers=work.options.workers,
        basis=_basis(look, needs, limits, share),
        talk={entity.name for entity in work.entities if entity.talk},
    )
    calls: Counter[str] = Counter()
    for need in needs:
        for load in (*(load for _, load in need.reads), *([need.file_load] if need.file_load else [])):
            for (_, method), count in load.calls.items():
                calls[method] += math.ceil(count)
    methods = tuple(
        MethodFacts(name, cost.seconds if cost else 0.0, cost.calls if cost else 0, count)
        for name, count in calls.most_common()
        for cost in [meter.costs.get(name)]
    )
    unread = next((one.count for one in look.impossible if work.owner[one.stream].talk), None)
    return Survey(
        at=utc_text(work.clock.now()),
        share=share,
        took_s=took_s,
        requests=round(meter.used.requests),
        scopes=seen.facts.scopes,
        admin=seen.facts.admin,
        webhooks=len(work.source.owners),
        warnings=tuple(check.message for check in (*seen.failed, *seen.warnings)),
        skipped={**_closed(seen), **look.troubles},
        streams=streams,
        methods=methods,
        files=tuple(found.facts for found in look.files.values()),
        fields=tuple(look.fields),
        pipelines=tuple(_pipelines(look.sampler.found.get(PIPELINES))),
        seats=_seats(look.sampler.found.get(work.people)),
        impossible=tuple(look.impossible),
        unread_people=unread,
        forecast=foretold,
    )


def _stream_facts(work: Work, entity: Entity, sampled: Sampled) -> StreamFacts:
    error = sampled.uncertain
    records = Estimate.of(round(sampled.count), error, exact=sampled.exact, basis=sampled.basis)
    return StreamFacts(sampled.stream.name, entity.name, records, sampled.met, work.reading(sampled.stream).method)


def _need(look: _Look, entity: Entity) -> Need:
    work, found = look.work, look.sampler.found
    after = frozenset(work.owner[name].name for name in entity.refers_to if name in work.owner) - {entity.name}
    reads = [(stream.name, load) for stream in (*entity.aids, *entity.streams) for load in found[stream.name].loads]
    calls = sum(math.ceil(found[stream.name].kept_count / work.batch_size(stream)) for stream in entity.streams)
    pace = _pace(work, entity, calls)
    filed = look.files.get(entity.name)
    if filed is None:
        return Need(entity.name, after, reads, import_calls=calls, pace=pace)
    facts = filed.facts
    return Need(entity.name, after, reads, facts.files.value, facts.bytes.value, filed.load, filed.each_s, calls, pace)


def _pace(work: Work, entity: Entity, calls: float) -> Pace:
    """By the set that is done, where there has been one."""
    took_s = phase_s(States(work.store).read(entity.name), "set")
    if not took_s or not calls:
        return Pace()
    return Pace(took_s * work.options.workers / calls, BOX_BYTES_PER_S, measured=True)


def _basis(look: _Look, needs: Sequence[Need], limits: Limits, share: float) -> tuple[str, ...]:
    measured = [need.entity for need in needs if need.pace.measured]
    tried = sum(found.tried for found in look.files.values())
    box = f"the box: {BOX_CALL_S} s a call, {BOX_BYTES_PER_S / 1e6:.0f} MB/s (assumed)"
    if measured:
        box += f"; measured in the last run for {', '.join(measured)}"
    source = f"the source: {limits.per_second:g} requests a second, a bucket of {limits.bucket:g}"
    source += f", {limits.operating_s:g} s of execution for each method in ten minutes"
    return (
        f"a sample of {share:.1%} of the records, {round(look.meter.used.requests)} requests",
        source,
        f"seconds for each call as the portal bills them; a request takes {look.meter.request_s:.2f} s",
        f"files: {tried} downloaded to see how long it takes" if tried else "files: 0.3 s each (assumed)",
        box,
        "custom fields and a verify of samples are not counted: minutes at most",
    )


def _pipelines(sampled: Sampled | None) -> Iterator[PipelineFacts]:
    for one in sampled.rows if sampled else ():
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
    return Estimate.of(round(share * people.count), error, exact=whole, basis=f"{len(people.rows)} people looked at")
