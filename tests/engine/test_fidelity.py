"""What a target does not keep: counted on this source, accepted before anything is written, and told from mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World, world

from b24migrate.app import App
from b24migrate.engine.phases.compose import Drafter
from b24migrate.engine.phases.context import decode_record, walk
from b24migrate.engine.run import RunResult
from b24migrate.engine.state import RUNNING, EntityState, PhaseState, States
from b24migrate.insight import certificate, fidelity, lookup
from b24migrate.insight.fidelity import Basis
from b24migrate.model.errors import GateUnmet
from b24migrate.model.fidelity import Draft, Judge, Keeping, Rule
from b24migrate.ports import CUSTOM_FIELDS, FIELD_MAP, RegisterRow
from b24migrate.targets.module import ImportTarget
from b24sim.imports.forgetful import Forgetful

PHONE = {"users:WORK_PHONE": "The box has no such phone."}


class Says:
    """A target that announces these rules, whatever its box says."""

    def __init__(self, target: ImportTarget, rules: Sequence[Rule]) -> None:
        self._target, self._rules = target, rules

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def fidelity(self) -> Sequence[Rule]:
        return self._rules


def lossy(here: World, losses: dict[str, str], announced: dict[str, str] | None = None) -> None:
    here.box.portal.imports = Forgetful(here.box.portal.imports, losses, said=announced)  # type: ignore[assignment]


def run(
    here: World,
    *entities: str,
    by: str = "a test",
    full: bool = True,
    rules: Sequence[Rule] | None = None,
    phases: tuple[str, ...] = ("custom-fields-get", "custom-fields-set", "get", "set", "verify"),
) -> RunResult:
    with here.app() as opened:
        app = opened.with_context(opened.context.with_options(verify_all=full))
        app.gate.consent = lambda _: by
        app = app if rules is None else announce(app, rules)
        return app.runner.run(app.chosen(entities or ("users",)), phases, tick=here.leap())


def announce(app: App, rules: Sequence[Rule]) -> App:
    target = Says(app.context.target, rules)  # type: ignore[arg-type]
    return app.with_context(replace(app.context, target=target))


def found(here: World, table: str) -> list[tuple[str, ...]]:
    return here.sql(f"SELECT Fate, SourceId, Field FROM {table}")  # noqa: S608


def keys_with_field(here: World, stream: str, field: str) -> set[str]:
    """The records whose field is filled, as the box was sent it."""
    rows = here.imported(stream).values()
    return {str(row["key"]).rpartition(":")[2] for row in rows if row["fields"].get(field) not in (None, "", [], {})}


def test_a_box_that_keeps_everything_wants_no_acceptance(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        assert run(here, by="").exit_code == 0
        assert not found(here, "Foreseen")
        assert not here.sql("SELECT * FROM Fidelity WHERE RowKey LIKE 'accepted%'")


def test_nothing_is_written_before_the_list_is_accepted_and_reading_needs_no_acceptance(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, PHONE)
        run(here, by="", phases=("custom-fields-get", "get"))
        before = len(here.imported("users"))
        with pytest.raises(GateUnmet) as stop:
            run(here, by="")
        assert stop.value.exit_code == 3
        assert stop.value.gate == fidelity.GATE
        assert len(here.imported("users")) == before == 0


def test_differences_that_were_announced_are_foreseen_and_the_entity_is_verified(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, PHONE)
        ended = run(here)
        touched = keys_with_field(here, "users", "WORK_PHONE")
        assert touched
        assert ended.exit_code == 0
        assert {(fate, one) for fate, one, _ in found(here, "Foreseen")} == {("foreseen", one) for one in touched}
        assert not found(here, "Findings")
        assert not found(here, "Spared")
        assert here.entity("users").verified
        assert f"Expected differences: {len(touched)}" in ended.message


def test_what_was_not_announced_is_a_finding_as_ever(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, {**PHONE, "users:NAME": ""}, announced=PHONE)
        assert run(here).exit_code == 5
        assert {field for _, _, field in found(here, "Findings")} == {"NAME"}
        assert {field for _, _, field in found(here, "Foreseen")} == {"WORK_PHONE"}
        assert not here.entity("users").verified


def test_what_was_announced_and_is_equal_all_the_same_is_told_by_a_full_verify(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, {}, announced=PHONE)
        ended = run(here)
        touched = keys_with_field(here, "users", "WORK_PHONE")
        assert {(fate, one) for fate, one, _ in found(here, "Spared")} == {("spared", one) for one in touched}
        assert ended.exit_code == 0
        assert f"Expected differences not found: {len(touched)}." in ended.message
        assert here.entity("users").verified
        run(here, full=False, phases=("verify",))
        assert not found(here, "Spared")  # of a few it would be chance


def test_a_rule_explains_only_the_records_that_it_touches(tmp_path: Path) -> None:
    """Of two people without a telephone on the box, one was announced."""
    with world(tmp_path) as here:
        lossy(here, PHONE)
        run(here, phases=("custom-fields-get", "get"))
        with here.app() as app:
            people = [
                draft_of(app, "users", record.row_key)
                for record in walk(app.context, app.catalog.streams["users"].table)
            ]
        phones = [str(one["WORK_PHONE"]) for one in people if one.get("WORK_PHONE")]
        rule = Rule("users", "WORK_PHONE", Keeping.LOST, "One.", lambda draft: draft.get("WORK_PHONE") == phones[0])
        assert run(here, rules=[rule]).exit_code == 5
        assert len(found(here, "Foreseen")) == phones.count(phones[0])
        assert len(found(here, "Findings")) == len(phones) - phones.count(phones[0])


def draft_of(app: App, stream: str, row_key: str) -> Draft:
    spec = app.catalog.streams[stream]
    (record,) = app.context.store.get(spec.table, [row_key]).values()
    return Drafter(app.context, spec).draft(decode_record(record, spec))


def test_a_record_that_is_lost_as_a_whole_is_foreseen_and_the_others_are_not(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        run(here)
        gone = sorted(here.imported("users"))[:2]
        drop(here, gone)
        first = gone[0].rpartition(":")[2]
        rule = Rule("users", "", Keeping.LOST, "Not this one.", lambda draft: str(draft["EMAIL"]) == emails[first])
        with here.app() as app:
            emails = {
                one: str(draft_of(app, "users", one)["EMAIL"]) for one in (key.rpartition(":")[2] for key in gone)
            }
        assert run(here, rules=[rule], phases=("verify",)).exit_code == 5
        assert ("foreseen", first, "") in found(here, "Foreseen")
        assert ("missing", gone[1].rpartition(":")[2], "") in found(here, "Findings")


def drop(here: World, keys: Sequence[str]) -> None:
    """Somebody deletes them on the box."""
    store = here.box.portal.imports._store
    for key in keys:
        link = store.link(key)
        assert link is not None
        store.put_link(key, None)
        store.put_row("users", link.target_id, None)


def test_a_field_may_have_two_rules(tmp_path: Path) -> None:
    rules = [Rule("users", "WORK_PHONE", Keeping.LOST, reason) for reason in ("Landlines go.", "Mobiles go.")]
    rules.append(Rule("users", "WORK_PHONE", Keeping.TRANSFORMED, "Spaces go."))
    with world(tmp_path) as here:
        lossy(here, PHONE)
        assert run(here, rules=rules).exit_code == 0
        phones = keys_with_field(here, "users", "WORK_PHONE")
        assert {one for _, one, _ in found(here, "Foreseen")} == phones
        assert not found(here, "Findings")
        with here.app() as app:
            entries = fidelity.make_list(app.context, rules)
            assert [line.records for line in entries.lines] == [len(phones)] * 3
            assert not entries.needs_acceptance
            assert dict(entries.amounts) == {Keeping.LOST: 1, Keeping.TRANSFORMED: 1}


def test_who_looks_a_record_up_sees_what_was_foreseen(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, {**PHONE, "users:NAME": ""}, announced=PHONE)
        run(here)
        one = sorted(keys_with_field(here, "users", "WORK_PHONE"))[0]
        with here.app() as app:
            view = lookup.record(app.context, "users", one)
        assert view is not None
        verdicts = {field.name: field.verdict for field in view.fields}
        assert (verdicts["WORK_PHONE"], verdicts["NAME"]) == ("foreseen", "differs")
        assert {(one.fate, one.field) for one in view.findings} >= {("foreseen", "WORK_PHONE"), ("differs", "NAME")}


# ---------------------------------------------------------------- counting


def every_second() -> Judge:
    """Depends on the records before."""
    met = 0

    def touched(_: Draft) -> bool:
        nonlocal met
        met += 1
        return met % 2 == 0

    return touched


def test_counts_are_exact_also_where_they_depend_on_the_records_before(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        run(here, phases=("custom-fields-get", "get"))
        rules = [
            Rule("users", "EMAIL", Keeping.LOST, "All."),
            Rule("users", "LAST_NAME", Keeping.APPROXIMATED, "Every second.", running=every_second),
            Rule("users", "NAME", Keeping.TRANSFORMED, "None.", lambda _: False),
            Rule("groups", "NAME", Keeping.LOST, "Not read yet."),
        ]
        with here.app() as opened:
            app = announce(opened, rules)
            found = fidelity.make_list(app.context, fidelity.ask_target(app.context))
            lines = {line.reason: line for line in found.lines}
        people = len(here.records("Users"))
        assert (lines["All."].records, lines["All."].basis) == (people, Basis.COUNTED)
        assert lines["Every second."].records == people // 2
        assert lines["None."].records == 0
        assert (lines["Not read yet."].records, lines["Not read yet."].basis) == (None, Basis.UNKNOWN)


def test_what_was_counted_is_remembered_until_what_is_staged_changes(tmp_path: Path) -> None:
    asked = 0

    def touched(_: Draft) -> bool:
        nonlocal asked
        asked += 1
        return True

    with world(tmp_path) as here:
        run(here, phases=("custom-fields-get", "get"))
        rules = [Rule("users", "NAME", Keeping.LOST, "Counted.", touched)]

        def look() -> int | None:
            with here.app() as app:
                (line,) = fidelity.make_list(app.context, rules).lines
                return line.records

        first = look()
        people = asked
        assert look() == first == people
        assert asked == people  # from memory
        here.change("users", op="add")
        run(here, phases=("custom-fields-get", "get"))
        assert look() == people + 1
        assert asked == 2 * people + 1


def test_those_that_are_not_sent_lose_nothing(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        people = here.cloud.portal.company.users.ids
        here.change("users", id=people[-1], fields={"EMAIL": ""})
        run(here, phases=("custom-fields-get", "get"))
        with here.app() as app:
            rule = Rule("users", "NAME", Keeping.LOST, "All.", lambda _: True)
            (line,) = fidelity.make_list(app.context, [rule]).lines
        assert line.records == len(here.records("Users")) - 1


def test_people_whom_the_box_has_lose_nothing_as_they_are_only_linked(tmp_path: Path) -> None:
    rules = [Rule("users", "NAME", Keeping.LOST, "All.", lambda _: True)]
    with world(tmp_path) as here:
        here.change("users", id=4, fields={"EMAIL": str(here.box.portal.company.users.row(1)["EMAIL"])})
        run(here, phases=("custom-fields-get", "get"))
        with here.app() as app:
            (before,) = fidelity.make_list(app.context, rules).lines
        run(here)
        with here.app() as app:
            (after,) = fidelity.make_list(app.context, rules).lines
        assert here.sql("SELECT RowKey FROM IdMap WHERE Origin = 'matched'") == [("users:4",)]
        assert before.records == after.records == len(here.records("Users")) - 1


def test_what_was_counted_during_a_pass_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    """As many records as before, and other values in those that were read later."""
    rules = [Rule("users", "WORK_PHONE", Keeping.LOST, "Some.")]
    with world(tmp_path) as here:
        run(here, phases=("custom-fields-get", "get"))
        people = here.cloud.portal.company.users.ids
        with here.app() as app:
            whole = count(app, rules)
            between(app)
            assert count(app, rules) == (whole[0], Basis.SO_FAR)
        for one in people:
            here.change("users", id=one, fields={"WORK_PHONE": ""})
        with here.app() as app:
            States(app.context.store).change("users", lambda state: replace(state, counts={**state.counts, "pass": 1}))
        run(here, phases=("custom-fields-get", "get"))
        with here.app() as app:
            assert count(app, rules) == (0, Basis.COUNTED)


def count(app: App, rules: Sequence[Rule]) -> tuple[int | None, Basis]:
    (line,) = fidelity.make_list(app.context, rules).lines
    return line.records, line.basis


def between(app: App) -> None:
    """A second get has begun, and has read nothing yet."""

    def begun(state: EntityState) -> EntityState:
        state = replace(state, counts={**state.counts, "pass": state.pass_no + 1})
        return state.with_phase("get", PhaseState(RUNNING))

    States(app.context.store).change("users", begun)


def test_a_try_out_counts_only_what_it_read(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.settings["run"] = {**here.settings["run"], "test_limit": 3}
        run(here, phases=("custom-fields-get", "get"))
        with here.app() as app:
            counts = count(app, [Rule("users", "NAME", Keeping.LOST, "All.")])
        assert counts == (len(here.records("Users")), Basis.SO_FAR)


def test_files_are_counted_when_everything_that_has_files_is_read(tmp_path: Path) -> None:
    rules = [Rule("files", "", Keeping.TRANSFORMED, "Copied.")]
    with world(tmp_path) as here:
        run(here, phases=("custom-fields-get", "get"))
        with here.app() as app:
            assert count(app, rules)[1] is Basis.SO_FAR


def test_a_custom_field_that_nobody_wants_any_more_is_not_counted_from_memory(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        run(here, phases=("custom-fields-get", "get"))
        with here.app() as app:
            codes = [row.key for row in app.context.store.rows(CUSTOM_FIELDS, partition="users")]
            rules = [Rule("users", one, Keeping.LOST, "Not this one.") for one in codes]
            assert sum(line.records or 0 for line in fidelity.make_list(app.context, rules).lines) > 0
            app.context.store.write(FIELD_MAP, [RegisterRow(f"users:{one}", {"Included": False}) for one in codes])
            assert sum(line.records or 0 for line in fidelity.make_list(app.context, rules).lines) == 0


def test_what_was_accepted_for_one_box_is_asked_about_again_for_another(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, PHONE)
        run(here)
        with here.app() as app:
            assert not fidelity.make_list(app.context, fidelity.ask_target(app.context)).needs_acceptance
        with here.app(target={"portal_url": "https://other.example"}) as app:
            assert fidelity.last_list(app.context) is None
            found = fidelity.make_list(app.context, fidelity.ask_target(app.context))
            assert (found.needs_acceptance, found.accepted) == (True, None)


# ---------------------------------------------------------------- the certificate


def test_the_certificate_names_what_was_foreseen_and_is_checked_for_it(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, PHONE)
        assert run(here, *here.settings["run"]["entities"]).exit_code == 0
        touched = keys_with_field(here, "users", "WORK_PHONE")
        out = tmp_path / "certificate.jsonl"
        with here.app() as app:
            made = certificate.make(app.context, out)
        assert made.head.foreseen == len(touched) > 0
        assert certificate.check(out).head.foreseen == len(touched)
        lines = out.read_text("utf-8").splitlines()
        named = [line for line in lines if '"foreseen":["WORK_PHONE"]' in line]
        assert len(named) == len(touched)
        assert all('"class":"verified"' in line for line in named)


def test_records_that_are_lost_as_announced_are_excluded_in_the_certificate(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        every = here.settings["run"]["entities"]
        run(here, *every)
        drop(here, sorted(here.imported("users"))[:2])
        rule = Rule("users", "", Keeping.LOST, "Some are lost.", lambda _: True)
        assert run(here, *every, rules=[rule], phases=("verify",)).exit_code == 0
        with here.app() as app:
            made = certificate.make(app.context, tmp_path / "certificate.jsonl")
        (people,) = (sums for sums in made.head.streams if sums.stream == "users")
        assert (people.excluded, people.failed) == (2, 0)
        assert people.verified == len(here.imported("users"))
