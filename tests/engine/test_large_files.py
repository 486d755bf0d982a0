"""Files that come and go in parts: what arrived is kept, what cannot continue restarts, nothing is mixed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.world import SMALL, World, world

from b24migrate.engine.phases.context import Options
from b24sim import Plan, Portal
from b24sim.company.files import File
from b24sim.company.messages import FILE_BASE
from b24sim.downloads import Habit
from b24sim.imports import Limits

MB = 1 << 20
SIZE = 25 * MB + 7
CUT = 10 * MB
BLOCK = 4 * MB
UNDER_WAY = 6 * MB  # what a socket may hold that nobody has read yet
LASTING = (Habit.WEB_SERVER, Habit.KERNEL)
CUT_OFF = {"method": "download", "kind": "truncated", "bytes": CUT}  # shorter files come whole


def first_file(plan: Plan) -> int:
    return FILE_BASE - (-plan.messages // plan.files) - 1


def plan_for(habit: Habit, *sizes: int) -> Plan:
    """A company whose first file is served so: its number follows from how many messages there are."""
    plans = (replace(SMALL, messages=messages, large_files=sizes) for messages in range(120, 160))
    return next(plan for plan in plans if Habit.by_number(first_file(plan)) is habit)


@pytest.fixture
def large(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, plan_for(getattr(request, "param", Habit.WEB_SERVER), SIZE)) as made:
        yield made


def file_of(large: World) -> File:
    found = large.cloud.portal.company.file(first_file(large.cloud.portal.company.plan))
    assert found is not None
    return found[0]


def row_of(large: World) -> dict[str, object]:
    return large.records("Files")[f"disk:{file_of(large).id}"]


def assert_arrived_as_it_was(large: World) -> None:
    fields = large.imported("files")[f"source:file:disk:{file_of(large).id}"]["fields"]
    assert (fields["size"], fields["sha256"]) == (SIZE, hashlib.sha256(file_of(large).content()).hexdigest())


def downloaded(large: World) -> int:
    """Of the large file, whatever the others have."""
    return large.cloud.portal.stats.downloaded_bytes


@pytest.mark.parametrize("large", LASTING, indirect=True)
def test_a_connection_that_breaks_again_and_again_brings_a_part_each_time(large: World) -> None:
    """No try is used up by one that brought something; each costs what was not made sure yet."""
    large.strike_cloud(CUT_OFF)
    assert large.run().exit_code == 0
    assert_arrived_as_it_was(large)
    assert row_of(large)["Attempts"] == 1
    assert downloaded(large) < SIZE + 3 * BLOCK + MB


@pytest.mark.parametrize("large", [habit for habit in Habit if habit not in LASTING], indirect=True)
def test_what_gives_no_rest_is_fetched_anew_and_never_mixed(large: World) -> None:
    """A server that ignores what it is asked for, and one that promises the rest and begins at the first byte."""
    large.strike_cloud(CUT_OFF)
    large.run()
    assert (row_of(large)["Status"], row_of(large)["Attempts"]) == ("IMPORT_ERR", 3)
    large.strike_cloud()
    large.retry()
    assert_arrived_as_it_was(large)


def test_time_that_is_up_leaves_the_rest_of_a_file_to_a_following_job(
    large: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some hosts end whatever takes ten minutes: one download may take longer than that."""
    monkeypatch.setattr(Options, "__init__", hurried(Options.__init__))
    assert large.run().exit_code == 0
    assert_arrived_as_it_was(large)
    assert large.cloud.portal.stats.downloads > 6 + len(large.records("Files")) // 2
    assert downloaded(large) < SIZE + 7 * UNDER_WAY


def hurried(init: object) -> object:
    def begin(self: Options, *args: object, **named: object) -> None:
        init(self, *args, **{**named, "longest_job_s": 0.0})  # type: ignore[operator]

    return begin


def test_what_is_larger_than_the_target_takes_is_left_behind_by_name_and_size(tmp_path: Path) -> None:
    box = Portal(role="box", import_limits=Limits(file_bytes=20 * MB))
    with world(tmp_path, plan_for(Habit.WEB_SERVER, SIZE), box=box) as large:
        large.run()
        name = file_of(large).name
        assert (row_of(large)["Status"], row_of(large)["LastErrorCode"]) == ("IMPORT_ERR", "TOO_LARGE")
        notes = [note for note in large.entity("chats").notes if "is not migrated" in note]
        assert len(notes) == 1
        assert name in notes[0]
        assert f"{SIZE:,}" in notes[0]
        assert f"{20 * MB:,}" in notes[0]
        assert downloaded(large) < SIZE  # nothing of it was fetched
        others = [row for key, row in large.records("Files").items() if key != f"disk:{file_of(large).id}"]
        assert {row["Status"] for row in others} == {"IMPORT_OK"}


def test_a_setting_lowers_what_the_target_takes(large: World) -> None:
    large.run(run={"largest_file_mb": 20, **large.settings["run"]})
    assert row_of(large)["LastErrorCode"] == "TOO_LARGE"
    large.retry()
    assert_arrived_as_it_was(large)
