"""A portal that lacks the newer methods gives the same result by the older ones, as far as they tell."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import STREAMS, everything, tasks_of
from tests.engine.world import World

from b24migrate.engine.phases.context import decode_record, decode_row, walk
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import PHASES, Stream

CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")
TASKS = ("users", "groups", "tasks")
Told = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def modern(tmp_path_factory: pytest.TempPathFactory) -> Told:
    with everything(tmp_path_factory.mktemp("modern")) as made:
        assert made.run(*CRM, "tasks").exit_code == 0
        return records_of(made)


def records_of(made: World) -> Told:
    """What the box has, with every id as the key that it was imported under, and no address."""
    rows = [row for name in (*STREAMS, "files") for row in made.imported(name).values()]
    keys = {str(row["id"]): str(row["key"]) for row in rows}

    def named(found: re.Match[str]) -> str:
        return keys.get(found[0], found[0])

    def plain(fields: Mapping[str, Any]) -> dict[str, Any]:
        text = re.sub(r"127\.0\.0\.1:\d+", "portal", json.dumps(fields))
        return {name: text_of(value) for name, value in json.loads(re.sub(r"\d{7,8}", named, text)).items()}

    return {str(row["key"]): plain(row["fields"]) for row in rows}


def text_of(value: Any) -> Any:
    """The older methods tell numbers as texts."""
    if isinstance(value, list):
        return sorted(map(str, value))
    return float(value) if isinstance(value, int | float) or re.fullmatch(r"-?\d+(\.\d+)?", str(value)) else value


def differing(ours: Told, theirs: Told, stream: Stream) -> dict[str, set[str]]:
    """The fields that are not alike, and in which records. What was dropped here was not migrated there."""
    found: dict[str, set[str]] = {}
    mine = [key for key in theirs if key.startswith(f"source:{stream.name}:")]
    assert mine
    for key in mine:
        for name in ours[key].keys() | theirs[key].keys():
            if (ours[key].get(name) or None) != (theirs[key].get(name) or None):
                found.setdefault(name, set()).add(key)
    return found


@pytest.mark.parametrize("without", [("crm.item.list",), ("crm.item.list", "crm.item.productrow.list")], ids=len)
def test_the_deprecated_listings_of_the_crm(tmp_path: Path, modern: Told, without: tuple[str, ...]) -> None:
    with everything(tmp_path, without=without) as made:
        assert made.run(*CRM).exit_code == 0
        tasks_less = records_of(made)
        with made.app() as app:
            streams = [app.catalog.streams[name] for name in ("crm_companies", "crm_contacts", "crm_deals")]
        for stream in streams:
            assert made.stream(stream.name).imported == made.stream(stream.name).source
            assert not differing(modern, tasks_less, stream).keys() - {"observers"}
        methods: dict[str, str] = dict(made.sql("SELECT Stream, SourceMethod FROM SourceInventory"))
        assert methods["crm_deals"] == "crm.deal.list"


def test_the_deprecated_listing_of_tasks(tmp_path: Path, modern: Told) -> None:
    with everything(tmp_path, without=("tasks.task.list",)) as made:
        assert made.run(*CRM, "tasks").exit_code == 0
        with made.app() as app:
            streams = app.catalog.entity("tasks").streams
        for stream in streams:
            assert differing(modern, records_of(made), stream) == {}
        assert ("tasks", "task.item.list") in made.sql("SELECT Stream, SourceMethod FROM SourceInventory")
        assert not [note for note in made.entity("tasks").notes if "could not be read again" in note]


def test_chats_of_tasks_that_an_older_version_did_not_look_for_are_read(tmp_path: Path, modern: Told) -> None:
    with tasks_of(tmp_path, without=("tasks.task.list",)) as made:
        with pytest.MonkeyPatch.context() as older:
            older.setattr("b24migrate.entities.tasks.streams.with_chats", lambda _, rows: rows)
            made.run(*TASKS)
        assert comments(records_of(made)) < comments(modern)
        assert made.run(*TASKS).exit_code == 0
        assert comments(records_of(made)) == comments(modern)


def comments(known: Told) -> set[str]:
    return {key for key in known if key.startswith("source:task_comments:")}


def test_what_has_no_older_method_fails_and_says_so(tmp_path: Path) -> None:
    with everything(tmp_path, without=("crm.item.list",)) as made:
        ended = made.run("users", "crm_structure", "crm_spitems")
        assert ended.exit_code == 4
        assert "crm-spitems-get failed" in ended.message
        assert "crm.item.list answered ERROR_METHOD_NOT_FOUND" in ended.message


def test_a_limited_run_asks_for_what_is_missing_by_the_older_methods(tmp_path: Path) -> None:
    with everything(tmp_path, without=("crm.item.list",)) as made:
        assert made.run("users", "crm_structure").exit_code == 0
        assert made.run("crm_companies", "crm_contacts", "crm_deals", run={"test_limit": 2}).exit_code == 0
        assert [key for key, row in made.records("CrmCompanies").items() if row["PulledThrough"]]


@pytest.mark.parametrize("without", [(), ("tasks.task.list",)], ids=("modern", "older"))
def test_tasks_that_are_asked_for_by_id_bring_their_custom_values(tmp_path: Path, without: tuple[str, ...]) -> None:
    with tasks_of(tmp_path, without=without) as made:
        assert made.run(*TASKS, phases=PHASES[:-1]).exit_code == 0
        with made.app() as app:
            stream = app.context.streams["tasks"]
            staged = {one.row_key: decode_record(one, stream) for one in walk(app.context, stream.table)}
            assert stream.fetch is not None
            again = stream.fetch(app.context.source, list(staged.values()), app.context.known(stream))
            asked = {key: custom_values(stream, decode_row(row, stream)) for key, row in again.items()}
            listed = {key: custom_values(stream, one) for key, one in staged.items()}
        assert any(listed.values())
        assert asked == listed


def custom_values(stream: Stream, one: SourceRecord) -> dict[str, Any]:
    return {name: value for name, value in one.payload.items() if name.startswith(stream.custom.prefixes) and value}
