"""The children of staged parents: pages of several parents share one request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from b24migrate.bitrix.batch import SIZE as COMMANDS
from b24migrate.bitrix.batch import BatchAnswer, Batcher, Ref
from b24migrate.bitrix.envelope import Part
from b24migrate.bitrix.newest_first import BEGINNINGS, PageHabits
from b24migrate.bitrix.pages import Span, entry, id_reader, rows_by_id
from b24migrate.messages import say
from b24migrate.model.answers import STRANGE, AnswerList, open_list, unexpected_answer
from b24migrate.model.errors import Limited, MigrationError, Permanent, Refused, Stop, Transient
from b24migrate.model.readings import Backward, ChildKeys, PerParent, Progress, Slices, Whole
from b24migrate.model.records import Args, Page, Row, SetAside
from b24migrate.model.source_records import SourceRecord, person_name
from b24migrate.ports import Command

_GENTLE_PARENTS = 10
_MORE_PAGES = 4
NOT_THERE = frozenset({"NOT_FOUND", "ERROR_NOT_FOUND"})


@dataclass(slots=True)
class _Chain:
    """The pages of one parent inside one request, and how far they were good."""

    parent: SourceRecord
    after: int
    got: int
    via: int
    commands: list[Command]
    total: int | None = None
    answered: int = 0
    ended: bool = False
    rows: list[Row] = field(default_factory=list)
    aside: list[SetAside] = field(default_factory=list)
    error: MigrationError | None = None
    trusted: bool = False
    first: int = 0
    floor: int = 0
    since: int = 0
    early: set[int] = field(default_factory=set)  # taken before their turn: a page may hold more than its limit

    @property
    def progress(self) -> Progress:
        return Progress(self.parent, self.after, self.got, self.via, self.first, self.floor, self.since)


class ChildrenReader:
    def __init__(
        self,
        batcher: Batcher,
        reading: PerParent,
        owners: Sequence[str],
        habits: PageHabits,
        spelling: dict[str, tuple[str, ...]],  # by method whose answer was seen: the path to the list
    ) -> None:
        self._batcher = batcher
        self._spelling = spelling
        self._owners = owners
        self._clock = batcher.portal.clock
        self._reading = reading
        self._paging = reading.paging
        self._size = 0 if isinstance(reading.paging, Whole) else reading.paging.size
        self._habits = habits
        self._id = id_reader(reading.id)

    def read(self, progress: Sequence[Progress], *, one_page: bool, gently: bool) -> Page:
        page = Page()
        chains, waiting = (
            self._read_one_by_one(progress, page) if gently else self._read_together(progress, one_page, page)
        )
        granted = {chain.via for chain in chains if chain.answered}
        for chain in chains:
            if isinstance(chain.error, Refused) and chain.via in granted:  # then only this parent is refused
                chain.error = Permanent(chain.error.message, code=chain.error.code, hint=chain.error.hint)
        doubtful = [chain for chain in chains if waiting and type(chain.error) is Refused]  # others are asked before
        unfinished = [chain for chain in chains if chain in doubtful or not self._conclude(chain, one_page, page)]
        failed = [chain for chain in unfinished if chain.error is not None and not chain.answered]
        going_on = [chain.progress for chain in unfinished if chain not in failed]
        settled = [one for one in going_on if isinstance(self._paging, Backward) and self._adds_up(one)]
        if failed and not doubtful and not page.log and not page.parents:  # nothing at all was read
            error = _worst_error(chain.error for chain in failed)
            if len(failed) + len(waiting) == 1 or not (isinstance(error, Transient) and error.own):
                raise error
            page.apart.extend(self._progress_of(chain.progress) for chain in failed)
            failed = []
        # Walks whose end only needs a proof wait, because another walk may prove it for all. Failed ones go last: a
        # parent that spoils every request it is in ends up alone.
        going_on = [one for one in going_on if one not in settled]
        page.next.extend(map(self._progress_of, (*going_on, *waiting)))
        page.last.extend(map(self._progress_of, (*settled, *(chain.progress for chain in failed))))
        return replace(page, gap=self._habits.gap)

    def _progress_of(self, one: Progress) -> Args:
        reached = {"id": one.parent.id, "after": one.after, "got": one.got}
        if one.floor:
            return {**reached, "via": self._via(one), "first": one.first, "floor": one.floor, "since": one.since}
        if one.first:
            return {**reached, "via": self._via(one), "first": one.first}
        return reached if self._via(one) == self._first_webhook(one) else {**reached, "via": one.via}

    def _via(self, one: Progress) -> int:
        return one.via if one.via >= 0 else self._first_webhook(one)

    def _first_webhook(self, one: Progress) -> int:
        return self._reading.webhooks.first(one.parent, self._owners)

    # ------------------------------------------------------------ asking

    def _read_together(
        self, progress: Sequence[Progress], one_page: bool, page: Page
    ) -> tuple[list[_Chain], list[Progress]]:
        groups: dict[int, list[Progress]] = {}
        for one in progress:
            groups.setdefault(self._via(one), []).append(one)
        chains: list[_Chain] = []
        waiting: list[Progress] = []
        for via, group in groups.items():
            room = self._batcher.room([self._reading.method] * COMMANDS, via=via)
            planned, left = self._plan(group, room, one_page)
            try:
                self._perform(planned, via, page)
            except Limited:
                if not chains:
                    raise
                waiting += group  # the results of the other webhooks are kept
                continue
            chains += planned
            waiting += left
        return chains, waiting

    def _read_one_by_one(self, progress: Sequence[Progress], page: Page) -> tuple[list[_Chain], list[Progress]]:
        """A call for each parent, so that one bad page is found and the others go on."""
        chains: list[_Chain] = []
        for one in progress[:_GENTLE_PARENTS]:
            chain = self._chain(one, 0, 1)
            chains.append(chain)
            started_at = self._clock.now()
            answer = self._read_alone(chain.commands[0], chain.via)
            self._take(chain, [answer], Span(started_at, self._clock.now()), page)
            if isinstance(chain.error, Limited) or (isinstance(chain.error, Transient) and not chain.error.own):
                break
        return chains, list(progress[len(chains) :])

    def _read_alone(self, command: Command, via: int) -> BatchAnswer[Part]:
        try:
            return self._batcher.page(command, via=via)
        except Stop:
            raise
        except MigrationError as error:
            return BatchAnswer(None, error)

    def _perform(self, chains: Sequence[_Chain], via: int, page: Page) -> None:
        started_at = self._clock.now()
        answers = self._batcher.pages([command for chain in chains for command in chain.commands], via=via)
        span = Span(started_at, self._clock.now())
        first = 0
        for chain in chains:
            self._take(chain, answers[first : first + len(chain.commands)], span, page)
            first += len(chain.commands)

    # ------------------------------------------------------------ planning

    def _plan(self, group: Sequence[Progress], room: int, one_page: bool) -> tuple[list[_Chain], list[Progress]]:
        """Fills the request: as many pages of each parent as it is expected to have."""
        planned: list[tuple[Progress, int]] = []
        used = 0
        for one in group:
            if used == room:
                break
            pages = 1 if one_page else min(room - used, self._pages(one))
            planned.append((one, pages))
            used += pages
        if not one_page:
            planned = self._use_room(planned, room - used)
        chains: list[_Chain] = []
        used = 0
        for one, pages in planned:
            chains.append(self._chain(one, used, pages))
            if not pages:
                self._trust(chains[-1])
            used += pages
        return chains, list(group[len(planned) :])

    def _use_room(self, planned: list[tuple[Progress, int]], room: int) -> list[tuple[Progress, int]]:
        """Room that is left goes to walks of unknown length, so that few requests have only a page or two."""
        unknown = [
            one for one, pages in planned if pages and isinstance(self._paging, Backward) and self._is_on_its_way(one)
        ]
        more = min(_MORE_PAGES, room // len(unknown)) if unknown else 0
        return [(one, pages + more if one in unknown else pages) for one, pages in planned] if more else planned

    def _is_on_its_way(self, one: Progress) -> bool:
        whole_pages = one.got > 0 and one.got % self._size == 0
        return whole_pages and self._habits.descending is not None and self._expected_count(one.parent) is None

    def _pages(self, one: Progress) -> int:
        size = self._size
        if isinstance(self._paging, Backward):
            if one.after < 0:
                return 1
            if self._adds_up(one) and self._habits.short_page_ends:
                return 0
            return self._habits.pages(self._remaining(one), one.got, size)
        if not size or one.got % size:  # a page was short already: only an empty one is left to be seen
            return 1
        expected = self._expected_count(one.parent)
        if expected is None:
            return max(1, one.got // size)  # unknown: twice as many each time
        return 1 if isinstance(self._paging, Whole) else self._paging.pages(max(0, expected - one.got))

    def _expected_count(self, parent: SourceRecord) -> int | None:
        """The parent's own counter; None if it is not a number."""
        try:
            return self._reading.parents.expected(parent)
        except (ValueError, TypeError, OverflowError):
            return None

    def _remaining(self, one: Progress) -> int | None:
        expected = None if one.floor else self._expected_count(one.parent)
        return None if expected is None else expected - one.got

    def _chain(self, one: Progress, first: int, pages: int) -> _Chain:
        commands = [self._command(one, first, place) for place in range(pages)]
        chain = _Chain(one.parent, one.after, one.got, self._via(one), commands, first=one.first)
        chain.floor, chain.since = one.floor, one.since
        return chain

    def _command(self, one: Progress, first: int, place: int) -> Command:
        params = dict(self._reading.params(one.parent))
        if isinstance(self._paging, Backward):
            params |= self._cursor(self._paging, one, first, place)
        elif isinstance(self._paging, Slices):
            names = (self._paging.offset, self._paging.also)
            params |= {name: one.after + place * self._size for name in names if name}
            params |= {self._paging.limit: self._size} if self._paging.limit else {}
        return Command(self._reading.method, params)

    def _cursor(self, paging: Backward, one: Progress, first: int, place: int) -> Args:
        limit = {paging.limit: paging.size}
        if not place:
            last = BEGINNINGS.get(one.after, one.after)
            return limit if last is None else {paging.last: last, **limit}
        left = self._remaining(one)
        lowest = self._habits.last_place(None if left is None else left - (place - 1) * paging.size, paging.size)
        items = self._spelling.get(self._reading.method, self._reading.items)
        return {paging.last: Ref(first + place - 1, (*items, lowest, self._reading.id)), **limit}

    # ------------------------------------------------------------ understanding

    def _take(self, chain: _Chain, answers: Sequence[BatchAnswer[Part]], span: Span, page: Page) -> None:
        if isinstance(self._paging, Backward):
            self._take_descending(chain, answers, span, page)
            return
        for command, answer in zip(chain.commands, answers, strict=True):
            rows = self._judge_answer(chain, answer)
            if rows is None:
                return
            chain.answered += 1
            if self._begins_again(chain, rows):
                return
            chain.got += len(rows)
            chain.total = chain.total if answer.total is None else answer.total
            if chain.total is not None:
                page.totals[chain.parent.id] = chain.total
            self._keep(chain, [row for _, row in rows])
            page.log.append(entry(len(page.log), self._size or len(rows), len(rows), command, span))
            self._advance(chain, rows)
            if chain.ended or len(rows) < self._size:
                return

    def _begins_again(self, chain: _Chain, rows: Sequence[tuple[int, Row]]) -> bool:
        if not isinstance(self._paging, Slices) or not rows:
            return False
        if not chain.after:
            chain.first = rows[0][0]
        chain.ended = bool(chain.after) and rows[0][0] == chain.first
        return chain.ended

    def _judge_answer(self, chain: _Chain, answer: BatchAnswer[Part]) -> list[tuple[int, Row]] | None:
        """The rows of an answer; None if the call failed. The chain has the error."""
        try:
            single = self._reading.keys is not None and self._reading.keys.single
            if single and isinstance(answer.error, Permanent) and answer.error.code in NOT_THERE:
                return []
            if isinstance(answer.error, MigrationError):
                chain.error = answer.error
                return None
            if single:
                if not isinstance(answer.result, dict):
                    raise unexpected_answer(self._reading.method, ())
                return [(0, Row(f"{chain.parent.id}:", msgspec.json.encode(answer.result)))]
            rows = self._rows(self._open_page(answer), chain.parent)
            if self._reading.keys is not None:
                for _, row in rows:
                    self._key(self._reading.keys, chain.parent, row)
            return rows
        except Permanent as error:
            chain.error = _unread_error(error)
            return None
        except (msgspec.DecodeError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as odd:
            text = say(
                "portal.odd_answer", method=self._reading.method, parent=chain.parent.id, kind=type(odd).__name__
            )
            chain.error = Transient(text, code=STRANGE, own=True)
            return None

    def _open_page(self, answer: BatchAnswer[Part]) -> AnswerList:
        joined = self._reading.joined
        path = self._path_to_list(answer)
        found = open_list(answer.result, path, self._reading.method, joined.name if joined else "")
        self._spelling[self._reading.method] = found.path
        return found

    def _path_to_list(self, answer: BatchAnswer[Part]) -> tuple[str, ...]:
        bare = self._reading.unwrapped and isinstance(answer.result, list)
        return () if bare else self._reading.items

    def _take_descending(self, chain: _Chain, answers: Sequence[BatchAnswer[Part]], span: Span, page: Page) -> None:
        """Takes rows by their IDs, in any order. A page counts if it was requested below the lowest ID of the page
        before it; other pages are read again."""
        for place, (command, answer) in enumerate(zip(chain.commands, answers, strict=True)):
            rows = self._judge_answer(chain, answer)
            if rows is None:
                return
            below = sorted(
                {one: row for one, row in rows if chain.after <= 0 or one < chain.after}.items(), reverse=True
            )
            if rows and not below and not self._read_unread_again(chain, rows):
                chain.error = None if chain.answered else self._is_repeated(chain)
                return
            chain.answered += 1
            page.log.append(entry(len(page.log), self._size, len(rows), command, span))
            if not below:
                self._met_empty_page(chain)
                return
            self._descend(chain, below)
            ids = [number for number, _ in rows]
            self._habits.learn_order(ids)
            following = chain.commands[place + 1 : place + 2]
            if chain.ended or not (following and self._is_continuation(chain, following[0], ids, answer.result)):
                return

    def _descend(self, chain: _Chain, below: Sequence[tuple[int, Row]]) -> None:
        """To the lowest id of a page's worth of rows: those that came beyond it may have others in between."""
        habits, window = self._habits, below[: self._size]
        habits.begins = habits.begins or chain.after == 0
        habits.gap = habits.gap or chain.got % self._size != 0
        habits.largest = max(habits.largest, len(below))
        self._keep(chain, [row for number, row in below if number not in chain.early])
        chain.early = {number for number, _ in below[self._size :]}
        chain.after, chain.got = window[-1][0], chain.got + len(window)
        tail = self._reading.tail
        if chain.floor:
            older = tail is None or tail.is_older(window[-1][1].payload, chain.since)
            chain.ended = chain.after <= chain.floor and older
        elif habits.short_page_ends and self._adds_up(chain.progress):
            self._trust(chain)

    def _adds_up(self, one: Progress) -> bool:
        """The last page was not full, and as many were read as the parent says it has; or nothing counts them, and the
        page was small."""
        last, expected = one.got % self._size, self._expected_count(one.parent)
        if one.floor:
            return False
        if last and expected is None and self._reading.parents.uncounted(one.parent):
            return self._habits.is_small(last, self._size)
        return last != 0 and one.got == expected

    def _trust(self, chain: _Chain) -> None:
        chain.ended = chain.trusted = True

    def _met_empty_page(self, chain: _Chain) -> None:
        untried = chain.after - 1 in BEGINNINGS and not self._habits.begins
        if chain.after <= 0 and untried and self._expected_count(chain.parent) != 0:
            chain.after -= 1
            return
        self._habits.ends += chain.got % self._size != 0
        chain.ended = True

    def _read_unread_again(self, chain: _Chain, rows: Sequence[tuple[int, Row]]) -> bool:
        """Whether these are unread messages that the portal adds to every page, in a walk that has got somewhere."""
        expected = self._expected_count(chain.parent)
        far = chain.got > 2 * self._size or (expected is not None and chain.got >= expected)
        return far and all(msgspec.json.decode(row.payload).get("unread") is True for _, row in rows)

    def _is_continuation(self, chain: _Chain, command: Command, ids: Sequence[int], result: Part) -> bool:
        """Whether the next page of the request was asked for below the lowest id. A map cannot be counted through."""
        paging = self._paging
        assert isinstance(paging, Backward)  # noqa: S101
        ref = command.params[paging.last]
        *_, name, place, _ = ref.path
        listed = result.get(name) if isinstance(result, dict) else None
        return listed is not None and bytes(listed)[:1] == b"[" and ids[place : place + 1] == [chain.after]

    def _is_repeated(self, chain: _Chain) -> Transient:
        text = say("portal.page_repeated", method=self._reading.method, parent=chain.parent.id, after=chain.after)
        return Transient(text, code="PAGE_REPEATED", hint=say("portal.report_version"), own=True)

    def _rows(self, found: AnswerList, parent: SourceRecord) -> list[tuple[int, Row]]:
        joined = self._reading.joined
        beside = rows_by_id(found.beside) if joined else {}
        numbered = not isinstance(self._paging, Whole)
        rows = []
        try:
            for raw in found.items:
                child = self._id(raw)
                extras = joined.join(msgspec.json.decode(raw), beside) if beside and joined else None
                key = f"{parent.id}:{self._reading.mark}{child}"
                rows.append((int(child) if numbered else 0, Row(key, bytes(raw), extras)))
        except (msgspec.DecodeError, ValueError) as error:
            text = say("portal.no_id_of", method=self._reading.method, parent=parent.id, field=self._reading.id)
            raise Permanent(text, code=STRANGE, hint=str(error)) from None
        return rows

    def _keep(self, chain: _Chain, rows: Sequence[Row]) -> None:
        """Under their own keys; those that are not what they should be are set aside."""
        keys = self._reading.keys
        if keys is None:
            chain.rows += rows
            return
        for row in rows:
            key, hidden = self._key(keys, chain.parent, row)
            if hidden:
                chain.aside.append(SetAside("", key, "impossible", hidden, person_name(chain.parent)))
            else:
                whose = {} if keys.shared else {"of": chain.parent.id}
                extras = {**(row.extras or {}), **whose, **keys.keeps(chain.parent)}
                chain.rows.append(Row(key, b"{}" if keys.bare else row.payload, extras))

    def _key(self, keys: ChildKeys, parent: SourceRecord, row: Row) -> tuple[str, str | None]:
        """Its own key, and why it cannot be read, if so."""
        payload = msgspec.json.decode(row.payload)
        return keys.key_of(parent, payload), keys.conceals(parent, payload, self._owners)

    def _advance(self, chain: _Chain, rows: Sequence[tuple[int, Row]]) -> None:
        if isinstance(self._paging, Whole):
            chain.ended = True
        elif isinstance(self._paging, Slices):
            chain.after += len(rows)
            chain.ended = not rows or (chain.total is not None and chain.after >= chain.total)

    def _conclude(self, chain: _Chain, one_page: bool, page: Page) -> bool:
        page.rows.extend(chain.rows)
        page.aside.extend(chain.aside)
        if isinstance(chain.error, Stop):
            raise chain.error
        if isinstance(chain.error, Permanent) and not chain.answered:
            if self._reading.webhooks.others and chain.via + 1 < len(self._owners):
                chain.via, chain.error = chain.via + 1, None
                return False
            self._set_aside(chain, page)
        elif self._try_other_webhook(chain, one_page):
            return False
        elif self._done(chain, one_page):
            page.trusted.extend([chain.parent.id] * chain.trusted)
            page.parents[chain.parent.id] = (self._reported(chain), chain.got)
        else:
            return False
        return True

    def _done(self, chain: _Chain, one_page: bool) -> bool:
        return chain.ended or (one_page and bool(chain.answered) and chain.after >= 0)

    def _try_other_webhook(self, chain: _Chain, one_page: bool) -> bool:
        """From the beginning with the next webhook, where each sees something else."""
        if not (self._reading.webhooks.everybody and self._done(chain, one_page) and chain.via + 1 < len(self._owners)):
            return False
        chain.via, chain.after, chain.got, chain.first = chain.via + 1, 0, 0, 0
        return True

    def _set_aside(self, chain: _Chain, page: Page) -> None:
        """One parent that cannot be read does not keep the others from being read. Raises GateUnmet for a method that
        is refused for all of them."""
        if isinstance(chain.error, Refused):
            raise chain.error.gate
        reason = str(chain.error)
        page.alarms.append(f"{self._reading.method} of {chain.parent.id}: {reason}")
        page.aside.append(SetAside("", chain.parent.id, "impossible", reason))
        page.parents[chain.parent.id] = (self._reported(chain), chain.got)

    def _reported(self, chain: _Chain) -> int | None:
        """The number that the source reports. A walk to an empty page reads everything, even if a counter differs.
        Children that several parents share are fewer than the sum of the parents' totals."""
        if isinstance(self._paging, Backward) or self._reading.shared:
            return None
        return chain.total if chain.total is not None else self._expected_count(chain.parent)


def _unread_error(error: Permanent) -> Transient:
    """No refusal: there is something to read. It is tried again, then it is a dead letter."""
    return Transient(error.message, code=error.code, hint=error.hint, own=True)


def _worst_error(errors: Iterable[MigrationError | None]) -> MigrationError:
    """A limit before a failure: it costs no attempt."""
    known = [error for error in errors if error is not None]
    return next((error for error in known if isinstance(error, Limited)), known[0])
