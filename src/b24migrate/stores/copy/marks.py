"""Whether a copy may begin, and the mark on the new store that says how far it came."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.model.records import Table
from b24migrate.model.values import utc_text
from b24migrate.ports import ANALYSIS, COPIES, OUTAGES, QUOTA, REGISTERS, RUNS, TOKENS, Clock, RegisterRow, Store
from b24migrate.stores.copy.model import Side, size

MARK = "copy"
BEGUN, DONE = "begun", "done"
IDLE = (ANALYSIS, QUOTA, OUTAGES, COPIES, TOKENS)  # what a look at the portals leaves behind is no work


def refuse_unready(origin: Side, to_address: str, clock: Clock) -> None:
    """Raises BadConfiguration or Halted when this store cannot be copied there now."""
    if origin.address == to_address:
        raise itself(to_address)
    refuse_half(origin.store, origin.address)
    refuse_busy(origin, clock.now())


def begin(origin: Side, to: Side, tables: Sequence[Table], clock: Clock) -> None:
    """Raises BadConfiguration or Halted, having written nothing, or leaves a mark."""
    refuse_unready(origin, to.address, clock)
    if origin.store.describe()["place"] == to.store.describe()["place"]:
        raise itself(to.address)
    refuse_busy(to, clock.now())
    identity = identity_of(origin)
    mark = to.store.read(COPIES, MARK)
    if mark is not None:
        refuse_other(mark, origin, identity, to)
    elif not empty(to, tables):
        raise BadConfiguration(
            say("copy.not_empty", address=to.address),
            code="COPY_NOT_EMPTY",
            hint=say("copy.new_place"),
        )
    values = {"Origin": origin.address, "Identity": identity, "State": BEGUN, "StartedAtUtc": utc_text(clock.now())}
    to.store.write(COPIES, [RegisterRow(MARK, values)])


def finish(to: Side, clock: Clock) -> None:
    mark = to.store.read(COPIES, MARK)
    values = mark.values if mark else {}
    done = {**values, "State": DONE, "FinishedAtUtc": utc_text(clock.now())}
    to.store.write(COPIES, [RegisterRow(MARK, done)])


def refuse_half(store: Store, address: str) -> None:
    """Raises BadConfiguration for a copy that was interrupted: work on it would go without the rest."""
    mark = store.read(COPIES, MARK)
    if mark is not None and mark.values["State"] != DONE:
        raise BadConfiguration(
            say("copy.half", address=address, origin=mark.values["Origin"]),
            code="COPY_HALF",
            hint=say("copy.half_fix", origin=mark.values["Origin"], address=address),
        )


def refuse_other(mark: RegisterRow, origin: Side, identity: str, to: Side) -> None:
    """Goes on only where a copy of the very same store was interrupted."""
    before = mark.values
    if before["Identity"] != identity:
        raise BadConfiguration(
            say("copy.other", address=to.address, origin=before["Origin"]),
            code="COPY_OTHER",
            hint=say("copy.new_place"),
        )
    if before["State"] == DONE:
        raise BadConfiguration(
            say("copy.done", address=to.address, origin=origin.address, when=before["FinishedAtUtc"]),
            code="COPY_DONE",
            hint=say("copy.done_fix"),
        )


def refuse_busy(side: Side, now: datetime) -> None:
    ends = [one.visible_at for one in side.queue.jobs() if one.held and one.visible_at and one.visible_at > now]
    if ends:
        raise Halted(
            say("copy.busy", address=side.address, count=len(ends)),
            code="COPY_BUSY",
            hint=say("copy.busy_fix", at=f"{max(ends):%H:%M:%S}"),
        )


def itself(address: str) -> BadConfiguration:
    return BadConfiguration(say("copy.same", address=address), code="COPY_SAME", hint=say("copy.same_fix"))


def identity_of(side: Side) -> str:
    """Another store at the same address is another one: its first run has another name."""
    runs = (row.values.get("RunId") for row in side.store.all_rows(RUNS))
    return f"{side.address} {min((str(run) for run in runs if run), default='')}".rstrip()


def empty(side: Side, tables: Sequence[Table]) -> bool:
    kept = [register for register in REGISTERS if register not in IDLE]
    return not (
        side.queue.jobs()
        or side.queue.dead()
        or any(side.store.count(register, "") for register in kept)
        or any(size(side.store, table) for table in tables)
    )
