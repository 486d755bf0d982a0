"""How the work of a phase is divided: parents into lanes, the rows of a page into slices."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.engine.world import World

from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.context import Later
from b24migrate.engine.phases.parent_lanes import FULL_REQUEST, PACK_PARENTS, SPARE, pack_lanes
from b24migrate.engine.phases.read import DONE, SLICE, SLOWLY, take_in_slices
from b24migrate.model.errors import Limited, Transient
from b24migrate.model.records import Job, Page, Row

PAGE = Page(rows=[Row(str(number), b"{}", {}) for number in range(1, 251)])


def test_the_requests_of_a_lane_are_nearly_full() -> None:
    """The longest parents first, then the shortest where no long one fits; each lane ends with a long one."""
    pages = {f"long{number}": 40 for number in range(6)} | {f"short{number}": 3 for number in range(100)}
    lanes = list(pack_lanes(pages))
    assert sorted(parent for lane in lanes for parent in lane) == sorted(pages)
    totals = [sum(pages[parent] for parent in lane) for lane in lanes]
    room = FULL_REQUEST - SPARE
    assert all(total % room > room - 3 or total % room == 0 for total in totals[:-1]), totals
    assert [lane[-1].startswith("long") for lane in lanes[:3]] == [True] * 3


def test_a_long_parent_is_taken_before_the_short_ones_that_fill_its_lane() -> None:
    """Short ones are kept for the room that is left at the end."""
    lanes = list(pack_lanes({"a": 60, "b": 30, "c": 20, "d": 8}))
    assert lanes == [["d", "c", "b", "a"]]


def test_no_lane_has_more_parents_than_a_job_names() -> None:
    lanes = list(pack_lanes(dict.fromkeys(map(str, range(2 * PACK_PARENTS + 5)), 1)))
    assert max(map(len, lanes)) <= PACK_PARENTS
    assert sum(map(len, lanes)) == 2 * PACK_PARENTS + 5


@pytest.mark.parametrize(
    ("size", "slowly", "slices"),
    [
        (0, 0, [250]),
        (100, 0, [100, 100, 50]),
        (0, 100, [100, 100, 50]),
        (100, 200, [100, 100, 50]),  # what a page allows is not exceeded
        (200, 100, [100, 100, 50]),  # nor what a limit left
    ],
)
def test_a_page_is_taken_in_slices(small: World, size: int, slowly: int, slices: list[int]) -> None:
    taken: list[int] = []
    with small.app() as app:
        job = Job("scope", "read", {SLOWLY: slowly} if slowly else {})
        left = take_in_slices(app.context, job, PAGE, size, lambda page: taken.append(len(page.rows)), gently=False)
    assert (left, taken) == (None, slices)


def test_a_limit_in_the_midst_of_a_page_goes_on_behind_what_was_taken_and_in_smaller_slices(small: World) -> None:
    taken: list[str] = []

    def take(page: Page) -> None:
        if len(taken) == 1:
            raise Limited("Wait", wait_s=60.0)
        taken.append(page.rows[-1].source_id)

    with small.app() as app:
        before = app.context.clock.now()
        left = take_in_slices(app.context, Job("scope", "read", {}), PAGE, 150, take, gently=False)
    assert isinstance(left, Later)
    assert left.job.args == {DONE: "150", SLOWLY: SLICE}
    assert left.at - before >= timedelta(seconds=60)


def test_gently_the_one_that_is_to_blame_is_found(small: World) -> None:
    alone: list[int] = []

    def take(page: Page) -> None:
        if any(row.source_id == "77" for row in page.rows):
            if len(page.rows) > 1:
                raise Transient("Together", own=True)
            alone.append(1)

    with small.app() as app:
        assert take_in_slices(app.context, Job("scope", "read", {}), PAGE, 0, take, gently=True) is None
        with pytest.raises(Transient):
            take_in_slices(app.context, Job("scope", "read", {}), PAGE, 0, take, gently=False)
    assert alone == [1]


def test_no_lane_is_longer_than_the_longest(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with talk.app() as app:
        users = app.context.streams["users"]
        whole = lanes.lane_length(app.context, users, pending=False)
        monkeypatch.setattr(lanes, "LONGEST", whole - 1)
        assert lanes.lane_length(app.context, users, pending=False) == whole - 1
        monkeypatch.setattr(lanes, "LONGEST", whole + 1)
        assert lanes.lane_length(app.context, users, pending=False) == whole
