"""A create that the box is still at when somebody else looks for what it makes: it is let come to its end, and the
record comes once."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from tests.targets.everything import Move

from b24migrate.model.errors import Limited, Transient
from b24migrate.model.records import Item
from b24migrate.targets.rest import files, journal
from b24migrate.targets.rest.journal import JournalEntry
from b24migrate.targets.rest.send import Sender
from b24migrate.targets.rest.target import RestTarget

TASK = Item.make("source:tasks:5", {"title": "Call", "responsibleId": "1", "createdBy": "1", "status": "2"})
LATE = {"TITLE": "Call", "RESPONSIBLE_ID": 1, "XML_ID": f"b24migrate:{TASK.key}"}


class Died(Exception):
    """The process is no more, and its call is on the way."""


def send(target: RestTarget) -> str:
    (outcome,) = target.send("tasks", "tasks", [TASK], run="r")
    return outcome.status


def struck_down(move: Move) -> None:
    """In the middle of the create."""
    with move.app() as app, pytest.MonkeyPatch.context() as patch:
        assert isinstance(app.context.target, RestTarget)
        patch.setattr(app.context.target._box, "call", failing(Died()))
        with pytest.raises(Died):
            send(app.context.target)


def failing(error: Exception) -> Callable[..., None]:
    def call(*_: object) -> None:
        raise error

    return call


def tasks(move: Move) -> int:
    return len(move.world.box.portal.native.alive("tasks"))


def test_who_takes_over_waits_until_the_calls_of_the_dead_must_have_ended(move: Move, target: RestTarget) -> None:
    struck_down(move)
    with pytest.raises(Limited) as limited:
        send(target)
    assert 0 < limited.value.wait_s <= journal.LONGEST_S
    target._box.call("tasks.task.add", {"fields": LATE})
    assert send(target) == "created"
    assert tasks(move) == 1


def test_what_never_left_is_created_when_that_time_is_over(move: Move, target: RestTarget) -> None:
    struck_down(move)
    with pytest.raises(Limited):
        send(target)
    move.world.clock.sleep(journal.LONGEST_S)
    assert send(target) == "created"
    assert tasks(move) == 1


def test_nobody_waits_for_somebody_who_died_long_ago(move: Move, target: RestTarget) -> None:
    struck_down(move)
    move.world.clock.sleep((journal.OVER + timedelta(seconds=1)).total_seconds())
    assert send(target) == "created"


def test_a_create_that_was_given_up_is_not_repeated_before_it_must_have_ended(
    move: Move, target: RestTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, clock = target._box, move.world.clock
    call, sleep, left = box.call, clock.sleep, [1]

    def unanswered(method: str, params: dict[str, object]) -> object:
        if method == "tasks.task.add" and left:
            left.clear()
            raise Transient("no answer in time", code="TIMEOUT", own=True)
        return call(method, params)

    def late(seconds: float) -> None:
        if seconds >= journal.LONGEST_S:
            call("tasks.task.add", {"fields": LATE})
        sleep(seconds)

    monkeypatch.setattr(box, "call", unanswered)
    monkeypatch.setattr(clock, "sleep", late)
    assert send(target) == "created"
    assert tasks(move) == 1


def test_of_two_processes_that_pull_the_same_record_along_one_makes_it(
    move: Move, target: RestTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = target._journal.find

    def slow(stream: str, keys: Sequence[str]) -> dict[str, JournalEntry]:
        """While it looks what is known, the other begins and ends."""
        known = looked_up(stream, keys)
        monkeypatch.setattr(target._journal, "find", looked_up)
        with move.app() as other:
            assert isinstance(other.context.target, RestTarget)
            assert send(other.context.target) == "created"
        return known

    monkeypatch.setattr(target._journal, "find", slow)
    with pytest.raises(Limited):
        send(target)
    assert send(target) == "unchanged"
    assert tasks(move) == 1


def test_a_close_date_that_the_dead_put_right_says_nothing_about_those_of_others(
    move: Move, target: RestTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The box closes a won deal today. The first one was put right by a process that did not write that down."""
    fields = {"title": "Big", "stageId": "WON", "categoryId": None, "closedate": "2023-04-05"}
    deals = [Item.make(f"source:crm_deals:{number}", fields) for number in (1, 2)]
    with move.app() as app, monkeypatch.context() as patch:
        assert isinstance(app.context.target, RestTarget)
        patch.setattr(Sender, "_settle", failing(Died()))
        with pytest.raises(Died):
            app.context.target.send("crm", "crm_deals", deals[:1], run="r")
    assert [one.status for one in target.send("crm", "crm_deals", deals, run="r")] == ["created", "created"]
    told = target.read("crm", "crm_deals", [one.key for one in deals])
    assert [one.fields["closedate"] for one in told.values()] == ["2023-04-05"] * 2


def test_an_upload_of_the_dead_is_waited_for_as_well(move: Move, target: RestTarget) -> None:
    data = b"plan"

    def put(one: RestTarget) -> str | None:
        digest = hashlib.sha256(data).hexdigest()
        return one.put_file("source:file:disk:5", "plan.pdf", len(data), digest, io.BytesIO(data))

    with move.app() as app, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "upload_file", failing(Died()))
        assert isinstance(app.context.target, RestTarget)
        with pytest.raises(Died):
            put(app.context.target)
    with pytest.raises(Limited):
        put(target)
    place = files.find_folder(target._box, "source:file:disk:5")
    late = files.upload_file(target._box, place, files.Upload("", "plan.pdf", len(data), ""), io.BytesIO(data))
    assert put(target) == late
    assert [str(one) for one in move.world.box.portal.company.drive.files] == [late]
