"""A record that was closed stops nobody; a method or a webhook that is refused stops the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from tests.bitrix.ledger import Ledger
from tests.bitrix.support import Kit
from tests.bitrix.test_children import backward, parents, read_all, rows_of

from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import GateUnmet, Permanent
from b24migrate.model.readings import Progress
from b24migrate.model.records import Args
from b24migrate.ports import Command
from b24sim.faults import Faults
from b24sim.serve import Running, serve

METHOD = "im.dialog.messages.get"


class Kept:
    """What several runs were granted."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], list[Args]] = {}

    def recall(self, tag: str, method: str) -> Sequence[Args]:
        return self.calls.get((tag, method), [])

    def remember(self, tag: str, method: str, calls: Sequence[Args]) -> None:
        self.calls[tag, method] = list(calls)

    def of(self, method: str) -> list[str]:
        return [str(one["DIALOG_ID"]) for (_, name), calls in self.calls.items() if name == method for one in calls]


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger(webhooks=(1,))
    made.refusal = "ACCESS_DENIED"
    made.messages = {str(key): [1, 2] for key in range(1, 61)}
    return made


@pytest.fixture
def running(ledger: Ledger) -> Iterator[Running]:
    with serve(ledger) as running:
        yield running


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def start(running: Running, kept: Kept) -> Callable[[], BitrixSource]:
    """Another run."""

    def run() -> BitrixSource:
        portal = Kit([running.webhook(1)]).portal
        portal.permissions.memory = kept
        return BitrixSource(portal)

    return run


def ask_each(source: BitrixSource, *dialogs: object) -> list[Exception | None]:
    commands = [Command(METHOD, {"DIALOG_ID": str(one), "LIMIT": 50}) for one in dialogs]
    return [answer.error for answer in source.batch(commands)]


# ---------------------------------------------------------------- a record that was closed since


def test_the_only_record_that_was_granted_is_closed(ledger: Ledger, start: Callable[[], BitrixSource]) -> None:
    assert ask_each(start(), 7) == [None]
    ledger.forbidden = {"7"}
    for _ in range(2):
        (error,) = ask_each(start(), 7)
        assert isinstance(error, Permanent)
        assert error.code == "ACCESS_DENIED"


def test_a_single_call_that_was_granted_is_refused(ledger: Ledger, start: Callable[[], BitrixSource]) -> None:
    params = {"DIALOG_ID": "7", "LIMIT": 50}
    start().call(METHOD, params)
    ledger.forbidden = {"7"}
    with pytest.raises(Permanent, match="ACCESS_DENIED"):
        start().call(METHOD, params)


def test_all_that_were_granted_are_closed_and_asked_for_in_two_requests(
    ledger: Ledger, start: Callable[[], BitrixSource]
) -> None:
    assert ask_each(start(), 1, 2, 3) == [None] * 3
    ledger.forbidden = {str(one) for one in range(1, 9)}
    source = start()
    for dialogs in ((1, 2, 3), (4, 5)):
        errors = ask_each(source, *dialogs)
        assert {getattr(error, "code", "") for error in errors} == {"ACCESS_DENIED"}


def test_one_other_that_is_closed_as_well_proves_nothing(ledger: Ledger, start: Callable[[], BitrixSource]) -> None:
    assert ask_each(start(), 7) == [None]
    ledger.forbidden = {"7", "8"}
    assert isinstance(ask_each(start(), 8)[0], Permanent)


def test_several_calls_of_a_request_are_kept_and_later_runs_add_to_them(
    start: Callable[[], BitrixSource], kept: Kept
) -> None:
    ask_each(start(), *range(1, 12))
    assert kept.of(METHOD) == ["1", "6", "11"]
    ask_each(start(), 20)
    assert kept.of(METHOD) == ["1", "6", "11", "20"]


def test_calls_of_a_whole_run_are_kept(start: Callable[[], BitrixSource], kept: Kept) -> None:
    source = start()
    for one in range(1, 61):
        ask_each(source, one)
    assert kept.of(METHOD) == ["1", "2", "4", "8", "16", "32"]


# ---------------------------------------------------------------- more than a record


def test_two_others_that_are_refused_as_well_stop_the_run(ledger: Ledger, start: Callable[[], BitrixSource]) -> None:
    ask_each(start(), 1, 2)
    ledger.forbidden = set(ledger.messages)
    with pytest.raises(GateUnmet, match=f"no longer allows {METHOD}"):
        ask_each(start(), 9)


def test_a_plan_that_lapses_behind_the_first_answer_of_a_request(
    ledger: Ledger, start: Callable[[], BitrixSource]
) -> None:
    denied = {"kind": "error", "code": "ACCESS_DENIED", "status": 403}
    rules = [
        {"method": METHOD, **denied, "after": 1},
        *({"method": one, **denied} for one in ("profile", "server.time")),
    ]
    ledger.faults = Faults(rules)
    with pytest.raises(GateUnmet, match="refuses all requests"):
        ask_each(start(), 1, 2)


def test_a_scope_that_was_unticked_stops_whatever_was_granted(
    ledger: Ledger, start: Callable[[], BitrixSource]
) -> None:
    assert ask_each(start(), 7) == [None]
    ledger.faults = Faults([{"method": METHOD, "kind": "error", "code": "insufficient_scope", "status": 403}])
    with pytest.raises(GateUnmet, match="scope `im`"):
        ask_each(start(), 7)


def test_a_web_page_with_403_to_a_repeated_call_is_its_own(ledger: Ledger, start: Callable[[], BitrixSource]) -> None:
    ask_each(start(), 1, 2)
    ledger.forbidden = {"9"}
    source = start()
    ledger.faults = Faults([{"method": METHOD, "kind": "403html", "at": [1]}])
    assert isinstance(ask_each(source, 9)[0], Permanent)  # an own failure is repeated at once


def test_one_web_page_with_403_to_the_probe_blocks_nothing(ledger: Ledger, start: Callable[[], BitrixSource]) -> None:
    ledger.faults = Faults([{"method": "profile", "kind": "403html", "at": [1]}])
    start().call("profile", {})


# ---------------------------------------------------------------- parents


def with_room(source: BitrixSource, room: int) -> BitrixSource:
    """As where execution time is short."""
    pytest.MonkeyPatch().setattr(source._batcher, "room", lambda *_, **__: room)
    return source


@pytest.mark.parametrize("gently", [False, True])
@pytest.mark.parametrize("closed", [3, 9])
def test_closed_parents_before_the_first_that_is_granted(
    ledger: Ledger, start: Callable[[], BitrixSource], gently: bool, closed: int
) -> None:
    ledger.messages = {str(key): [1, 2] for key in range(1, closed + 3)}
    ledger.forbidden = {str(key) for key in range(1, closed + 1)}
    source = with_room(start(), closed)
    pages = read_all(source, backward(), parents(ledger), gently=gently)
    assert {one.source_id for page in pages for one in page.aside} == ledger.forbidden
    assert set(rows_of(pages)) == set(ledger.messages) - ledger.forbidden


@pytest.mark.parametrize("gently", [False, True])
@pytest.mark.parametrize(("room", "many"), [(3, 3), (3, 7), (4, 30), (50, 4), (50, 30)])
def test_a_method_that_is_refused_for_every_parent(
    ledger: Ledger, start: Callable[[], BitrixSource], gently: bool, room: int, many: int
) -> None:
    ledger.messages = {str(key): [1, 2] for key in range(many)}
    ledger.forbidden = set(ledger.messages)
    source = with_room(start(), room)
    with pytest.raises(GateUnmet) as stopped:
        read_all(source, backward(), parents(ledger), gently=gently)
    assert stopped.value.code == "METHOD_REFUSED"


def test_one_parent_alone_is_closed(ledger: Ledger, start: Callable[[], BitrixSource]) -> None:
    ledger.forbidden = {"5"}
    page = start().children(backward(), [Progress(parents(ledger)["5"])])
    assert [one.source_id for one in page.aside] == ["5"]
