"""A refusal of everything stops the run and loses nothing; a refusal of one record does not stop the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.every import CATALOG, PLAN, SETTINGS, everything, look, tasks_of
from tests.pipeline.world import TALK, World, world
from tests.pipeline.world import small as plan

from b24migrate.engine.phases import partial
from b24migrate.model.errors import GateUnmet
from b24migrate.model.records import Staged
from b24migrate.ports import PARTIAL, RegisterRow
from b24sim.company.crm_ids import DEAL
from b24sim.errors import RestError

DENIED: dict[str, Any] = {"kind": "error", "code": "ACCESS_DENIED", "status": 403}
CLOSED = RestError("ACCESS_DENIED", "Access denied", 403)
BROKEN = RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
PRODUCTS = "crm.item.productrow.list"
REFERENCE = "REFERENCE_MISSING"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with everything(tmp_path) as migration:
        yield migration


SOLD = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")


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


@pytest.fixture
def sales(made: World) -> World:
    """The same, of which only deals are migrated, and what they need; not in such small calls."""
    made.settings["run"] |= {"entities": list(SOLD)}
    del made.settings["entities"]
    return made


def refused(made: World, *entities: str) -> GateUnmet:
    with pytest.raises(GateUnmet) as stopped:
        made.run(*entities)
    assert stopped.value.exit_code == 3
    assert "run the same command" in str(stopped.value)
    return stopped.value


def complete(made: World) -> None:
    """The same command, when all is well again: everything is there, once, and verified."""
    made.strike_cloud()
    made.strike_box()
    ended = made.run()
    assert ended.exit_code == 0, ended.message
    now = look(made)
    assert now.findings == [] == now.letters
    entities = made.settings["run"].get("entities") or [one.name for one in CATALOG.entities]
    chosen = [one for one in CATALOG.entities if one.name in entities]
    assert all(now.verified[one.name] for one in chosen)
    for stream in (stream for entity in chosen for stream in entity.streams):
        assert {row["Status"] for row in now.staged[stream.name].values()} <= {"IMPORT_OK"}
        assert {made for made, _ in now.effects(stream.name).values()} <= {1}
    files = made.sql("SELECT Status, Attempts, count(*) FROM Files GROUP BY 1, 2")
    assert {(status, attempts) for status, attempts, _ in files} <= {("IMPORT_OK", 1)}


def sold(made: World) -> dict[str, int]:
    """How many product rows each deal has on the box."""
    return {
        key.rpartition(":")[2]: len(row["fields"].get("productRows", ()))
        for key, row in made.imported("crm_deals").items()
    }


def sells(made: World) -> dict[str, int]:
    crm = made.cloud.portal.company.crm
    return {str(number): len(crm.product_rows(DEAL, number)) for number in crm.deal_ids}


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
    for number in range(1, 60, 4):
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


# ---------------------------------------------------------------- single refusals


def test_products_of_one_deal_are_stated_and_read_again(sales: World) -> None:
    sales.cloud.portal.many_owners = False
    victim = list(sales.cloud.portal.company.crm.deal_ids)[2]
    rows = sells(sales)
    sales.strike_cloud({"method": PRODUCTS, **DENIED, "at": [len(rows) // 50 + 1 + 3]})
    ended = sales.run()
    assert ended.exit_code == 5
    assert ended.message == "crm_deals: 1 incomplete"
    assert not sales.entity("crm_deals").verified
    (note,) = [one for one in sales.entity("crm_deals").notes if "product rows could not be read" in one]
    assert note.startswith(f"crm_deals {victim}: ")
    assert "productRows" not in sales.imported("crm_deals")[f"source:crm_deals:{victim}"]["fields"]
    complete(sales)
    assert sold(sales) == rows


def test_products_that_stay_refused_are_stated_every_time(sales: World) -> None:
    company = sales.cloud.portal.company
    victim = list(company.crm.deal_ids)[2]
    refuse_for_ever(sales, victim)
    updated = set()
    for _ in range(3):
        ended = sales.run()
        assert (ended.exit_code, ended.message) == (5, "crm_deals: 1 incomplete")
        updated.add(sales.imported("crm_deals")[f"source:crm_deals:{victim}"]["updated_count"])
    assert len(updated) == 1


@pytest.fixture
def upgraded(sales: World) -> World:
    """Brought over by a version that took deals for whole whose products had been refused."""
    with pytest.MonkeyPatch.context() as older:
        older.setattr("b24migrate.entities.crm.products.told", lambda row, _: row)
        assert sales.run().exit_code == 0
    assert not any("productRows" in row["fields"] for row in sales.imported("crm_deals").values())
    return sales


def test_deals_that_an_older_version_left_without_products_get_them(upgraded: World) -> None:
    complete(upgraded)
    assert sold(upgraded) == sells(upgraded)
    updated = {key: row["updated_count"] for key, row in upgraded.imported("crm_deals").items()}
    complete(upgraded)
    assert {key: row["updated_count"] for key, row in upgraded.imported("crm_deals").items()} == updated


def test_a_deal_that_an_older_version_left_without_products_is_stated_when_they_are_refused(upgraded: World) -> None:
    victim = list(upgraded.cloud.portal.company.crm.deal_ids)[2]
    refuse_for_ever(upgraded, victim)
    for _ in range(2):
        ended = upgraded.run()
        assert (ended.exit_code, ended.message) == (5, "crm_deals: 1 incomplete")


def refuse_for_ever(made: World, victim: int, error: RestError = CLOSED) -> Callable[[], None]:
    """As a deal that the webhook's owner may not open. Returns what opens it again."""
    return refuse(made, PRODUCTS, lambda asked: f"'{victim}'" in asked and "'D'" in asked, error)


def refuse(made: World, name: str, chosen: Callable[[str], bool], error: RestError) -> Callable[[], None]:
    methods = made.cloud.portal.methods._methods
    method = made.cloud.portal.method(name)

    def closed(context: Any, params: Any) -> Any:
        if chosen(str(params)):
            raise RestError(error.code, error.description, error.status)
        return method.call(context, params)

    methods[method.name] = type(method)(method.name, method.scopes, closed, method.upper)
    return lambda: methods.update({method.name: method})


@pytest.mark.parametrize("many_owners", [True, False])
def test_a_deal_that_always_breaks_the_portal_buries_no_other(tmp_path: Path, many_owners: bool) -> None:
    with world(tmp_path, replace(PLAN, deals=130), webhooks=(1, 2)) as made:
        made.settings = {"mapping": SETTINGS["mapping"], "run": SETTINGS["run"] | {"entities": list(SOLD)}}
        made.cloud.portal.many_owners = many_owners
        victim = list(made.cloud.portal.company.crm.deal_ids)[2]
        rows = sells(made)
        heal = refuse_for_ever(made, victim, BROKEN)
        for _ in range(2):
            ended = made.run()
            assert ended.exit_code == 5
            assert incomplete(made) == [f"crm_deals:{victim}"]
            assert made.letters() == []
            assert not made.entity("crm_deals").verified
            deals = made.records("CrmDeals")
            rule = made.sql("SELECT RowKey FROM SetAside WHERE RowKey LIKE 'excluded:crm_deals:%'")
            assert deals.keys() == rows.keys() - {key.rpartition(":")[2] for (key,) in rule}
            # this company has deals with companies that are gone: nobody imports those
            assert {deals[number]["LastErrorCode"] for number in deals.keys() - sold(made).keys()} <= {REFERENCE}
            assert all(count == rows[number] for number, count in sold(made).items() if number != str(victim))
        assert any(one.startswith(f"crm_deals {victim}: ") for one in made.entity("crm_deals").notes)
        heal()
        made.run()
        assert incomplete(made) == []
        assert sold(made)[str(victim)] == rows[str(victim)]


def incomplete(made: World) -> list[str]:
    return [key for (key,) in made.sql("SELECT RowKey FROM Partial WHERE Open = 1")]


def test_a_group_that_always_breaks_the_portal_buries_no_other(small: World) -> None:
    ids = small.cloud.portal.company.groups.ids
    method = "socialnetwork.api.workgroup.list"
    refuse(small, method, lambda asked: holds(asked, ids[1]), BROKEN)
    ended = small.run()
    assert (ended.exit_code, ended.message) == (5, "groups: 1 incomplete")
    assert small.letters() == []
    assert small.records("Groups").keys() == set(map(str, ids))


def holds(asked: str, number: int) -> bool:
    """Whether a question is for a stretch with this id in it."""
    first, last = (int(re.findall(rf"'{sign}ID': '?(\d+)", asked)[0]) for sign in (">=", "<="))
    return first <= number <= last


def test_a_method_that_is_broken_for_all_leaves_all_of_them_incomplete(sales: World) -> None:
    refuse(sales, PRODUCTS, lambda asked: "'D'" in asked, BROKEN)
    ended = sales.run()
    assert (ended.exit_code, ended.message) == (5, f"crm_deals: {len(sells(sales))} incomplete")
    assert sales.letters() == []
    assert len(sales.imported("crm_deals")) == len(sells(sales))


@pytest.mark.parametrize("error", [CLOSED, BROKEN], ids=lambda one: one.code)
def test_a_deal_that_changed_and_is_refused_now_is_not_taken_for_complete(sales: World, error: RestError) -> None:
    assert sales.run().exit_code == 0
    victim = list(sales.cloud.portal.company.crm.deal_ids)[2]
    key = f"source:crm_deals:{victim}"
    before, columns = sales.imported("crm_deals")[key], ("RowKey", "Payload", "PayloadHash", "Revision", "Status")
    staged = sales.table("CrmDeals", *columns)
    heal = refuse_for_ever(sales, victim, error)
    assert sales.run().exit_code == 0  # nothing has changed
    sales.change("crm_deals", id=victim, fields={"title": "Исправлено"})
    for _ in range(2):
        ended = sales.run()
        assert (ended.exit_code, ended.message) == (5, "crm_deals: 2 differences, 1 incomplete")  # of title and time
        assert not sales.entity("crm_deals").verified
        assert sales.imported("crm_deals")[key] == before
        assert sales.table("CrmDeals", *columns) == staged
    heal()
    assert sales.run().exit_code == 0
    after = sales.imported("crm_deals")[key]["fields"]
    assert after["title"] == "Исправлено"
    assert after["productRows"] == before["fields"]["productRows"]
    assert sales.entity("crm_deals").verified


def test_of_many_incomplete_records_only_those_of_a_page_are_looked_up(
    made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made.app() as app:
        store, stream = app.context.store, CATALOG.streams["crm_deals"]
        store.write(PARTIAL, [RegisterRow(f"crm_deals:{number}", {"Open": number % 2}) for number in range(3000)])
        for name in ("rows", "all_rows", "total", "count"):
            monkeypatch.setattr(store, name, lambda *_, **__: pytest.fail("the whole register is read"))
        page = [Staged(str(number), b"{}") for number in (7, 8, 9, 5001)]
        assert partial.completed(app.context, stream, page, {"9": "refused"}) == ["7"]
        assert partial.completed(app.context, CATALOG.streams["tasks"], page, {}) == []


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
