"""A refusal of everything stops the run and loses nothing; a refusal of one record does not stop the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import CATALOG, everything, tasks_of
from tests.engine.refusals import DENIED, PRODUCTS, SOLD, complete, sells, sold
from tests.engine.world import TALK, World, world
from tests.engine.world import small as plan

from b24migrate.model.errors import GateUnmet


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with everything(tmp_path) as migration:
        yield migration


@pytest.fixture
def talks(made: World) -> World:
    """The same, of which only people, groups and chats are migrated."""
    made.settings["run"] |= {"entities": list(TALK)}
    return made


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[World]:
    """And the feed and tasks, through two webhooks and with many files."""
    with tasks_of(tmp_path) as migration:
        migration.settings["run"] |= {"entities": [*TALK, "feed", "tasks"]}
        yield migration


def refused(made: World, *entities: str) -> GateUnmet:
    with pytest.raises(GateUnmet) as stopped:
        made.run(*entities)
    assert stopped.value.exit_code == 3
    assert "run the same command" in str(stopped.value)
    return stopped.value


# ---------------------------------------------------------------- everything is refused


def test_a_plan_that_lapses_in_the_middle_stops_and_loses_nothing(made: World) -> None:
    """At its beginning and again and again, each time further on."""
    for after in (3, 20, 45, 80):
        made.strike_cloud({"kind": "lapsed", "after": after})
        stop = refused(made)
        assert stop.code == "ACCESS_LOST"
        assert "the plan has lapsed, or the webhook lost access" in str(stop)
        refused(made)  # nothing has changed yet
    complete(made)


def test_a_portal_that_refuses_every_command_of_a_batch_stops_too(made: World) -> None:
    for after in (60, 400):
        made.strike_cloud({"method": "*", **DENIED, "after": after})
        refused(made)
        refused(made)
    complete(made)


def test_one_request_that_is_refused_as_a_whole_leaves_no_deal_without_its_products(sales: World) -> None:
    for number in range(1, 60, 7):
        sales.strike_cloud({"method": "batch", "kind": "lapsed", "at": [number]})
        with suppress(GateUnmet):
            sales.run()
    complete(sales)
    assert sold(sales) == sells(sales)


def test_a_web_page_with_403_is_a_blocked_address_and_no_outage(talks: World) -> None:
    talks.strike_cloud({"method": "*", "kind": "403html", "after": 12})
    stop = refused(talks)
    assert stop.code == "ADDRESS_BLOCKED"
    assert "it blocks this machine's address" in str(stop)
    refused(talks)
    complete(talks)


def test_one_request_that_a_firewall_dislikes_is_tried_again(talks: World) -> None:
    talks.strike_cloud({"method": "batch", "kind": "403html", "at": [6]})
    assert talks.run().exit_code == 0
    assert talks.cloud.portal.stats.faults["403html"] == 1


@pytest.mark.parametrize("status", [401, 403])
def test_the_box_that_refuses_everything_marks_no_record(talks: World, status: int) -> None:
    talks.strike_box({"method": "import.*", **DENIED, "status": status, "after": 9})
    refused(talks)
    for stream in CATALOG.streams.values():
        assert "IMPORT_ERR" not in {row["Status"] for row in talks.records(stream.table.name).values()}
    complete(talks)


def test_a_box_behind_a_firewall_that_blocks_this_machine(talks: World) -> None:
    talks.strike_box({"method": "*", "kind": "403html", "after": 9})
    assert refused(talks).code == "ADDRESS_BLOCKED"
    complete(talks)


def test_another_webhook_that_loses_its_rights_is_named(busy: World) -> None:
    busy.strike_cloud({"method": "*", "kind": "lapsed", "user": 2, "after": 2})
    assert "webhook of user 2" in str(refused(busy))
    complete(busy)


# ---------------------------------------------------------------- what was granted before is refused


@pytest.mark.parametrize(("scope", "entities"), [("disk", TALK), ("crm", SOLD), ("im", TALK)])
def test_a_scope_that_is_taken_away_in_the_middle_is_named(
    made: World, scope: str, entities: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made.settings["run"] |= {"entities": list(entities)}
    portal = made.cloud.portal
    first = METHODS[scope]
    method = portal.method(first)

    def once(context: Any, params: Any) -> Any:
        portal.scopes = tuple(one for one in portal.scopes if one != scope)
        return method.call(context, params)

    granted = portal.scopes
    monkeypatch.setitem(
        portal.methods._methods, method.name, type(method)(method.name, method.scopes, once, method.upper)
    )
    assert f"`{scope}`" in str(refused(made))
    portal.scopes = granted
    monkeypatch.undo()
    complete(made)


# What is called before the scope is taken away.
METHODS = {
    "disk": "department.get",
    "crm": "crm.item.list",
    "task": "tasks.task.list",
    "im": "im.dialog.get",
    "sonet_group": "sonet_group.get",
    "log": "log.blogpost.get",
}


@pytest.mark.parametrize("after", [0, 2])
def test_products_that_are_refused_stop_the_deals(sales: World, after: int) -> None:
    sales.strike_cloud({"method": PRODUCTS, **DENIED, **({"after": after} if after else {})})
    stop = refused(sales)
    assert PRODUCTS in str(stop)
    assert "`crm`" in str(stop)
    complete(sales)
    assert sold(sales) == sells(sales)


@pytest.mark.parametrize(
    ("method", "entities"),
    [
        ("sonet_group.user.get", ("users", "groups")),
        ("task.checklistitem.getlist", ("users", "groups", "tasks")),
        ("crm.item.list", SOLD),
    ],
)
def test_a_method_that_an_earlier_run_was_granted_is_not_believed_to_refuse_records(
    whole: World, method: str, entities: Sequence[str]
) -> None:
    whole.settings["run"] = whole.settings["run"] | {"entities": list(entities)}
    whole.strike_cloud({"method": method, **DENIED})
    assert method in str(refused(whole))
    complete(whole)


@pytest.mark.parametrize("method", ["socialnetwork.api.workgroup.list", "im.chat.user.list"])
def test_all_calls_of_an_earlier_run_that_are_refused_may_be_the_records_own(whole: World, method: str) -> None:
    """No other call tells whether it is the records or the method: they are asked for again by the next run."""
    whole.settings["run"] = whole.settings["run"] | {"entities": list(TALK)}
    whole.strike_cloud({"method": method, **DENIED})
    assert whole.run().exit_code in (0, 5)
    complete(whole)


@pytest.mark.parametrize("rule", [{"kind": "403html"}, {**DENIED, "status": 401}])
def test_files_that_are_refused_one_after_the_other_stop_the_run(made: World, rule: dict[str, Any]) -> None:
    made.strike_cloud({"method": "download", **rule, "after": 5})
    assert "refuses all files" in str(refused(made))
    made.strike_cloud({"method": "download", **rule})
    assert "refuses all files" in str(refused(made))  # an earlier run got some
    complete(made)


def test_a_verify_that_may_not_ask_the_source_finds_nothing(whole: World) -> None:
    whole.strike_cloud({"kind": "lapsed", "after": 5})
    with pytest.raises(GateUnmet):
        whole.run(phases=("verify",))
    assert whole.sql("SELECT count(*) FROM Findings") == [(0,)]
    complete(whole)


def test_files_that_may_not_be_read_stop_nobody(busy: World) -> None:
    busy.strike_cloud(
        {"method": "disk.file.get", **DENIED, "every": 3},
        {"method": "im.v2.File.download", **DENIED},
        {"method": "download", **DENIED, "every": 7},
    )
    assert busy.run().exit_code in (0, 5)


def test_a_chat_that_may_not_be_read_stops_nobody(talks: World) -> None:
    talks.strike_cloud({"method": "im.dialog.get", "kind": "error", "code": "ACCESS_ERROR", "status": 403, "every": 2})
    assert talks.run().exit_code == 0


def test_a_file_costs_no_question_about_the_webhook(small: World) -> None:
    assert small.run().exit_code == 0
    stats = small.cloud.portal.stats
    asked = stats.methods["profile"] + stats.inner["profile"]
    assert asked < 4 < stats.downloads


def test_photos_that_are_gone_from_the_storage_stop_nobody(small: World) -> None:
    small.strike_cloud({"method": "download", "kind": "403html", "after": 1})
    for _ in range(2):
        assert small.run("users").exit_code in (0, 5)


def test_one_file_that_came_before_and_was_closed_since_stops_nobody(busy: World) -> None:
    busy.strike_cloud({"method": "download", **DENIED, "status": 401, "at": [14, 15]})
    assert busy.run().exit_code in (0, 5)
    assert busy.cloud.portal.stats.faults["error"] == 2


def test_the_only_group_that_is_closed_after_the_first_run_stops_nobody(tmp_path: Path) -> None:
    with world(tmp_path, plan(groups=1)) as made:
        assert made.run().exit_code == 0
        made.strike_cloud({"method": "sonet_group.user.get", **DENIED})
        for _ in range(2):
            assert made.run().exit_code in (0, 5)
