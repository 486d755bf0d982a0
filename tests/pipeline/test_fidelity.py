"""What a target does not keep: counted on this source, accepted before anything is written, and told from mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.world import World, world

from b24migrate.errors import GateUnmet
from b24migrate.fidelity import Draft, Judge, Keeping, Rule
from b24migrate.phases.draft import Drafter
from b24migrate.phases.work import seen, walk
from b24migrate.pipeline import certificate, fidelity
from b24migrate.pipeline.fidelity import Basis
from b24migrate.pipeline.runner import Ended
from b24migrate.target.imports import ImportTarget
from b24migrate.wiring import App
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


def lossy(here: World, losses: dict[str, str], said: dict[str, str] | None = None) -> None:
    here.box.portal.imports = Forgetful(here.box.portal.imports, losses, said=said)  # type: ignore[assignment]


def run(
    here: World,
    *entities: str,
    by: str = "a test",
    full: bool = True,
    rules: Sequence[Rule] | None = None,
    phases: tuple[str, ...] = ("custom-fields-get", "custom-fields-set", "get", "set", "verify"),
) -> Ended:
    from dataclasses import replace

    with here.app() as app:
        app.work.options = replace(app.work.options, verify_all=full)
        app.runner.consent = lambda _: by
        if rules is not None:
            announce(app, rules)
        return app.runner.run(app.chosen(entities or ("users",)), phases, tick=here.leap())


def announce(app: App, rules: Sequence[Rule]) -> None:
    app.work.target = Says(app.work.target, rules)  # type: ignore[arg-type]


def found(here: World, table: str) -> list[tuple[str, ...]]:
    return here.sql(f"SELECT Fate, SourceId, Field FROM {table}")  # noqa: S608


def filled(here: World, stream: str, field: str) -> set[str]:
    """The records whose field is filled, as the box was sent it."""
    rows = here.imported(stream).values()
    return {str(row["key"]).rpartition(":")[2] for row in rows if row["fields"].get(field) not in (None, "", [], {})}


def test_a_box_that_keeps_everything_wants_no_acceptance(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        assert run(here, by="").exit_code == 0
        assert not found(here, "Foreseen") and not here.sql("SELECT * FROM Fidelity WHERE RowKey LIKE 'accepted%'")


def test_nothing_is_written_before_the_list_is_accepted_and_reading_needs_no_acceptance(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, PHONE)
        run(here, by="", phases=("custom-fields-get", "get"))
        before = len(here.imported("users"))
        with pytest.raises(GateUnmet) as stop:
            run(here, by="")
        assert stop.value.exit_code == 3 and stop.value.gate == fidelity.GATE
        assert len(here.imported("users")) == before == 0


def test_differences_that_were_announced_are_foreseen_and_the_entity_is_verified(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, PHONE)
        ended = run(here)
        touched = filled(here, "users", "WORK_PHONE")
        assert touched and ended.exit_code == 0
        assert {(fate, one) for fate, one, _ in found(here, "Foreseen")} == {("foreseen", one) for one in touched}
        assert not found(here, "Findings") and not found(here, "Spared")
        assert here.entity("users").verified
        assert f"foreseen: {len(touched)}" in ended.message


def test_what_was_not_announced_is_a_finding_as_ever(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, {**PHONE, "users:NAME": ""}, said=PHONE)
        assert run(here).exit_code == 5
        assert {field for _, _, field in found(here, "Findings")} == {"NAME"}
        assert {field for _, _, field in found(here, "Foreseen")} == {"WORK_PHONE"}
        assert not here.entity("users").verified
