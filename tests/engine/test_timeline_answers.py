"""Comments and entries come whole, however a portal answers, and wherever a process dies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.skipped_records import GONE
from tests.engine.world import World, small, world

from b24migrate.insight import fidelity
from b24migrate.model.errors import Halted
from b24migrate.model.events import Event, Extracted
from b24sim.company.attachments import OBJECT_BASE
from b24sim.habits import Habits
from b24sim.phpjson import encode
from b24sim.result import Result

Json = Any
CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
PLAN = small(
    companies=2,
    contacts=2,
    deals=3,
    smart_types=0,
    posts=0,
    templates=0,
    chats=0,
    crm_comments=10,
    crm_activities=4,
    log_entries=3,
)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLAN) as one:
        one.settings = dict(GONE)
        yield one


def owners(made: World) -> dict[str, Json]:
    return {key: row["fields"]["OWNERS"] for key, row in made.imported("crm_comments").items()}


@pytest.mark.parametrize("bare", [False, True])
def test_the_list_of_entries_comes_with_and_without_its_key(tmp_path: Path, bare: bool) -> None:
    with world(tmp_path, PLAN, habits=Habits(bare_entries=bare)) as made:
        made.change("crm_logs", "add", count=25, owners=[(2, 1)])
        assert made.run(*CRM, "crm_activities", "crm_comments", "crm_notes", **GONE).exit_code == 0
        assert len(made.imported("crm_logs")) == 28


def test_more_comments_than_a_page(made: World) -> None:
    made.change("crm_comments", "add", count=120, owners=[(2, 1), (3, 1)])
    assert made.run(*CRM, "crm_comments").exit_code == 0
    assert len(made.imported("crm_comments")) == 130
    assert made.stream("crm_comments").drift == 0


def test_a_picture_that_a_comment_names_by_its_attachment(made: World) -> None:
    comments = made.cloud.portal.company.timeline.comments
    number, file = next((one, comments.row(one)["_FILES"][0]) for one in comments if comments.row(one)["_FILES"])
    text = f"[disk file id={file - OBJECT_BASE} width=300] [DISK FILE ID=7000001]"
    made.change("crm_comments", id=number, fields={"COMMENT": text})
    assert made.run(*CRM, "crm_comments").exit_code == 0
    there = made.imported("files")[f"source:file:disk:{file}"]["id"]
    sent = made.imported("crm_comments")[f"source:crm_comments:{number}"]["fields"]
    assert sent["COMMENT"] == f"[disk file id={there} width=300] [DISK FILE ID=7000001]"


def test_a_comment_whose_owners_are_refused_belongs_to_the_record_that_showed_it(made: World) -> None:
    made.strike_cloud({"method": "crm.timeline.bindings.list", "kind": "error", "code": "EMPTY", "status": 400})
    assert made.run(*CRM, "crm_comments").exit_code == 5
    assert {len(one) for one in owners(made).values()} == {1}
    made.strike_cloud()
    assert made.run("crm_comments").exit_code == 0
    assert max(len(one) for one in owners(made).values()) > 1


@pytest.mark.parametrize("odd", [[1], True, "text", 7])
def test_a_note_that_is_no_object_stops_no_other_and_is_read_by_the_next_run(tmp_path: Path, odd: Json) -> None:
    with world(tmp_path, replace(PLAN, crm_notes=True)) as made:
        made.settings = dict(GONE)
        method = made.cloud.portal.method("crm.timeline.note.get")

        def answer(context: Json, params: Json) -> Json:
            found = method.call(context, params)
            return Result(encode(odd)) if str(params["itemId"]) == "2" else found

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(made.cloud.portal.methods._methods, method.name, replace(method, call=answer))
            ended = made.run(*CRM, "crm_activities", "crm_comments", "crm_notes")
        assert ended.exit_code == 4
        assert {(scope, code) for scope, _, code, _ in made.letters()} == {("crm-notes-get", "STRANGE_RESULT")}
        assert not list(tmp_path.glob("b24migrate-bug-*"))
        assert made.retry("crm_notes").exit_code == 0
        assert made.imported("crm_notes").keys() == {f"source:crm_notes:{one}" for one in ("a2", "c2", "c11")}


def test_the_note_of_an_activity_that_is_not_bound_to_its_main_owner(tmp_path: Path) -> None:
    with world(tmp_path, PLAN) as made:
        made.settings = dict(GONE)
        main = {"OWNER_TYPE_ID": "2", "OWNER_ID": "1"}
        made.change("crm_activities", "add", id=101, owners=[(3, 1), (4, 1)], fields=main)
        made.change("crm_notes", "add", id="a101", fields={"text": "Звонил"})
        assert made.run(*CRM, "crm_activities", "crm_comments", "crm_notes").exit_code == 0
        assert made.imported("crm_notes")["source:crm_notes:a101"]["fields"]["text"] == "Звонил"


def test_a_reading_that_was_stopped_asks_about_no_comment_twice(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made.run(*CRM).exit_code == 0
    stats = made.cloud.portal.stats
    stats.reset()

    def stop(event: Event) -> None:
        if isinstance(event, Extracted) and event.stream == "crm_comments":
            raise Halted("the light went out", code="DARK")

    with monkeypatch.context() as patch:
        patch.setattr(made, "_saw", stop)
        with pytest.raises(Halted):
            made.run("crm_comments")
    assert made.run("crm_comments").exit_code == 0
    assert stats.inner["crm.timeline.bindings.list"] == len(made.imported("crm_comments")) == 10


def test_a_target_that_does_not_take_them_is_told_with_the_reason(made: World) -> None:
    made.box.portal.imports.streams = ()
    with made.app() as app:
        rules = {rule.stream: rule.reason for rule in fidelity.ask_target(app.context) if not rule.field}
    assert "sends completed emails to the client again" in rules["crm_activities"]
    assert "shows call cards" in rules["crm_calls"]
    assert "notifies the users in the text" in rules["crm_comments"]
    assert rules["crm_notes"] == rules["crm_logs"]
