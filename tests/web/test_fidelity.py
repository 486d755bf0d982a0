"""What the target does not keep, on the page: shown before a start, accepted as it was seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_fidelity import PHONE, forgets
from tests.web.dashboard import Desk, configured, dashboard, portals, quietly
from tests.web.test_actions import ended, until


@pytest.fixture
def lossy(tmp_path: Path) -> Iterator[tuple[Desk, Any]]:
    with portals() as (source, target):
        forgets(target, {**PHONE, "tasks:title": "Of no concern: they are not migrated here."})
        with dashboard(configured(tmp_path, source.webhook(), target.webhook(), ("users",))) as desk:
            yield desk, target


def test_the_page_shows_the_list_in_the_language_of_who_asks(lossy: tuple[Desk, Any]) -> None:
    desk, _ = lossy
    answer = desk.look("fidelity")
    (line,) = answer["list"]["lines"]
    assert (line["stream"], line["field"], line["keeping"]) == ("users", "WORK_PHONE", "lost")
    assert answer["list"]["now"]
    assert answer["list"]["needs_acceptance"]
    page = desk.get("/fidelity", lang="ru").text
    assert "Ограничения переноса" in page


def test_a_start_without_acceptance_ends_at_the_gate_and_with_it_at_its_end(lossy: tuple[Desk, Any]) -> None:
    desk, target = lossy
    assert desk.post("run", {"entities": ["users"]}).status == 202
    view = until(desk, ended)
    assert view["last_action"]["exit_code"] == 3
    assert view["last_action"]["code"] == "fidelity.accepted"
    assert not target.portal.imports.dump("users")
    shown = desk.look("fidelity")["list"]["hash"]
    assert desk.post("run", {"entities": ["users"], "accept_fidelity": shown}).status == 202
    until(desk, lambda found: ended(found) and found["last_action"]["exit_code"] == 0)
    answer = desk.look("fidelity")
    assert answer["list"]["accepted"]["by"] == "the dashboard"
    assert answer["foreseen"] == len(desk.look("findings", fate="foreseen", limit=500)["findings"]) > 0
    assert desk.look("findings")["total"] == 0


def test_a_list_that_has_changed_since_it_was_shown_is_not_accepted(lossy: tuple[Desk, Any]) -> None:
    desk, target = lossy
    shown = desk.look("fidelity")["list"]["hash"]
    forgets(target, {**PHONE, "users:PERSONAL_CITY": "Cities are not kept."})
    desk.look("fidelity")
    for refused in (desk.post("fidelity", {"hash": shown}), desk.post("run", {"accept_fidelity": shown})):
        assert refused.status == 409
        assert refused.code == "fidelity.accepted"
    assert desk.post("fidelity", {"hash": desk.look("fidelity")["list"]["hash"]}).status == 202
    assert not desk.look("fidelity")["list"]["needs_acceptance"]


def test_without_the_target_what_it_last_said_is_shown(lossy: tuple[Desk, Any], tmp_path: Path) -> None:
    desk, target = lossy
    config = tmp_path / "b24migrate.toml"
    assert quietly(config, "run", "--phase", "get") == 0
    assert quietly(config, "fidelity") == 3
    counted = desk.look("fidelity")["list"]["lines"]
    text = config.read_text("utf-8")
    silent = f'http://127.0.0.1:9/rest/1/nobodyisthere/"\nportal_url = "{target.url}'
    config.write_text(text.replace(target.webhook(), silent), "utf-8")
    answer = desk.look("fidelity")
    assert not answer["list"]["now"]
    assert answer["list"]["lines"] == counted
    assert counted[0]["basis"] == "counted"
