"""Builds the application from the settings: only here is each port connected with a technology."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from b24migrate import messages
from b24migrate.bitrix.application import Application, Keys, Tokens, application_door
from b24migrate.bitrix.breaker import Breaker
from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.limits import Governor, SharedLedger
from b24migrate.bitrix.permissions import StoredMemory
from b24migrate.bitrix.source import BitrixSource
from b24migrate.clock import SystemClock
from b24migrate.config import Settings
from b24migrate.engine import analysis
from b24migrate.engine.phases.context import Options, RunContext
from b24migrate.engine.phases.memory import Memory
from b24migrate.engine.phases.notes import Notes
from b24migrate.engine.redirects import note_redirects
from b24migrate.engine.run import Runner
from b24migrate.entities import FILES, Catalog, catalog, rest_writers
from b24migrate.insight.fidelity.entries import Gate
from b24migrate.insight.forecast.meter import PaceRecorder
from b24migrate.insight.status import HistoryWriter
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.events import Event, Observer, PortalBack, PortalDown, Waited
from b24migrate.model.interrupt import Interrupt
from b24migrate.model.values import utc_text
from b24migrate.ports import OUTAGES, Bill, Clock, RegisterRow, Store, Target
from b24migrate.stores import exists, located, open_store
from b24migrate.stores.copy import Moved, Side, move, refuse_half, refuse_unready
from b24migrate.targets.module import ImportTarget

MEGABYTE = 1_000_000
PROBES = {"import": "import.info", "rest": "server.time"}  # by the kind of the target


@dataclass(frozen=True, slots=True)
class App:
    settings: Settings
    catalog: Catalog
    runner: Runner
    gate: Gate

    @property
    def context(self) -> RunContext:
        return self.runner.context

    def with_context(self, context: RunContext) -> App:
        return replace(self, runner=replace(self.runner, context=context))

    def chosen(self, names: Collection[str] = ()) -> list[str]:
        """Exactly the named entities, or all that the configuration enables."""
        known = [one.name for one in self.catalog.entities]
        wanted = names or self.chosen_together(self.settings.run.entities) or known
        return [name for name in known if name in wanted and (names or not self.settings.is_switched_off(name))]

    def chosen_together(self, names: Collection[str]) -> list[str]:
        """The named entities, and those that come with them unless they are switched off."""
        return [
            one.name
            for one in self.catalog.entities
            if one.name in names
            or (not set(names).isdisjoint(one.comes_with) and not self.settings.is_switched_off(one.name))
        ]

    def planned(self) -> list[str]:
        """All that the configuration enables, without those that the last check of both portals skipped."""
        left_out = analysis.load(self.context.store).facts.left_out
        return [name for name in self.chosen() if name not in left_out]


@contextmanager
def open_app(
    settings: Settings,
    *,
    base: Path = Path(),
    observers: tuple[Observer, ...] = (),
    clock: Clock | None = None,
    known: Catalog | None = None,
    verify_all: bool = False,
    meter: Callable[[Bill], None] | None = None,
    keep_bug: Callable[[BaseException, str], str] = lambda bug, _: repr(bug),
) -> Iterator[App]:
    """Raises BadConfiguration or Halted. Makes no request to a portal. `meter` gets the cost of every answer of the
    source."""
    clock = clock or SystemClock()
    interrupt = getattr(clock, "interrupt", None) or Interrupt()  # a clock of a test sleeps through it
    known = known or catalog()
    opened = open_store(settings.store.url, known.tables, clock, base=base)
    try:
        refuse_half(opened.store, settings.store.url)
        paces = PaceRecorder(opened.store, {entity.name: entity.wire for entity in known.entities})
        observers = (*observers, count_waits(opened.store), note_outages(opened.store, clock), paces)
        observers = (*observers, note_redirects(opened.store, clock))
        source = BitrixSource(source_portal(settings, clock, observers, opened.store, meter, interrupt=interrupt))
        box = target_portal(settings, clock, observers, paces.bill, interrupt)
        chosen = options(settings, known, verify_all)
        streams = {**known.streams, **known.aids, FILES.name: FILES}
        context = RunContext(
            entities=known.entities,
            streams=streams,
            owner=known.owner,
            file_kinds=known.file_kinds,
            store=opened.store,
            queue=opened.queue,
            files=opened.files,
            source=source,
            target=target_of(settings, known, opened.store, box),
            clock=clock,
            options=chosen,
            memory=Memory(opened.store, streams.values(), chosen.source_url, chosen.target_url),
            notes=Notes(opened.store),
            observers=observers,
            interrupt=interrupt,
            facts=analysis.load(opened.store).for_phases,
            keep_bug=keep_bug,
        )
        gate = Gate()
        threads, coverage = settings.run.workers, settings.run.user_coverage
        named = frozenset(settings.run.entities)
        runner = Runner(context, settings.source.zone, gate, HistoryWriter, threads, coverage, named)
        yield App(settings, known, runner, gate)
    finally:
        opened.store.close()


def copy_store(
    origin_url: str,
    to_url: str,
    *,
    base: Path = Path(),
    clock: Clock | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Moved:
    """Everything in the one store, into the other. Raises BadConfiguration or Halted."""
    clock = clock or SystemClock()
    known = catalog()
    origin, to = located(origin_url, base=base), located(to_url, base=base)
    if not exists(origin):
        hint = messages.say("store.missing_fix")
        raise BadConfiguration(messages.say("store.missing", origin=origin), code="STORE_MISSING", hint=hint)
    with opened_side(origin, known, clock) as one:
        refuse_unready(one, to, clock)  # before anything is made at the other end
        with opened_side(to, known, clock) as other:
            return move(one, other, known.tables, files=FILES.table, clock=clock, say=say)


@contextmanager
def opened_side(address: str, known: Catalog, clock: Clock) -> Iterator[Side]:
    opened = open_store(address, known.tables, clock)
    try:
        yield Side(address, *opened)
    finally:
        opened.store.close()


def source_portal(
    settings: Settings,
    clock: Clock,
    observers: tuple[Observer, ...],
    store: Store,
    meter: Callable[[Bill], None] | None = None,
    *,
    interrupt: Interrupt | None = None,
) -> Portal:
    """Its limits are shared by every process on the store."""
    source = settings.source
    governor = Governor(
        clock,
        per_second=source.requests_per_second,
        bucket=source.bucket,
        operating_s=source.operating_seconds,
        portal="source",
        observers=observers,
        ledger=SharedLedger(store, source.webhooks[0].host, clock),
        meter=meter,
    )
    breaker = Breaker(clock, portal="source", outage_s=settings.run.outage_minutes * 60, observers=observers)
    return Portal(
        source.webhooks,
        governor=governor,
        breaker=breaker,
        clock=clock,
        redactor=settings.redactor,
        name="source",
        probe_method="server.time",
        at_once=settings.run.workers,
        granted=StoredMemory(store),
        interrupt=interrupt,
        observers=observers,
        redirect_hosts=source.redirect_hosts,
        file_hosts=source.file_hosts,
    )


def target_of(settings: Settings, known: Catalog, store: Store, portal: Portal) -> Target:
    if settings.target.kind == "import":
        return ImportTarget(portal)
    tables = {name: stream.table for name, stream in known.streams.items()}
    # Only here: a box with the module needs none of it, and every command would load it.
    from b24migrate.targets.rest.box import SourceFacts
    from b24migrate.targets.rest.target import RestTarget

    facts = SourceFacts(
        lambda stream, source_id: bool(store.known(tables[stream], [source_id])), settings.mapping.placeholder_user
    )
    application = application_of(settings, store, portal)
    writers = rest_writers(known)
    return RestTarget(portal, store, writers, facts, application, close_dates=settings.target.close_dates)


def application_of(settings: Settings, store: Store, portal: Portal) -> Application | None:
    """Its endpoint is the last of the portal; all processes on the store share the tokens."""
    application = settings.target.application
    if application is None:
        return None
    client_secret, refresh = application.client_secret.reveal(), application.refresh_token.reveal()
    keys = Keys(application.client_id, client_secret, refresh, application.access_token.reveal(), application.token_url)
    return Application(portal, Tokens(keys, store, portal), via=len(portal.webhooks) - 1)


def target_portal(
    settings: Settings,
    clock: Clock,
    observers: tuple[Observer, ...],
    meter: Callable[[Bill], None],
    interrupt: Interrupt | None,
) -> Portal:
    """A box has no limits of its own; what it asks for in its answers is kept."""
    governor = Governor(clock, per_second=0, operating_s=0, portal="target", observers=observers, meter=meter)
    breaker = Breaker(clock, portal="target", outage_s=settings.run.outage_minutes * 60, observers=observers)
    webhook, application = settings.target.parsed, settings.target.application
    return Portal(
        (webhook, application_door(webhook, application.client_id)) if application else (webhook,),
        governor=governor,
        breaker=breaker,
        clock=clock,
        redactor=settings.redactor,
        name="target",
        probe_method=PROBES[settings.target.kind],
        at_once=settings.run.workers,
        interrupt=interrupt,
        observers=observers,
        redirect_hosts=settings.target.redirect_hosts,
    )


def options(settings: Settings, known: Catalog, verify_all: bool) -> Options:
    return Options(
        timezone=settings.source.zone,
        test_limit=settings.run.test_limit,
        verify_sample=settings.run.verify_sample,
        verify_all=verify_all,
        placeholder_user=settings.mapping.placeholder_user,
        link_existing_users=settings.mapping.existing_users == "link",
        policies=settings.mapping.policy,
        batch={
            stream.name: settings.batch_size(entity.name, stream)
            for entity in known.entities
            for stream in entity.streams
        },
        source_url=settings.source.webhooks[0].origin,
        target_url=settings.target.origin,
        deletions=settings.run.deletions,
        conflicts=settings.run.conflicts,
        deletions_limit=settings.run.deletions_limit,
        full_pass_days=settings.run.full_pass_days,
        allow_activities=frozenset(name.strip().lower() for name in settings.run.allow_activities),
        file_bytes=int(settings.run.largest_file_mb * MEGABYTE),
        absent=settings.absent,
        hosts={"source": settings.source.webhooks[0].host, "target": settings.target.parsed.host},
        workers=settings.run.workers,
    )


def count_waits(store: Store) -> Observer:
    """Keeps the seconds waited for limits in the store, so that the metric survives a restart."""

    def observe(event: Event) -> None:
        if isinstance(event, Waited) and event.seconds > 0:
            store.add({f"limit_wait:{event.method}": event.seconds})

    return observe


def note_outages(store: Store, clock: Clock) -> Observer:
    """Keeps in the store which portal does not answer and how long the run waits for it, for status and dashboard. A
    killed process leaves the entry: it is valid only until the next attempt."""

    def observe(event: Event) -> None:
        if isinstance(event, PortalDown):
            now = clock.now()
            times = (now + timedelta(seconds=seconds) for seconds in (-event.since_s, event.next_s, event.stops_s))
            since, next_at, stops = map(utc_text, times)
            values = {"SinceUtc": since, "NextUtc": next_at, "StopsUtc": stops, "Reason": event.error}
            store.write(OUTAGES, [RegisterRow(event.portal, values)])
        elif isinstance(event, PortalBack):
            store.erase(OUTAGES, event.portal)

    return observe
