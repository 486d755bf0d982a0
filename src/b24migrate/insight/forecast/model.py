"""The results of an analysis as values, for the terminal, the dashboard and the report. Every number has its basis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import msgspec

from b24migrate.messages import plain
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Json


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and the range it lies in with a chance of about 95 %. Exact where all was counted."""

    value: float
    low: float
    high: float
    exact: bool = False
    basis: str = ""

    @classmethod
    def from_error(cls, value: float, error: float, *, exact: bool, basis: str) -> Estimate:
        """`error`: relative standard error."""
        if exact:
            return cls(value, value, value, True, basis)
        return cls(value, max(0.0, value * (1 - 2 * error)), value * (1 + 2 * error), False, basis)


@dataclass(frozen=True, slots=True)
class StreamFacts:
    stream: str
    entity: str
    records: Estimate
    sampled: int
    method: str


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """The cost of one call as the portal reports it, and the number of calls that a get needs."""

    method: str
    seconds: float
    measured_on: int  # calls; 0: the portal did not report it, and none was measured
    calls: float


@dataclass(frozen=True, slots=True)
class FileFacts:
    entity: str
    files: Estimate
    bytes: Estimate
    unknown_sizes: int  # of the sampled ones


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file that is too large to migrate."""

    entity: str
    key: str
    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class FieldFacts:
    entity: str
    code: str
    type: str
    label: str
    filled: int
    of: int  # sampled records
    belongs_to: str = ""


@dataclass(frozen=True, slots=True)
class PipelineFacts:
    entity_type: str
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """Existing data that the API does not expose."""

    stream: str
    reason: str
    count: Estimate


@dataclass(frozen=True, slots=True)
class EntityForecast:
    entity: str
    get_s: float
    fetch_s: float  # of files; it is done in get
    upload_s: float  # and this in set
    set_s: float
    low_s: float
    high_s: float
    limited_by: str  # requests, execution time, latency, the target, or this computer
    method: str  # the one to name
    fields_s: float = 0.0  # custom fields
    late_s: float = 0.0  # the second pass of set, when everything is there
    verify_s: float = 0.0

    @property
    def total_s(self) -> float:
        """The sum of the parts, without the time in between that it waits for others."""
        files_s = self.fetch_s + self.upload_s
        return self.fields_s + self.get_s + files_s + self.set_s + self.late_s + self.verify_s


@dataclass(frozen=True, slots=True)
class WhatIf:
    name: str  # enterprise, night_only, without_files, without_chats
    total_s: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Forecast:
    entities: tuple[EntityForecast, ...]
    total_s: float  # independent phases run in parallel
    low_s: float
    high_s: float
    limited_by: str
    method: str
    what_ifs: tuple[WhatIf, ...]
    basis: tuple[str, ...]  # sentences: what it is based on
    get_s: float = 0.0  # how long at least one entity is being read


@prepared
@dataclass(frozen=True, slots=True)
class Survey:
    at: str
    share: float
    took_s: float
    requests: int  # that the analysis itself made
    scopes: tuple[str, ...] | None
    admin: bool | None
    webhooks: int
    warnings: tuple[str, ...]
    skipped: Mapping[str, str]  # entity -> why it was not analyzed
    streams: tuple[StreamFacts, ...]
    methods: tuple[MethodFacts, ...]
    files: tuple[FileFacts, ...]
    fields: tuple[FieldFacts, ...]
    pipelines: tuple[PipelineFacts, ...]
    seats: Estimate | None
    impossible: tuple[Impossible, ...]
    unread_people: Estimate | None  # whose private chats no webhook can read
    forecast: Forecast
    file_limit: int = 0  # the largest file to migrate; 0: a survey of an older version
    large_files: tuple[LargeFile, ...] = ()  # of those met, the largest first
    all_met: bool = False  # every record was read, so the number is exact
    version: int = field(default=1)

    def to_json(self) -> Json:
        return asdict(self)  # which leaves messages what they are

    @staticmethod
    def from_json(values: Json) -> Survey:
        return msgspec.convert(values, Survey)


@dataclass(frozen=True, slots=True)
class Compared:
    """A forecast and the actual time. `error`: +0.1 means that the forecast was 10 % too long."""

    entity: str
    phase: str
    foretold_s: float
    took_s: float

    @property
    def error(self) -> float:
        return self.foretold_s / self.took_s - 1 if self.took_s else 0.0

    def to_json(self) -> Json:
        return {**msgspec.to_builtins(self, enc_hook=plain), "error": round(self.error, 4)}
