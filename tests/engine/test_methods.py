"""Which methods the source has is found out by calling them: `method.get` denies some that work."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.engine.every_stream import tasks_of
from tests.engine.world import World

from b24migrate.engine import analysis
from b24migrate.engine.conductor import READINGS
from b24migrate.engine.diagnosis import Diagnosis
from b24migrate.engine.doctor import examine
from b24migrate.engine.state import States
from b24migrate.ports import ANALYSIS, Command, RegisterRow
from b24sim.dump import dump
from b24sim.methods import all_methods
from b24sim.methods.system import ALL_SCOPES, MethodHabits
from b24sim.native.task_habits import TaskHabits
from b24sim.registry import Registry

ENTITIES = ("users", "groups", "tasks")
MODERN, OLDER = "tasks.task.list", "task.item.list"
README = Path(__file__).parents[2] / "README.md"


def scopes_of_the_readme() -> list[str]:
    """Those that a person ticks who does what the README says."""
    step = README.read_text("utf-8").partition("an inbound webhook with the scopes ")[2].partition(" for\n")[0]
    return re.findall(r"`([a-z_.]+)`", step)


def method_of(made: World, stream: str) -> str:
    ((method,),) = made.sql("SELECT SourceMethod FROM SourceInventory WHERE Stream = ? AND IsLatest", stream)
    return str(method)


def called(made: World, name: str) -> int:
    stats = made.cloud.portal.stats
    return int(stats.methods[name] + stats.inner[name])


def comments(made: World) -> set[str]:
    return {record["id"] for record in dump(made.cloud.portal, "task_comments")}


def examined(made: World) -> Diagnosis:
    with made.app() as app:
        return app.runner.examine([entity for entity in app.catalog.entities if entity.name in ENTITIES])


# ---------------------------------------------------------------- portals of today


def test_with_the_scopes_of_the_readme_tasks_are_read_by_the_newer_list_with_their_chats(tmp_path: Path) -> None:
    scopes = scopes_of_the_readme()
    assert {"task", "im", "disk"} < set(scopes)
    assert "tasks" not in scopes
    with tasks_of(tmp_path, scopes=scopes) as made:
        made.run(*ENTITIES)
        assert method_of(made, "tasks") == MODERN
        assert called(made, OLDER) == called(made, "task.item.getdata") == called(made, "im.chat.get") == 0
        assert set(made.records("TaskComments")) == comments(made)
        assert any(":m" in key for key in made.records("TaskComments"))


@pytest.mark.parametrize("habits", [MethodHabits(), MethodHabits(by_scope=True)], ids=("module", "scope"))
def test_what_is_available_is_not_asked_for(tmp_path: Path, habits: MethodHabits) -> None:
    with tasks_of(tmp_path, scopes=("user", "sonet_group", "task", "im"), method_habits=habits) as made:
        assert examined(made).facts.methods == {MODERN: True}


def test_a_method_that_method_get_has_not_heard_of_is_used(tmp_path: Path) -> None:
    with tasks_of(tmp_path, method_habits=MethodHabits(stale=frozenset({MODERN}))) as made:
        assert made.run(*ENTITIES).exit_code == 0
        assert method_of(made, "tasks") == MODERN


@pytest.mark.parametrize("has", [True, False])
def test_a_portal_without_method_get_is_asked_all_the_same(tmp_path: Path, has: bool) -> None:
    lacking = ("method.get",) if has else ("method.get", "tasks.*")
    with tasks_of(tmp_path, without=lacking) as made:
        assert examined(made).facts.methods == {MODERN: has}


def test_a_method_get_that_fails_is_no_answer(tmp_path: Path) -> None:
    with tasks_of(tmp_path) as made:
        made.strike_cloud({"method": "method.get", "kind": "error", "code": "ACCESS_DENIED", "status": 403})
        assert examined(made).facts.methods == {MODERN: True}


@pytest.mark.parametrize("code", ["ACCESS_DENIED", "ERROR_CORE"])
def test_what_refuses_is_there(tmp_path: Path, code: str) -> None:
    habits = MethodHabits(stale=frozenset({MODERN}))
    with tasks_of(tmp_path, method_habits=habits) as made:
        made.strike_cloud({"method": MODERN, "kind": "error", "code": code, "status": 403})
        assert examined(made).facts.methods == {MODERN: True}


def test_what_answers_that_it_is_not_there_is_missing_whatever_method_get_says(tmp_path: Path) -> None:
    with tasks_of(tmp_path, method_habits=MethodHabits(by_scope=True)) as made:
        made.strike_cloud({"method": MODERN, "kind": "error", "code": "ERROR_METHOD_NOT_FOUND", "status": 404})
        assert examined(made).facts.methods == {MODERN: False}
        assert made.run(*ENTITIES).exit_code == 0
        assert method_of(made, "tasks") == OLDER
        assert set(made.records("TaskComments")) == comments(made)


@pytest.mark.parametrize("denied", [True, False])
def test_where_the_call_tells_nothing_existence_decides(tmp_path: Path, denied: bool) -> None:
    habits = MethodHabits(stale=frozenset({MODERN}) if denied else frozenset())
    with tasks_of(tmp_path, scopes=("user", "sonet_group", "task", "im"), method_habits=habits) as made:
        made.strike_cloud({"method": MODERN, "kind": "500"})
        assert examined(made).facts.methods == {MODERN: not denied}


def test_the_probe_costs_no_further_request_and_brings_no_record(tmp_path: Path) -> None:
    with tasks_of(tmp_path) as made:
        with made.app() as app:
            context, chosen = app.context, [app.catalog.entity(name) for name in ENTITIES]
            examine(
                context.source, context.target, context.store, chosen, timezone=ZoneInfo("UTC"), clock=context.clock
            )
            assert (called(made, MODERN), made.cloud.portal.stats.methods["batch"]) == (1, len(made.webhooks))
            params = app.catalog.entity("tasks").probes[MODERN]
            (answer,) = app.context.source.batch([Command(MODERN, params)])
        assert answer.result == b'{"tasks":[]}'


# ---------------------------------------------------------------- portals that lack the newer list

MISSING = [("tasks.*",), (MODERN,)]  # the whole controller, or one action of it


@pytest.mark.parametrize("without", MISSING, ids=("controller", "action"))
def test_the_older_list_finds_the_chats_another_way(tmp_path: Path, without: tuple[str, ...]) -> None:
    with tasks_of(tmp_path, without=without) as made:
        chats = [chat for chat in made.cloud.portal.company.chats.values() if chat.entity_type == "TASKS_TASK"]
        for chat in chats[::2]:  # portals call them by either name
            chat.entity_type = "TASKS"
        assert len(chats) > 2
        assert made.run(*ENTITIES).exit_code == 0
        assert method_of(made, "tasks") == OLDER
        assert set(made.records("TaskComments")) == comments(made)
        assert any(":m" in key for key in made.records("TaskComments"))
        assert not [note for note in made.entity("tasks").notes if "chat" in note]


def test_a_chat_that_the_older_list_names_is_not_asked_for(tmp_path: Path) -> None:
    with tasks_of(tmp_path, without=("tasks.*",), task_habits=TaskHabits(old_lists_name_chats=True)) as made:
        assert made.run(*ENTITIES).exit_code == 0
        assert called(made, "im.chat.get") == 0
        assert set(made.records("TaskComments")) == comments(made)


def test_chats_that_cannot_be_found_are_stated(tmp_path: Path) -> None:
    with tasks_of(tmp_path, without=("tasks.*", "im.chat.get")) as made:
        made.run(*ENTITIES)
        about = made.entity("tasks")
        assert set(made.records("TaskComments")) < comments(made)
        assert [note for note in about.notes if "the chat of the task could not be read" in note]


def test_without_the_scope_of_chats_the_loss_is_stated(tmp_path: Path) -> None:
    lesser = [scope for scope in ALL_SCOPES if scope != "im"]
    with tasks_of(tmp_path, without=("tasks.*",), scopes=lesser) as made:
        made.run(*ENTITIES)
        about = made.entity("tasks")
        assert method_of(made, "tasks") == OLDER
        assert about.streams["task_comments"].impossible > 0
        assert [check for check in examined(made).warnings if "comments in task chats" in check.message]


# ---------------------------------------------------------------- what the store remembers


def test_what_an_earlier_version_took_for_missing_is_not_believed(tmp_path: Path) -> None:
    with tasks_of(tmp_path) as made:
        examined(made)
        with made.app() as app:
            kept = app.context.store.read(ANALYSIS, analysis.KEY)
            assert kept is not None
            earlier = {name: value for name, value in kept.values["Data"]["facts"].items() if name != "called"}
            data = {"mapped": True, "facts": earlier | {"methods": {MODERN: False}}}
            app.context.store.write(ANALYSIS, [RegisterRow(analysis.KEY, {"Data": data})])
        with made.app() as app:  # a worker that joins a run which an earlier version began
            assert app.context.reading(app.context.streams["tasks"]).method == MODERN
        assert made.run(*ENTITIES).exit_code == 0
        assert method_of(made, "tasks") == MODERN
        assert called(made, OLDER) == 0


LATER = (*ENTITIES, "feed")


@pytest.mark.parametrize("earlier", [False, True], ids=("this version", "an earlier one"))
def test_a_run_that_goes_on_reads_anew_what_it_read_by_the_older_list(tmp_path: Path, earlier: bool) -> None:
    with tasks_of(tmp_path, without=("tasks.*", "im.chat.get")) as made:
        made.strike_cloud({"method": "log.blogpost.get", "kind": "500"})
        assert made.run(*LATER).exit_code == 4
        assert method_of(made, "tasks") == OLDER
        assert made.entity("tasks").phases["verify"].state == "done"
        assert set(made.records("TaskComments")) < comments(made)
        made.strike_cloud()
        if earlier:  # they did not keep how they read
            with made.app() as app:
                States(app.context.store).change(
                    "tasks", lambda before: replace(before, counts={"pass": before.pass_no})
                )
        made.cloud.portal.methods = Registry(all_methods())  # an update
        made.run(*LATER)
        assert method_of(made, "tasks") == MODERN
        assert set(made.records("TaskComments")) == comments(made)
        assert {row["Status"] for row in made.records("TaskComments").values()} == {"IMPORT_OK"}
        assert {row["created_count"] for row in made.imported("tasks").values()} == {1}


def test_a_run_that_goes_on_reads_nothing_twice_where_nothing_changed(tmp_path: Path) -> None:
    with tasks_of(tmp_path) as made:
        made.strike_cloud({"method": "log.blogpost.get", "kind": "500"})
        assert made.run(*LATER).exit_code == 4
        made.strike_cloud()
        before = called(made, MODERN), called(made, "task.checklistitem.getlist")
        made.run(*LATER)
        assert (called(made, MODERN), called(made, "task.checklistitem.getlist")) == (
            before[0] + 1,
            before[1],
        )  # a probe


WALKED = {"chat_messages": "ChatMessages", "feed_comments": "FeedComments"}


@pytest.mark.parametrize("earlier", ["nothing", "methods", "this"])
def test_a_run_that_goes_on_reads_anew_what_was_walked_the_other_way(tmp_path: Path, earlier: str) -> None:
    """What has come since shows whether it did."""
    chosen = ("users", "groups", "chats", "feed", "tasks")
    with tasks_of(tmp_path) as made:
        made.strike_cloud({"method": "task.checklistitem.getlist", "kind": "500"})
        assert made.run(*chosen).exit_code == 4
        staged = {stream: set(made.records(table)) for stream, table in WALKED.items()}
        for stream in WALKED:
            with made.app() as app:
                states, read = States(app.context.store), app.catalog.owner[stream]
                methods = {one.name: app.context.reading(one).method for one in (*read.aids, *read.streams)}
                kept: dict[str, Any] = {"nothing": {}, "methods": {READINGS: methods}}.get(earlier, {})
                counts = {"pass": states.read(read.name).pass_no, **kept}
                if earlier != "this":
                    states.change(read.name, partial(replace, counts=counts))
                else:  # later versions compare it with theirs
                    assert states.read(read.name).counts[READINGS][stream] == f"{methods[stream]} down"
            assert made.entity(read.name).phases["verify"].state == "done"
            made.change(stream, "add")
        made.strike_cloud()
        assert made.run(*chosen).exit_code == 0
        for stream, table in WALKED.items():
            assert len(set(made.records(table)) - staged[stream]) == (earlier != "this"), stream
            assert {row["created_count"] for row in made.imported(stream).values()} == {1}
