"""Files: fetched, uploaded, tried again, and never a reason to lose anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.engine.world import TALK, World

from b24migrate.engine import jobs
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.file_access import remember_downloaded
from b24migrate.engine.phases.files import AT_STAKE, keep_at_end
from b24migrate.model.events import FileMoved
from b24migrate.model.records import Job
from b24migrate.model.source_records import FileRef
from b24migrate.ports import Source
from b24sim.errors import RestError


def attached(world: World) -> dict[str, list[str]]:
    """The files of each message on the box."""
    rows = world.imported("chat_messages").items()
    return {key: row["fields"]["files"] for key, row in rows if row["fields"].get("files")}


def test_every_file_arrives_with_its_bytes(talk: World) -> None:
    files = talk.imported("files")
    company = talk.cloud.portal.company
    assert len(attached(talk)) == 6
    for key, row in files.items():
        if key.startswith("source:file:disk:"):
            found = company.file(int(key.rpartition(":")[2]))
            assert found is not None
            assert row["fields"]["size"] == found[0].size
    shas: dict[str, str] = dict(talk.sql("SELECT RowKey, json_extract(CAST(Payload AS TEXT), '$.sha256') FROM Files"))
    assert {f"source:file:{key}": sha for key, sha in shas.items()} == {
        key: row["fields"]["sha256"] for key, row in files.items()
    }


def test_a_file_of_the_crm_keeps_its_name(whole: World) -> None:
    """The source says it nowhere but beside the bytes."""
    names = {key: row["fields"]["name"] for key, row in whole.imported("files").items() if ":crm:" in key}
    numbers = {key: int(key.rpartition(":")[2]) for key in names}
    assert names == {key: whole.cloud.portal.company.crm.file(number).name for key, number in numbers.items()}  # type: ignore[union-attr]
    assert any(name.endswith(".docx") for name in names.values())


def test_a_download_that_fails_once_is_tried_again_before_anything_is_sent(small: World) -> None:
    """The time of the next try may come before the end of the round that failed."""
    small.strike_cloud({"method": "download", "kind": "500", "at": [1, 4, 6]})
    assert small.run().exit_code == 0
    assert {one["Status"] for one in small.records("Files").values()} == {"IMPORT_OK"}
    assert len(attached(small)) == 6


def test_a_slow_round_leaves_no_failed_download_behind(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = small.clock
    record_event = small._saw

    def slow(event: Any) -> None:
        record_event(event)
        if isinstance(event, FileMoved):
            clock.sleep(5.0)

    monkeypatch.setattr(small, "_saw", slow)
    small.strike_cloud({"method": "download", "kind": "500", "at": [2]})
    assert small.run().exit_code == 0
    assert {one["Status"] for one in small.records("Files").values()} == {"IMPORT_OK"}


def test_a_page_in_place_of_a_file_is_an_error_and_not_a_file(small: World) -> None:
    small.strike_cloud({"method": "download", "kind": "html200"})
    small.run()
    assert small.imported("files") == {}
    assert {one["LastErrorCode"] for one in small.records("Files").values()} == {"HTML_INSTEAD_OF_FILE"}
    assert any("is not migrated" in note for note in small.entity("chats").notes)
    assert {one["Status"] for one in small.records("ChatMessages").values()} == {"IMPORT_OK"}
    assert not small.entity("chats").verified


def test_a_file_that_comes_with_a_retry_reaches_its_record(small: World) -> None:
    small.strike_cloud({"method": "download", "kind": "html200"})
    small.run()
    assert attached(small) == {}
    small.strike_cloud()
    small.retry()
    assert len(attached(small)) == 6
    photos = [row for row in small.imported("users").values() if row["fields"].get("PERSONAL_PHOTO")]
    assert len(photos) == sum(key.startswith("user:") for key in small.records("Files"))
    assert small.run().exit_code == 0
    assert all(small.entity(name).verified for name in TALK)
    assert {created for created, _ in small.effects().values()} == {1}


def test_an_outage_of_the_source_uses_no_try_of_a_download(small: World) -> None:
    small.strike_cloud(
        {"method": "download", "kind": "502html", "count": 3},
        {"method": "server.time", "kind": "502html", "count": 4},
    )
    assert small.run().exit_code == 0
    assert {one["Attempts"] for one in small.records("Files").values()} == {1}


def test_a_file_the_target_chokes_on_takes_no_other_down(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    portal = small.box.portal
    swallow = portal._import
    poison = "source:file:disk:"
    chosen: list[str] = []

    def choke(name: str, body: Mapping[str, Any], *size: Any) -> Any:
        key = str(body.get("key") or "")
        if key.startswith(poison) and (not chosen or key == chosen[0]):
            chosen[:] = [key]
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        return swallow(name, body, *size)  # type: ignore[arg-type]

    monkeypatch.setattr(portal, "_import", choke)
    small.run()
    failed = {f"source:file:{key}" for key, one in small.records("Files").items() if one["Status"] != "IMPORT_OK"}
    assert failed == set(chosen)
    assert {one["Attempts"] for key, one in small.records("Files").items() if f"source:file:{key}" in failed} == {3}
    assert len(attached(small)) == 5
    assert [name for name in TALK if not small.entity(name).verified] == ["chats"]


def test_a_limit_on_links_loses_no_file(small: World) -> None:
    small.strike_cloud({"method": "disk.file.get", "kind": "operating_limit", "count": 40})
    assert small.run().exit_code == 0
    assert len(attached(small)) == 6


def test_a_file_whose_link_makes_no_sense_takes_no_other_with_it(small: World) -> None:
    with small.app() as app:
        kinds = dict(app.context.file_kinds)
        told = kinds["disk"].links
        assert told is not None
        asked: list[str] = []

        def links(source: Source, refs: Sequence[FileRef]) -> dict[str, str]:
            asked.extend(one.id for one in refs if one.id not in asked)
            if any(one.id == asked[0] for one in refs):
                raise ZeroDivisionError
            return told(source, refs)

        kinds["disk"] = replace(kinds["disk"], links=links)
        odd = app.with_context(replace(app.context, file_kinds=kinds))
        odd.runner.run(app.chosen(), tick=small.leap())
    came = set(small.imported("files"))
    assert [one for one in asked if f"source:file:disk:{one}" not in came] == asked[:1]
    assert len(asked) > 1


def test_what_must_not_go_without_its_files_does_not(small: World) -> None:
    small.strike_cloud({"method": "download", "kind": "html200"})
    assert small.run(mapping={"policy": {"chat_messages.files": "require"}}).exit_code == 5
    failed = [row for row in small.records("ChatMessages").values() if row["LastErrorCode"] == "FILE_MISSING"]
    assert {row["Status"] for row in failed} == {"IMPORT_ERR"}
    assert len(failed) == 6


def test_files_of_a_lane_are_fetched_one_after_the_other_in_one_job(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Job] = []
    fetch = jobs.PERFORMERS["fetch"]

    def counted(context: RunContext, job: Job) -> Follow:
        done.append(job)
        return fetch(context, job)

    monkeypatch.setitem(jobs.PERFORMERS, "fetch", counted)
    assert small.run().exit_code == 0
    assert len(done) < len(small.records("Files"))


def test_an_upload_whose_time_is_up_goes_on_behind_the_last_file_that_arrived(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was passed over would cost another round of the whole lane."""
    came: list[list[str]] = []
    upload = jobs.PERFORMERS["upload"]

    def watched(context: RunContext, job: Job) -> Follow:
        before = {row["RowKey"] for row in small.records("Files").values() if row["Status"] == "IMPORT_OK"}
        followed = upload(context, job)
        after = {row["RowKey"] for row in small.records("Files").values() if row["Status"] == "IMPORT_OK"}
        came.append(sorted(after - before))
        return followed

    monkeypatch.setitem(jobs.PERFORMERS, "upload", watched)
    with small.app(run={"workers": 1}) as app:
        hurried = app.with_context(app.context.with_options(longest_job_s=0.0))
        assert hurried.runner.run(app.chosen(), tick=small.leap()).exit_code == 0
    lanes = sum(not some for some in came)  # the last job of a lane finds nothing more
    assert [len(some) for some in came if some] == [1] * len(small.records("Files"))
    assert lanes < len(small.records("Files"))


def test_the_smallest_of_what_came_prove_that_files_can_be_had(small: World) -> None:
    """Of different places, where there are."""
    sizes = {"a": 9, "b": 2, "c": 7, "d": 4, "e": 3}
    with small.app() as app:
        for one, size in sizes.items():
            remember_downloaded(app.context, FileRef("disk", one, place="x" if one in "de" else one), size)
        known = app.context.memory.downloaded["disk"]
    assert [(one.id, one.size) for one in known] == [("b", 2), ("e", 3), ("c", 7)]


def test_few_bytes_are_at_stake_before_what_became_of_files_is_written() -> None:
    written: list[Sequence[str]] = []
    with keep_at_end(written.append) as kept:
        for name, size in (("a", AT_STAKE), ("b", 1), ("c", AT_STAKE), ("d", 1), ("e", 5)):
            kept.add(name, size)
    assert written == [["a", "b"], ["c", "d"], ["e"]]
