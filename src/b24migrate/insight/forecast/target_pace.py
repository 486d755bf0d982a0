"""How fast the target is: what a call takes, as it answers now, and what a record adds, as earlier runs saw it."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from b24migrate.engine.phases.context import RunContext
from b24migrate.model.errors import MigrationError
from b24migrate.model.events import Event, PhaseChanged, Sent
from b24migrate.model.streams import Entity
from b24migrate.ports import Bill, Store

UNKNOWN_CALL_S = 0.1  # of a target that does not answer yet
RECORD_S = 0.0002  # where no run has measured it: a guess, and a fast one
SLOW_RECORD_S = 0.01  # a box may take as long
BYTES_PER_S = 25_000_000.0
ASKED = 5
LEAST_RECORDS = 20  # that have to be imported for the pace to be known
PREFIX = "pace:"


@dataclass(frozen=True, slots=True)
class Pace:
    """`record_s`: by the <entity> of the contract, for those that a run has measured."""

    call_s: float
    record_s: dict[str, float]
    answers: bool = True

    def of(self, entity: Entity) -> float:
        return self.record_s.get(entity.wire, RECORD_S)

    def knows(self, entity: Entity) -> bool:
        return entity.wire in self.record_s


def measured(context: RunContext) -> Pace:
    """Asks the target for nothing but what it serves, a few times; the rest is what earlier runs have left."""
    took_s: list[float] = []
    for _ in range(ASKED):
        began = context.clock.monotonic()
        try:
            context.target.info()
        except MigrationError:
            break
        took_s.append(context.clock.monotonic() - began)
    call_s = sum(took_s) / len(took_s) if took_s else UNKNOWN_CALL_S
    return Pace(call_s, _earlier(context, call_s), bool(took_s))


def _earlier(context: RunContext, call_s: float) -> dict[str, float]:
    counted = context.store.counters(PREFIX)
    found: dict[str, float] = {}
    for wire in {entity.wire for entity in context.entities}:
        calls, seconds, records = (counted.get(f"{PREFIX}{what}:{wire}", 0.0) for what in ("calls", "s", "records"))
        if records >= LEAST_RECORDS:
            found[wire] = max(0.0, seconds - call_s * calls) / records
    return found


class Paces:
    """Beside a run: adds up what the target took, for forecasts to come. Written when a phase begins or ends."""

    def __init__(self, store: Store, wires: dict[str, str]) -> None:
        """`wires`: entity -> the <entity> of the contract."""
        self._store = store
        self._wires = wires
        self._lock = Lock()
        self._seen: dict[str, float] = {}

    def bill(self, bill: Bill) -> None:
        _, _, rest = bill.method.partition("import.")
        wire, _, what = rest.partition(".")
        if what == "batch":
            self._add(calls=(wire, 1.0), s=(wire, bill.request_s))

    def _add(self, **more: tuple[str, float]) -> None:
        with self._lock:
            for what, (wire, count) in more.items():
                name = f"{PREFIX}{what}:{wire}"
                self._seen[name] = self._seen.get(name, 0.0) + count

    def __call__(self, event: Event) -> None:
        if isinstance(event, Sent):
            self._add(records=(self._wires[event.entity], float(event.ok + event.failed)))
        elif isinstance(event, PhaseChanged):
            with self._lock:
                seen, self._seen = self._seen, {}
            if seen:
                self._store.add(seen)
