"""The state of each entity's phases, kept in the store and changed only by compare-and-set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from b24migrate.model.records import Json
from b24migrate.model.streams import FINAL, LATE, PHASES
from b24migrate.ports import ENTITIES_STATE, RegisterRow, Store

PENDING, RUNNING, DONE, FAILED, BLOCKED, SKIPPED = "pending", "running", "done", "failed", "blocked", "skipped"
ENDED = frozenset({DONE, SKIPPED})
STUCK = frozenset({FAILED, BLOCKED})


@dataclass(frozen=True, slots=True)
class PhaseState:
    state: str = PENDING
    stage: int = 0
    seeded: bool = False  # the jobs of the stage are on the queue, or were
    memo: Mapping[str, Json] = field(default_factory=dict)
    started: str = ""
    finished: str = ""
    message: str = ""

    def to_json(self) -> dict[str, Json]:
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}


_UNTOUCHED = PhaseState()
_COLUMNS = frozenset(PhaseState.__slots__)
_PHASES = frozenset((*PHASES, LATE, FINAL))


def _known(columns: Mapping[str, Json]) -> dict[str, Json]:
    """Without what a later version may have added."""
    return {key: value for key, value in columns.items() if key in _COLUMNS}


@dataclass(frozen=True, slots=True)
class EntityState:
    name: str
    phases: Mapping[str, PhaseState]
    counts: Mapping[str, Json]
    notes: tuple[str, ...]
    gates: Mapping[str, Json]
    verified: bool
    version: int

    def phase(self, name: str) -> PhaseState:
        return self.phases.get(name, _UNTOUCHED)

    @property
    def pass_no(self) -> int:
        return int(self.counts.get("pass", 0))

    def with_phase(self, name: str, phase: PhaseState) -> EntityState:
        return replace(self, phases={**self.phases, name: phase})


class States:
    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, entity: str) -> EntityState:
        return self._state(self._store.read(ENTITIES_STATE, entity) or RegisterRow(entity, {}))

    @staticmethod
    def _state(row: RegisterRow) -> EntityState:
        phases = {
            name: PhaseState(**(columns if _COLUMNS.issuperset(columns) else _known(columns)))
            for name, columns in (row.values.get("Phases") or {}).items()
            if name in _PHASES
        }
        return EntityState(
            row.key,
            phases,
            row.values.get("Counts") or {},
            tuple(row.values.get("Notes") or ()),
            row.values.get("Gates") or {},
            bool(row.values.get("VERIFIED_FLAG")),
            row.version,
        )

    def swap(self, state: EntityState) -> bool:
        values = {
            "Phases": {name: phase.to_json() for name, phase in state.phases.items()},
            "Counts": dict(state.counts),
            "Notes": list(state.notes),
            "Gates": dict(state.gates),
            "VERIFIED_FLAG": int(state.verified),
        }
        return self._store.swap(ENTITIES_STATE, RegisterRow(state.name, values, state.version))

    def change(self, entity: str, how: Callable[[EntityState], EntityState]) -> None:
        """Applies the change to whatever the state is by now."""
        while not self.swap(how(self.read(entity))):
            pass


class AllStates(States):
    """All states with one query, for callers that read them often. Never older than the last `look`; a written state is
    read again."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._rows: dict[str, RegisterRow] = {}
        self._seen: dict[str, EntityState] | None = None
        self._written: set[str] = set()  # since then

    def look(self) -> None:
        """Most are as they were: only what changed is read out of its row again."""
        before, rows = self._seen or {}, {row.key: row for row in self._store.rows(ENTITIES_STATE)}
        self._seen = {key: before[key] if self._rows.get(key) == row else self._state(row) for key, row in rows.items()}
        self._rows = rows
        self._written = set()

    def read(self, entity: str) -> EntityState:
        if self._seen is None:
            return super().read(entity)
        if entity in self._written:
            self._seen[entity] = super().read(entity)
            self._rows.pop(entity, None)
            self._written.discard(entity)
        return self._seen.get(entity) or self._state(RegisterRow(entity, {}))

    def forget(self, entity: str) -> None:
        """The kept state is outdated: the entity is read from the store again."""
        self._written.add(entity)

    def swap(self, state: EntityState) -> bool:
        self._written.add(state.name)
        return super().swap(state)

    def change(self, entity: str, how: Callable[[EntityState], EntityState]) -> None:
        self._written.add(entity)
        super().change(entity, how)

    def is_still(self, state: EntityState) -> bool:
        """Whether it is unchanged since then, according to the store."""
        self._written.add(state.name)
        return super().read(state.name).version == state.version
