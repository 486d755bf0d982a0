"""Three attempts for a record's own failures, none for limits and outages, and neighbours that never notice."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from tests.engine.world import World

from b24migrate.model.errors import Halted
from b24migrate.model.events import Event, JobFailed, PortalDown, RecordFailed, Sent
from b24sim.errors import RestError


def the_group(world: World) -> str:
    """A group in the middle of its batch."""
    return str(world.cloud.portal.company.groups.ids[1])


def failing(group: str, *, retry: bool) -> dict[str, Any]:
    item = {"key": f"source:groups:{group}", "code": "LOCKED" if retry else "VALIDATION", "retry": retry}
    return {"method": "import.groups.batch", "item": item}


def failures_of(world: World, group: str) -> list[tuple[datetime, RecordFailed]]:
    failed = [(at, one) for at, one in world.seen if isinstance(one, RecordFailed)]
    return [(at, one) for at, one in failed if (one.stream, one.source_id) == ("groups", group)]


def other_statuses(world: World, group: str) -> set[str]:
    return {one["Status"] for key, one in world.records("Groups").items() if key != group}


def test_an_item_that_failed_for_good_is_an_error_at_once(small: World) -> None:
    group = the_group(small)
    small.strike_box(failing(group, retry=False))
    assert small.run().exit_code == 5
    one = small.records("Groups")[group]
    assert (one["Status"], one["Attempts"], one["LastErrorCode"]) == ("IMPORT_ERR", 1, "VALIDATION")
    assert other_statuses(small, group) == {"IMPORT_OK"}
    assert small.letters() == []
    assert f"source:groups:{group}" not in small.imported("groups")


def test_what_belongs_to_a_failed_record_fails_with_it(small: World) -> None:
    group = the_group(small)
    small.strike_box(failing(group, retry=False))
    small.run()
    members = small.records("GroupMembers")
    mine = {key: one for key, one in members.items() if key.startswith(f"{group}:")}
    assert {(one["Status"], one["LastErrorCode"]) for one in mine.values()} == {("IMPORT_ERR", "REFERENCE_MISSING")}
    assert {one["Status"] for key, one in members.items() if key not in mine} == {"IMPORT_OK"}
    assert not small.entity("groups").verified


def test_an_item_that_may_succeed_later_gets_three_attempts(small: World) -> None:
    group = the_group(small)
    small.strike_box(failing(group, retry=True))
    assert small.run().exit_code == 5
    failed = failures_of(small, group)
    assert [one.status for _, one in failed] == ["ERROR_RETRY", "ERROR_RETRY", "IMPORT_ERR"]
    assert small.box.portal.stats.faults["item"] == 3
    first, second, third = (at for at, _ in failed)
    # Half a second less, since a failure is told of a little later than its wait begins; more, since work takes time.
    assert 2.0 - 0.5 <= (second - first).total_seconds() < 2.4 + 3.0
    assert 6.0 - 0.5 <= (third - second).total_seconds() < 7.2 + 3.0
    assert other_statuses(small, group) == {"IMPORT_OK"}
    assert [(scope, kind, code) for scope, kind, code, _ in small.letters()] == [("groups-set", "send", "LOCKED")]


def test_a_retry_replays_what_failed(small: World) -> None:
    group = the_group(small)
    small.strike_box(failing(group, retry=True))
    small.run()
    small.strike_box()
    assert small.retry().exit_code == 0
    assert small.letters() == []
    assert small.records("Groups")[group]["Status"] == "IMPORT_OK"
    assert set(small.effects().values()) <= {(1, 0), (1, 1)}
    assert small.entity("groups").verified


def test_a_second_attempt_may_succeed(small: World) -> None:
    group = the_group(small)
    small.strike_box(failing(group, retry=True) | {"count": 1})
    assert small.run().exit_code == 0
    assert small.records("Groups")[group]["Attempts"] == 2
    assert dict(small.sql("SELECT Name, Value FROM Counters WHERE Name LIKE 'retries:%'")) == {"retries:groups": 1.0}


def test_a_poisonous_record_does_not_take_its_neighbours_down(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    group = the_group(small)
    poison = f"source:groups:{group}"
    calls: list[list[str]] = []
    portal = small.box.portal
    swallow = portal._import

    def choke(name: str, body: Mapping[str, Any], *size: Any) -> Any:
        keys = [str(item["key"]) for item in body.get("items") or []]
        if poison in keys:
            calls.append(keys)
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        return swallow(name, body, *size)  # type: ignore[arg-type]

    monkeypatch.setattr(portal, "_import", choke)
    assert small.run().exit_code == 5
    one = small.records("Groups")[group]
    assert (one["Status"], one["Attempts"]) == ("IMPORT_ERR", 3)
    assert len(calls) < 10  # what the portal may be to blame for uses no attempt, and is tried again
    assert calls[-1] == [poison]
    assert other_statuses(small, group) == {"IMPORT_OK"}
    assert len(small.letters()) == 1


@pytest.mark.parametrize("kind", ["query_limit", "operating_limit"])
def test_a_limit_uses_no_attempt(small: World, kind: str) -> None:
    small.strike_box({"method": "import.groups.batch", "kind": kind, "count": 5})
    assert small.run().exit_code == 0
    assert {one["Attempts"] for one in small.records("Groups").values()} == {1}
    parked = [one for one in small.events if isinstance(one, JobFailed) and one.job.scope == "groups-set"]
    assert {one.what for one in parked} == {"parked"}


@pytest.mark.parametrize("kind", ["query_limit", "operating_limit"])
def test_a_limit_of_the_source_uses_no_attempt(small: World, kind: str) -> None:
    small.strike_cloud({"method": "batch", "kind": kind, "at": [3, 4, 5, 6, 7]})
    assert small.run().exit_code == 0
    assert not [one for one in small.events if isinstance(one, JobFailed) and one.what != "parked"]


def outage(world: World) -> None:
    """After the doctor's visit the box is gone, probes included."""
    gone: dict[str, Any] = {"kind": "502html", "at": range(2, 100_000)}
    world.strike_box({"method": "import.groups.*", "kind": "502html"}, {"method": "import.info", **gone})


def test_an_outage_parks_everything_and_stops_the_run_in_the_end(small: World) -> None:
    outage(small)
    with pytest.raises(Halted) as stopped:
        small.run(run={"outage_minutes": 3})
    assert stopped.value.exit_code == 4
    assert {(one["Status"], one["Attempts"]) for one in small.records("Groups").values()} == {("NEW", 0)}
    down = [one for one in small.events if isinstance(one, PortalDown)]
    assert max(one.since_s for one in down) >= 120
    assert small.letters() == []


def test_after_an_outage_the_run_goes_on(small: World) -> None:
    outage(small)
    with pytest.raises(Halted):
        small.run(run={"outage_minutes": 1})
    small.strike_box()
    there = small.effects().keys()
    assert small.run().exit_code == 0
    assert {one["Attempts"] for one in small.records("Groups").values()} == {1}
    assert there < small.effects().keys()
    assert {created for created, _ in small.effects().values()} == {1}


def test_an_outage_that_ends_in_time_is_nobodys_failure(small: World) -> None:
    small.strike_box(
        {"method": "import.groups.*", "kind": "502html", "count": 3},
        {"method": "import.info", "kind": "502html", "at": range(2, 7)},
    )
    assert small.run().exit_code == 0
    assert {one["Attempts"] for one in small.records("Groups").values()} == {1}


def test_a_portal_in_trouble_is_asked_again_after_longer_and_longer_pauses(small: World) -> None:
    small.strike_box({"method": "import.chats.batch", "kind": "502html", "count": 9})
    small.run()
    failed = [(at, one) for at, one in small.seen if isinstance(one, JobFailed) and one.what == "retried"]
    assert min(one.wait_s for _, one in failed) >= 0.5
    again = [pair for pair in pairwise(failed) if pair[0][1].job.args == pair[1][1].job.args]
    assert again
    for (before, first), (after, second) in again:
        assert second.wait_s > 1.5 * first.wait_s
        assert (after - before).total_seconds() > first.wait_s / 2  # half of it: what is told may be told late


@pytest.mark.parametrize("pace_s", [0.0, 3.0])
def test_messages_stay_in_order_while_one_waits(small: World, monkeypatch: pytest.MonkeyPatch, pace_s: float) -> None:
    """Also when its time comes before the round that passed it is over."""
    record_event = small._saw

    def slowly(event: Event) -> None:
        record_event(event)
        small.clock.sleep(pace_s if isinstance(event, Sent) else 0.0)

    monkeypatch.setattr(small, "_saw", slowly)
    chat = max(small.cloud.portal.company.chats.values(), key=len)
    waiting = [chat.id_at(4), chat.id_at(17)]
    small.strike_box(
        *(
            {"method": "import.chats.batch", "count": 2, "item": {"key": f"source:chat:msg:{number}", "retry": True}}
            for number in waiting
        )
    )
    assert small.run(entities={"chats": {"batch_messages": 5}}).exit_code == 0
    assert small.box.portal.stats.faults["item"] == 4
    assert small.box.portal.imports.order_violations == 0
    assert {one["Status"] for one in small.records("ChatMessages").values()} == {"IMPORT_OK"}


def test_a_message_that_failed_for_good_is_passed_over(small: World) -> None:
    chat = max(small.cloud.portal.company.chats.values(), key=len)
    bad = chat.id_at(4)
    small.strike_box({"method": "import.chats.batch", "item": {"key": f"source:chat:msg:{bad}", "retry": True}})
    assert small.run(entities={"chats": {"batch_messages": 5}}).exit_code == 5
    assert small.box.portal.imports.order_violations == 0
    failed = {key for key, one in small.records("ChatMessages").items() if one["Status"] != "IMPORT_OK"}
    assert failed == {f"{chat.id}:{bad}"}


def test_an_answer_that_was_lost_doubles_nothing(small: World) -> None:
    small.strike_box({"method": "import.*.batch", "kind": "lost", "every": 2})
    assert small.run().exit_code == 0
    assert {created for created, _ in small.effects().values()} == {1}
