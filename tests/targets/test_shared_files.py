"""Files that records of two entities name: whoever met them first, they are there when they are named. By the box's own
methods a message takes no file any more once it is sent."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from tests.targets.everything import Move, moving

from b24migrate.model.records import Settled, Status
from b24migrate.model.values import utc_text
from b24migrate.targets.rest import files

SHARED = "disk:50013"  # of a message and of a task


@pytest.fixture
def met(tmp_path: Path) -> Iterator[Move]:
    """Tasks were read before chats."""
    with moving(tmp_path, "users", "groups", "chats", "tasks") as move:
        assert move.run("users", "groups").exit_code == 0
        assert move.run("tasks", phases=("custom-fields-get", "get")).exit_code == 0
        assert move.world.sql("SELECT Entity, Status FROM Files WHERE RowKey = ?", SHARED) == [("tasks", "NEW")]
        yield move


def test_a_message_goes_with_a_file_that_a_task_met_first(met: Move) -> None:
    assert met.run("chats", phases=("get", "set")).exit_code == 0
    met.run("tasks", phases=("set",))  # without a CRM some of them are refused
    assert met.run("chats").exit_code == 0
    assert met.unforeseen == []
    uploaded = met.world.sql("SELECT count(*) FROM Files WHERE Status = 'IMPORT_OK'")
    assert uploaded == [(len(met.world.box.portal.native.alive("files")),)]


def test_a_message_waits_for_a_file_that_is_to_be_tried_again(met: Move) -> None:
    with met.app() as app:
        now = app.context.clock.now()
        failed = Settled(SHARED, Status.ERROR_RETRY, 1, "UPLOAD_FAILED", "", utc_text(now + timedelta(minutes=5)))
        app.context.store.settle("files", app.context.streams["files"].table, [failed], now=now)
    assert met.run("chats").exit_code == 0
    row = met.world.records("Files")[SHARED]
    assert (row["Status"], row["Attempts"]) == ("IMPORT_OK", 2)
    assert row["TargetId"] in [str(one) for one in met.world.box.portal.company.drive.files]
    assert met.unforeseen == []


def test_a_message_goes_without_a_file_that_was_given_up(met: Move) -> None:
    for one in (met.world.folder / "b24migrate.db.files").rglob("*"):
        if one.is_file():
            one.unlink()
    met.run("chats")
    assert met.world.records("Files")[SHARED]["Status"] == "IMPORT_ERR"
    assert {row["Status"] for row in met.world.records("ChatMessages").values()} == {"IMPORT_OK"}


@pytest.mark.parametrize("refused", [False, True])
def test_two_who_upload_the_same_file_at_once_get_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    data, both, upload = b"plan", Barrier(2), files.upload_file

    def together(*args: object) -> str:
        both.wait(60)  # neither has found the other's
        number = upload(*args)  # type: ignore[arg-type]
        both.wait(60)
        return number

    monkeypatch.setattr(files, "upload_file", together)
    with moving(tmp_path, "users") as move, move.app() as app, ThreadPoolExecutor(2) as pool:
        if refused:
            move.world.strike_box(
                {"method": "disk.file.delete", "kind": "error", "code": "ACCESS_DENIED", "status": 403}
            )

        def put(_: int) -> str | None:
            digest = hashlib.sha256(data).hexdigest()
            return app.context.target.put_file("source:file:disk:5", "plan.pdf", len(data), digest, io.BytesIO(data))

        one, other = pool.map(put, range(2))
        assert one == other
        left = [str(number) for number in move.world.box.portal.company.drive.files]
        assert one in left
        assert len(left) == 1 + refused
