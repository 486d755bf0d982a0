"""CRM records go one after the other in the order of their times, however many hands there are, and keep them."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count, permutations
from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving

from b24migrate.app import App
from b24migrate.entities import catalog, rest_writers
from b24migrate.entities.crm.rest_items import WRITERS
from b24migrate.model.streams import PHASES
from b24migrate.targets.rest.box import Box

ENTITIES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
COMPANIES = ("users", "crm_structure", "crm_companies")
TABLES = {"CrmCompanies": 4, "CrmContacts": 3, "CrmDeals": 2, "CrmSpItems": 0}
STREAMS = {4: "crm_companies", 3: "crm_contacts", 2: "crm_deals"}
LONG_AGO = datetime(2021, 3, 1, 9, 0, tzinfo=UTC)


def shuffle(move: Move, *numbers: int) -> None:
    """Times on the source that have nothing to do with ids, some of them twice."""
    luck = random.Random(5)
    for number, items in move.world.cloud.portal.company.crm.items.items():
        hours = [place // 2 for place in range(len(items))]
        luck.shuffle(hours)
        for source_id, hour in zip(list(items), hours, strict=True) if not numbers or number in numbers else ():
            stream = STREAMS.get(number, "crm_spitems")
            name = source_id if number in STREAMS else f"{number}:{source_id}"
            row = items.row(source_id)
            fields = {field: moment for field, moment in times(hour).items() if field in row}
            move.world.change(stream, id=name, fields=fields)


def times(hour: int) -> dict[str, str]:
    made = LONG_AGO + timedelta(hours=hour)
    return {
        "createdTime": made.isoformat(),
        "movedTime": (made + timedelta(minutes=20)).isoformat(),
        "updatedTime": (made + timedelta(minutes=40)).isoformat(),
    }


def made_at(hour: int) -> dict[str, str]:
    return {name: moment for name, moment in times(hour).items() if name != "movedTime"}


def when(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def times_of(move: Move) -> dict[str, tuple[datetime, datetime]]:
    """By table and id: when a record was made according to the source, and to the box."""
    found = {}
    for table, number in TABLES.items():
        for row in move.world.table(table, "RowKey", "TargetId", "SourceUtc"):
            kind = number or int(row["RowKey"].partition(":")[0])
            there = move.world.box.portal.company.crm.items[kind].row(int(row["TargetId"]))
            found[f"{table}:{row['RowKey']}"] = (when(row["SourceUtc"]), when(there["createdTime"]))
    return found


def changed_times(move: Move) -> dict[str, tuple[datetime, datetime]]:
    return {name: pair for name, pair in times_of(move).items() if pair[0] != pair[1]}


def assert_as_announced(move: Move) -> None:
    """Of the times that the order is there for; every record once."""
    assert move.twice() == []
    assert move.unforeseen == []
    assert move.spared == []
    announced = [one for one in move.announced() if one.field in ("createdTime", "movedTime")]
    assert [one for one in announced if one.expected != one.seen] == []
    assert all(one.by_the_record for one in announced)


def test_every_record_keeps_its_times_with_many_workers_and_lost_answers(tmp_path: Path) -> None:
    with moving(tmp_path, *ENTITIES, deals=48, contacts=44, companies=24, smart_items=22) as move:
        shuffle(move)
        move.world.settings["run"] |= {"workers": 8}
        move.lose(3, "crm.item.batchImport")
        assert move.run().exit_code == 0
        assert len(times_of(move)) == 48 - 2 + 44 + 24 + 2 * 22  # two deals are templates of recurring ones
        assert changed_times(move) == {}
        assert_as_announced(move)
        assert all(one.seen == 0 for one in move.announced() if one.field == "createdTime")


# ---------------------------------------------------------------- killed


class Killed(BaseException):
    """Nobody catches it."""


def strike(app: App, after: int) -> None:
    """The process dies at one of its writes to the store, the queue or the box, before or after it."""
    writes = count(1)

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **more: Any) -> Any:
            mine = next(writes)  # several hands write at once
            if mine == after:
                raise Killed
            answer = call(*args, **more)
            if mine == after + 1:
                raise Killed
            return answer

        return called

    for port, names in (
        (app.context.store, ("settle", "write", "erase")),
        (app.context.target, ("send",)),
        (app.context.queue, ("finish", "put")),
    ):
        for name in names:
            setattr(port, name, dying(getattr(port, name)))


def test_killed_at_any_moment_it_goes_on_in_the_order(tmp_path: Path) -> None:
    luck, deaths = random.Random(3), 0
    with moving(tmp_path, *COMPANIES, companies=40, deals=30) as move:
        shuffle(move)
        move.world.settings["run"] |= {"workers": 1}
        move.world.settings["entities"] = {"crm_companies": {"batch": 5}}
        with move.app() as app:
            app.runner.run(["users", "crm_structure"], tick=move.world.leap())
            app.runner.run(["crm_companies"], PHASES[: PHASES.index("set")], tick=move.world.leap())
        while "NEW" in move.statuses()["crm_companies"]:
            with suppress(Killed), move.app() as app:
                deaths += 1
                strike(app, luck.randint(1, 30))
                app.runner.run(["crm_companies"], PHASES[PHASES.index("set") :], tick=move.world.leap())
        assert deaths >= 5
        assert move.run().exit_code == 0
        assert changed_times(move) == {}
        assert_as_announced(move)


# ---------------------------------------------------------------- who comes late


def test_the_file_waits_for_who_has_to_be_tried_again(tmp_path: Path) -> None:
    """Each call is repeated three times before it counts as an attempt."""
    with moving(tmp_path, *COMPANIES, companies=40, deals=30) as move:
        shuffle(move)
        move.world.settings["entities"] = {"crm_companies": {"batch": 10}}
        move.world.strike_box({"method": "crm.item.batchImport", "kind": "500", "at": [2, 3, 4, 7, 8, 9]})
        assert move.run().exit_code == 0
        attempts = [row["Attempts"] for row in move.world.table("CrmCompanies", "Attempts")]
        assert sorted(attempts) == [1] * 20 + [2] * 20
        assert changed_times(move) == {}
        assert_as_announced(move)


def add_on_the_box(box: Box) -> None:
    box.call("crm.item.add", {"entityTypeId": 4, "fields": {"title": "Somebody's own"}})


def test_what_the_box_had_before_raises_what_is_older_and_nothing_else(tmp_path: Path) -> None:
    with moving(tmp_path, *COMPANIES, companies=20) as move:
        shuffle(move)
        there = move.world.box.portal.company.crm.items[4]
        with move.app() as app:
            add_on_the_box(app.context.target._box)  # type: ignore[attr-defined]
        (first,) = there.ids
        there.put(first, there.row(first) | {"createdTime": times(4)["createdTime"]})
        (announced,) = [one for one in move.announced() if one[:2] == ("crm_companies", "createdTime")]
        assert move.run().exit_code == 0
        assert {pair[1] for pair in changed_times(move).values()} == {when(times(4)["createdTime"])}
        assert len(changed_times(move)) == 8
        assert announced.expected == 0  # nothing was read yet
        (announced,) = [one for one in move.announced() if one[:2] == ("crm_companies", "createdTime")]
        assert (announced.expected, announced.seen) == (8, 8)
        assert_as_announced(move)


@pytest.mark.parametrize("between", ["crm.item.batchImport", "crm.item.list"])
def test_who_comes_behind_somebody_elses_is_raised_and_verify_knows_it(tmp_path: Path, between: str) -> None:
    """Somebody works on the box meanwhile, be it between our question and our call."""
    with moving(tmp_path, *COMPANIES, companies=40, deals=30) as move:
        shuffle(move)
        with move.app() as app:
            box: Box = app.context.target._box  # type: ignore[attr-defined]
            name = "call" if between.endswith("Import") else "question"
            ask, asked = getattr(box, name), [0]

            def meddled(method: str, params: Any) -> Any:
                asked[0] += method == between
                if method == between and asked[0] == 2:
                    add_on_the_box(box)
                return ask(method, params)

            setattr(box, name, meddled)
            assert app.runner.run(app.chosen(), tick=move.world.leap()).exit_code == 0
        assert len(changed_times(move)) in (20, 40)
        assert_as_announced(move)


def test_what_comes_in_a_later_pass_keeps_its_time_if_it_is_new_enough(tmp_path: Path) -> None:
    with moving(tmp_path, *COMPANIES, companies=12) as move:
        shuffle(move)
        assert move.run().exit_code == 0
        (old,) = move.world.change("crm_companies", "add", fields=made_at(1))
        (new,) = move.world.change("crm_companies", "add", fields=made_at(500))
        assert move.run().exit_code == 0
        late = {f"CrmCompanies:{old}"}
        assert changed_times(move).keys() == late
        assert f"CrmCompanies:{new}" in times_of(move)
        assert move.world.sql("SELECT SourceId FROM Foreseen WHERE Field = 'createdTime'") == [(str(old),)]
        assert_as_announced(move)


def test_a_deal_that_went_to_another_stage_since_is_no_finding(tmp_path: Path) -> None:
    with moving(
        tmp_path, "users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", companies=3, contacts=3
    ) as move:
        shuffle(move, 2)
        assert move.run().exit_code == 0
        deals = move.world.cloud.portal.company.crm.items[2]
        rows = [deals.row(number) for number in deals]
        one, other = next(
            (a, b)
            for a, b in permutations(rows, 2)
            if all(a[name] == b[name] for name in ("categoryId", "closed")) and a["stageId"] != b["stageId"]
        )
        times_of = {"stageId": other["stageId"], "movedTime": "2023-05-01T10:00:00Z"}
        move.world.change("crm_deals", id=one["id"], fields=times_of)
        assert move.run().exit_code == 0
        assert move.world.sql("SELECT SourceId FROM Foreseen WHERE Field = 'movedTime'") == [(str(one["id"]),)]
        assert_as_announced(move)


def test_the_time_that_they_go_by_is_the_one_that_is_staged() -> None:
    """Nothing is decoded to find out the order."""
    whole = catalog()
    known = whole.streams
    assert {known[writer.stream].stamp for writer in WRITERS} == {"createdTime"}
    assert all(known[writer.stream].stamp for writer in rest_writers(whole) if writer.serial)


def test_what_came_to_the_source_meanwhile_does_not_jump_the_queue(tmp_path: Path) -> None:
    """An item of the first smart process names one of the second that was made after the reading: were it sent at once,
    all others of its kind would be too old."""
    with moving(tmp_path, *ENTITIES, smart_items=8, deals=4, contacts=4, companies=4) as move:
        shuffle(move)
        smart = sorted(set(move.world.cloud.portal.company.crm.items) - STREAMS.keys())
        first, second = (move.world.cloud.portal.company.crm.items[number] for number in smart[:2])
        child, newest = first.ids[3], second.ids[-1] + 1
        move.world.change("crm_spitems", id=f"{smart[0]}:{child}", fields={f"parentId{smart[1]}": newest, **times(2)})
        with move.app() as app:
            app.runner.run([one for one in app.chosen() if one != "crm_spitems"], tick=move.world.leap())
            app.runner.run(["crm_spitems"], PHASES[: PHASES.index("set")], tick=move.world.leap())
        move.world.change("crm_spitems", "add", type=smart[1], id=newest)
        with move.app() as app:
            ended = app.runner.run(["crm_spitems"], PHASES[PHASES.index("set") :], tick=move.world.leap())
        assert ended.exit_code == 0
        assert f"CrmSpItems:{smart[1]}:{newest}" in times_of(move)
        assert changed_times(move) == {}
        assert move.twice() == []
        assert move.unforeseen == []


def test_what_one_record_names_in_vain_keeps_nothing_else_from_it(tmp_path: Path) -> None:
    """Nobody stands in for people who are gone, so that some records fail, and others that name them went before."""
    with moving(tmp_path, *ENTITIES, deals=20, smart_items=12) as move:
        move.world.settings["mapping"] = {}
        assert move.run().exit_code == 5
        assert "IMPORT_ERR" in move.statuses()["crm_spitems"]
        assert {fate for _, fate, *_ in move.unforeseen} == {"dangling"}
