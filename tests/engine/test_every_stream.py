"""The standard suite: every stream of the catalog goes through the same. A new entity is in it by being there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.engine.every_stream import (
    CATALOG,
    SENDING,
    STREAMS,
    Snapshot,
    Touch,
    everything,
    look,
    staged,
    touch_all,
    victims,
)
from tests.engine.world import World

from b24migrate.model.errors import Halted
from b24migrate.model.events import Event, Extracted, PhaseChanged, RecordFailed, Sent
from b24sim.errors import RestError

GET = ("custom-fields-get", "get")
EVERY = pytest.mark.parametrize("stream", STREAMS)


# ---------------------------------------------------------------- the scenarios, each once for all streams


@dataclass(frozen=True)
class Moved:
    """A company that was migrated once, without any trouble."""

    made: World
    first: Snapshot


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    with everything(tmp_path_factory.mktemp("moved")) as made:
        assert made.run().exit_code == 0
        yield Moved(made, look(made))


# They have one of their own, or none can be asked for.
ORDERED_BY_DEFAULT = {"im.recent.list", "log.blogpost.get"}


def test_no_pages_are_turned_without_an_order(moved: Moved) -> None:
    """Where nobody asks for one a portal promises none, and rows may be missed."""
    assert set(moved.made.cloud.portal.stats.without_order) <= ORDERED_BY_DEFAULT


@dataclass(frozen=True)
class Repeated:
    first: Snapshot
    read_again: Snapshot
    sent_again: Snapshot
    calls: Mapping[str, Any]  # of the second set
    touched: Mapping[str, Touch | str]
    changed: Mapping[str, Mapping[str, Mapping[str, Any]]]  # one record of each stream changed, and read again
    updated: Snapshot  # and sent and verified
    once_more: Snapshot


@pytest.fixture(scope="module")
def repeated(moved: Moved) -> Repeated:
    made, first = moved.made, moved.first
    made.run(phases=GET)
    read_again = look(made)
    made.box.portal.stats.reset()
    made.run(phases=("set",))
    calls = dict(made.box.portal.stats.methods)
    sent_again = look(made)
    touched = touch_all(made, first)
    changed = {}

    def watch(event: Event) -> None:
        if isinstance(event, PhaseChanged) and (event.phase, event.state) == ("get", "done"):
            changed.update({one.name: staged(made, one) for one in CATALOG.entity(event.entity).streams})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "_saw", watch)
        made.run()
    updated = look(made)
    made.run()
    return Repeated(first, read_again, sent_again, calls, touched, changed, updated, look(made))


@dataclass(frozen=True)
class Failed:
    victims: Mapping[str, str]
    events: list[RecordFailed]
    after: Snapshot
    repaired: Snapshot


@pytest.fixture(scope="module")
def failed(moved: Moved, tmp_path_factory: pytest.TempPathFactory) -> Failed:
    chosen = victims(moved.first)
    with everything(tmp_path_factory.mktemp("failed")) as made:
        made.strike_box(*(failing(name, row_key) for name, row_key in chosen.items()))
        assert made.run().exit_code == 5
        after = look(made)
        made.strike_box()
        made.retry()
        events = [one for one in made.events if isinstance(one, RecordFailed)]
        return Failed(chosen, events, after, look(made))


def failing(stream: str, row_key: str) -> dict[str, Any]:
    key = CATALOG.streams[stream].key_of(row_key)
    return {
        "method": f"import.{CATALOG.owner[stream].wire}.batch",
        "item": {"key": key, "code": "LOCKED", "retry": True},
    }


@dataclass
class DyingBox:
    """The first call of each stream fails before the box acts, the second after it did."""

    made: World
    calls: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._take = self.made.box.portal._import

    def take(self, name: str, body: Mapping[str, Any], *size: Any) -> Any:
        stream = str(body.get("stream")) if name.endswith(".batch") else ""
        self.calls[stream] += 1
        answer = None if stream and self.calls[stream] == 1 else self._take(name, body, *size)  # type: ignore[arg-type]
        if stream and self.calls[stream] <= 2:
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        return answer


@pytest.fixture(scope="module")
def died(tmp_path_factory: pytest.TempPathFactory) -> tuple[Counter[str], Snapshot]:
    with everything(tmp_path_factory.mktemp("died")) as made, pytest.MonkeyPatch.context() as patch:
        box = DyingBox(made)
        patch.setattr(made.box.portal, "_import", box.take)
        made.strike_cloud({"method": "batch", "kind": "500", "every": 4})
        assert made.run().exit_code == 0
        return box.calls, look(made)


@dataclass
class Stops:
    """Ends the process in the middle of each get and of each set, once."""

    made: World
    at: dict[tuple[str, str], int] = field(default_factory=dict)  # what, stream -> records that were not sent yet

    def __post_init__(self) -> None:
        self._told = self.made._saw

    def tell(self, event: Event) -> None:
        self._told(event)
        if isinstance(event, Extracted | Sent) and event.stream in STREAMS:
            at = ("get" if isinstance(event, Extracted) else "set", event.stream)
            if at not in self.at:
                table = CATALOG.streams[event.stream].table.name
                ((new,),) = self.made.sql(f"SELECT count(*) FROM {table} WHERE Status = 'NEW'")  # noqa: S608
                self.at[at] = new
                raise Halted("the light went out", code="DARK")


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stops, Snapshot]:
    with everything(tmp_path_factory.mktemp("stopped")) as made, pytest.MonkeyPatch.context() as patch:
        stops = Stops(made)
        made.settings["run"]["workers"] = 1  # one call after the other, so that something is left to do
        patch.setattr(made, "_saw", stops.tell)
        for _ in range(3 * len(STREAMS)):
            try:
                ended = made.run()
            except Halted:
                continue
            assert ended.exit_code == 0
            assert made.box.portal.imports.order_violations == 0
            return stops, look(made)
        raise AssertionError("the run never came to its end")


# ---------------------------------------------------------------- once, and once more


@EVERY
def test_it_arrives_and_is_verified(moved: Moved, stream: str) -> None:
    about = moved.first.status[stream]
    assert about.imported == len(moved.first.staged[stream]) > 0
    assert (about.waiting, about.failed, about.retrying, about.findings, about.drift) == (0, 0, 0, 0, 0)
    assert {created for created, _ in moved.first.effects(stream).values()} == {1}
    assert moved.first.found(stream) == []
    assert moved.first.verified[CATALOG.owner[stream].name]


@EVERY
def test_what_was_retrieved_is_accounted_for(moved: Moved, stream: str) -> None:
    about = moved.first.status[stream]
    assert about.read == about.imported + about.failed + about.excluded
    assert about.source in (None, about.read)
    assert len(moved.first.box[stream]) == about.imported


@EVERY
def test_reading_it_again_changes_nothing(repeated: Repeated, stream: str) -> None:
    assert repeated.read_again.staged[stream] == repeated.first.staged[stream]
    assert repeated.read_again.status[stream] == repeated.first.status[stream]


@EVERY
def test_sending_it_again_sends_nothing(repeated: Repeated, stream: str) -> None:
    assert repeated.sent_again.box[stream] == repeated.first.box[stream]
    assert [name for name in repeated.calls if name.endswith(SENDING)] == []


@EVERY
def test_it_keeps_a_digest_by_which_changes_are_found(moved: Moved, stream: str) -> None:
    assert all(re.fullmatch("[0-9a-f]{64}", one) for one in moved.first.column(stream, "PayloadHash").values())


# ---------------------------------------------------------------- one record changed


def touch_of(repeated: Repeated, stream: str) -> Touch:
    touched = repeated.touched[stream]
    assert isinstance(touched, Touch), touched
    return touched


@EVERY
def test_a_changed_record_is_new_again(repeated: Repeated, stream: str) -> None:
    touched = touch_of(repeated, stream)
    before, after = repeated.first.staged[stream], repeated.changed[stream]
    latest = {key: {**row, "Payload": after[key]["Payload"]} for key, row in before.items()}  # counters move in others
    again = {key: (row["Status"], row["Revision"]) for key, row in after.items() if row != latest[key]}
    assert again == {touched.row_key: ("NEW", 1)}


@EVERY
def test_a_changed_record_is_updated_once(repeated: Repeated, stream: str) -> None:
    touched = touch_of(repeated, stream)
    key = CATALOG.streams[stream].key_of(touched.row_key)
    before, after = repeated.sent_again.effects(stream), repeated.updated.effects(stream)
    created, updated = before.pop(key)
    assert after.pop(key) == (created, updated + 1)
    assert repeated.updated.box[stream][key]["fields"][touched.field] == (
        touched.value if touched.value != "0" else None
    )
    assert set(repeated.updated.column(stream, "Status").values()) == {"IMPORT_OK"}
    assert after == before
    assert repeated.once_more.effects(stream) == repeated.updated.effects(stream)


@EVERY
def test_a_change_that_was_brought_over_is_no_finding(repeated: Repeated, stream: str) -> None:
    assert repeated.updated.found(stream) == []


# ---------------------------------------------------------------- one record that fails


@EVERY
def test_a_record_that_fails_gets_three_attempts(failed: Failed, stream: str) -> None:
    victim = failed.victims[stream]
    statuses = [one.status for one in failed.events if (one.stream, one.source_id) == (stream, victim)]
    assert statuses == ["ERROR_RETRY", "ERROR_RETRY", "IMPORT_ERR"]
    row = failed.after.staged[stream][victim]
    assert (row["Status"], row["Attempts"], row["LastErrorCode"]) == ("IMPORT_ERR", 3, "LOCKED")
    assert CATALOG.streams[stream].key_of(victim) not in failed.after.box[stream]


@EVERY
def test_its_neighbours_do_not_notice(failed: Failed, stream: str) -> None:
    """Except those that need it; they say which record they miss."""
    others = {key: row for key, row in failed.after.staged[stream].items() if key != failed.victims[stream]}
    assert others
    for row in others.values():
        if row["Status"] != "IMPORT_OK":
            assert (row["Status"], row["LastErrorCode"]) == ("IMPORT_ERR", "REFERENCE_MISSING"), row["LastError"]
            assert names_a_failed_record(failed.after, row["LastError"]), row["LastError"]


def names_a_failed_record(after: Snapshot, sentence: str) -> bool:
    named = re.search(r" links to (\w+) (\S+), which was not imported", sentence)
    if named is None:
        return False
    stream, source_id = named.groups()
    by_natural = CATALOG.streams[stream].by_natural
    rows = after.staged[stream]
    keys = [key for key, row in rows.items() if by_natural and source_id in str(row["Payload"])] or [source_id]
    return any(rows[key]["Status"] == "IMPORT_ERR" for key in keys)


@EVERY
def test_a_retry_mends_it(failed: Failed, stream: str) -> None:
    assert set(failed.repaired.column(stream, "Status").values()) == {"IMPORT_OK"}
    assert len(failed.repaired.box[stream]) == len(failed.repaired.staged[stream])
    assert {created for created, _ in failed.repaired.effects(stream).values()} == {1}
    assert failed.repaired.letters == []


# ---------------------------------------------------------------- one call that fails


@EVERY
def test_a_call_that_fails_loses_and_doubles_nothing(
    died: tuple[Counter[str], Snapshot], moved: Moved, stream: str
) -> None:
    calls, after = died
    assert calls[stream] > 2
    assert after.staged[stream].keys() == moved.first.staged[stream].keys()
    assert set(after.column(stream, "Status").values()) == {"IMPORT_OK"}
    assert after.box[stream].keys() == moved.first.box[stream].keys()
    assert {created for created, _ in after.effects(stream).values()} == {1}
    assert after.letters == []


# ---------------------------------------------------------------- stopped, and started again


@EVERY
def test_a_get_that_was_stopped_goes_on(stopped: tuple[Stops, Snapshot], moved: Moved, stream: str) -> None:
    stops, after = stopped
    assert ("get", stream) in stops.at
    assert after.staged[stream].keys() == moved.first.staged[stream].keys()
    assert after.status[stream] == moved.first.status[stream]
    assert set(after.column(stream, "Revision").values()) == {0}


@EVERY
def test_a_set_that_was_stopped_goes_on(stopped: tuple[Stops, Snapshot], moved: Moved, stream: str) -> None:
    stops, after = stopped
    assert ("set", stream) in stops.at
    assert after.box[stream].keys() == moved.first.box[stream].keys()
    assert {created for created, _ in after.effects(stream).values()} == {1}
    assert {updated for _, updated in after.effects(stream).values()} <= {0, 1}
    assert set(after.column(stream, "Status").values()) == {"IMPORT_OK"}
    # In the midst of them; only what fits into one call goes at once, and is stopped behind the last.
    assert stops.at["set", stream] or len(after.staged[stream]) <= CATALOG.streams[stream].batch
