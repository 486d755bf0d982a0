"""Pages by ascending id: `>id`, `start=-1`, up to 50 of them chained inside one request.

A chain takes the last id of each page from the page before, inside the portal: 2,500 records cost one request. A large
listing is divided by id into segments that are read side by side. A command after the end would cost execution time and
answer rubbish (a reference that leads nowhere is replaced by the deepest node there is, §A6), so each segment is
counted once and never more commands are sent than it needs. An answer counts as long as its IDs ascend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter, lt

from b24migrate.bitrix.batch import SIZE as COMMANDS
from b24migrate.bitrix.batch import BatchAnswer, Batcher, Ref
from b24migrate.bitrix.envelope import Part
from b24migrate.bitrix.pages import SEGMENT, SIZE, Span, entry, rows_of
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError, Permanent
from b24migrate.model.readings import Keyset, Listing
from b24migrate.model.records import Args, Json, Page, PageEntry, Row
from b24migrate.model.values import are_numbers, is_number
from b24migrate.ports import Command

_FULL_REQUEST = SIZE * COMMANDS
_SOURCE_ID = itemgetter(0)  # of a row
_GENTLE_PAGES = COMMANDS  # after a request failed twice, as many pages are read one by one


@dataclass(frozen=True, slots=True)
class Stretch:
    """The position of a chain: after `lo`, up to `hi` (None: no upper end), with about `left` records to go."""

    lo: int
    hi: int | None
    left: int
    segment: int = 0
    page: int = 0
    exact: bool = True  # `left` was counted by the portal, not estimated
    doubt: bool = False  # a page was short although records were missing
    gentle: int = 0

    @classmethod
    def of(cls, cursor: Args) -> Stretch:
        return cls(**cursor)

    def cursor(self) -> Args:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class _Good:
    """The pages of a chain that can be believed."""

    rows: list[Row] = field(default_factory=list)
    log: list[PageEntry] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    last: int = 0
    ended: bool = False
    error: MigrationError | None = None


class KeysetReader:
    def __init__(self, batcher: Batcher, reading: Listing, paging: Keyset, *, segments: int, via: int = 0) -> None:
        self._batcher = batcher
        self._clock = batcher.portal.clock
        self._reading = reading
        self._paging = paging
        self._segments = segments
        self._via = via

    def read(self, cursor: Args, *, limit: int, gently: bool) -> Page:
        if not cursor or "known" in cursor:
            return self._begin(limit, gently, 0 if gently else int(cursor.get("known", 0)))
        if "bounds" in cursor and not gently:
            return self._divide(cursor)
        if "bounds" in cursor:
            return self._chain(Stretch(cursor["bounds"][0], None, cursor["left"], page=1, gentle=_GENTLE_PAGES), limit)
        stretch = Stretch.of(cursor)
        if gently and not stretch.gentle:
            stretch = _change_stretch(stretch, gentle=_GENTLE_PAGES)
        return self._chain(stretch, limit)

    def count(self) -> int | None:
        return self._batcher.single(self.command(0, None, start=0), via=self._via).total

    def command(self, lo: int | Ref, hi: int | None, *, start: int = -1) -> Command:
        return self._build_command(self._paging.ascending, {f">{self._paging.id}": lo}, hi, start)

    def _build_command(self, order: Args, above: dict[str, Json], hi: int | None, start: int) -> Command:
        params = dict(self._reading.params)
        wanted = {**params.get(self._paging.filter, {}), **above}
        if hi is not None:
            wanted[f"<={self._paging.id}"] = hi
        return Command(self._reading.method, {**params, self._paging.filter: wanted, **order, "start": start})

    def _begin(self, limit: int, gently: bool, known: int) -> Page:
        """The first page, counted, and the newest id; where so many were `known` before, all pages."""
        commands = [self.command(0, None, start=0)]
        if known:
            pages = min(COMMANDS, known // SIZE + 1)
            commands += self._following(self._batcher.room([self._reading.method] * pages, via=self._via), None)
        elif not gently and not limit:
            commands.append(self._build_command(self._paging.descending, {f">{self._paging.id}": 0}, None, -1))
        answers, span = self._ask(commands, gently)
        good = self._check_page(answers if known else answers[:1], commands, span, Stretch(0, None, 0))
        if good.error is not None and not good.log:
            raise good.error
        total = answers[0].total
        rows = good.rows[:limit] if limit else good.rows
        # An empty listing has no total at all (§A2).
        reported = total if total is not None else (len(good.rows) if good.ended else None)
        page = Page(rows=rows, reported=reported, log=good.log, alarms=good.odd)
        if (good.ended and len(good.rows) >= (total or 0)) or (limit and len(rows) >= limit):
            return page
        newest = self._newest(answers[1]) if len(answers) > 1 and not known else None
        page.next.append(self._follow(good, total, newest, gently))
        return page

    def _follow(self, good: _Good, total: int | None, newest: int | None, gently: bool) -> Args:
        left = SIZE if total is None else total - len(good.rows)
        gentle = _GENTLE_PAGES if gently else 0
        count = min(self._segments, math.ceil((total or 0) / _FULL_REQUEST))
        if newest is None or count < 2 or newest - good.last < count or good.ended:
            exact = total is not None
            page = len(good.log)
            return Stretch(good.last, None, left, page=page, exact=exact, doubt=good.ended, gentle=gentle).cursor()
        step = (newest - good.last) / count
        return {"bounds": [good.last + round(step * place) for place in range(count)], "left": left}

    def _newest(self, answer: BatchAnswer[Part]) -> int | None:
        rows = [] if answer.error else self._rows(answer)
        return max((int(row.source_id) for row in rows), default=None)

    def _rows(self, answer: BatchAnswer[Part], odd: list[str] | None = None) -> list[Row]:
        """Those whose ids are numbers; `odd` is called with the others."""
        oddities: list[str] = [] if odd is None else odd
        method = self._reading.method
        rows = rows_of(answer.result, self._reading.items, self._reading.id, method, oddities)
        ids = list(map(_SOURCE_ID, rows))
        if are_numbers(ids):
            return rows
        good: list[Row] = []
        for row in rows:
            if is_number(row.source_id):
                good.append(row)
            else:
                oddities.append(say("portal.id_odd", method=method, id=row.source_id[:40]))
        return good

    def _divide(self, cursor: Args) -> Page:
        """Counts the records of every segment with its first page."""
        bounds: list[int] = cursor["bounds"]
        ends = [*bounds[1:], None]
        commands = [self.command(lo, hi, start=0) for lo, hi in zip(bounds, ends, strict=True)]
        answers, span = self._ask(commands, gently=False)
        if all(answer.error for answer in answers):
            raise answers[0].error or AssertionError
        page = Page()
        for place, (lo, hi) in enumerate(zip(bounds, ends, strict=True)):
            guess = Stretch(lo, hi, cursor["left"] // len(bounds), segment=place + 1, exact=False)
            total = answers[place].total
            stretch = guess if total is None else _change_stretch(guess, left=total, exact=True)
            good = self._check_page(answers[place : place + 1], commands[place : place + 1], span, stretch)
            if isinstance(good.error, Permanent):
                raise good.error
            self._add(page, good, guess if good.error else stretch, 0)
        return page

    def _chain(self, stretch: Stretch, limit: int) -> Page:
        left = min(stretch.left, limit - self._count_known(stretch)) if limit else stretch.left
        wanted = 1 if stretch.gentle or stretch.doubt else max(1, min(COMMANDS, math.ceil(left / SIZE)))
        pages = self._batcher.room([self._reading.method] * wanted, via=self._via)
        commands = [self.command(stretch.lo, stretch.hi), *self._following(pages, stretch.hi)]
        answers, span = self._ask(commands, gently=stretch.gentle > 0)
        good = self._check_page(answers, commands, span, stretch)
        if good.error is not None and not good.log:
            raise good.error
        page = Page()
        self._add(page, good, stretch, limit)
        return page

    def _following(self, pages: int, hi: int | None) -> list[Command]:
        """Each page after the first begins behind the last id of the one before it."""
        last: tuple[str | int, ...] = (*self._reading.items, SIZE - 1, self._reading.id)
        return [self.command(Ref(place, last), hi) for place in range(pages - 1)]

    def _ask(self, commands: Sequence[Command], gently: bool) -> tuple[list[BatchAnswer[Part]], Span]:
        started_at = self._clock.now()
        if gently:
            answers = [self._batcher.page(command, via=self._via) for command in commands]
        else:
            answers = self._batcher.pages(commands, via=self._via)
        return answers, Span(started_at, self._clock.now())

    def _check_page(
        self, answers: Sequence[BatchAnswer[Part]], commands: Sequence[Command], span: Span, stretch: Stretch
    ) -> _Good:
        good = _Good(last=stretch.lo)
        for place, answer in enumerate(answers):
            if isinstance(answer.error, MigrationError):
                good.error = answer.error
                break
            rows = self._rows(answer, good.odd)
            if not self._ascends(rows, good.last):
                good.error = None if good.log else self._fail_unordered(stretch)
                break
            number = stretch.segment * SEGMENT + stretch.page + place
            good.log.append(entry(number, SIZE, len(rows), commands[place], span))
            good.rows += rows
            good.last = int(rows[-1].source_id) if rows else good.last
            if len(rows) < SIZE:
                good.ended = True
                break
        return good

    @staticmethod
    def _ascends(rows: Sequence[Row], last: int) -> bool:
        numbers = list(map(int, map(_SOURCE_ID, rows)))
        return all(map(lt, chain((last,), numbers), numbers))

    def _fail_unordered(self, stretch: Stretch) -> Permanent:
        return Permanent(
            say("portal.keyset_ignored", method=self._reading.method, id=self._paging.id, lo=stretch.lo),
            code="KEYSET_IGNORED",
            hint=say("portal.keyset_ignored_fix"),
        )

    def _add(self, page: Page, good: _Good, stretch: Stretch, limit: int) -> None:
        """Takes the valid rows and returns where to continue."""
        had = self._count_known(stretch)
        rows = good.rows[: limit - had] if limit else good.rows
        page.rows.extend(rows)
        page.log.extend(good.log)
        page.alarms.extend(good.odd)
        if stretch.doubt and good.rows:
            page.alarms.append(say("portal.short_page", method=self._reading.method, lo=stretch.lo))
        left = stretch.left - len(good.rows)
        if (limit and had + len(rows) >= limit) or self._is_finished(good, stretch, left):
            return
        following = _change_stretch(
            stretch,
            lo=good.last,
            left=max(0, left) if stretch.exact else self._guess(good, stretch, left),
            page=stretch.page + len(good.log),
            doubt=good.ended,
            gentle=max(0, stretch.gentle - 1),
        )
        page.next.append(following.cursor())

    @staticmethod
    def _is_finished(good: _Good, stretch: Stretch, left: int) -> bool:
        if good.ended:
            # Short and yet not all: deleted meanwhile, or a gap in the answer? Only an empty page is proof.
            return left <= 0 or (not good.rows and stretch.doubt)
        # A full page may be the last one only where no record can be added: below an upper end, all of them counted.
        return bool(good.log) and stretch.exact and stretch.hi is not None and left <= 0

    @staticmethod
    def _guess(good: _Good, stretch: Stretch, left: int) -> int:
        """Without a count a chain grows as long as it finds full pages."""
        return max(left, 2 * len(good.rows)) if stretch.hi is None else max(left, SIZE)

    def _count_known(self, stretch: Stretch) -> int:
        """Under a limit there is one chain, and all its pages but the last were full."""
        return stretch.page * SIZE


def _change_stretch(stretch: Stretch, **changes: int | bool | None) -> Stretch:
    return Stretch.of({**stretch.cursor(), **changes})
