"""What a sample says about a stream."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from b24migrate.insight.forecast.load import Load
from b24migrate.model.records import Page
from b24migrate.model.streams import FileRef, SourceRecord, Stream

MOST_KEPT = 5_000  # decoded records of a stream that are kept for whoever looks at them


@dataclass(slots=True)
class Sampled:
    """A stream: how many records there are, some of them, and the load of each of its readings."""

    stream: Stream
    count: float = 0.0
    exact: bool = True
    basis: str = ""
    uncertain: float = 0.0
    rows: list[SourceRecord] = field(default_factory=list)  # of those met, as many as are worth keeping
    met: int = 0  # how many records were looked at
    bytes: int = 0  # of those
    in_use: int = 0  # of those, without what a rule excludes
    files: dict[str, FileRef] = field(default_factory=dict)  # that those refer to
    longest: float = 0.0  # of a stream of children: how many the parent has that has most
    loads: list[list[Load]] = field(default_factory=list)  # of each reading
    aside: Counter[str] = field(default_factory=Counter)  # reason -> how many, of those met
    asides_of: float = 1.0  # by how much they stand for more

    def meet(self, one: SourceRecord, size: int, chance: random.Random) -> None:
        """All are counted and looked at for files; a fair choice of them is kept."""
        self.met += 1
        self.bytes += size
        if not (self.stream.exclude and self.stream.exclude(one)):
            self.in_use += 1
            self.files |= {ref.key: ref for ref in (self.stream.files(one) if self.stream.files else ())}
        if len(self.rows) < MOST_KEPT:
            self.rows.append(one)
        elif (place := chance.randrange(self.met)) < MOST_KEPT:
            self.rows[place] = one

    @property
    def kept(self) -> list[SourceRecord]:
        """Those that no rule excludes."""
        exclude = self.stream.exclude
        return [one for one in self.rows if not exclude(one)] if exclude else self.rows

    @property
    def kept_count(self) -> float:
        return self.count * self.in_use / self.met if self.met else self.count

    @property
    def size(self) -> float:
        """Of a record, in bytes."""
        return self.bytes / self.met if self.met else 0.0

    def set_aside(self, page: Page, part: float = 1.0) -> None:
        self.aside.update(one.reason for one in page.aside if one.why == "impossible")
        self.asides_of = max(self.asides_of, part)
