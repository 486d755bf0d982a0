"""The progress of the cutover: one row of the store, changed only by compare-and-set.

It has no entry for `full_pass`: the marks show whether everything was read once (`engine/phases/delta.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

import msgspec

from b24migrate.model.prepared import prepared
from b24migrate.model.records import Json
from b24migrate.ports import CUTOVER, RegisterRow, Store

FULL_PASS, REHEARSAL, FREEZE, FINISH, LIVE = "full_pass", "rehearsal", "freeze", "finish", "live"
STEPS = (FULL_PASS, REHEARSAL, FREEZE, FINISH, LIVE)
_KEY = "state"


@dataclass(frozen=True, slots=True)
class Step:
    """Times in UTC. `portal`: the time of the source when it began. `run`: its latest delta run. `took_s`: of all its
    runs together, without the time in between."""

    began: str = ""
    ended: str = ""
    by: str = ""
    portal: str = ""
    run: str = ""
    took_s: float = 0.0
    message: str = ""


@dataclass(frozen=True, slots=True)
class DeltaCost:
    """The cost of one delta run. `spent_s`: by record type the time of all jobs. `whole`: by record type why all of it
    was read. `since_s`: for how long changes had piled up. `resumed`: a part of it was done by an earlier command, so
    its time is not known."""

    run: str
    seconds: float
    since_s: float
    found: Mapping[str, int]
    spent_s: Mapping[str, float]
    whole: Mapping[str, str] = field(default_factory=dict)
    waited_s: float = 0.0
    resumed: bool = False

    @property
    def changes(self) -> int:
        return sum(self.found.values())


@dataclass(frozen=True, slots=True)
class Quiet:
    """The proof that the source no longer changes: a delta run that found nothing. `as_of`: the time of the source
    before its first request. `full_pass`: since when a delta does not see some changes (`Stream.unseen`). `deltas`:
    that were needed. `over`: a later run found something, which the certificate does not know."""

    run: str
    began: str
    as_of: str
    freeze: str
    full_pass: str
    deltas: int
    over: bool = False


@dataclass(frozen=True, slots=True)
class CertificateFile:
    file: str
    root: str
    lines: int


@prepared
@dataclass(frozen=True, slots=True)
class CutoverState:
    steps: Mapping[str, Step] = field(default_factory=dict)
    costs: tuple[DeltaCost, ...] = ()  # of the latest rehearsal: the delta, and the one right after it
    certificate_s: float = 0.0  # that writing a certificate took in the rehearsal
    quiet: Quiet | None = None
    certificate: CertificateFile | None = None

    def step(self, name: str) -> Step:
        return self.steps.get(name, _NOT_BEGUN)

    @property
    def is_frozen(self) -> bool:
        return bool(self.step(FREEZE).began)

    @property
    def is_live(self) -> bool:
        return bool(self.step(LIVE).ended)

    @property
    def watched_since(self) -> str:
        """The time of the source since when no user should write there; "" before the freeze. After going live: the
        time for which the proof holds."""
        return self.quiet.as_of if self.is_live and self.quiet else self.step(FREEZE).portal

    def with_step(self, name: str, step: Step, **others: Json) -> CutoverState:
        return replace(self, steps={**self.steps, name: step}, **others)


_NOT_BEGUN = Step()
NOT_BEGUN = CutoverState()


def read_cutover(store: Store) -> CutoverState:
    row = store.read(CUTOVER, _KEY)
    return _decode(row) if row else NOT_BEGUN


def change_cutover(store: Store, how: Callable[[CutoverState], CutoverState]) -> CutoverState:
    """Applies the change to whatever the state is by now; `how` raises if it does not fit any more."""
    while True:
        row = store.read(CUTOVER, _KEY) or RegisterRow(_KEY, {})
        after = how(_decode(row) if row.values else NOT_BEGUN)
        if store.swap(CUTOVER, row._replace(values={"Data": asdict(after)})):
            return after


def end_quiet(store: Store, run: str) -> None:
    """This run has found something, or may have, and nothing of it is in the certificate of the finish."""

    def is_over(state: CutoverState) -> bool:
        return state.is_live or state.quiet is None or state.quiet.over or state.quiet.run == run

    def how(state: CutoverState) -> CutoverState:
        return state if state.quiet is None or is_over(state) else replace(state, quiet=replace(state.quiet, over=True))

    if not is_over(read_cutover(store)):
        change_cutover(store, how)


def is_live(store: Store) -> bool:
    return read_cutover(store).is_live


def _decode(row: RegisterRow) -> CutoverState:
    return msgspec.convert(row.values["Data"], CutoverState)
