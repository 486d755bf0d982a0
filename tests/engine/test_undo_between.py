"""Undo between two of its steps: killed there, or met there by a run or by another undo."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.engine.test_losses import losses
from tests.engine.test_undo import links, on_the_box, take, take_with
from tests.engine.world import World

from b24migrate.app import App
from b24migrate.engine import job_owner, plan, undo_lock
from b24migrate.engine.undo.forget import settle
from b24migrate.engine.undo.model import Tally
from b24migrate.model.errors import Halted
from b24migrate.model.records import Span
from b24migrate.ports import ANALYSIS, RegisterRow
from b24migrate.targets.module import ImportTarget


class Killed(Exception):
    """The process dies."""


def dies(app: App, port: Any, name: str, when: Callable[..., bool]) -> None:
    """After the first call of this name; the dead write nothing, not even that they leave."""
    call = getattr(port, name)

    def deadly(*args: Any, **more: Any) -> Any:
        if not when(*args, **more):
            return call(*args, **more)
        call(*args, **more)
        app.context.store.swap = lambda *_: False  # type: ignore[method-assign]
        raise Killed

    setattr(port, name, deadly)


def in_earnest(*_: Any, dry_run: bool) -> bool:
    return not dry_run


@pytest.mark.parametrize(("port", "name"), [("target", "delete"), ("store", "take_back"), ("store", "unlink")])
def test_a_run_after_a_kill_brings_back_what_had_gone(talk: World, port: str, name: str) -> None:
    """Also what was gone on the box while the store still said that it was there."""
    there = on_the_box(talk)
    with talk.app() as app:
        dies(app, getattr(app.context, port), name, in_earnest if name == "delete" else any_call)
        with pytest.raises(Killed):
            take_with(app)
    assert on_the_box(talk) != there
    talk.clock.sleep(undo_lock.FRESH_S)
    assert talk.run().exit_code == 0
    assert on_the_box(talk) == there
    with talk.app() as app:
        assert undo_lock.find_unsettled(app.context.store) is None


def test_what_is_sent_while_taking_back_names_the_run(talk: World) -> None:
    """Heads of departments are taken out of them first."""
    with talk.app() as app:
        run, send = plan.current(app.context.store), app.context.target.send
        named: list[str] = []

        def sent(*args: Any, run: str) -> Any:
            named.append(run)
            return send(*args, run=run)

        app.context.target.send = sent  # type: ignore[method-assign, assignment]
        take_with(app)
        assert run is not None
        assert set(named) == {run.id}


def test_only_one_takes_back_at_a_time(talk: World) -> None:
    with talk.app() as app:
        one, other = (undo_lock.UndoLock(app.context.store, talk.clock) for _ in range(2))
        one.begin()
        with pytest.raises(Halted):
            other.begin()
        one.leave(settled=True)
        other.begin()


def any_call(*_: Any) -> bool:
    return True


def test_whoever_takes_back_one_run_after_a_kill_leaves_no_link_to_what_is_gone(talk: World) -> None:
    with talk.app() as app:
        current = plan.current(app.context.store)
        assert current is not None
        dies(app, app.context.store, "take_back", any_call)
        with pytest.raises(Killed):
            take_with(app, run=current.id)
    talk.clock.sleep(undo_lock.FRESH_S)
    take(talk, run=current.id)
    assert on_the_box(talk) == {}
    assert links(talk) == set()


def test_no_run_begins_while_somebody_takes_back(talk: World) -> None:
    with talk.app() as app:
        mine = undo_lock.UndoLock(app.context.store, app.context.clock)
        mine.begin()
        with pytest.raises(Halted, match="undo of the import is running") as refused:
            talk.run()
        assert (refused.value.code, refused.value.exit_code) == ("UNDO_UNDER_WAY", 4)
        with pytest.raises(Halted, match="undo of the import is running"):
            take(talk)
        mine.leave(settled=True)
    assert talk.run().exit_code == 0


def test_a_run_and_an_undo_that_begin_at_once_do_not_both_go_on(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = plan.begin

    def both(*args: Any, **more: Any) -> Any:
        with talk.app() as other:
            undo_lock.UndoLock(other.context.store, other.context.clock).begin()
        return begin(*args, **more)

    monkeypatch.setattr(plan, "begin", both)
    with pytest.raises(Halted, match="undo of the import is running"):
        talk.run()
    with talk.app() as app:
        current = plan.current(app.context.store)
    assert current is not None
    assert not current.under_way


def test_whoever_was_taken_for_dead_deletes_nothing_more(talk: World) -> None:
    with talk.app() as app:
        slow, quick = (undo_lock.UndoLock(app.context.store, app.context.clock) for _ in range(2))
        slow.begin()
        talk.clock.sleep(undo_lock.FRESH_S)
        quick.begin()
        with pytest.raises(Halted, match="undo of the import is running"):
            slow.at("groups", Span())
        quick.at("groups", Span())


def test_nobody_waits_for_one_that_was_killed_on_this_machine(talk: World) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with talk.app() as app:
        data = {
            "owner": f"{job_owner.host_id()}:{gone.pid}:0",
            "at": app.context.clock.now().isoformat(),
            "stretch": None,
        }
        app.context.store.write(ANALYSIS, [RegisterRow("undo", {"Data": data})])
        undo_lock.refuse_during_undo(app.context.store, app.context.clock)
        app.context.store.write(ANALYSIS, [RegisterRow("undo", {"Data": {**data, "owner": "elsewhere:1:0"}})])
        with pytest.raises(Halted):
            undo_lock.refuse_during_undo(app.context.store, app.context.clock)


def test_an_undo_that_came_to_its_end_leaves_nothing_to_settle(talk: World) -> None:
    take(talk)
    with talk.app() as app:
        assert undo_lock.find_unsettled(app.context.store) is None
        row = app.context.store.read(ANALYSIS, "undo")
    assert row is not None
    assert row.values["Data"] == {"owner": "", "at": "", "stretch": None}


@pytest.mark.parametrize("again", [True, False])
def test_what_records_went_without_is_counted_once_also_after_a_kill(whole: World, again: bool) -> None:
    """Whether the undo is done again before the next run or not."""
    before = losses(whole)
    with whole.app() as app:
        dies(app, app.context.target, "delete", lambda _, stream, *__, dry_run: not dry_run and stream == "users")
        with pytest.raises(Killed):
            take_with(app)
    whole.clock.sleep(undo_lock.FRESH_S)
    if again:
        take(whole)
    whole.run()
    assert losses(whole) == before != {}


def test_what_is_gone_on_the_box_is_forgotten_there_too(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A box that keeps keys of its own is told to delete what it does not have any more; what it has stays."""
    gone, there = list(talk.records("GroupMembers"))[:2]
    deleted: list[tuple[list[str], bool]] = []
    delete = ImportTarget.delete

    def watch(self: ImportTarget, entity: str, stream: str, keys: Sequence[str], *, dry_run: bool) -> Any:
        deleted.append((sorted(keys), dry_run))
        return delete(self, entity, stream, keys, dry_run=dry_run)

    with talk.app() as app:
        members, wire = app.context.streams["group_members"], app.context.owner["group_members"].wire
        app.context.target.delete(wire, members.name, [members.key_of(gone)], dry_run=False)
        monkeypatch.setattr(ImportTarget, "delete", watch)
        settle(app.context, undo_lock.Stretch(members.name, Span()))
    asked = sorted(members.key_of(key) for key in talk.records("GroupMembers"))
    assert deleted == [(asked, True), ([members.key_of(gone)], False)]
    known = {key for (key,) in talk.sql("SELECT RowKey FROM IdMap")}
    assert (f"group_members:{gone}" in known, f"group_members:{there}" in known) == (False, True)


def test_another_box_is_not_asked_what_is_gone(talk: World) -> None:
    """It knows nothing of these records, and would call them all gone."""
    before = links(talk)
    with talk.app() as app:
        killed = undo_lock.UndoLock(app.context.store, app.context.clock)
        killed.begin()
        killed.at("users", Span())
        killed.leave(settled=False)
    talk.run("users", target={"portal_url": "https://other.example"})
    assert links(talk) == before


def test_what_failed_stays_failed_also_when_the_box_counts_otherwise(small: World) -> None:
    people = small.cloud.portal.company.users.ids
    small.change("users", id=people[-1], fields={"EMAIL": ""})
    small.run(run={**small.settings["run"], "user_coverage": 0.5})
    failed = [key for key, row in small.records("Users").items() if row["Status"] == "IMPORT_ERR"]
    assert len(failed) == 1
    with small.app() as app:
        sent = next(key for key, row in small.records("Users").items() if row["Status"] == "IMPORT_OK" and key != "1")
        app.context.store.take_back("users", app.context.streams["users"].table, [sent])
        app.context.store.unlink("users", [sent])
    take(small)
    assert on_the_box(small) == {}
    assert small.records("Users")[failed[0]]["Status"] == "IMPORT_ERR"


def test_the_reason_that_keeps_most_records_is_told_first() -> None:
    tally = Tally("users", "users")
    for source_id, reason in (("1", "a of 5"), ("2", "b of 6"), ("3", "b of 7")):
        tally.keep(source_id, reason)
    assert [one.records for one in tally.reasons] == [2, 1]
