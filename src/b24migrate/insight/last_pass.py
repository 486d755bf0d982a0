"""The last pass: by record type how and why it was read, the changed and deleted records, and changes that a delta run
does not detect."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from b24migrate.engine import plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.delta import this_pass
from b24migrate.engine.phases.found import Found, read_found
from b24migrate.engine.state import AllStates
from b24migrate.model.streams import Stream


@dataclass(frozen=True, slots=True)
class StreamPassView:
    """`delta`: only records that may have changed since `since` were read; otherwise all of them, with the reason `why`
    in a delta run. `changed` and `deleted` are counted in delta runs only. `unseen`: changes that a delta run does not
    detect, if this one did not read everything."""

    stream: str
    delta: bool
    since: str
    why: str
    changed: int | None
    deleted: int | None
    unseen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LastPass:
    """The last run. `delta`: it had to read only records that may have changed. `report_only`: nothing was sent."""

    run: str
    started: str
    finished: str
    delta: bool
    report_only: bool
    changed: int
    deleted: int
    streams: tuple[StreamPassView, ...]  # those that were read


def last_pass(context: RunContext) -> LastPass | None:
    """None before the first run, and for one that does not read."""
    run = plan.current(context.store)
    if run is None or "get" not in run.plan.phases:
        return None
    states = AllStates(context.store)
    states.look()
    found = {one.stream: one for one in read_found(context.store, run.id)} if run.plan.delta else {}
    streams: list[StreamPassView] = []
    for entity in (one for one in context.entities if one.name in run.plan.entities):
        state = states.read(entity.name)
        if is_since(state.phase("get").started, run.started):
            streams += [view_stream(context, one, state.pass_no, found.get(one.name)) for one in entity.streams]
    return LastPass(
        run.id,
        run.started,
        run.finished,
        run.plan.delta,
        "set" not in run.plan.phases,
        sum(one.changed or 0 for one in streams),
        sum(one.deleted or 0 for one in streams),
        tuple(streams),
    )


def is_since(time: str, began: str) -> bool:
    """Some times have no fractions of a second."""
    return bool(time) and datetime.fromisoformat(time) >= datetime.fromisoformat(began).replace(microsecond=0)


def view_stream(context: RunContext, stream: Stream, pass_no: int, found: Found | None) -> StreamPassView:
    how = this_pass(context, stream, pass_no)
    changed, deleted = (found.changed, found.deleted) if found else (None, None)
    return StreamPassView(
        stream.name, how.delta, how.since, how.why, changed, deleted, stream.unseen if how.delta else ()
    )
