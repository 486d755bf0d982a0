"""A company with everything moves to the module for the box, and does so although the box dies again and again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from tests.engine.every_stream import CATALOG, STREAMS, Snapshot, look
from tests.engine.php_world import KEPT, PhpWorld, everything_to_php
from tests.engine.test_undo import take_with
from tests.engine.world import SMALL, TALK
from tests.php_box import php_box

from b24migrate.insight import certificate
from b24migrate.model.errors import GateUnmet
from b24migrate.model.events import Event, Sent
from b24migrate.model.streams import PHASES
from b24migrate.targets.module import ImportTarget
from b24sim import Company, Portal, serve

POINTS = ("after-intent", "after-create", "after-map", "after-seal", "after-append")


@dataclass(frozen=True)
class Moved:
    first: Snapshot
    certified: certificate.Made
    box: Any  # everything on it after the first run
    box_after: Any  # and after a second
    strays: dict[str, set[str]]
    watched: dict[str, int]
    own: dict[str, set[str]]  # what was there before
    undone: dict[str, set[str]]  # what is there when everything is taken back


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    with everything_to_php(tmp_path_factory.mktemp("moved")) as made:
        own = made.on_the_box()
        assert made.run().exit_code == 0
        first, box = look(made), made.box.ask("snapshot")
        certified = certify(made)
        assert made.run().exit_code == 0
        box_after, strays, watched = made.box.ask("snapshot"), made.strays(own), made.box.ask("watch")
        with made.app() as app:
            take_with(app)
        yield Moved(first, certified, box, box_after, strays, watched, own, made.on_the_box())


def certify(made: PhpWorld) -> certificate.Made:
    file = made.folder / "certificate.jsonl"
    with made.app() as app:
        written = certificate.make(app.context, file)
    assert certificate.check(file) == written
    return written


def test_every_stream_arrives_once_and_is_verified(moved: Moved) -> None:
    for stream in STREAMS:
        about = moved.first.status[stream]
        assert about.imported == len(moved.first.staged[stream]) == len(moved.first.box[stream]) > 0, stream
        assert (about.waiting, about.failed, about.retrying, about.findings, about.drift) == (0, 0, 0, 0, 0), stream
        assert {created for created, _ in moved.first.effects(stream).values()} == {1}, stream
        assert moved.first.verified[CATALOG.owner[stream].name], stream
    assert moved.first.findings == []
    assert moved.first.letters == []


def test_the_certificate_closes(moved: Moved) -> None:
    sums = moved.certified.head.streams
    assert [one.stream for one in sums] == [*CATALOG.streams, "files"]
    assert all(one.verified for one in sums if one.stream != "files")
    failed = {one.stream for one in sums if one.failed}
    assert failed == {"files"}  # recordings that are with the operator of the telephony


def test_a_second_run_changes_nothing(moved: Moved) -> None:
    assert moved.box_after == moved.box


def test_nothing_is_on_the_box_that_no_key_stands_for(moved: Moved) -> None:
    assert moved.strays == {}


def test_messages_come_in_order_and_digests_are_those_of_their_fields(moved: Moved) -> None:
    assert moved.watched == {"order_violations": 0, "digest_mismatches": 0}


def test_everything_can_be_taken_back_but_for_files(moved: Moved) -> None:
    assert moved.undone | {"files": set()} == moved.own


def test_what_the_box_cannot_keep_is_accepted_beforehand_and_foreseen_afterwards(tmp_path: Path) -> None:
    with everything_to_php(tmp_path) as made:
        made.box.tell("losses", {"groups": {"DESCRIPTION": "This box has no descriptions."}})
        with pytest.raises(GateUnmet):
            made.run("users", "groups")
        with made.app() as app:
            app.gate.consent = lambda _: "a test"
            assert app.runner.run(app.chosen(("users", "groups")), PHASES, tick=made.leap()).exit_code == 0
        described = {row["RowKey"] for row in made.table("Groups", "RowKey", "Payload") if has_description(row)}
        assert described
        assert {one for (one,) in made.sql("SELECT SourceId FROM Foreseen WHERE Field = 'DESCRIPTION'")} == described
        assert made.sql("SELECT * FROM Findings") == []
        assert made.entity("groups").verified


def has_description(row: dict[str, Any]) -> bool:
    return bool(json.loads(row["Payload"]).get("DESCRIPTION"))


# ---------------------------------------------------------------- the box dies


@dataclass
class Deaths:
    """As soon as something of a stream has arrived, the box is killed, whatever else it is doing, or the next two calls
    end before their time, one of them with all its work done."""

    made: PhpWorld
    killed: set[str] = field(default_factory=set)
    one_at_a_time: Lock = field(default_factory=Lock)

    def tell(self, event: Event) -> None:
        if isinstance(event, Sent):
            with self.one_at_a_time:
                self._strike(event.stream)

    def _strike(self, stream: str) -> None:
        if stream in self.killed:
            return
        self.killed.add(stream)
        if len(self.killed) % 2:
            with self.made.clock.standing():
                self.made.box.kill()
                self.made.box.start()
        else:
            for point in (POINTS[len(self.killed) // 2 % len(POINTS)], "before-answer"):
                self.made.box.tell("crash", {"at": point})


def test_a_box_that_is_killed_loses_and_doubles_nothing(moved: Moved, tmp_path: Path) -> None:
    with everything_to_php(tmp_path) as made, pytest.MonkeyPatch.context() as patch:
        made.box.tell("reset", {"apart": KEPT})  # no record is written in one transaction with its key
        deaths = Deaths(made)
        patch.setattr(made, "_saw", deaths.tell)
        assert made.run().exit_code == 0
        after, strays = look(made), made.strays(moved.own)
    assert deaths.killed == set(STREAMS)
    for stream in STREAMS:
        assert set(after.column(stream, "Status").values()) == {"IMPORT_OK"}, stream
        assert after.box[stream].keys() == moved.first.box[stream].keys(), stream
        assert {created for created, _ in after.effects(stream).values()} == {1}, stream
    assert after.findings == []
    assert strays == {}


def test_a_file_of_more_than_a_hundred_megabytes_arrives_although_the_box_dies_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In chunks: what the box has of it is not sent again."""
    size = (105 << 20) + 1
    sent: list[int] = []
    put = ImportTarget._put

    def watched(self: ImportTarget, body: Any) -> tuple[int, str | None]:
        if body.get("size") == size:
            sent.append(len(body["content"]) // 4 * 3)
            if len(sent) in (5, 12):
                box.tell("crash", {"at": "after-append"})
            if len(sent) == 20:
                with made.clock.standing():
                    box.kill()
                    box.start()
        return put(self, body)

    monkeypatch.setattr(ImportTarget, "_put", watched)
    with serve(Portal(Company(replace(SMALL, large_files=(size,))))) as cloud, php_box(tmp_path) as box:
        made = PhpWorld(cloud, tmp_path, settings={"run": {"entities": list(TALK)}}, box=box)
        assert made.run().exit_code == 0
        (arrived,) = [row["fields"] for row in made.dump("files") if row["fields"]["size"] == size]
        staged = [json.loads(row["Payload"]) for row in made.table("Files", "Payload")]
    assert [one["sha256"] for one in staged if one["size"] == size] == [arrived["sha256"]]
    assert sum(sent) < size + 2 * max(sent)
