"""All parents of a lane together may be large. Few of them are in memory at a time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from tests.engine.world import small, world

from b24migrate.engine.phases import read_children
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.parent_lanes import FULL_REQUEST, pack
from b24migrate.engine.phases.read_children import look_up_parents
from b24migrate.entities.chats.details import TELLING
from b24migrate.entities.chats.reader import PAGES_AT_ONCE, enumerate_chats, find_same
from b24migrate.model.readings import PerParent
from b24migrate.model.records import Job, Page, Staged
from b24migrate.ports import Answer, Command

CHATS = 1_200
NAME = "x" * 10_000
KEYS = [str(number) for number in range(1, CHATS + 1)]
OWNERS = 3


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunContext]:
    """Each webhook has every third chat."""
    with world(tmp_path_factory.mktemp("large"), small(messages=0, chats=0)) as made, made.app() as app:
        stage_chats(app.context)
        yield app.context


def stage_chats(context: RunContext) -> None:
    rows = []
    for key in KEYS:
        payload = msgspec.json.encode({"id": int(key), "name": NAME, "message_count": 10})
        extras = msgspec.json.encode({"via": int(key) % OWNERS, "dialog": f"chat{key}", "users": []})
        rows.append(Staged(key, payload, extras=extras))
    context.store.stage(context.streams["chats"].table, rows, run="r", pass_no=1)


def reading_of(context: RunContext) -> PerParent:
    reading = context.streams["chat_messages"].read[-1]
    assert isinstance(reading, PerParent)
    return reading


def peak_of(act: Callable[[], Any]) -> int:
    act()
    tracemalloc.start()
    act()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_request_looks_up_as_many_parents_as_it_has_room_for(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of every webhook, in their order; the others wait in theirs."""
    monkeypatch.setattr(type(context.source), "owners", [str(one) for one in range(1, OWNERS + 1)])
    wanted = [[key, 0, 0] for key in KEYS]
    chosen, rest = look_up_parents(context, reading_of(context), wanted)
    first = KEYS[: OWNERS * 2 * FULL_REQUEST]
    assert [one.parent.id for one in chosen] == first
    assert rest == wanted[len(first) :]
    of_two = [one for one in wanted if int(str(one[0])) % OWNERS]
    chosen, rest = look_up_parents(context, reading_of(context), of_two[:600:2] + of_two[1:600:2])
    assert len(chosen) == 4 * FULL_REQUEST
    assert len(rest) == 600 - len(chosen)
    assert {int(one.parent.id) % OWNERS for one in chosen} == {1, 2}


def test_the_parents_of_a_lane_are_not_all_in_memory(context: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask(_: Any, reading: PerParent, progress: list[Any], **__: Any) -> Page:
        asked.append(len(progress))
        return Page(next=[{"id": one.parent.id, "after": 0, "got": 0} for one in progress])

    monkeypatch.setattr(type(context.source), "children", ask)
    args = {"stream": "chat_messages", "pass": 1, "parents": [[key, 0, 0] for key in KEYS], "n": 0, "walk": "down"}
    job = Job("chats-get", "children", args)
    (further,) = read_children.children(context, job)
    assert isinstance(further, Job)
    assert sorted(one for one, *_ in further.args["parents"]) == sorted(KEYS)
    assert peak_of(lambda: read_children.children(context, job)) < CHATS * len(NAME) / 2
    assert max(asked) < CHATS / 2


def test_lanes_are_packed_from_a_few_hundred_parents_at_a_time(context: RunContext) -> None:
    args = {"stream": "chat_messages", "pass": 1, "after": "", "n": 0, "size": CHATS}
    job = Job("chats-get", "pack", args)
    lanes = [one for one in pack(context, job) if isinstance(one, Job)]
    assert sorted(one for lane in lanes for one, *_ in lane.args["parents"]) == sorted(KEYS)
    assert peak_of(lambda: pack(context, job)) < CHATS * len(NAME)


def test_lists_are_compared_with_a_few_hundred_chats_at_a_time(context: RunContext) -> None:
    rows = {int(key): {**dict.fromkeys(TELLING), "name": NAME} for key in KEYS}
    known = context.known(context.streams["chats"])
    assert find_same(rows, known) == {int(key) for key in KEYS}
    rows[7]["user_counter"] = 4
    assert find_same(rows, known) == {int(key) for key in KEYS} - {7}
    assert peak_of(lambda: find_same(rows, known)) < CHATS * len(NAME) / 2


class Lists:
    """A source with so many chats, and a channel."""

    owners = ("1",)

    def __init__(self, chats: int) -> None:
        self._lists = {"": range(10, 10 + chats), "ONLY_CHANNEL": range(5, 6)}
        self.asked: list[int] = []

    def batch(self, commands: list[Command], *, via: int = 0) -> list[Answer]:
        assert via == 0
        self.asked += [len(commands)] if commands else []
        return [self._page(one) for one in commands]

    def _page(self, command: Command) -> Answer:
        name = next((one for one in command.params if one.startswith("ONLY_")), "")
        start, size = command.params["OFFSET"], command.params["LIMIT"]
        ids = self._lists.get(name, range(0))[start : start + size]
        items = [{"id": f"chat{one}", "chat_id": one, "type": "chat", "chat": {"id": one}} for one in ids]
        more = start + size < len(self._lists.get(name, ()))
        return Answer(msgspec.json.encode({"items": items, "hasMore": more}))


@pytest.mark.parametrize(("chats", "requests"), [(190, 1), (1_900, 3), (4_900, 5)])
def test_few_pages_of_lists_are_in_memory(chats: int, requests: int) -> None:
    lists = Lists(chats)
    found, _, _ = enumerate_chats(lists, [])  # type: ignore[arg-type]
    assert set(found) == {5, *range(10, 10 + chats)}
    assert max(lists.asked) <= PAGES_AT_ONCE
    assert len(lists.asked) == requests
