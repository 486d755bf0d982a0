"""The cutover: rehearsal, freeze, the proof that nothing changes, certificate as of a time, and late writers after going live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import msgspec
import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.app import App
from b24migrate.engine.cutover import Cutover, NotNow, name_users, undo_step
from b24migrate.engine.phases.cutover_state import CertificateFile, CutoverState, DeltaCost, Step, read_cutover
from b24migrate.engine.run import RunResult
from b24migrate.insight import certificate
from b24migrate.insight.certificate import form
from b24migrate.insight.cutover import CutoverView, view
from b24migrate.insight.forecast.freeze import forecast_freeze
from b24migrate.messages import words
from b24migrate.model.errors import Halted, Unproven
from b24migrate.model.events import Noted

Json = Any
ENTITIES = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "tasks")
PLAN = replace(SMALL, chats=0, messages=0, companies=3, contacts=3, deals=8, smart_types=0, smart_items=0, tasks=4)
SETTINGS = {"run": {"entities": list(ENTITIES), "user_coverage": 0.5}, "mapping": {"placeholder_user": "1"}}
OURS = "Правка в коробке"
READS = ("custom-fields-get", "get")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("cutover"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def firm(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    def further(made: World) -> None:
        assert [step(made).exit_code for step in (rehearse, freeze, finish)] == [0, 0, 0]

    with migrated(tmp_path_factory.mktemp("quiet"), PLAN, settings=SETTINGS, further=further) as taken_up:
        yield taken_up


@pytest.fixture
def quiet(proven: TakeUp, tmp_path: Path) -> World:
    """After its finish."""
    return proven(tmp_path)


class Killed(BaseException):
    """The process is gone."""


Dies = Callable[[str], None]


@contextmanager
def opened(made: World, by: str = "anna", dies: Dies = lambda _: None) -> Iterator[tuple[Cutover, App]]:
    """`dies` is asked before and after everything that a step does."""
    with made.app() as app:

        def sync() -> RunResult:
            dies("before sync")
            ended = app.runner.run(app.chosen(), delta=True, deep=True, tick=made.leap())
            dies("after sync")
            return ended

        def certify() -> CertificateFile:
            dies("before certificate")
            made_file = certificate.make(app.context, made.folder / "certificate.jsonl")
            dies("after certificate")
            return CertificateFile(str(made.folder / "certificate.jsonl"), made_file.root, made_file.lines)

        yield Cutover(app.context, app.chosen(), by, sync, certify), app


def rehearse(made: World, **how: Json) -> RunResult:
    with opened(made, **how) as (cutover, app):
        return cutover.rehearse(lambda: certificate.make(app.context, made.folder / "thrown-away") and None)


def freeze(made: World, **how: Json) -> RunResult:
    with opened(made, **how) as (cutover, _):
        return cutover.freeze()


def finish(made: World, **how: Json) -> RunResult:
    with opened(made, **how) as (cutover, _):
        return cutover.finish()


def go_live(made: World, **how: Json) -> CutoverState:
    with opened(made, **how) as (cutover, _):
        return cutover.go_live()


def view_of(made: World) -> CutoverView:
    with made.app() as app:
        return view(app.context, app.chosen())


def state(made: World) -> CutoverState:
    with made.app() as app:
        return read_cutover(app.context.store)


def undo(made: World, step: str) -> CutoverState:
    with made.app() as app:
        return undo_step(app.context, step)


def deal(made: World, place: int = 0) -> int:
    return int(list(made.records("CrmDeals"))[place])


def states(made: World) -> dict[str, str]:
    return {one.name: one.state for one in view_of(made).steps}


# ---------------------------------------------------------------- the whole way


def test_the_whole_way(firm: World) -> None:
    assert view_of(firm).next == "rehearsal"
    firm.change("crm_deals", id=deal(firm), fields={"title": "Перед репетицией"})
    assert rehearse(firm).exit_code == 0
    current = view_of(firm)
    assert (current.next, current.command) == ("freeze", "b24migrate cutover freeze")
    assert current.forecast is not None
    assert current.forecast.total_s > 0
    shown = {one.stream for one in current.forecast.streams}
    assert {"crm_deals", "tasks", "users", "other"} <= shown
    assert not {one for one in shown if words("en").named("stream", one) == one}
    assert next(one.why for one in current.forecast.streams if one.stream == "users")  # why it is read whole
    assert [delta.changed for delta in current.deltas] == [0, 1]

    firm.change("crm_deals", id=deal(firm), fields={"title": "Перед заморозкой"})
    assert freeze(firm).exit_code in (0, 5)  # the change may be of the second in which the freeze began
    assert finish(firm).exit_code == 0
    current = view_of(firm)
    assert current.quiet is not None
    assert current.quiet.freeze <= current.quiet.as_of
    assert current.took_s is not None
    assert firm.imported("crm_deals")[f"source:crm_deals:{deal(firm)}"]["fields"]["title"] == "Перед заморозкой"

    checked = certificate.check(firm.folder / "certificate.jsonl")
    assert checked.head.quiet is not None
    assert (checked.head.quiet.as_of, checked.head.run) == (current.quiet.as_of, current.quiet.run)
    assert current.certificate is not None
    assert current.certificate.root == checked.root

    assert go_live(firm, by="boris").is_live
    current = view_of(firm)
    assert [one.state for one in current.steps] == ["done"] * 5
    assert [one.by for one in current.steps][1:] == ["anna", "anna", "anna", "boris"]
    assert (current.next, current.command) == ("live", "b24migrate sync --report-only")
    assert not any(one.can_undo or one.can_start for one in current.steps[1:])


def test_killed_anywhere_and_repeated_it_comes_to_the_same_end(firm: World) -> None:
    """Each step dies before and after everything it does, and is done again by another process."""
    firm.change("crm_deals", id=deal(firm), fields={"title": "Один раз"})
    runs = ("before sync", "after sync")
    for step, places in (
        (rehearse, runs),
        (freeze, runs),
        (finish, (*runs, "before certificate", "after certificate")),
    ):
        for place in places:

            def dies(where: str, place: str = place) -> None:
                if where == place:
                    raise Killed

            with pytest.raises(Killed):
                step(firm, dies=dies)
            assert "under_way" in states(firm).values()
        assert step(firm).exit_code in (0, 5)
    go_live(firm)
    assert go_live(firm).is_live
    assert certificate.check(firm.folder / "certificate.jsonl").head.quiet is not None
    row = firm.imported("crm_deals")[f"source:crm_deals:{deal(firm)}"]
    assert (row["created_count"], row["updated_count"], row["fields"]["title"]) == (1, 1, "Один раз")


def test_two_processes_do_the_same_step_at_once(quiet: World) -> None:
    begin, codes = Barrier(2), list[int]()

    def work() -> None:
        begin.wait()
        try:
            codes.append(finish(quiet).exit_code)
        except Halted as other:  # it came while the other was starting a run
            codes.append(other.exit_code)

    both = [Thread(target=work) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert 0 in codes
    assert set(codes) <= {0, 4}
    assert certificate.check(quiet.folder / "certificate.jsonl").head.quiet is not None
    assert states(quiet)["finish"] == "done"


# ---------------------------------------------------------------- the order


def test_steps_have_an_order(firm: World) -> None:
    firm.settings["run"]["entities"] = [*ENTITIES, "chats"]
    with pytest.raises(NotNow, match="No full pass is complete yet for: Chats"):
        rehearse(firm)
    firm.settings["run"]["entities"] = list(ENTITIES)
    for step, why in (
        (freeze, "not rehearsed"),
        (finish, "freeze is not complete"),
        (go_live, "finish is not complete"),
    ):
        with pytest.raises(NotNow, match=why) as refused:
            step(firm)
        assert (refused.value.exit_code, refused.value.code) == (3, "CUTOVER_ORDER")
    assert list(states(firm).values()) == ["done", "open", "open", "open", "open"]


def test_a_freeze_is_undone(quiet: World) -> None:
    with pytest.raises(NotNow, match="The freeze started at"):
        rehearse(quiet)
    with pytest.raises(NotNow, match="finish is already done"):
        freeze(quiet)
    assert list(states(quiet).values()) == ["done", "done", "done", "done", "open"]

    def dies(where: str) -> None:
        if where == "before certificate":
            undo(quiet, "freeze")  # another process, meanwhile

    with pytest.raises(NotNow, match="undone or started again"):
        finish(quiet, dies=dies)
    undone = state(quiet)
    assert (undone.is_frozen, undone.quiet, bool(undone.costs)) == (False, None, True)
    with pytest.raises(NotNow, match="has not started"):
        undo(quiet, "freeze")
    undo(quiet, "rehearsal")
    assert view_of(quiet).forecast is None


def test_after_live_nothing_is_undone(quiet: World) -> None:
    quiet.change("crm_deals", id=deal(quiet), fields={"title": "Ещё раз"})
    with quiet.app() as app:
        app.runner.run(app.chosen(), delta=True, tick=quiet.leap())
    with pytest.raises(NotNow, match="no longer proven"):
        go_live(quiet)
    assert finish(quiet).exit_code == 0
    go_live(quiet)
    for name in ("rehearsal", "freeze", "finish"):
        with pytest.raises(NotNow, match="The box has been live since"):
            undo(quiet, name)
    with pytest.raises(NotNow, match="The box has been live since"):
        freeze(quiet)


# ---------------------------------------------------------------- who writes


def test_who_writes_after_the_freeze_is_named(quiet: World) -> None:
    undo(quiet, "freeze")
    one, other = deal(quiet), deal(quiet, 1)
    task = int(next(iter(quiet.records("Tasks"))))
    early = quiet.cloud.portal.company.moments.iso(quiet.cloud.portal.clock.now() - 60)
    quiet.change("crm_deals", id=other, fields={"updatedBy": 4, "updatedTime": early})

    def writes(where: str) -> None:
        if where == "before sync":
            quiet.change("crm_deals", id=one, fields={"title": "Поздно", "updatedBy": 3})
            quiet.change("tasks", id=task, fields={"TITLE": "Тоже поздно", "CHANGED_BY": "3"})
            quiet.change("departments", id=1, fields={"NAME": "Головной"})

    ended = freeze(quiet, dies=writes)
    assert ended.exit_code == 5
    writers = {(who.stream, who.user): who for who in view_of(quiet).writers}
    assert set(writers) == {("crm_deals", "3"), ("tasks", "3")}  # not the early one, nor what has neither name nor time
    found = writers["crm_deals", "3"]
    assert (found.records, found.last >= state(quiet).step("freeze").portal) == (1, True)
    assert found.name in ended.message

    with opened(quiet) as (cutover, _):
        names = iter(range(9))

        def sync() -> RunResult:
            quiet.change("departments", id=1, fields={"NAME": f"Головной {next(names)}"})
            return cutover.sync()

        ended = replace(cutover, sync=sync).finish(most=2)
    assert ended.exit_code == 5
    assert (
        "unknown user" in ended.message
    )  # a department shows neither; since the last pass it must be after the freeze
    assert (states(quiet)["finish"], state(quiet).quiet) == ("under_way", None)
    assert finish(quiet).exit_code == 0


def test_late_writers_are_listed_and_the_target_wins(quiet: World) -> None:
    go_live(quiet)
    one = deal(quiet)
    quiet.box.portal.imports.edit("crm_deals", quiet.records("CrmDeals")[str(one)]["TargetId"], {"title": OURS})
    quiet.change("crm_deals", id=one, fields={"title": "Правка в облаке", "updatedBy": 5})
    for _ in range(2):  # reported again, not counted twice
        with quiet.app() as app:
            app.runner.run(app.chosen(), READS, delta=True, tick=quiet.leap())
    (late,) = view_of(quiet).late_writers
    assert (late.stream, late.user, late.records) == ("crm_deals", "5", 1)
    assert view_of(quiet).deltas[0].report_only

    with quiet.app() as app:
        assert app.runner.run(app.chosen(), delta=True, tick=quiet.leap()).exit_code == 0
    assert quiet.imported("crm_deals")[f"source:crm_deals:{one}"]["fields"]["title"] == OURS
    assert any(isinstance(event, Noted) and "live since" in event.message for event in quiet.events)
    assert [who.user for who in view_of(quiet).late_writers] == ["5"]


def test_a_source_that_does_not_get_quiet_proves_nothing(firm: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody can be named."""
    assert [step(firm).exit_code for step in (rehearse, freeze)] == [0, 0]
    firm.change("crm_deals", id=deal(firm), fields={"title": "Late"})
    monkeypatch.setattr(Cutover, "_name_writers", lambda _, result: result)
    with opened(firm) as (cutover, _):
        ended = cutover.finish(most=1)
    assert (ended.exit_code, "certificate" in state(firm).steps) == (5, False)
    assert not (firm.folder / "certificate.jsonl").exists()


# ---------------------------------------------------------------- certificate and forecast


def test_a_certificate_that_contradicts_its_proof_does_not_hold(quiet: World) -> None:
    file = quiet.folder / "certificate.jsonl"
    head = certificate.check(file).head
    assert head.quiet is not None
    for wrong, why in (
        ({"found": 1}, "still changed"),
        ({"freeze": "2999-01-01T00:00:00Z"}, "before the freeze"),
        ({"began": "2999-01-01T00:00:00Z"}, "not from the delta run"),
        ({"as_of": "yesterday"}, "not a line of a certificate"),
    ):
        forged = msgspec.structs.replace(head, quiet=msgspec.structs.replace(head.quiet, **wrong))
        write_again(file, quiet.folder / "forged", forged)
        with pytest.raises(Unproven, match=why):
            certificate.check(quiet.folder / "forged")


def write_again(file: Path, to: Path, head: form.Head) -> None:
    """With all hashes as they should be."""
    chain, lines = form.Chain(), file.read_bytes().splitlines()[1:-1]
    with to.open("wb") as out:
        form.append(out, chain, head)
        for line in lines:
            page = b'"page":' in line
            form.append(out, chain, msgspec.json.decode(line, type=form.PageLine if page else form.Entry))  # type: ignore[arg-type]
        form.seal(out, chain)


def test_the_forecast_grows_with_the_time_since_the_rehearsal() -> None:
    first = DeltaCost("a", 160.0, 36_000.0, {"deals": 200}, {"deals": 300.0, "users": 40.0})  # half a second a change
    second = DeltaCost("b", 60.0, 160.0, {}, {"deals": 100.0, "users": 40.0}, {"users": "always"}, waited_s=9.0)
    step = Step("2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z")
    known = CutoverState({"rehearsal": step}, (first, second), certificate_s=5.0)

    def after(hours: float, **others: Json) -> Json:
        return forecast_freeze(replace(known, **others), now=None, elapsed_s=hours * 3600)  # type: ignore[arg-type]

    at_once = after(0)
    assert (at_once.total_s, at_once.delta_s, at_once.quiet_s) == (125.0, 60.0, 60.0)
    assert round(at_once.waits_s, 2) == 3.86  # 9 of 140 s that jobs took side by side in a minute
    later = after(10)
    assert (later.changes, later.per_hour, later.delta_s, later.total_s) == (200.0, 20.0, 160.0, 225.0)
    deals, users = later.streams
    assert (deals.stream, users.why, round(deals.seconds + users.seconds)) == ("deals", "always", 220)
    cut = after(10, costs=(replace(first, resumed=True), second))
    assert (cut.total_s, len(cut.basis)) == (125.0, 4)
    assert forecast_freeze(CutoverState(), now=None) is None  # type: ignore[arg-type]


def test_writers_have_the_names_that_were_saved(firm: World) -> None:
    with firm.app() as app:
        names = name_users(app.context, ["1", "999", ""])
    assert " " in names["1"]
    assert (names["999"], names[""]) == ("user 999", "unknown user")
