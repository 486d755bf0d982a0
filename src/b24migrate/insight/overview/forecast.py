"""What the last analysis foretold, as far as a look needs it: a whole survey is long, and read once a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from b24migrate.ports import ANALYSIS, Store

_KEY = "survey"  # where the analysis keeps itself


@dataclass(frozen=True, slots=True)
class Seconds:
    """Of one entity: reading, fetching files, uploading them, importing."""

    entity: str
    get_s: float = 0.0
    fetch_s: float = 0.0
    upload_s: float = 0.0
    set_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Foretold:
    entities: Mapping[str, Seconds]
    records: Mapping[str, int]  # by stream
    total_s: float


@dataclass(frozen=True, slots=True)
class _Value:
    value: float


@dataclass(frozen=True, slots=True)
class _Records:
    stream: str
    records: _Value


@dataclass(frozen=True, slots=True)
class _Forecast:
    entities: tuple[Seconds, ...]
    total_s: float


@dataclass(frozen=True, slots=True)
class _Survey:
    forecast: _Forecast
    streams: tuple[_Records, ...]


class Foretelling:
    """Reads it again when another one was made."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1
        self._told: Foretold | None = None

    def last(self) -> Foretold | None:
        row = self._store.read(ANALYSIS, _KEY)
        version = row.version if row else 0
        if version != self._version:
            self._told = _told(msgspec.convert(row.values["Data"], _Survey)) if row else None
            self._version = version
        return self._told


def _told(survey: _Survey) -> Foretold:
    forecast = survey.forecast
    return Foretold(
        {one.entity: one for one in forecast.entities},
        {one.stream: round(one.records.value) for one in survey.streams},
        forecast.total_s,
    )
