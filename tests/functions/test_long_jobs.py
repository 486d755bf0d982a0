"""No job takes much longer than it may, however slow the portals and however much there is to do: a job whose time is
up leaves the rest to the next one."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import SMALL, TALK, World, world

from b24migrate.app import App
from b24migrate.engine.jobs import perform
from b24migrate.engine.phases import inventory
from b24migrate.engine.phases.context import LONGEST_JOB_S
from b24migrate.engine.plan import Plan as RunPlan
from b24migrate.insight import status
from b24migrate.model.events import Event, FileMoved, Sent
from b24migrate.model.records import children_between, order_key
from b24migrate.model.streams import PHASES
from b24migrate.ports import SET_ASIDE
from b24migrate.targets.module import ImportTarget
from b24sim import Plan
from b24sim.errors import RestError

SLOW_S = 100.0


@contextmanager
def slow(made: World, *kinds: type[Event]) -> Iterator[App]:
    """Whatever is told by such an event has taken a while."""

    def dawdle(event: Event) -> None:
        if isinstance(event, kinds):
            made.clock.sleep(SLOW_S)

    with made.app() as app:
        yield app.with_context(replace(app.context, observers=(*app.context.observers, dawdle)))


def longest_jobs(made: World, app: App, entities: tuple[str, ...] = TALK) -> dict[str, float]:
    """Runs everything, one job after the other; the longest of each kind."""
    run = app.runner.begin(RunPlan(tuple(entities), PHASES))
    context, conductor = app.runner.join(run), app.runner.conductor(run)
    took: dict[str, float] = defaultdict(float)
    while not conductor.step():
        lease = app.context.queue.claim("me", now=made.clock.now(), lease_s=10_000)
        if lease is None:
            made.clock.sleep(10)
            continue
        started = made.clock.monotonic()
        perform(context, lease)
        took[lease.job.kind] = max(took[lease.job.kind], made.clock.monotonic() - started)
    assert app.runner.conclude(run).exit_code == 0
    return took


def test_slow_files_are_moved_in_several_jobs(small: World) -> None:
    with slow(small, FileMoved) as app:
        took = longest_jobs(small, app)
    assert len(small.imported("files")) == 10
    for kind in ("fetch", "upload"):
        assert SLOW_S < took[kind] < LONGEST_JOB_S + SLOW_S + 10


def test_records_that_go_one_by_one_to_a_slow_target_are_sent_in_several_jobs(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target refuses every call with more than one of them."""
    portal = small.box.portal
    take = portal._import

    def refuse(name: str, body: Mapping[str, Any], *size: Any) -> Any:
        if len(body.get("items") or ()) > 1:
            raise RestError("VALIDATION", "One at a time", 400)
        return take(name, body, *size)  # type: ignore[arg-type]

    monkeypatch.setattr(portal, "_import", refuse)
    with slow(small, Sent) as app:
        took = longest_jobs(small, app, ("users",))
    assert len(small.imported("users")) == 12
    assert SLOW_S < took["send"] < LONGEST_JOB_S + SLOW_S + 10


def outcome(made: World, longest_s: float, batch: int) -> tuple[Any, ...]:
    """What the box got and how often, and what we say about it."""
    with made.app() as app:
        sizes = dict.fromkeys(app.context.streams, batch) if batch else app.context.options.batch
        context = app.context.with_options(longest_job_s=longest_s, batch=sizes, verify_sample=1000)
        longest_jobs(made, app.with_context(context))
        return made.effects(), status.snapshot(app.context).entities


FEW = replace(SMALL, users=6, groups=2, chats=3, messages=30, files=3)


@pytest.mark.parametrize(("batch", "plan"), [(0, SMALL), (1, FEW)], ids=["as usual", "one by one"])
def test_jobs_without_any_time_still_do_everything_once(tmp_path: Path, batch: int, plan: Plan) -> None:
    folders = [tmp_path / "usual", tmp_path / "hurried"]
    for one in folders:
        one.mkdir()
    with world(folders[0], plan) as made:
        effects, entities = outcome(made, LONGEST_JOB_S, batch)
    with world(folders[1], plan) as made:
        hurried, box = outcome(made, 0.0, batch)
    assert hurried == effects
    assert any(updated for _, updated in effects.values())  # the second pass had something to do
    for name in TALK:
        assert box[name].streams == entities[name].streams
        assert box[name].notes == entities[name].notes


def test_a_large_file_is_uploaded_in_several_jobs(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImportTarget, "_chunk_bytes", 1000)
    with small.app() as app:
        longest_jobs(small, app.with_context(app.context.with_options(longest_job_s=0.0)))
    files = small.imported("files").values()
    assert len(files) == 10
    assert max(int(one["fields"]["size"]) for one in files) > 2 * 1000


def test_time_runs_for_each_job_and_each_thread(small: World) -> None:
    with small.app() as app:
        context = app.context
        assert not context.time_is_up()  # outside of a job there is no hurry
        context.start_job()
        small.clock.sleep(LONGEST_JOB_S - 1)
        assert not context.time_is_up()
        with ThreadPoolExecutor(1) as other:
            other.submit(context.start_job).result()
            small.clock.sleep(1)
            assert context.time_is_up()
            assert not other.submit(context.time_is_up).result()
        context.start_job()
        assert not context.time_is_up()


def test_what_cannot_be_read_is_looked_for_a_stretch_at_a_time(
    small: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def aside(made: World) -> set[str]:
        with made.app() as app:
            return {row.key for row in app.context.store.rows(SET_ASIDE, "impossible:")}

    (tmp_path / "other").mkdir()
    with world(tmp_path / "other") as usual:
        outcome(usual, LONGEST_JOB_S, 0)
        expected = aside(usual)
    monkeypatch.setattr(inventory, "WALKED_AT_ONCE", 2)
    outcome(small, 0.0, 0)
    assert len(expected) == 11 + 1  # the private chats of everybody but the webhook's owner, comments in a channel
    assert aside(small) == expected


def test_a_stretch_of_parents_has_all_their_children_and_no_others() -> None:
    parents = ["1", "9", "10", "99", "100"]
    ends = ["", *map(order_key, parents[:-1]), ""]
    for start, end in itertools.combinations(range(len(ends)), 2):
        span = children_between(ends[start], ends[end])
        keys = [order_key(f"{parent}:f{n}") for parent in parents for n in (1, 77)]
        within = [key for key in keys if key > span.lo and (not span.hi or key <= span.hi)]
        assert within == [order_key(f"{parent}:f{n}") for parent in parents[start:end] for n in (1, 77)]
