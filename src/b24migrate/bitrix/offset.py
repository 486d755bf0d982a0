"""Pages by `start`, for listings that cannot be filtered by id, and listings that come whole.

The answer says what to ask next; it is never computed beyond `total`, because an old method asked for more than there
is answers its first page again (bitrix24-rest-1 §A7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from b24migrate.bitrix.batch import SIZE as COMMANDS
from b24migrate.bitrix.batch import BatchAnswer, Batcher
from b24migrate.bitrix.envelope import Part
from b24migrate.bitrix.pages import Span, entry, rows_of
from b24migrate.model.errors import MigrationError
from b24migrate.model.records import Args, Page, PageEntry, Row
from b24migrate.model.streams import Listing
from b24migrate.ports import Command


@dataclass(frozen=True, slots=True)
class Place:
    """Where the reading stands. `first`: the first id of all, by which a repeated first page is known."""

    start: int = 0
    step: int = 0
    first: str = ""
    total: int | None = None
    page: int = 0
    got: int = 0

    def cursor(self) -> Args:
        return {name: getattr(self, name) for name in self.__slots__}


class OffsetReader:
    def __init__(self, batcher: Batcher, reading: Listing, *, whole: bool = False, via: int = 0) -> None:
        self._batcher = batcher
        self._clock = batcher.portal.clock
        self._reading = reading
        self._whole = whole
        self._via = via

    def read(self, cursor: Args, *, limit: int, gently: bool) -> Page:
        place = Place(**cursor)
        commands = [self._command(start) for start in self._starts(place, gently)]
        started_at = self._clock.now()
        if len(commands) == 1:
            answers = [self._batcher.page(commands[0], via=self._via)]
        else:
            answers = self._batcher.pages(commands, via=self._via)
        return self._assemble(place, commands, answers, Span(started_at, self._clock.now()), limit)

    def count(self) -> int | None:
        answer = self._batcher.page(self._command(0), via=self._via)
        return _total(answer, rows_of(answer.result, self._reading.items, self._reading.id, self._reading.method))

    def _starts(self, place: Place, gently: bool) -> list[int]:
        if gently or place.step <= 0 or not place.total or place.total <= place.start:
            return [place.start]
        starts = range(place.start, place.total, place.step)[:COMMANDS]  # lazily: a portal may say any total
        return list(starts)[: self._batcher.room([self._reading.method] * len(starts), via=self._via)]

    def _command(self, start: int) -> Command:
        params = dict(self._reading.params)
        if start or not self._whole:
            params["start"] = start
        return Command(self._reading.method, params)

    def _assemble(
        self, place: Place, commands: Sequence[Command], answers: Sequence[BatchAnswer[Part]], span: Span, limit: int
    ) -> Page:
        known: dict[str, Row] = {}
        odd: list[str] = []
        log: list[PageEntry] = []
        reported = None
        now: Place | None = place
        for command, answer in zip(commands, answers, strict=True):
            if now is None or int(command.params.get("start", 0)) != now.start:
                break  # the portal went another way than expected: follow it
            if isinstance(answer.error, MigrationError):
                if not log:
                    raise answer.error
                break
            rows = rows_of(answer.result, self._reading.items, self._reading.id, self._reading.method, odd)
            if now.start > 0 and rows and rows[0].source_id == now.first:
                now = None
                break
            log.append(entry(now.page, len(rows), len(rows), command, span))
            known.update((row.source_id, row) for row in rows)
            if now.start == 0:
                reported = _total(answer, rows)
                now = replace(now, total=reported, first=rows[0].source_id if rows else "")
            now = self._after(now, answer, rows)
        found = list(known.values())
        room = limit - place.got if limit else len(found)
        if now is not None:
            now = replace(now, got=place.got + len(found))
        more = now is not None and not (limit and len(found) >= room)
        return Page(found[:room], [now.cursor()] if now is not None and more else [], reported, log, alarms=odd)

    @staticmethod
    def _after(place: Place, answer: BatchAnswer[Part], rows: Sequence[Row]) -> Place | None:
        if answer.next is None or answer.next <= place.start or not rows:
            return None
        return replace(place, start=answer.next, step=place.step or answer.next - place.start, page=place.page + 1)


def _total(answer: BatchAnswer[Part], rows: Sequence[Row]) -> int | None:
    """Some methods always say 0, `im.recent.list` says -1, and an empty list may say nothing."""
    if answer.total is None or answer.total < len(rows):
        return None
    return answer.total
