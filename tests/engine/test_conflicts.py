"""Records that changed on both sides: compared before an update, listed by field, decided by rule or by somebody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.engine.changes import NEW_NAME
from tests.engine.every_stream import CATALOG
from tests.engine.world import World
from tests.targets.everything import moving

from b24migrate import cli
from b24migrate.engine.phases import conflicts
from b24migrate.engine.phases.conflicts import SentFields, unpack_sent
from b24migrate.entities.crm import rest_close_dates
from b24migrate.ports import CONFLICTS
from b24migrate.targets.module import ImportTarget
from b24sim.company.crm_ids import DEAL

Json = Any
OURS = "Ours now"
USERS_AND_DEALS = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")
LIST = "import.groups.list"
TARGET: dict[str, Json] = {"run": {"conflicts": "target"}}
ASK: dict[str, Json] = {"run": {"conflicts": "ask"}}


def rows(made: World) -> dict[str, tuple[str, list[tuple[str, str, str, str]]]]:
    """By stream and id: the decision and the fields as last sent, on the target, in the source."""
    with made.app() as app:
        found = list(app.context.store.all_rows(CONFLICTS))
    return {row.key: (row.values["Decision"], [tuple(one[:4]) for one in row.values["Fields"]]) for row in found}


def group(made: World, place: int = 0) -> tuple[str, str]:
    """Source id and target id of one."""
    key, found = list(made.imported("groups").items())[place]
    return key.rpartition(":")[2], str(found["id"])


def on_box(made: World, source_id: str, name: str = "NAME") -> Json:
    return made.imported("groups")[f"source:groups:{source_id}"]["fields"].get(name)


def sent(made: World, source_id: str, name: str = "NAME") -> str:
    return str(on_box(made, source_id, name))


def edit(made: World, target_id: str, **fields: Json) -> None:
    made.box.portal.imports.edit("groups", target_id, fields)


def decide(made: World, decision: str, *source_ids: str) -> tuple[int, list[str]]:
    with made.app() as app:
        return conflicts.decide(app.context, decision, CATALOG.streams["groups"], source_ids)


def lists(made: World) -> int:
    return made.box.portal.stats.methods.get(LIST, 0)


# ---------------------------------------------------------------- what is a conflict


def test_a_change_on_both_sides_is_listed_and_the_source_wins(talk: World) -> None:
    (one, target), (other, _) = group(talk), group(talk, 1)
    before = sent(talk, one)
    edit(talk, target, NAME=OURS)
    talk.change("groups", id=one, fields={"NAME": NEW_NAME})
    talk.change("groups", id=other, fields={"NAME": "Other"})
    assert talk.run("groups").exit_code == 0
    assert rows(talk) == {f"groups:{one}": ("source", [("NAME", before, OURS, NEW_NAME)])}
    assert (on_box(talk, one), on_box(talk, other)) == (NEW_NAME, "Other")
    assert talk.stream("groups").conflicts == 1
    assert talk.stream("groups").to_json()["conflicts"] == 1


def test_a_field_that_only_the_target_changed_is_listed_too_since_the_update_overwrites_it(talk: World) -> None:
    one, target = group(talk)
    before = sent(talk, one)
    edit(talk, target, NAME=OURS)
    talk.change("groups", id=one, fields={"DESCRIPTION": NEW_NAME})
    talk.run("groups")
    assert rows(talk) == {f"groups:{one}": ("source", [("NAME", before, OURS, before)])}


@pytest.mark.parametrize(
    "fields",
    [
        {"NAME": NEW_NAME},  # the same on both sides
        {"DATE_ACTIVITY": "2030-01-01T00:00:00Z", "DATE_UPDATE": "2030-01-01T00:00:00Z"},  # moves by itself
        {"COLOUR": "green"},  # of the target's own
    ],
)
def test_what_is_no_conflict(talk: World, fields: dict[str, Json]) -> None:
    one, target = group(talk)
    edit(talk, target, **fields)
    talk.change("groups", id=one, fields={"NAME": NEW_NAME})
    assert talk.run("groups").exit_code == 0
    assert rows(talk) == {}
    assert on_box(talk, one) == NEW_NAME


def test_without_an_update_nothing_is_asked(talk: World) -> None:
    """Whatever somebody changed on the target."""
    edit(talk, group(talk)[1], NAME=OURS)
    talk.box.portal.stats.reset()
    talk.run("groups", phases=("get", "set"))
    assert lists(talk) == 0
    for place in range(3):
        talk.change("groups", id=group(talk, place)[0], fields={"DESCRIPTION": NEW_NAME})
    talk.box.portal.stats.reset()
    talk.run("groups", phases=("get", "set"))
    assert lists(talk) == 1  # for all three


def test_a_record_of_an_earlier_version_is_known_by_its_digest(talk: World) -> None:
    (one, target), (other, _) = group(talk), group(talk, 1)
    with talk.app() as app:
        links = app.context.store.links("groups", [one, other])
        old = [link._replace(sent="") for link in links.values()]
        app.context.store.link("groups", old, now=app.context.clock.now())
    edit(talk, target, NAME=OURS)
    for source_id in (one, other):
        talk.change("groups", id=source_id, fields={"NAME": NEW_NAME})
    talk.run("groups")
    assert rows(talk) == {f"groups:{one}": ("source", [("NAME", "", OURS, NEW_NAME)])}


def test_the_second_pass_takes_none_of_our_own_writes_for_a_conflict(whole: World) -> None:
    """Everything was sent, much of it twice."""
    assert whole.sql("SELECT count(*) FROM Conflicts") == [(0,)]
    twice = [row for row in whole.imported("tasks").values() if row["updated_count"]]
    assert twice


def test_what_is_kept_of_a_record_is_short() -> None:
    kept = SentFields(CATALOG.streams["tasks"])
    fields = {"title": "x" * 5000, "auditors": ["9", "10"], "timeEstimate": 5.0, "tags": [], "priority": "#1"}
    packed = kept.pack(fields)
    assert len(packed) < 140
    known = unpack_sent(packed)
    again = {"title": "x" * 5000, "auditors": ["10", "9"], "timeEstimate": 5, "tags": None, "priority": "#1"}
    assert all(known[name] == kept.mark(name, value) for name, value in again.items())
    assert known["title"] != kept.mark("title", "x" * 4999)


# ---------------------------------------------------------------- what is done about it


def test_the_target_wins_until_the_source_changes_again(talk: World) -> None:
    one, target = group(talk)
    edit(talk, target, NAME=OURS)
    talk.change("groups", id=one, fields={"NAME": NEW_NAME})
    for _ in range(2):
        assert talk.run("groups", **TARGET).exit_code == 0
        assert (on_box(talk, one), talk.records("Groups")[one]["Status"]) == (OURS, "IMPORT_OK")
        assert rows(talk)[f"groups:{one}"][0] == "target"
        assert talk.entity("groups").verified
    talk.change("groups", id=one, fields={"NAME": "Third"})
    assert talk.run("groups").exit_code == 0
    assert on_box(talk, one) == "Third"
    assert [(name, now) for name, _, _, now in rows(talk)[f"groups:{one}"][1]] == [("NAME", "Third")]


def test_one_that_somebody_has_to_decide_stays_until_then(talk: World) -> None:
    (one, target), (other, second) = group(talk), group(talk, 1)
    for source_id, target_id in ((one, target), (other, second)):
        edit(talk, target_id, NAME=OURS)
        talk.change("groups", id=source_id, fields={"NAME": NEW_NAME})
    result = talk.run("groups", **ASK)
    assert (result.exit_code, "2 conflicts to decide" in result.message) == (5, True)
    assert {decision for decision, _ in rows(talk).values()} == {""}
    assert (on_box(talk, one), talk.entity("groups").verified) == (OURS, False)
    assert decide(talk, "source", one) == (1, [])
    assert decide(talk, "target", other, "777") == (1, ["777"])
    assert talk.retry("groups", **ASK).exit_code == 0
    assert (on_box(talk, one), on_box(talk, other)) == (NEW_NAME, OURS)
    assert {key: decision for key, (decision, _) in rows(talk).items()} == {
        f"groups:{one}": "source",
        f"groups:{other}": "target",
    }
    assert talk.entity("groups").verified
    assert decide(talk, "target", one) == (0, [one])  # too late


def test_what_the_target_changed_after_the_decision_is_asked_again(talk: World) -> None:
    one, target = group(talk)
    edit(talk, target, NAME=OURS)
    talk.change("groups", id=one, fields={"NAME": NEW_NAME})
    talk.run("groups", **ASK)
    decide(talk, "source", one)
    edit(talk, target, NAME="Ours once more")
    assert talk.run("groups", **ASK).exit_code == 5
    assert on_box(talk, one) == "Ours once more"
    assert rows(talk)[f"groups:{one}"][0] == ""


def test_the_source_wins_also_with_what_was_sent_before(talk: World) -> None:
    """The target knows this digest, and would take it for a repetition."""
    one, target = group(talk)
    before = sent(talk, one)
    edit(talk, target, NAME=OURS)
    talk.change("groups", id=one, fields={"NAME": NEW_NAME})
    talk.run("groups", **TARGET)
    talk.change("groups", id=one, fields={"NAME": before})
    talk.run("groups")
    assert on_box(talk, one) == before


def test_killed_between_the_question_and_the_update(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, target = group(talk)
    before = sent(talk, one)
    edit(talk, target, NAME=OURS)
    talk.change("groups", id=one, fields={"NAME": NEW_NAME})

    def killed(*_: Json, **__: Json) -> list[Json]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ImportTarget, "send", killed)
        with pytest.raises(KeyboardInterrupt):
            talk.run("groups")
    assert on_box(talk, one) == OURS
    talk.run("groups")
    assert rows(talk) == {f"groups:{one}": ("source", [("NAME", before, OURS, NEW_NAME)])}
    assert on_box(talk, one) == NEW_NAME
    assert talk.imported("groups")[f"source:groups:{one}"]["updated_count"] == 1


# ---------------------------------------------------------------- a box without the module


def test_a_box_without_the_module(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "groups", messages=1) as move:
        made = move.world
        assert move.run().exit_code == 0
        staged = made.records("Groups")
        chosen: Sequence[str] = list(staged)[:3]
        groups = made.box.portal.company.groups
        target = int(staged[chosen[0]]["TargetId"])
        before = groups.row(target)["NAME"]
        groups.put(target, groups.row(target) | {"NAME": OURS})
        for source_id in chosen:
            made.change("groups", id=source_id, fields={"DESCRIPTION": NEW_NAME})
        made.settings["run"] |= {"conflicts": "target"}
        assert move.run().exit_code == 0
        assert rows(made) == {f"groups:{chosen[0]}": ("target", [("NAME", before, OURS, before)])}
        there = [groups.row(int(staged[one]["TargetId"]))["DESCRIPTION"] for one in chosen]
        assert [one == NEW_NAME for one in there] == [False, True, True]
        assert groups.row(target)["NAME"] == OURS


def test_killed_before_the_close_date_of_a_deal_is_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The box closes a deal on the day on which it comes into a final stage. Nobody has changed that day."""
    with moving(tmp_path, *USERS_AND_DEALS, messages=1) as move:
        made = move.world
        assert move.run().exit_code == 0
        source, box = made.cloud.portal.company.crm.items[DEAL], made.box.portal.company.crm.items[DEAL]
        deal, other = [one for one in source if source.row(one)["stageId"] == "NEW"][:2]
        there, second = (int(made.records("CrmDeals")[str(one)]["TargetId"]) for one in (deal, other))
        won = {"stageId": "WON", "stageSemanticId": "S", "closed": "Y", "closedate": "2031-05-06T03:00:00+03:00"}
        for one in (deal, other):
            made.change("crm_deals", id=one, fields=won)
        box.put(second, box.row(second) | {"closedate": "2019-02-03T03:00:00+03:00"})  # this one somebody has changed

        def killed(*_: Json) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(rest_close_dates, "close", killed)
            with pytest.raises(KeyboardInterrupt):
                move.run()
        assert box.row(there)["stageId"] == "WON"
        assert not str(box.row(there)["closedate"]).startswith("2031-05-06")
        assert move.run().exit_code == 0
        assert {key: [name for name, *_ in fields] for key, (_, fields) in rows(made).items()} == {
            f"crm_deals:{other}": ["closedate"]
        }
        assert [str(box.row(one)["closedate"])[:10] for one in (there, second)] == ["2031-05-06"] * 2


def test_the_list_holds_no_long_value(talk: World) -> None:
    one, target = group(talk)
    edit(talk, target, DESCRIPTION="a" * 5000)
    talk.change("groups", id=one, fields={"DESCRIPTION": "b" * 5000})
    talk.run("groups")
    (fields,) = [json.dumps(found) for _, found in rows(talk).values()]
    assert len(fields) < 1000


# ---------------------------------------------------------------- the command


def test_conflicts_are_listed_and_decided_by_the_command(talk: World, capsys: pytest.CaptureFixture[str]) -> None:
    (one, target), (other, second) = group(talk), group(talk, 1)
    for source_id, target_id in ((one, target), (other, second)):
        edit(talk, target_id, NAME=OURS)
        talk.change("groups", id=source_id, fields={"NAME": NEW_NAME})
    assert talk.run(**ASK).exit_code == 5

    def command(*arguments: str) -> tuple[int, str]:
        code = cli.execute(["--config", str(talk.folder / "b24migrate.toml"), "conflicts", *arguments])
        out, err = capsys.readouterr()
        return code, out + err

    code, text = command()
    assert code == 0
    assert f'groups {one} NAME: sent "' in text
    assert "(not decided)" in text
    file = talk.folder / "conflicts.csv"
    assert command("--csv", str(file))[0] == 0
    lines = file.read_text("utf-8-sig").splitlines()
    decided = [line.replace(",,", ",target,") if f"groups,{other}," in line else line for line in lines]
    file.write_text("\n".join(decided))
    assert command("decide", "--from", str(file)) == (
        0,
        "1 record decided. The next run sends it if the source wins.\n",
    )
    code, text = command("decide", "source", "groups", one, "999999")
    assert (code, text.splitlines()[1]) == (0, "groups 999999: nothing to decide.")
    assert command("decide", "source")[0] == 2
    assert talk.run(**ASK).exit_code == 0
    assert [on_box(talk, number) for number in (one, other)] == [NEW_NAME, OURS]
    found = json.loads(command("--json")[1])["conflicts"]
    assert {row["source_id"]: row["decision"] for row in found} == {one: "source", other: "target"}
