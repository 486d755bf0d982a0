"""The plan of a run: which entities and phases, under which name; one is current at a time."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import msgspec

from b24migrate.errors import Halted
from b24migrate.phases.values import utc_text
from b24migrate.ports import RUNS, Clock, RegisterRow, Store
from b24migrate.records import Json
from b24migrate.streams import PHASES

CURRENT = "current"
BEGINNING, ACTIVE, ENDED = "beginning", "active", "ended"
UNDER_WAY = "RUN_UNDER_WAY"


class Replaced(Halted):
    """Somebody has begun another run: whoever works on this one leaves."""


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

    @property
    def under_way(self) -> bool:
        """Somebody works on it, or should. One that stopped before its end is active and says why it stopped."""
        return self.state == ACTIVE and self.exit_code is None


def current(store: Store) -> Run | None:
    row = store.read(RUNS, CURRENT)
    return _run(row) if row else None


def begin(
    store: Store, clock: Clock, plan: Plan, prepare: Callable[[Run, bool], None] = lambda *_: None
) -> tuple[Run, bool]:
    """The interrupted run of the same plan, to be continued, or a new one. The flag says which: True = continued.
    `prepare` gets both before anybody else takes the run for one that is under way."""
    row = store.read(RUNS, CURRENT)
    before = _run(row) if row else None
    continued = before is not None and before.plan == plan and before.state == ACTIVE
    if row is None or before is None or not continued:
        now = clock.now().replace(microsecond=0)
        run = Run(f"{utc_text(now)}-{secrets.token_hex(2)}", plan, BEGINNING, started=utc_text(now))
        _announce(store, run, row)
    else:
        run = before
    prepare(run, continued)
    run = replace(run, state=ACTIVE, finished="", exit_code=None, message="")
    _announce(store, run, store.read(RUNS, CURRENT), instead_of=run.id)
    store.write(RUNS, [RegisterRow(run.id, _values(run))])
    return run, continued


def stop_if_replaced(store: Store, run_id: str) -> None:
    """Raises Replaced: the states of the phases belong to another plan now."""
    found = current(store)
    if run_id and found is not None and found.id != run_id:
        raise Replaced(
            f"The run {found.id} was begun meanwhile, and takes the place of {run_id}.",
            code="RUN_REPLACED",
            hint="Nothing is lost: look at the status. To go on with what this one wanted, start it again afterwards.",
        )


def _announce(store: Store, run: Run, row: RegisterRow | None, *, instead_of: str = "") -> None:
    """Where nobody else announced one since the row was read; with a name, only in the place of that run."""
    expected = not instead_of or (row is not None and row.values["RunId"] == instead_of)
    if not expected or not store.swap(RUNS, RegisterRow(CURRENT, _values(run), row.version if row else 0)):
        raise Halted(
            "Another run is being started at this moment.",
            code=UNDER_WAY,
            hint="Look at the status, and start again when that run is at its end.",
        )


def end(store: Store, clock: Clock, run: Run, *, complete: bool, exit_code: int, message: str) -> Run:
    """A run that did not complete stays current and is continued by the next command. However many come to its end, it
    ends once: the first says how. Returns how it ended."""
    while True:
        row = store.read(RUNS, CURRENT)
        found = _run(row) if row else None
        if row is None or found is None or found.id != run.id or not found.under_way:
            return found if found is not None and found.id == run.id else run
        state = ENDED if complete else ACTIVE
        ended = replace(found, state=state, finished=utc_text(clock.now()), exit_code=exit_code, message=message)
        if store.swap(RUNS, row._replace(values=_values(ended))):
            store.write(RUNS, [RegisterRow(run.id, _values(ended))])
            return ended


def _run(row: RegisterRow) -> Run:
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


def _values(run: Run) -> dict[str, Json]:
    return {
        "RunId": run.id,
        "Plan": asdict(run.plan),
        "State": run.state,
        "StartedAtUtc": run.started,
        "FinishedAtUtc": run.finished or None,
        "ExitCode": run.exit_code,
        "Message": run.message or None,
    }
