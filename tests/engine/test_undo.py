"""Undo: what was imported is gone again, what people changed stays, and a run brings everything back, once."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import STREAMS
from tests.engine.world import World

from b24migrate.app import App
from b24migrate.engine import plan, undo
from b24migrate.engine.undo import KeptRecord, Tally, records
from b24migrate.engine.undo_lock import FRESH_S
from b24migrate.insight import certificate
from b24migrate.insight.status import overview
from b24migrate.insight.status.model import Verdict
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.model.streams import PHASES
from b24migrate.ports import COMPARED, FINDINGS, VERIFIED
from b24migrate.targets.module import ImportTarget

Tallies = dict[str, Tally]


def rehearse(made: World, *entities: str, run: str = "") -> tuple[Tallies, list[KeptRecord]]:
    with made.app() as app:
        dry_run = undo.DryRun(app.context, undo.find_scope(app.context, entities, run))
        kept = list(dry_run.walk())
        return dry_run.tallies, kept


def take(made: World, *entities: str, run: str = "") -> Tallies:
    with made.app() as app:
        return take_with(app, entities, run).tallies


def take_with(app: App, entities: Collection[str] = (), run: str = "") -> undo.Undo:
    scope = undo.find_scope(app.context, entities, run)
    dry_run = undo.DryRun(app.context, scope)
    deque(dry_run.walk(), maxlen=0)
    taking = undo.Undo(app.context, scope, dry_run)
    taking.take()
    return taking


def on_the_box(made: World) -> dict[str, set[str]]:
    found = {stream: set(made.imported(stream)) for stream in STREAMS}
    return {stream: keys for stream, keys in found.items() if keys}


def statuses(made: World, *tables: str) -> set[str]:
    return {status for table in tables for (status,) in made.sql(f'SELECT DISTINCT Status FROM "{table}"')}  # noqa: S608


def links(made: World) -> set[str]:
    return {key for (key,) in made.sql("SELECT RowKey FROM IdMap") if not key.startswith("files:")}


def losses(made: World) -> dict[str, float]:
    with made.app() as app:
        counters = app.context.store.counters()
    return {name: count for name, count in counters.items() if count and "_" in name.partition(":")[0]}


def test_everything_is_gone_and_a_run_brings_it_back_once(whole: World) -> None:
    """And what records went without is counted once."""
    before, without = on_the_box(whole), losses(whole)
    assert before.keys() == set(STREAMS)
    tallies = take(whole)
    assert on_the_box(whole) == {}
    assert {name: len(keys) for name, keys in before.items()} == {one.stream: one.deleted for one in tallies.values()}
    assert not any(one.kept or one.absent for one in tallies.values())
    assert links(whole) == set()
    assert whole.run().exit_code == 0
    assert on_the_box(whole) == before
    assert losses(whole) == without
    assert {row["created_count"] for stream in STREAMS for row in whole.imported(stream).values()} == {1}


def test_a_rehearsal_changes_nothing(whole: World) -> None:
    before = on_the_box(whole), whole.sql("SELECT * FROM IdMap"), whole.sql("SELECT * FROM Groups")
    tallies, kept = rehearse(whole)
    assert (on_the_box(whole), whole.sql("SELECT * FROM IdMap"), whole.sql("SELECT * FROM Groups")) == before
    assert {one.stream: one.deleted + one.later for one in tallies.values()} == {
        name: len(keys) for name, keys in before[0].items()
    }
    assert kept == []
    assert whole.entity("groups").verified


def test_five_times_is_once(talk: World) -> None:
    take(talk)
    for _ in range(4):
        assert not any(one.ours for one in take(talk).values())
    assert talk.run().exit_code == 0


def test_the_records_are_as_if_they_had_never_been_sent(talk: World) -> None:
    take(talk)
    assert statuses(talk, "Users", "Groups", "GroupMembers", "Chats", "ChatMessages", "Departments") == {"NEW"}
    marks = "count(TargetId), count(ImportedAtUtc), sum(Attempts)"
    assert talk.sql(f"SELECT {marks} FROM Groups") == [(0, 0, 0)]  # noqa: S608 (our own names)


# ---------------------------------------------------------------- what is kept


def test_what_somebody_changed_is_kept_and_listed_with_what_it_needs(talk: World) -> None:
    key, group = next(iter(talk.imported("groups").items()))
    talk.box.portal.imports.edit("groups", group["id"], {"NAME": "Ours now"})
    dry_run, kept = rehearse(talk)
    assert [(one.stream, one.reason) for one in kept] == [("groups", "changed after its import")]
    tallies = take(talk)
    assert set(talk.imported("groups")) == {key}
    assert on_the_box(talk)["users"] == {f"source:users:{one}" for one in named_by(talk, key)}
    assert tallies["groups"].kept == dry_run["groups"].kept == 1
    assert [why.reason for why in tallies["groups"].reasons] == ["changed after its import"]
    rows = talk.sql("SELECT Stream, SourceId, TargetId FROM Kept WHERE Stream = 'groups'")
    assert rows == [("groups", key.rpartition(":")[2], group["id"])]
    assert talk.records("Groups")[key.rpartition(":")[2]]["Status"] == "IMPORT_OK"
    assert talk.run().message == "groups: 1 difference"
    assert talk.imported("groups")[key]["fields"]["NAME"] == "Ours now"


def named_by(made: World, group: str) -> set[str]:
    fields = made.imported("groups")[group]["fields"]
    ids = {fields["OWNER_ID"], fields.get("SCRUM_MASTER_ID")}
    heads = {row["fields"].get("UF_HEAD") for row in made.imported("departments").values()}
    return {key.rpartition(":")[2] for key, row in made.imported("users").items() if row["id"] in ids | heads}


def test_what_is_kept_in_a_circle_has_its_references_again(talk: World) -> None:
    """A person whom a chat names stays, with the department and its head."""
    before = {key: row["fields"] for key, row in talk.imported("departments").items() if not row["linked"]}
    for chat in talk.imported("chats").values():
        talk.box.portal.imports.edit("chats", chat["id"], {"name": "Ours now"})
    take(talk)
    after = {key: row["fields"] for key, row in talk.imported("departments").items()}
    assert after
    heads = {key for key in after if before[key].get("UF_HEAD")}
    assert heads
    kept = {row["id"] for row in talk.imported("users").values()}
    for key in heads:
        assert after[key]["UF_HEAD"] == (before[key]["UF_HEAD"] if before[key]["UF_HEAD"] in kept else None)


def test_people_whom_the_box_had_are_never_touched(small: World) -> None:
    mail = str(small.box.portal.company.users.row(1)["EMAIL"])
    small.change("users", id=4, fields={"EMAIL": mail})
    assert small.run().exit_code == 0
    linked = {key for key, origin in small.sql("SELECT RowKey, Origin FROM IdMap") if origin == "matched"}
    assert linked == {"users:4"}
    tallies = take(small)
    assert tallies["users"].deleted == len(small.records("Users")) - 1
    assert small.records("Users")["4"]["Status"] == "IMPORT_OK"
    assert links(small) == linked
    tallies = rehearse(small)[0]
    with small.app() as app:
        left = undo.count_leftovers(app.context, undo.find_scope(app.context, ()), tallies.values())
    assert (tallies["users"].not_ours, left.linked) == (1, {"users": 1})
    assert small.run().exit_code == 0


# ---------------------------------------------------------------- a part of it


def test_only_an_entity_keeps_what_others_refer_to_and_tells_them(whole: World) -> None:
    with whole.app() as app:
        dependants = undo.count_dependants(app.context, undo.find_scope(app.context, ["groups"]))
    assert dependants.keys() >= {"tasks", "feed_posts"}
    before = on_the_box(whole)
    tallies = take(whole, "groups")
    assert "group_members" not in on_the_box(whole)
    assert all("depend" in why.reason for why in tallies["groups"].reasons)
    assert {name for name in before if before[name] != on_the_box(whole).get(name)} <= {"groups", "group_members"}
    assert whole.run("groups").exit_code == 0
    assert on_the_box(whole) == before


def test_only_what_a_run_imported(talk: World) -> None:
    first = on_the_box(talk)
    talk.change("groups", "add", count=2)
    changed = next(iter(talk.records("ChatMessages"))).rpartition(":")[2]
    talk.change("chat_messages", id=int(changed), fields={"text": "Another text"})
    talk.clock.sleep(30)
    second = talk.run()
    assert on_the_box(talk)["groups"] > first["groups"]
    tallies = take(talk, run=second.run.id)
    assert on_the_box(talk) == first
    assert tallies["groups"].deleted == 2
    assert sum(one.deleted for one in tallies.values()) == 2 + tallies["group_members"].deleted
    assert talk.records("ChatMessages").popitem()[1]["Status"] == "IMPORT_OK"
    assert sum(one["Revision"] for one in talk.records("ChatMessages").values()) == 1
    assert rehearse(talk, run=second.run.id)[0]["groups"].other_runs == len(first["groups"])


def test_runs_that_follow_one_another_in_the_same_second_are_told_apart(talk: World) -> None:
    runs = [talk.run("users").run.id, talk.run().run.id]
    take(talk)
    ended = [talk.run(name, phases=("set",)).run.id for name in ("users", "groups", "chats")]
    for run, name in zip(ended, ("users", "groups", "chats"), strict=True):
        dry_run, _ = rehearse(talk, run=run)
        assert {one.entity for one in dry_run.values() if one.ours} == {name}
    assert not any(one.ours for run in runs for one in rehearse(talk, run=run)[0].values())


def test_an_unknown_run_is_told_which_there_are(talk: World) -> None:
    with talk.app() as app, pytest.raises(BadConfiguration, match='There is no run "yesterday"') as refused:
        undo.find_scope(app.context, (), "yesterday")
    with talk.app() as app:
        current = plan.current(app.context.store)
    assert current is not None
    assert current.id in refused.value.hint


# ---------------------------------------------------------------- refusals


def test_nothing_is_taken_back_while_a_run_is_under_way(talk: World) -> None:
    with talk.app() as app:
        wanted = plan.Plan(("users",))
        plan.begin(app.context.store, app.context.clock, wanted)
        with pytest.raises(Halted, match="is running") as refused:
            undo.refuse_busy(app.context)
        assert (refused.value.code, "pause" in refused.value.hint) == ("UNDO_BUSY", True)
        plan.pause(app.context.store, app.context.clock)
        undo.refuse_busy(app.context)


def test_a_run_that_begins_meanwhile_ends_it(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went by then is NEW, and the run that came brings it back."""
    delete = ImportTarget.delete

    def begun(target: ImportTarget, *args: Any, dry_run: bool) -> Any:
        if not dry_run:
            with talk.app() as other:
                plan.begin(other.context.store, other.context.clock, plan.Plan(("users", "groups", "chats")))
        return delete(target, *args, dry_run=dry_run)

    before = on_the_box(talk)
    monkeypatch.setattr(ImportTarget, "delete", begun)
    with pytest.raises(Halted, match="is running"):
        take(talk)
    assert on_the_box(talk) != before
    monkeypatch.undo()
    assert talk.run().exit_code == 0
    assert on_the_box(talk) == before


def test_another_box_is_refused(talk: World) -> None:
    with talk.app(target={"portal_url": "https://other.example"}) as app:
        with pytest.raises(BadConfiguration, match="https://other") as refused:
            undo.refuse_other_target(app.context)
        assert refused.value.code == "UNDO_OTHER_TARGET"
    with talk.app() as app:
        undo.refuse_other_target(app.context)


# ---------------------------------------------------------------- what is told afterwards


def test_nobody_is_told_any_more_that_all_is_well(talk: World, tmp_path: Path) -> None:
    with talk.app() as app:
        certificate.make(app.context, tmp_path / "proof")
    take(talk, "chats")
    entity = talk.entity("chats")
    assert (entity.verified, entity.phases["set"].state, entity.phases["verify"].state) == (False, "pending", "pending")
    assert (entity.streams["chats"].imported, entity.streams["chats"].waiting) == (0, 8)
    with talk.app() as app:
        for register in (FINDINGS, COMPARED, VERIFIED):
            assert app.context.store.count(register, "chats:") == 0
            assert app.context.store.count(register, "chat_messages:") == 0
        now = overview(app.context).now
        assert (now.verdict, "chats" in now.message) == (Verdict.FINDINGS, True)
        with pytest.raises(Halted, match="chats-set is pending"):
            certificate.make(app.context, tmp_path / "proof")
    assert talk.entity("users").verified
    assert talk.run().exit_code == 0
    with talk.app() as app:
        certificate.make(app.context, tmp_path / "proof")


def test_what_cannot_be_taken_back_is_told(whole: World) -> None:
    with whole.app() as app:
        scope = undo.find_scope(app.context, ())
        leftovers = undo.count_leftovers(app.context, scope, take_with(app).tallies.values())
    assert leftovers.files == len(whole.imported("files")) > 0
    assert leftovers.custom_fields > 0


# ---------------------------------------------------------------- whatever happens


class Killed(Exception):
    """The process dies."""


class Fate:
    """So many calls of the ports, and then the end: before the last one, or after it, when nobody sees its answer."""

    def __init__(self, rng: random.Random, most: int = 400) -> None:
        self._left = rng.randrange(1, most)
        self._early = rng.random() < 0.5

    def dying(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **more: Any) -> Any:
            self._left -= 1
            if self._left == 0 and self._early:
                raise Killed
            answer = call(*args, **more)
            if self._left == 0:
                raise Killed
            return answer

        return called

    def befall(self, app: App) -> App:
        for port, names in (
            (app.context.store, ("take_back", "unlink", "write", "erase", "link", "swap")),
            (app.context.target, ("delete", "send")),
            (app.context.queue, ("drop",)),
        ):
            for name in names:
                setattr(port, name, self.dying(getattr(port, name)))
        return app


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_any_point_and_done_again_everything_is_gone_and_comes_back_once(
    whole: World, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "AT_ONCE", 20)
    rng, deaths = random.Random(seed), 0
    before = on_the_box(whole)
    while on_the_box(whole) or links(whole):
        try:
            with whole.app() as app:
                take_with(Fate(rng, 900).befall(app))  # of about 1,400 calls; half of them are for what is gone
        except Killed:
            deaths += 1
            whole.clock.sleep(FRESH_S)  # a lock of a process on another machine
    assert deaths >= 3
    assert whole.run().exit_code == 0
    assert on_the_box(whole) == before
    assert {row["created_count"] for stream in STREAMS for row in whole.imported(stream).values()} == {1}
    assert all(whole.entity(name).verified for name in ("users", "groups", "tasks", "crm_deals"))


def test_a_run_that_had_stopped_goes_on_after_it_and_brings_everything_once(small: World) -> None:
    small.strike_box(
        {"method": "import.chats.batch", "kind": "502html", "at": range(2, 1000)},
        {"method": "import.info", "kind": "502html", "at": range(2, 1000)},
    )
    with pytest.raises(Halted):
        small.run(run={"outage_minutes": 1, **small.settings["run"]}, entities={"chats": {"batch": 3}})
    small.strike_box()
    assert on_the_box(small).keys() >= {"users", "groups", "chats"}
    take(small)
    assert on_the_box(small) == {}
    assert small.run().exit_code == 0
    assert {len(small.imported("chats")), small.stream("chats").imported} == {8}
    assert set(small.effects().values()) <= {(1, 0), (1, 1)}


@pytest.mark.parametrize("seed", range(3))
def test_killed_and_left_alone_a_run_brings_back_what_had_gone(talk: World, seed: int) -> None:
    before = on_the_box(talk)
    for _ in range(3):
        with talk.app() as app, suppress(Killed):
            take_with(Fate(random.Random(seed)).befall(app))
        assert talk.run().exit_code == 0
        assert on_the_box(talk) == before


def test_what_arrived_without_anybody_knowing_is_taken_back_too(small: World) -> None:
    """An answer that got lost: the box has records of which the store knows nothing."""
    small.run(phases=PHASES[:-1])
    with small.app() as app:
        table, lost = app.context.streams["chat_messages"].table, list(small.records("ChatMessages"))
        app.context.store.take_back("chat_messages", table, lost)
        app.context.store.unlink("chat_messages", lost)
    assert take(small)["chat_messages"].deleted == len(small.records("ChatMessages"))
    assert on_the_box(small) == {}


def test_records_that_are_gone_by_themselves_count_as_deleted(talk: World) -> None:
    imports = talk.box.portal.imports
    messages = list(talk.imported("chat_messages"))
    imports.handle("import.chats.delete", {"stream": "chat_messages", "keys": messages, "dry_run": False})
    tallies = take(talk)
    assert (tallies["chat_messages"].absent, tallies["chat_messages"].deleted) == (len(messages), 0)
    assert on_the_box(talk) == {}
    assert talk.run().exit_code == 0
