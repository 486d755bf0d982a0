"""The plan of a run: its entities and phases. One run is current at a time."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace

import msgspec

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted, Stop
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Json
from b24migrate.model.streams import PHASES
from b24migrate.model.values import utc_text
from b24migrate.ports import RUNS, Clock, RegisterRow, Store

CURRENT = "current"
BEGINNING, ACTIVE, PAUSED, ENDED = "beginning", "active", "paused", "ended"
FINDINGS = 5
BEGINNING_S = 600.0  # a process that has been starting a run for longer is dead
UNDER_WAY = "RUN_UNDER_WAY"
ON_PAUSE = "RUN_PAUSED"
NO_RUN = "NO_RUN"


class Replaced(Halted):
    """Another run has started: workers of this one stop."""


class Paused(Stop):
    """The run is paused: workers finish their current jobs and stop. This is not an error."""

    exit_code = 3


class NoRun(BadConfiguration):
    """No run can be paused or resumed."""


@prepared
@dataclass(frozen=True, slots=True)
class Plan:
    entities: tuple[str, ...]
    phases: tuple[str, ...] = PHASES
    test_limit: int = 0
    delta: bool = False  # its get reads only what may have changed since the marks
    deep: bool = False  # and reads what changes no date and no count


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    plan: Plan
    state: str = ACTIVE
    started: str = ""
    finished: str = ""
    exit_code: int | None = None
    message: str = ""

    @property
    def under_way(self) -> bool:
        """A worker performs it, or should. One that stopped before its end is active and says why it stopped."""
        return self.state == ACTIVE and self.exit_code is None

    @property
    def unfinished(self) -> bool:
        """Whether it can be continued: it is running, paused, or stopped before its end."""
        return self.state in (ACTIVE, PAUSED)


def current(store: Store) -> Run | None:
    row = store.read(RUNS, CURRENT)
    return _decode_run(row) if row else None


def current_version(store: Store) -> int:
    """How often the current run has changed by now: a later pause applies to the process that is about to start."""
    row = store.read(RUNS, CURRENT)
    return row.version if row else 0


def begin(
    store: Store,
    clock: Clock,
    plan: Plan,
    prepare: Callable[[Run, bool], None] = lambda *_: None,
    *,
    wished: int | None = None,
    ended: Callable[[Run], bool] = lambda _: False,
) -> tuple[Run, bool]:
    """The interrupted run of the same plan, to be continued, or a new one. The flag says which: True = continued.
    `ended`: whether an unfinished run is not continued.
    `prepare` gets both before another process takes the run for one that is under way. `wished`: the moment at which
    it was requested, if that is a while ago. Raises Paused when it was paused since."""
    row = store.read(RUNS, CURRENT)
    before = _decode_run(row) if row else None
    if row and before and before.state == PAUSED and wished not in (None, row.version):
        raise paused_error(before)
    continued = before is not None and before.plan == plan and _is_prepared(store, before) and not ended(before)
    if before is None or not continued:
        now = clock.now()
        started = utc_text(now.replace(microsecond=0))
        # The milliseconds keep runs of one second in their order (`all_runs`).
        name = f"{started}-{now.microsecond // 1000:03}{secrets.token_hex(2)}"
        run = Run(name, plan, BEGINNING, started=started)
        if not store.swap(RUNS, RegisterRow(CURRENT, _encode_run(run), row.version if row else 0)):
            raise _starting_error()
    else:
        run = before
    prepare(run, continued)
    run = replace(run, state=ACTIVE, finished="", exit_code=None, message="")
    _activate(store, run, version=row.version if row else 0)
    _record(store, run)
    return run, continued


def pause(store: Store, clock: Clock, by: str = "") -> Run | None:
    """No worker takes a job of the current run until it is resumed; `by`: who paused it. None when there
    is nothing to pause. A paused run stays paused, also when another process is about to resume it."""
    while True:
        row = store.read(RUNS, CURRENT)
        found = _decode_run(row) if row else None
        if row is None or found is None or not (found.under_way or found.state in (BEGINNING, PAUSED)):
            return None
        when = utc_text(clock.now().replace(microsecond=0))
        message = say("work.paused_by", by=by, when=when) if by else say("work.paused_at", when=when)
        paused = found if found.state == PAUSED else replace(found, state=PAUSED, message=message)
        if store.swap(RUNS, row._replace(values=_encode_run(paused))):
            if found.under_way:
                _record(store, paused)
            return paused


def resumable_run(store: Store) -> Run:
    """The run to continue: paused, stopped or running. Raises NoRun."""
    found = current(store)
    if found is None:
        raise NoRun(say("work.no_run"), code=NO_RUN, hint=say("work.no_run_fix"))
    if found.state == ENDED:
        hint = say("work.ended_fix")
        raise NoRun(say("work.ended", id=found.id), code=NO_RUN, hint=hint)
    return found


def find_dismissal(store: Store, run_id: str) -> Stop | None:
    """Why workers of the run must stop: another run replaced it, and the phases' states belong to that one; or it is
    paused. None if neither."""
    row = store.read(RUNS, CURRENT) if run_id else None
    if row is None or (row.values["RunId"] == run_id and row.values["State"] != PAUSED):
        return None  # nearly always, and it is called often
    found = _decode_run(row)
    if found.id != run_id:
        return Replaced(
            say("work.replaced", id=found.id, run_id=run_id),
            code="RUN_REPLACED",
            hint=say("work.replaced_fix"),
        )
    return paused_error(found)


def stop_if_dismissed(store: Store, run_id: str) -> None:
    """Raises Replaced or Paused."""
    if why := find_dismissal(store, run_id):
        raise why


def paused_error(run: Run) -> Paused:
    return Paused(run.message or say("work.paused"), code=ON_PAUSE, hint=say("work.paused_fix"))


def _is_prepared(store: Store, run: Run) -> bool:
    """One that was paused while it started starts again, since its phases may have the states of another plan: it has
    no row of its own yet."""
    return run.state == ACTIVE or (run.state == PAUSED and store.read(RUNS, run.id) is not None)


def _activate(store: Store, run: Run, *, version: int) -> None:
    """In its own place only. A pause after the row was read applies to the process that starts the run now."""
    while True:
        row = store.read(RUNS, CURRENT)
        if row is None or row.values["RunId"] != run.id:
            raise _starting_error()
        found = _decode_run(row)
        if found.state == PAUSED and row.version != version:
            raise paused_error(found)
        if store.swap(RUNS, row._replace(values=_encode_run(run))):
            return


def _record(store: Store, run: Run) -> None:
    """In the run's own row, which stays when another is current. Another process may have changed the
    current row meanwhile, so its newest state is written."""
    while True:
        own, row = store.read(RUNS, run.id), store.read(RUNS, CURRENT)
        values = row.values if row is not None and row.values["RunId"] == run.id else _encode_run(run)
        if store.swap(RUNS, RegisterRow(run.id, values, own.version if own else 0)):
            return


def _starting_error() -> Halted:
    return Halted(
        say("work.starting"),
        code=UNDER_WAY,
        hint=say("work.starting_fix"),
    )


def end(store: Store, clock: Clock, run: Run, *, complete: bool, exit_code: int, message: str) -> Run:
    """A run that did not complete stays current and is continued by the next command. If several processes reach the
    end, the first one ends it. Returns the ended run. A paused run ends only after it is resumed."""
    while True:
        row = store.read(RUNS, CURRENT)
        found = _decode_run(row) if row else None
        if row is None or found is None or found.id != run.id or not found.under_way:
            return found if found is not None and found.id == run.id else run
        state = ENDED if complete else ACTIVE
        ended = replace(found, state=state, finished=utc_text(clock.now()), exit_code=exit_code, message=message)
        if store.swap(RUNS, row._replace(values=_encode_run(ended))):
            _record(store, ended)
            return ended


def mark_undone(store: Store, clock: Clock, entities: Collection[str]) -> None:
    """Marks runs whose imports are undone: a completed run with one of these entities is no longer complete."""
    while True:
        row = store.read(RUNS, CURRENT)
        found = _decode_run(row) if row else None
        names = [name for name in found.plan.entities if name in entities] if found else []
        if row is None or found is None or found.state != ENDED or not names:
            return
        when = utc_text(clock.now().replace(microsecond=0))
        message = say("work.annulled", when=when, names=", ".join(names))
        annulled = replace(found, exit_code=FINDINGS, message=message)
        if store.swap(RUNS, row._replace(values=_encode_run(annulled))):
            _record(store, annulled)
            return


def _decode_run(row: RegisterRow) -> Run:
    values = row.values
    return Run(
        str(values["RunId"]),
        msgspec.convert(values["Plan"], Plan),
        str(values["State"]),
        str(values.get("StartedAtUtc") or ""),
        str(values.get("FinishedAtUtc") or ""),
        values.get("ExitCode"),
        values.get("Message") or "",
    )


def _encode_run(run: Run) -> dict[str, Json]:
    return {
        "RunId": run.id,
        "Plan": asdict(run.plan),
        "State": run.state,
        "StartedAtUtc": run.started,
        "FinishedAtUtc": run.finished or None,
        "ExitCode": run.exit_code,
        "Message": run.message or None,
    }


def all_runs(store: Store) -> tuple[Run, ...]:
    """In the order in which they started."""
    rows = [row for row in store.rows(RUNS) if row.key != CURRENT]
    return tuple(sorted(map(_decode_history, rows), key=lambda one: (one.started, one.id)))


def _decode_history(row: RegisterRow) -> Run:
    columns = row.values
    started, finished, message = (columns.get(name) or "" for name in ("StartedAtUtc", "FinishedAtUtc", "Message"))
    wanted = msgspec.convert(columns["Plan"], Plan)
    return Run(
        str(columns["RunId"]), wanted, str(columns["State"]), started, finished, columns.get("ExitCode"), message
    )
