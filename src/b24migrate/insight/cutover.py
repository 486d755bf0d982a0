"""The read model of the cutover: what the command line, the dashboard, the report and the functions show of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from b24migrate.engine import plan
from b24migrate.engine.cutover import MACHINES, WATCHED, find_obstacle, full_pass_time, is_still_quiet, name_users
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.cutover_state import (
    FINISH,
    FREEZE,
    FULL_PASS,
    LIVE,
    REHEARSAL,
    STEPS,
    CertificateFile,
    CutoverState,
    Quiet,
    Step,
    read_cutover,
)
from b24migrate.engine.phases.found import read_found
from b24migrate.engine.plan import Run
from b24migrate.insight.forecast.freeze import FreezeForecast, forecast_freeze
from b24migrate.messages import plain, say
from b24migrate.model.records import Json
from b24migrate.model.values import utc_text

DELTAS_SHOWN = 10
OPEN, UNDER_WAY, ENDED = "open", "under_way", "done"
COMMANDS = {  # what is typed; the dashboard starts the same, with --yes where a person has confirmed
    FULL_PASS: "b24migrate run",
    REHEARSAL: "b24migrate cutover rehearse",
    FREEZE: "b24migrate cutover freeze",
    FINISH: "b24migrate cutover finish",
    LIVE: "b24migrate cutover live",
}
WATCH = "b24migrate sync --report-only"


@dataclass(frozen=True, slots=True)
class StepView:
    """`state`: open, under_way (started and not ended: a process does it, or was killed), done. `why_not`: why it
    cannot be done now, with the command that comes first."""

    name: str
    state: str
    began: str
    ended: str
    by: str
    took_s: float
    message: str
    command: str
    can_start: bool
    can_undo: bool
    why_not: str


@dataclass(frozen=True, slots=True)
class WriterView:
    """`name`: never empty; a sentence for a user that is not in the saved copy. `last`: "" if the portal shows no
    time."""

    stream: str
    user: str
    name: str
    records: int
    last: str


@dataclass(frozen=True, slots=True)
class DeltaView:
    run: str
    started: str
    finished: str
    exit_code: int | None
    report_only: bool
    changed: int
    deleted: int
    streams: Mapping[str, tuple[int, int]]  # of those with any: changed, deleted


@dataclass(frozen=True, slots=True)
class CutoverView:
    """`next`: the step to do now, "" when the company is live and watched long enough. `writers` are those after the
    freeze, `late_writers` those after going live."""

    at: str
    step: str  # the latest that was started; "" before the first
    next: str
    command: str
    steps: tuple[StepView, ...]
    machines: tuple[str, ...]  # sources of changes without users
    forecast: FreezeForecast | None
    tomorrow_s: float | None  # how long the freeze would last a day after the rehearsal
    took_s: float | None  # how long the freeze lasted
    since: str  # of the source: since when no user should write there
    writers: tuple[WriterView, ...]
    late_writers: tuple[WriterView, ...]
    watched_until: str
    deltas: tuple[DeltaView, ...]  # the latest first
    quiet: Quiet | None
    proven: bool  # `quiet` still holds
    certificate: CertificateFile | None

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made


@dataclass(frozen=True, slots=True)
class CutoverBrief:
    """One line of a status."""

    step: str
    state: str
    since: str
    by: str
    next: str
    command: str

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made


def brief(context: RunContext) -> CutoverBrief | None:
    """None before the rehearsal."""
    state = read_cutover(context.store)
    step = latest_step(state)
    if not step:
        return None
    begun = state.step(step)
    proven = is_proven(context, state)
    done = bool(begun.ended) and (step != FINISH or proven)
    after = next_step(state, context.clock.now(), read=True, proven=proven)
    return CutoverBrief(
        step, ENDED if done else UNDER_WAY, begun.ended or begun.began, begun.by, after, command_of(state, after)
    )


def view(context: RunContext, entities: Sequence[str]) -> CutoverView:
    """`entities`: those that the configuration wants."""
    state, now = read_cutover(context.store), context.clock.now()
    full_pass = full_pass_time(context, entities)
    all_runs = plan.all_runs(context.store)
    runs = [one for one in all_runs if one.plan.delta]
    full = [one for one in all_runs if one.state == plan.ENDED and not one.plan.delta and "get" in one.plan.phases]
    read = [one.finished for one in full if one.finished]
    full_end = latest_of(read) if read else full_pass
    proven = is_proven(context, state)
    after = next_step(state, now, read=bool(full_pass), proven=proven)
    freeze = state.step(FREEZE)
    frozen = [one for one in runs if freeze.began and freeze.began <= one.started and not is_late(state, one)]
    tomorrow = forecast_freeze(state, now, 86_400.0)
    return CutoverView(
        at=utc_text(now.replace(microsecond=0)),
        step=latest_step(state),
        next=after,
        command=command_of(state, after),
        steps=tuple(view_step(context, entities, state, name, (full_pass, full_end)) for name in STEPS),
        machines=tuple(say(f"cutover.machine.{name}") for name in MACHINES),
        forecast=forecast_freeze(state, now),
        tomorrow_s=tomorrow.total_s if tomorrow else None,
        took_s=freeze.took_s + state.step(FINISH).took_s if proven else None,
        since=state.watched_since,
        writers=list_writers(context, frozen),
        late_writers=list_writers(context, [one for one in runs if is_late(state, one)]),
        watched_until=watched_until(state),
        deltas=tuple(view_delta(context, one) for one in reversed(runs[-DELTAS_SHOWN:])),
        quiet=state.quiet,
        proven=proven,
        certificate=state.certificate,
    )


def latest_of(times: Sequence[str]) -> str:
    return utc_text(max(map(datetime.fromisoformat, times)).replace(microsecond=0))


def latest_step(state: CutoverState) -> str:
    return next((name for name in reversed(STEPS) if state.step(name).began), "")


def next_step(state: CutoverState, now: datetime, *, read: bool, proven: bool) -> str:
    """The first that is not done; `read`: everything was read once. After going live: `live` as long as late writers
    are looked for."""
    if state.is_live:
        return LIVE if utc_text(now) < watched_until(state) else ""
    known = {FULL_PASS: read, FINISH: proven}
    return next(name for name in STEPS if not known.get(name, state.step(name).ended))


def is_proven(context: RunContext, state: CutoverState) -> bool:
    """Whether a finish has shown that the source does not change, and no later run has found anything."""
    if state.is_live or not state.step(FINISH).ended:
        return state.is_live
    return state.quiet is not None and is_still_quiet(context.store, state.quiet)


def command_of(state: CutoverState, step: str) -> str:
    return "" if not step else WATCH if state.is_live else COMMANDS[step]


def watched_until(state: CutoverState) -> str:
    live = state.step(LIVE).ended
    return utc_text(datetime.fromisoformat(live) + WATCHED) if live else ""


def view_step(
    context: RunContext, entities: Sequence[str], state: CutoverState, name: str, full_pass: tuple[str, str]
) -> StepView:
    """`full_pass`: its start and its end."""
    step = state.step(name)
    if name == FULL_PASS:
        began, ended = full_pass
        done = ENDED if began else OPEN
        return StepView(
            name, done, began, ended if began else "", "", 0.0, "", COMMANDS[name], not state.is_frozen, False, ""
        )
    obstacle = find_obstacle(context, entities, state, name)
    if name == FINISH and step.ended and not is_proven(context, state):
        step = Step(message=say("cutover.order.loud"))
    shown = OPEN if not step.began else ENDED if step.ended else UNDER_WAY
    can_undo = bool(state.step(name).began) and not state.is_live
    return StepView(
        name,
        shown,
        step.began,
        step.ended,
        step.by,
        step.took_s,
        step.message,
        COMMANDS[name],
        obstacle is None,
        can_undo,
        obstacle.sentence if obstacle else "",
    )


# ---------------------------------------------------------------- delta runs and who wrote


def is_late(state: CutoverState, run: Run) -> bool:
    """After the last run before going live. An earlier version noted the second only."""
    live = state.step(LIVE)
    return state.is_live and (run.id > live.run if live.run else run.started >= live.ended)


def is_report_only(run: Run) -> bool:
    return "set" not in run.plan.phases


def view_delta(context: RunContext, run: Run) -> DeltaView:
    found = read_found(context.store, run.id)
    return DeltaView(
        run.id,
        run.started,
        run.finished,
        run.exit_code,
        is_report_only(run),
        sum(one.changed for one in found),
        sum(one.deleted for one in found),
        {one.stream: (one.changed, one.deleted) for one in found if one.total},
    )


def list_writers(context: RunContext, runs: Sequence[Run]) -> tuple[WriterView, ...]:
    """By record type and user. Changes that a run only reported are found and counted by the next one again."""
    counted = [one for at, one in enumerate(runs) if at == len(runs) - 1 or not is_report_only(one)]
    merged: dict[tuple[str, str], tuple[int, str]] = {}
    for found in (one for run in counted for one in read_found(context.store, run.id)):
        for user, records, last in found.writers:
            before, latest = merged.get((found.stream, user), (0, ""))
            merged[found.stream, user] = (before + records, max(latest, last))
    names = name_users(context, sorted({user for _, user in merged}))
    shown = [WriterView(stream, user, names[user], records, last) for (stream, user), (records, last) in merged.items()]
    return tuple(sorted(shown, key=lambda one: (-one.records, one.stream, one.user)))
