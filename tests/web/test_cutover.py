"""The cutover over the API: what may be done now, what has to be confirmed, what is refused; and what the last pass did."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tests.web.dashboard import Desk

from b24migrate.engine.phases.cutover_state import CutoverState, Step, change_cutover

AT = "2026-11-18T00:00:00Z"


def done(desk: Desk, *names: str) -> None:
    with desk.context.app() as app:
        change_cutover(
            app.context.store,
            lambda state: replace(state, steps={name: Step(AT, AT, "anna", AT) for name in names}),
        )


def state_of(desk: Desk) -> dict[str, Any]:
    return {one["name"]: one["state"] for one in desk.look("cutover")["steps"]}


def test_before_a_full_pass_nothing_else_can_be_begun(desk: Desk) -> None:
    answer = desk.look("cutover", lang="ru")
    assert (answer["step"], answer["next"]) == ("", "full_pass")
    assert set(state_of(desk).values()) == {"open"}
    assert [one["can_start"] for one in answer["steps"]] == [True, False, False, False, False]
    assert re.search("[а-я]", answer["steps"][1]["why_not"])
    assert len(answer["machines"]) == 9
    assert "cutover" in desk.look("overview")["can"]
    for step in ("rehearsal", "freeze", "finish", "live"):
        refused = desk.post("cutover", {"step": step, "confirmed": True})
        assert (refused.status, refused.code) == (409, "CUTOVER_ORDER")
        assert refused.json["hint"]
    assert desk.look("overview")["last_action"] is None


def test_freeze_and_live_want_a_person_to_confirm(desk: Desk) -> None:
    done(desk, "rehearsal")
    refused = desk.post("cutover", {"step": "freeze"})
    assert (refused.status, refused.code) == (409, "CUTOVER_ORDER")
    assert desk.look("overview")["last_action"] is None
    assert desk.post("cutover", {"step": "freeze", "confirmed": "yes"}).status == 422


def test_a_step_is_undone_with_those_after_it_until_the_target_is_live(desk: Desk) -> None:
    done(desk, "rehearsal", "freeze", "finish")
    assert desk.post("cutover/undo", {"step": "freeze"}).status == 202
    assert state_of(desk) == {
        **dict.fromkeys(("full_pass", "freeze", "finish", "live"), "open"),
        "rehearsal": "done",
    }
    assert desk.post("cutover/undo", {"step": "freeze"}).code == "CUTOVER_ORDER"
    done(desk, "rehearsal", "freeze", "finish", "live")
    assert desk.post("cutover/undo", {"step": "freeze"}).status == 409
    assert desk.look("cutover")["watched_until"] > AT


def test_what_is_not_ours_or_makes_no_sense_is_refused(desk: Desk) -> None:
    with desk.context.app() as app:
        change_cutover(app.context.store, lambda _: CutoverState({"rehearsal": Step(AT, AT)}))
    for path, wish in (
        ("cutover", {"step": "freeze", "confirmed": True}),
        ("cutover/undo", {"step": "rehearsal"}),
        ("sync", {}),
    ):
        assert desk.post(path, wish, {"Origin": "https://elsewhere.example"}).status == 403
        assert desk.post(path, wish, {"X-B24migrate": "0"}).status == 403
        assert desk.post(path, wish, {"Authorization": "Bearer wrong"}).status == 401
        assert desk.post(path, {**wish, "more": 1}).status == 422
    assert desk.post("cutover", {"step": "full_pass"}).status == 422
    assert desk.post("cutover/undo", {"step": "live"}).status == 422
    assert desk.get("/api/v1/cutover", {"Authorization": "Bearer wrong"}).status == 401
    assert state_of(desk)["rehearsal"] == "done"


def test_the_last_pass_says_how_it_read(desk: Desk, moved: Desk) -> None:
    assert desk.look("pass") == {"last": None}
    last = moved.look("pass")["last"]
    assert (last["delta"], last["report_only"]) == (False, False)
    assert {one["stream"] for one in last["streams"]} >= {"users", "groups", "crm_deals"}
    assert not any(one["delta"] or one["why"] or one["unseen"] for one in last["streams"])
