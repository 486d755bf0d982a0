"""The plan of a run: which entities and phases, under which name; one is current at a time."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass, replace

import msgspec

from b24migrate.phases.values import utc_text
from b24migrate.ports import RUNS, Clock, RegisterRow, Store
from b24migrate.streams import PHASES

CURRENT = "current"
BEGINNING, ACTIVE, ENDED = "beginning", "active", "ended"


@dataclass(frozen=True, slots=True)
class Plan:
    entities: tuple[str, ...]
    phases: tuple[str, ...] = PHASES
    test_limit: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    plan: Plan
    state: str = ACTIVE
    started: str = ""
    finished: str = ""
    exit_code: int | None = None
    message: str = ""


def current(store: Store) -> Run | None:
    row = store.read(RUNS, CURRENT)
    if row is None:
        return None
    values = row.values
    return Run(
        str(values["RunId"]),
        msgspec.convert(values["Plan"], Plan),
        str(values["State"]),
        str(values.get("StartedAtUtc") or ""),
        str(values.get("FinishedAtUtc") or ""),
        values.get("ExitCode"),
        str(values.get("Message") or ""),
    )


def save(store: Store, run: Run) -> None:
    values = {
        "RunId": run.id,
        "Plan": asdict(run.plan),
        "State": run.state,
        "StartedAtUtc": run.started,
        "FinishedAtUtc": run.finished or None,
        "ExitCode": run.exit_code,
        "Message": run.message or None,
    }
    store.write(RUNS, [RegisterRow(CURRENT, values), RegisterRow(run.id, values)])


def begin(store: Store, clock: Clock, plan: Plan) -> tuple[Run, bool]:
    """The interrupted run of the same plan, to be continued, or a new one. The flag says which: True = continued.
    A new one is nobody else's yet: workers join when it is `open_to_all`, after its phases were put back."""
    before = current(store)
    if before is not None and before.plan == plan and before.state == ACTIVE:
        return before, True
    now = clock.now().replace(microsecond=0)
    run = Run(f"{utc_text(now)}-{secrets.token_hex(2)}", plan, BEGINNING, started=utc_text(now))
    save(store, run)
    return run, False


def open_to_all(store: Store, run: Run) -> Run:
    begun = replace(run, state=ACTIVE)
    save(store, begun)
    return begun


def end(store: Store, clock: Clock, run: Run, *, complete: bool, exit_code: int, message: str) -> Run:
    """A run that did not complete stays current and is continued by the next command."""
    state = ENDED if complete else ACTIVE
    ended = replace(run, state=state, finished=utc_text(clock.now()), exit_code=exit_code, message=message)
    save(store, ended)
    return ended
