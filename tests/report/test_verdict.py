"""What the report says first: before, during and after a run, and however it ended."""

from __future__ import annotations

import pytest
from tests.engine.test_certificate import edit
from tests.engine.world import World
from tests.report.conftest import Troubled
from tests.report.report_reader import Report, number, report

from b24migrate.engine import plan
from b24migrate.insight.report import Standing
from b24migrate.messages import LANGUAGES, words
from b24migrate.model.records import Settled, Span, Status


def says(found: Report, standing: Standing, language: str = "en", **places: object) -> str:
    """The verdict stands at the top; returns the whole first page."""
    assert found.written.standing is standing
    verdict = words(language)(f"report.verdict.{standing}", **places)
    first = found.by_id("verdict")
    assert first.children[1].text == verdict == found.written.verdict
    return first.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_store_says_what_to_do(fresh: World, language: str) -> None:
    found = report(fresh, language=language)
    page = says(found, Standing.NO_RUN, language)
    assert "b24migrate doctor" in page
    assert "b24migrate run" in page
    assert all(not found.rows(name) for name in ("failed", "links", "findings", "timing"))
    sections = [one.attributes.get("id") for one in found.page.all("section")]
    assert sections == ["verdict", "forecast", "fidelity", "settings", "tables"]  # of nothing there is nothing to say


def test_a_clean_end_can_be_signed(clean: World) -> None:
    found = report(clean)
    page = says(found, Standing.DONE)
    assert "Signature" in page
    assert found.written.root in page
    assert number(found.by_id("big-failed").text) == 0


def test_findings_are_named_on_the_first_page(troubled: Troubled) -> None:
    page = says(troubled.english, Standing.FINDINGS)
    assert "Signature" in page
    for words_of_it in (
        "Failed records",
        "found by verify",
        "unavailable in the API",
        "Differences",
        "Totals do not match",
    ):
        assert words_of_it in page
    says(troubled.russian, Standing.FINDINGS, "ru")


def test_during_a_run_it_is_not_finished(fresh: World) -> None:
    fresh.run(phases=("custom-fields-get", "custom-fields-set", "get"))
    with fresh.app() as app:
        plan.begin(app.context.store, app.context.clock, plan.Plan(("users", "groups", "chats")))
    page = says(report(fresh), Standing.RUNNING)
    assert "Signature" not in page
    assert "as of the time of this report" in page
    found = report(fresh)
    for name in ("failed", "drift"):
        assert "None so far." in found.section(name)


def test_a_paused_run_is_not_finished(fresh: World) -> None:
    with fresh.app() as app:
        plan.begin(app.context.store, app.context.clock, plan.Plan(("users",)))
        assert plan.pause(app.context.store, app.context.clock)
    assert "b24migrate resume" in says(report(fresh), Standing.PAUSED)


@pytest.mark.parametrize(("code", "standing"), [(3, Standing.BLOCKED), (4, Standing.STOPPED)])
def test_a_run_that_stopped_says_why(fresh: World, code: int, standing: Standing) -> None:
    with fresh.app() as app:
        run, _ = plan.begin(app.context.store, app.context.clock, plan.Plan(("users",)))
        plan.end(app.context.store, app.context.clock, run, complete=False, exit_code=code, message="The disk is full.")
    page = says(report(fresh), standing)
    assert "The disk is full." in page
    assert "Signature" not in page


def test_a_part_is_not_the_whole(fresh: World) -> None:
    assert fresh.run("users").exit_code == 0
    page = says(report(fresh), Standing.PARTLY)
    assert "Not done yet: Groups (Read, Import, Verify), Chats (Read, Import, Verify)" in page
    assert "Signature" not in page
    assert fresh.run("groups", "chats").exit_code == 0
    says(report(fresh), Standing.DONE)


def test_reading_alone_is_not_the_whole(fresh: World) -> None:
    fresh.run("users", phases=("get",))
    assert "Users (Import, Verify)" in says(report(fresh), Standing.PARTLY)


def test_a_try_out_is_no_migration(fresh: World) -> None:
    fresh.run(run={"test_limit": 2})
    page = says(report(fresh), Standing.TRY_OUT, limit="2")
    assert "--test-limit" in page
    assert "test run gets no certificate" in report(fresh, "other").section("certificate")


def test_a_store_changed_by_another_hand_is_not_clean(clean: World) -> None:
    edit(clean, "DELETE FROM IdMap WHERE RowKey = (SELECT min(RowKey) FROM IdMap WHERE RowKey LIKE 'users:%')")
    page = says(report(clean), Standing.FINDINGS)
    assert "Totals do not match" in page


def test_a_failed_file_alone_is_a_finding(clean: World) -> None:
    with clean.app() as app:
        store, files = app.context.store, app.context.streams["files"]
        (one,) = store.records(files.table, Span(), 1)
        failed = Settled(one.row_key, Status.IMPORT_ERR, 1, "TOO_LARGE", "too large")
        store.settle(files.name, files.table, [failed], now=app.context.clock.now())
    found = report(clean)
    page = says(found, Standing.FINDINGS)
    assert "Failed files: 1." in page
    assert [row["code"] for row in found.rows("files_failed")] == ["TOO_LARGE"]
    assert "of these too large: 1" in found.section("files")
