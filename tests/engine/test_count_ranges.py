"""The questions by which a delta pass finds deletions: ranges of IDs that are counted and listed, and sweeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import SMALL, World, world

from b24migrate.engine.phases import count_ranges, sweep
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.count_ranges import Range
from b24migrate.engine.phases.delta import (
    TRIES,
    Part,
    add_filter,
    calibrate,
    excluded_ids,
    find_newest,
    find_parts,
    total_command,
)
from b24migrate.model.errors import MigrationError
from b24migrate.model.readings import Keyset
from b24migrate.ports import SET_ASIDE, Command, RegisterRow
from b24sim.company.crm_ids import DEAL

Json = Any
PLAN = replace(SMALL, chats=0, messages=0, files=0, companies=2, contacts=2, deals=110, smart_types=0, smart_items=0)


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[World]:
    """Nothing is migrated: the questions need only the source."""
    with world(tmp_path, replace(PLAN, tasks=0)) as made:
        yield made


@contextmanager
def deals(made: World) -> Iterator[tuple[RunContext, Part, list[int]]]:
    with made.app() as app:
        (part,) = find_parts(app.context, app.context.streams["crm_deals"])
        made.cloud.portal.stats.reset()
        yield app.context, part, sorted(made.cloud.portal.company.crm.items[DEAL])


def commands(made: World) -> int:
    return int(made.cloud.portal.stats.inner["crm.item.list"])


@pytest.mark.parametrize(("first", "last", "asked"), [(0, 110, 3), (0, 50, 1), (0, 51, 2), (10, 60, 1), (10, 30, 1)])
def test_a_full_page_goes_on_unless_it_ends_its_range(portal: World, first: int, last: int, asked: int) -> None:
    with deals(portal) as (context, part, ids):
        wanted, lo = ids[first:last], ids[first - 1] if first else 0
        rows = dict(sweep.list_rows(context, part, [(lo, wanted[-1])]))
        assert (list(rows), commands(portal)) == (wanted, asked)


@pytest.mark.parametrize(
    "listed",
    [
        lambda context, part, ids: count_ranges.count_all(context, part, [Range(0, ids[-1], ids)]),
        lambda context, part, ids: sweep.list_rows(context, part, [(0, ids[-1])]),
    ],
)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"kind": "operating_limit"}, "OPERATION_TIME_LIMIT"),
        ({"kind": "error", "code": "ERROR_CORE"}, "ERROR_CORE"),
    ],
)
def test_a_list_that_is_refused_for_now_is_not_empty(
    portal: World, listed: Json, fault: dict[str, Json], code: str
) -> None:
    portal.strike_cloud({"method": "crm.item.list", **fault})
    with deals(portal) as (context, part, ids), pytest.raises(MigrationError) as caught:
        list(listed(context, part, ids))
    assert caught.value.code == code


@contextmanager
def noted(context: RunContext, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[Command]]]:
    """The commands of each request."""
    asked: list[list[Command]] = []
    batch = context.source.batch

    def asking(commands: Sequence[Command], **more: Json) -> Json:
        asked.append(list(commands))
        return batch(commands, **more)

    monkeypatch.setattr(context.source, "batch", asking)
    yield asked


def test_the_latest_change_is_asked_for_without_a_count(portal: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """https://apidocs.bitrix24.com/settings/performance/huge-data.html"""
    with deals(portal) as (context, part, _), noted(context, monkeypatch) as asked:
        times, totals = find_newest(context, [part.listing], ())
    assert (times[0] is not None, totals) == (True, [])
    assert [one.params["start"] for (one,) in asked] == [-1]


def test_a_filter_by_time_is_checked_where_there_are_changes(portal: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with deals(portal) as (context, part, ids), noted(context, monkeypatch) as asked:
        assert isinstance(part.listing.paging, Keyset)
        nothing = add_filter(part.listing, part.listing.paging, {"<id": 1})
        assert calibrate(context, [nothing], [total_command(part.listing)]) == [len(ids)]
        assert len(asked) == 1
        assert calibrate(context, [part.listing], []) is None  # the zone of the owner was not asked for
        assert len(asked) == 1 + 2 * TRIES


def test_only_what_is_compared_is_asked_for(portal: World) -> None:
    with deals(portal) as (_, part, ids):
        assert part.listing.changes is not None
        narrow = part.listing.changes.narrow
        asked = count_ranges.command(part, 0, ids[-1], start=0).params
        assert narrow
        assert {name: asked[name] for name in narrow} == narrow


def test_an_excluded_record_that_is_gone_is_forgotten(portal: World) -> None:
    with deals(portal) as (context, part, ids):
        stream, gone = context.streams["crm_deals"], ids[-1] + 1
        rows = [RegisterRow(f"excluded:crm_deals:{one}", {"Why": "excluded"}) for one in (ids[-1], gone)]
        context.store.write(SET_ASIDE, rows)
        assert set(excluded_ids(context, stream, part)) == {ids[-1], gone}
        count_ranges.ask_absent(context, stream, part, [gone], 1)
        assert set(excluded_ids(context, stream, part)) == {ids[-1]}


@pytest.mark.parametrize(
    ("count", "lengths"), [(0, [0]), (1, [1]), (49, [49]), (50, [49, 1]), (98, [49, 49]), (146, [49, 49, 48])]
)
def test_a_sweep_asks_for_a_page_at_a_time_with_room_for_one_more(count: int, lengths: list[int]) -> None:
    ids = [7 * number for number in range(1, count + 1)]
    ranges = sweep.cut_pages(ids, 0, 2000)
    assert [len([one for one in ids if lo < one <= hi]) for lo, hi in ranges] == lengths
    assert (ranges[0][0], ranges[-1][1]) == (0, 2000)


def test_a_record_that_is_back_needs_no_second_request(portal: World) -> None:
    with deals(portal) as (context, part, ids):
        known = [one for one in ids[:50] if one != ids[20]]
        rows = dict(sweep.list_rows(context, part, sweep.cut_pages(known, 0, known[-1])))
        assert (list(rows), commands(portal)) == (ids[:50], 1)


def test_the_count_of_a_range_compares_the_page_in_its_middle_too(
    portal: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The portal sends it with the total, and where it begins tells how many there are before it."""
    monkeypatch.setattr(count_ranges, "PAGE", 30)
    with deals(portal) as (context, part, ids):
        for place in (3, 7, 40, 100):
            portal.change("crm_deals", "delete", id=ids[place])
        known = [one for one in ids if one != ids[50]]
        (told,) = count_ranges.count_all(context, part, [Range(0, ids[-1], known)])
        assert (told.absent, told.unknown, told.missing) == ([ids[40]], [ids[50]], 3)
        before, behind = told.left
        assert (before.lo, before.hi, before.ids, before.missing) == (0, ids[32] - 1, ids[:32], 2)
        assert (behind.lo, behind.hi, behind.ids, behind.missing) == (ids[62], ids[-1], ids[63:], 1)
        assert commands(portal) == 1


def test_half_of_a_range_that_is_as_it_is_known_is_left(portal: World) -> None:
    with deals(portal) as (context, part, ids):
        portal.change("crm_deals", "delete", id=ids[105])
        (told,) = count_ranges.count_all(context, part, [Range(0, ids[-1], ids)])
        assert [(one.ids, one.missing) for one in told.left] == [(ids[100:], 1)]


@pytest.mark.parametrize("page", [1, 2, 7, 50])
@pytest.mark.parametrize("gone", [(), (0,), (109,), (3, 4, 5), tuple(range(0, 110, 9)), tuple(range(110))], ids=str)
def test_every_deletion_and_every_unknown_id_is_found(
    portal: World, page: int, gone: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the length of a page, and where in the ranges they are."""
    monkeypatch.setattr(count_ranges, "PAGE", page)
    with deals(portal) as (_, _, ids):
        pass
    real = [one for place, one in enumerate(ids) if place not in gone]
    left = list(count_ranges.cut(Range(0, ids[-1], ids), 4))
    absent: list[int] = []
    while left:
        told = [
            count_ranges.compare(one, len(there), there[one.middle : one.middle + page])
            for one in left
            for there in [[number for number in real if one.lo < number <= one.hi]]
        ]
        absent += [number for one in told for number in one.absent]
        assert not [number for one in told for number in one.unknown]
        left = [part for one in told for half in one.left for part in count_ranges.cut_pages(half, half.parts)]
    assert sorted(absent) == [ids[place] for place in gone]


@pytest.mark.parametrize(("total", "listed"), [(0, []), (5, []), (5, [900, 901]), (0, list(range(1, 51)))])
def test_an_answer_that_makes_no_sense_comes_to_an_end(total: int, listed: list[int]) -> None:
    left, asked = [Range(0, 120, range(1, 121))], 0
    while left:
        asked += len(left)
        told = [count_ranges.compare(one, total, listed) for one in left]
        left = [part for one in told for half in one.left for part in count_ranges.cut_pages(half, half.parts)]
    assert asked < 20


@pytest.mark.parametrize(("count", "pages"), [(0, 1), (1, 1), (50, 1), (51, 2), (120, 3)])
def test_a_range_has_as_many_pages_as_its_ids_fill(count: int, pages: int) -> None:
    assert Range(0, 999, range(1, count + 1)).pages == pages
