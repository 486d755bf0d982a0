"""Chained pages: every record exactly once, whatever the ids look like and whatever happens meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.bitrix.ledger import Ledger
from tests.bitrix.support import Kit, Response, Scripted

from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import Limited, Permanent, Transient
from b24migrate.model.readings import Keyset, Listing
from b24migrate.model.records import Args, Page
from b24sim.faults import Faults
from b24sim.serve import Running, serve

BY_ID = Keyset("FILTER", "ID", {"sort": "ID", "order": "ASC"}, {"sort": "ID", "order": "DESC"})
USERS = Listing("user.get", BY_ID, params={"ADMIN_MODE": True})


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Ledger, Running]]:
    ledger = Ledger()
    with serve(ledger) as running:
        yield ledger, running


@pytest.fixture
def ledger(served: tuple[Ledger, Running]) -> Ledger:
    fresh(served[0])
    return served[0]


@pytest.fixture
def source(served: tuple[Ledger, Running]) -> BitrixSource:
    return made(served[1])


def made(running: Running, segments: int = 8) -> BitrixSource:
    return BitrixSource(Kit([running.webhook()]).portal, segments=segments)


def fresh(ledger: Ledger, ids: Sequence[int] = ()) -> None:
    ledger.ids = list(ids)
    ledger.poison.clear()
    ledger.faults = Faults()
    ledger.meanwhile = lambda _: None
    ledger.text, ledger.calls = "plain", 0
    ledger.stats.reset()


def read_all(
    source: BitrixSource, *, limit: int = 0, newest_first: bool = False, gently: bool = False, known: int = 0
) -> list[Page]:
    """What the queue would do: cursors in any order, each also as it comes back from being stored."""
    todo: list[Args] = [{"known": known} if known else {}]
    pages = []
    while todo:
        cursor = json.loads(json.dumps(todo.pop() if newest_first else todo.pop(0)))
        page = source.page(USERS, cursor, limit=limit, gently=gently)
        todo += page.next
        pages.append(page)
        assert len(pages) < 1000
    return pages


def ids_of(pages: Sequence[Page]) -> list[int]:
    return [int(row.source_id) for page in pages for row in page.rows]


gaps = st.lists(st.integers(1, 400), min_size=0, max_size=400)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(gaps=gaps, stretch=st.integers(1, 40), segments=st.integers(1, 8), newest_first=st.booleans())
@example(gaps=[1] * 400, stretch=13, segments=8, newest_first=True)
@example(gaps=[1] * 100, stretch=1, segments=1, newest_first=False)
@example(gaps=[1] * 50, stretch=1, segments=1, newest_first=False)
def test_every_record_is_read_exactly_once(
    served: tuple[Ledger, Running], gaps: list[int], stretch: int, segments: int, newest_first: bool
) -> None:
    ledger, running = served
    ids: list[int] = []
    for gap in gaps:
        ids += range((ids[-1] if ids else 0) + gap, (ids[-1] if ids else 0) + gap + stretch)
    fresh(ledger, ids)
    pages = read_all(made(running, segments), newest_first=newest_first)
    assert sorted(ids_of(pages)) == ids
    assert pages[0].reported == len(ids)
    numbers = [entry.number for page in pages for entry in page.log]
    assert len(set(numbers)) == len(numbers)
    assert sum(entry.retrieved for page in pages for entry in page.log) == len(ids)
    assert not [alarm for page in pages for alarm in page.alarms]
    # one command for the newest id, one for each end that only an empty page proves
    needed = -(-len(ids) // 50)
    assert ledger.calls <= needed + 3 + 2 * segments


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    count=st.integers(0, 6000),
    events=st.lists(st.tuples(st.integers(1, 150), st.integers(1, 70)), max_size=8),
    removals=st.lists(st.tuples(st.integers(1, 150), st.integers(0, 5999)), max_size=8),
)
def test_records_that_come_and_go_meanwhile_disturb_nobody(
    served: tuple[Ledger, Running], count: int, events: list[tuple[int, int]], removals: list[tuple[int, int]]
) -> None:
    ledger, running = served
    fresh(ledger, range(1, count + 1))
    gone: set[int] = set()

    def meanwhile(call: int) -> None:
        for at, rows in events:
            if at == call:
                ledger.ids += range(max(ledger.ids, default=0) + 1, max(ledger.ids, default=0) + 1 + rows)
        for at, one in removals:
            if at == call and one in ledger.ids:
                ledger.ids.remove(one)
                gone.add(one)

    ledger.meanwhile = meanwhile
    read = ids_of(read_all(made(running)))
    assert len(read) == len(set(read))
    assert set(range(1, count + 1)) - gone <= set(read)


@pytest.mark.parametrize("known", [1, 60, 199, 200, 201, 2399])
@pytest.mark.parametrize("gently", [False, True])
def test_as_many_as_were_known_are_asked_for_at_once(
    ledger: Ledger, source: BitrixSource, known: int, gently: bool
) -> None:
    """Whether there are fewer or more by now, all are read; in one request if there are about as many."""
    fresh(ledger, range(3, 803, 4))
    assert ids_of(read_all(source, known=known, gently=gently)) == list(range(3, 803, 4))
    if not gently:
        assert (ledger.stats.methods["batch"] == 1) == (known >= 200)


def test_a_large_listing_wastes_less_than_two_percent_of_its_commands(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, range(1, 50_001))
    pages = read_all(source)
    assert sorted(ids_of(pages)) == ledger.ids
    assert ledger.calls <= 1000 * 1.02
    assert ledger.stats.http_requests <= 1000 / 50 + 2 + 8
    assert max(len(page.next) for page in pages) == 8


def test_records_that_appear_while_paging_are_found(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, range(1, 5001))

    def meanwhile(call: int) -> None:
        if call == 40:
            ledger.ids += range(5001, 5101)

    ledger.meanwhile = meanwhile
    assert sorted(ids_of(read_all(source))) == list(range(1, 5101))


def test_payloads_are_what_the_portal_sent_even_when_they_look_like_references(
    ledger: Ledger, source: BitrixSource
) -> None:
    fresh(ledger, range(1, 201))
    ledger.text = "$result[c0][49][ID] <b>&'\"/"
    rows = [row for page in read_all(source) for row in page.rows]
    assert len(rows) == 200
    assert rows[7].payload == (b'{"ID":"8","NAME":"$result[c0][49][ID] \\u003Cb\\u003E\\u0026\\u0027\\u0022\\/"}')


@pytest.mark.parametrize("limit", [1, 49, 50, 51, 120, 5000])
def test_a_limit_takes_the_first_records_by_id(ledger: Ledger, source: BitrixSource, limit: int) -> None:
    fresh(ledger, range(3, 3003, 3))
    read = ids_of(read_all(source, limit=limit))
    assert read == ledger.ids[:limit]
    assert ledger.calls <= -(-min(limit, 1000) // 50) + 1


def test_a_page_that_fails_inside_keeps_what_came_before_it(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, range(1, 1001))
    first = source.page(USERS, {})
    ledger.poison = {333}
    second = source.page(USERS, first.next[0])
    assert ids_of([first, second]) == list(range(1, 301))
    with pytest.raises(Transient) as caught:
        source.page(USERS, second.next[0])
    assert caught.value.own
    ledger.poison = set()
    assert ids_of(_rest(source, second.next)) == list(range(301, 1001))


def test_read_gently_one_page_is_one_call_and_the_bad_one_is_found(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, range(1, 1001))
    ledger.poison = {333}
    pages = [source.page(USERS, {}, gently=True)]
    for _ in range(5):
        pages.append(source.page(USERS, pages[-1].next[0]))
    with pytest.raises(Transient):
        source.page(USERS, pages[-1].next[0])
    assert ids_of(pages) == list(range(1, 301))
    assert ledger.stats.methods["batch"] == 0


def test_a_spent_method_keeps_the_good_prefix_and_then_waits(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, range(1, 1001))
    first = source.page(USERS, {})
    ledger.faults = Faults([{"method": "user.get", "kind": "operating_limit", "at": [4]}])
    second = source.page(USERS, first.next[0])
    assert ids_of([second]) == list(range(51, 201))
    with pytest.raises(Limited):
        source.page(USERS, second.next[0])


def test_a_portal_that_ignores_the_filter_is_not_believed() -> None:
    rows = b",".join(b'{"ID":"%d"}' % one for one in range(1, 51))
    first = b'{"result":{"result":{"c0":[%s],"c1":[{"ID":"70"}]},"result_total":{"c0":70,"c1":0}}}' % rows
    again = b'{"result":{"result":{"c0":[%s]},"result_error":[]}}' % rows
    with Scripted(Response(first), Response(again)) as server:
        source = BitrixSource(Kit([server.webhook]).portal)
        page = source.page(USERS, {})
        with pytest.raises(Permanent) as caught:
            source.page(USERS, page.next[0])
    assert caught.value.code == "KEYSET_IGNORED"


def test_a_short_page_in_the_middle_is_an_alarm_and_loses_nothing() -> None:
    def rows(lo: int, hi: int) -> bytes:
        return b"[" + b",".join(b'{"ID":"%d"}' % one for one in range(lo, hi)) + b"]"

    def batch(**results: bytes) -> Response:
        inside = b",".join(b'"%s":%s' % (key.encode(), value) for key, value in results.items())
        return Response(b'{"result":{"result":{%s},"result_total":{"c0":130}}}' % inside)

    script = [
        batch(c0=rows(1, 51), c1=rows(100, 131)),
        batch(c0=rows(51, 81), c1=rows(1, 51)),
        batch(c0=rows(81, 131)),
        batch(c0=b"[]"),
    ]
    with Scripted(*script) as server:
        pages = read_all(BitrixSource(Kit([server.webhook]).portal))
    assert ids_of(pages) == list(range(1, 131))
    assert [alarm for page in pages for alarm in page.alarms]


def test_the_count_is_asked_without_reading_on(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, range(1, 778))
    assert source.count(USERS) == 777
    assert ledger.calls == 1


def _rest(source: BitrixSource, cursors: Sequence[Args]) -> list[Page]:
    todo, pages = list(cursors), []
    while todo:
        pages.append(source.page(USERS, todo.pop()))
        todo += pages[-1].next
    return pages
