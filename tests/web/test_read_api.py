"""What the API says, from the store of a company that was moved."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.web.dashboard import NOBODY, Desk, configured, dashboard

from b24migrate.engine import plan
from b24migrate.entities import catalog
from b24migrate.insight.status import StatusReader
from b24migrate.insight.status.model import Overview
from b24migrate.model.errors import Halted
from b24migrate.ports import FINDINGS, RegisterRow
from b24migrate.web.overview_cache import OverviewCache


def test_an_empty_store_says_how_to_begin(desk: Desk) -> None:
    view = desk.look("overview")
    assert view["now"]["verdict"] == "no_run"
    assert view["run"] is None
    assert set(view["can"]) == {"start", "analyze", "cutover"}
    assert view["last_action"] is None
    assert view["sentence"]
    assert view["progress_sentence"]


def test_the_overview_has_every_entity_with_its_numbers(moved: Desk) -> None:
    view = moved.look("overview")
    assert [one["name"] for one in view["entities"]] == [one.name for one in catalog().entities]
    users = next(one for one in view["entities"] if one["name"] == "users")
    people = next(one for one in users["streams"] if one["name"] == "users")
    assert people["source"] == people["read"] == 12
    assert people["imported"] + people["failed"] == people["staged"] == 12
    assert view["now"]["verdict"] in ("done", "findings")
    assert "start" in view["can"]
    assert "pause" not in view["can"]


def test_both_languages_are_spoken(moved: Desk) -> None:
    english = moved.look("overview", lang="en")["sentence"]
    russian = moved.look("overview", lang="ru")["sentence"]
    assert re.search("[а-я]", russian)
    assert not re.search("[а-я]", english)
    by_browser = moved.get("/api/v1/overview", {"Accept-Language": "ru-RU,ru;q=0.9"}).json["sentence"]
    assert by_browser == russian
    assert re.search("[а-я]", moved.get("/api/v1/nowhere", lang="ru").json["message"])
    assert re.search("[а-я]", moved.get("/api/v1/errors/VALIDATION", lang="ru").json["cause"])


def test_the_history_comes_oldest_first(moved: Desk) -> None:
    points = moved.look("history")["points"]
    assert points
    assert [one["at"] for one in points] == sorted(one["at"] for one in points)
    assert moved.look("history", since=points[-1]["at"])["points"] == points[-1:]
    assert moved.look("history", since="2999-01-01T00:00:00Z")["points"] == []


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_the_ends_of_time_are_times(moved: Desk, since: str) -> None:
    everything = moved.look("history")["points"]
    assert moved.look("history", since=since)["points"] == (everything if since < "2" else [])


def test_errors_come_with_their_fix_and_the_records_that_failed(moved: Desk) -> None:
    answer = moved.look("errors")
    overview = moved.look("overview")
    failed = sum(place["count"] for group in answer["groups"] for place in group["places"] if place["stream"])
    assert failed == overview["failed"] + overview["retrying"]
    for group in answer["groups"]:
        assert group["count"] == sum(place["count"] for place in group["places"])
        assert group["title"]
        assert group["cause"]
        assert group["fixes"]
        assert moved.look(f"errors/{group['code']}")["cause"] == group["cause"]
        assert group["first"] == []


def test_the_records_that_others_wait_for_come_with_their_number(moved: Desk) -> None:
    answer = moved.look("errors", chains="true")
    waiting = next(group for group in answer["groups"] if group["code"] == "REFERENCE_MISSING")
    first = waiting["first"]
    assert sum(one["records"] for one in first) <= waiting["count"]
    assert all(one["message"] for one in first)
    assert [one["records"] for one in first] == sorted((one["records"] for one in first), reverse=True)
    assert first
    assert all(not group["first"] for group in answer["groups"] if group is not waiting)


def test_a_code_is_explained_however_it_is_written_and_a_made_up_one_is_not_found(desk: Desk) -> None:
    assert desk.look("errors/validation")["code"] == "VALIDATION"
    assert desk.look("errors/HTTP_599")["like"] == "HTTP_5XX"
    assert desk.get("/api/v1/errors/NO_SUCH_CODE_HERE").status == 404


def some_findings(desk: Desk, count: int) -> None:
    fates = ("differs", "missing")
    rows = [
        RegisterRow(
            f"users:{n}:{fates[n % 2]}:NAME:1",
            {
                "Stream": "users",
                "Fate": fates[n % 2],
                "SourceId": str(n),
                "Field": "NAME",
                "Expected": "a",
                "Actual": "b",
            },
        )
        for n in range(count)
    ]
    rows.append(RegisterRow("groups:1:extra::0", {"Stream": "groups", "Fate": "extra", "SourceId": "1"}))
    with desk.context.app() as app:
        app.context.store.write(FINDINGS, rows)


def read_all_pages(desk: Desk, **query: object) -> list[str]:
    found: list[str] = []
    after = ""
    for _ in range(200):
        answer = desk.look("findings", after=after, **query)
        found += [one["source_id"] for one in answer["findings"]]
        if answer["next"] is None:
            return found
        after = answer["next"]
    raise AssertionError("it does not come to an end")


@pytest.mark.parametrize("limit", [1, 7, 50, 101, 500])
def test_findings_are_leafed_through_and_each_comes_once(desk: Desk, limit: int) -> None:
    some_findings(desk, 101)
    assert sorted(read_all_pages(desk, stream="users", limit=limit), key=int) == [str(n) for n in range(101)]
    assert len(read_all_pages(desk, limit=limit)) == 102
    assert sorted(read_all_pages(desk, fate="missing", limit=limit), key=int) == [str(n) for n in range(1, 101, 2)]
    assert read_all_pages(desk, fate="dangling", limit=limit) == []
    assert desk.look("findings", stream="users", limit=1)["total"] == 101
    assert desk.look("findings", fate="extra")["total"] is None


def test_a_record_is_found_and_shown_with_its_target(moved: Desk) -> None:
    hits = moved.look("search", q="2", stream="users")["hits"]
    assert hits[0]["id"] == "2"
    assert hits[0]["target_id"]
    record = moved.look("records/users/2")
    assert record["link"]["target_id"] == hits[0]["target_id"]
    assert record["source"]["state"] == "now"
    assert record["target"]["state"] == "now"
    assert {one["verdict"] for one in record["fields"]} & {"equal", "rewritten"}
    email = record["emails"][0]
    assert moved.look("search", q=email)["hits"][0]["id"] == "2"
    assert moved.get("/api/v1/records/users/99999").status == 404


def test_ids_with_slashes_and_colons_are_ids(moved: Desk) -> None:
    member = moved.look("search", q="1", stream="group_members")
    one = member["hits"][0]["id"] if member["hits"] else "1:1"
    assert moved.get(f"/api/v1/records/group_members/{one}").status in (200, 404)
    assert moved.get("/api/v1/records/crm_stages/a/b:c").status == 404
    assert moved.get("/api/v1/records/crm_stages/a%2Fb").status == 404


def test_the_certificate_says_why_there_is_none(desk: Desk) -> None:
    answer = desk.look("certificate")
    assert answer["ready"] is False
    assert answer["refused"]["code"] == "CERTIFICATE_INCOMPLETE"


def test_a_certificate_can_be_made_of_a_company_that_was_moved(moved: Desk) -> None:
    answer = moved.look("certificate")
    assert answer["refused"] is None
    assert answer["ready"] is True


def test_the_session_says_where_we_are(moved: Desk) -> None:
    answer = moved.look("session")
    assert answer["store"].endswith("b24migrate.db")
    assert answer["config"] == str(moved.folder / "b24migrate.toml")
    assert answer["source"].startswith("http://127.0.0.1:")
    assert answer["languages"] == ["en", "ru"]
    assert answer["cannot_start"] is None


def test_without_the_portals_secrets_what_is_stored_is_shown_and_nothing_can_be_started(tmp_path: Path) -> None:
    config = configured(tmp_path, "env:NO_SUCH_VARIABLE_HERE", NOBODY[1])
    with dashboard(config) as desk:
        view = desk.look("overview")
        assert view["can"] == []
        session = desk.look("session")
        assert "NO_SUCH_VARIABLE_HERE" in session["cannot_start"]["message"]
        assert session["source"] == ""
        refused = desk.post("run")
        assert refused.status == 422
        assert "NO_SUCH_VARIABLE_HERE" in refused.json["message"]


def test_a_configuration_that_was_corrected_is_taken_up_by_itself(tmp_path: Path) -> None:
    config = configured(tmp_path, "env:NO_SUCH_VARIABLE_HERE", NOBODY[1])
    with dashboard(config) as desk:
        assert desk.look("session")["cannot_start"]
        configured(tmp_path, *NOBODY)
        assert desk.look("session")["cannot_start"] is None
        assert desk.look("session")["source"] == "https://cloud.example"


def test_a_configuration_that_was_away_for_a_moment_is_taken_up(tmp_path: Path) -> None:
    config = configured(tmp_path, *NOBODY)
    with dashboard(config) as desk:
        assert desk.look("session")["source"] == "https://cloud.example"
        config.unlink()
        assert desk.look("session")["source"] == "https://cloud.example"
        configured(tmp_path, NOBODY[0].replace("cloud", "another"), NOBODY[1])
        assert desk.look("session")["source"] == "https://another.example"


def test_a_store_that_was_begun_anew_is_the_one_that_is_shown(tmp_path: Path) -> None:
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        with desk.context.app() as app:
            plan.begin(app.context.store, app.context.clock, plan.Plan(("users",)))
            place = Path(str(app.context.store.describe()["place"]))
        assert desk.look("overview")["run"]
        for one in place.parent.glob(f"{place.name}*"):
            one.unlink()
        assert desk.look("findings")["total"] == 0
        assert desk.post("pause").status == 409
        assert place.exists()


def test_no_decision_rests_on_a_look_that_failed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who only looks may see what was there a moment ago."""

    def away(_: StatusReader) -> Overview:
        raise Halted("The disk is away.", code="STORE_REFUSED")

    overviews = OverviewCache(desk.context)
    before = overviews.look()
    monkeypatch.setattr(StatusReader, "overview", away)
    overviews.expire()
    assert overviews.look() is before
    with pytest.raises(Halted, match="away"):
        overviews.look(fresh=True)


def test_metrics_are_those_of_the_command_line(moved: Desk) -> None:
    reply = moved.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain")
    assert 'records_import_ok_total{entity="users"}' in reply.text


def test_many_who_look_at_once_cost_one_look(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    looks: list[int] = []
    whole = StatusReader.overview

    def counted(self: StatusReader) -> object:
        looks.append(1)
        return whole(self)

    monkeypatch.setattr(StatusReader, "overview", counted)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: desk.look("overview")["at"], range(64)))
    assert len(looks) <= 3
    assert len(set(found)) == len(looks)


def test_the_openapi_document_names_every_route_and_no_page(desk: Desk) -> None:
    document = desk.look("openapi.json")
    assert "/api/v1/overview" in document["paths"]
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], path
            for status, answer in operation["responses"].items():
                kind = (
                    "text/csv" if path.endswith("/csv") and status == "200" and method == "get" else "application/json"
                )
                schema = answer["content"][kind]["schema"]
                expected = "#/components/schemas/Problem" if int(status) >= 400 else None
                assert expected is None or schema == {"$ref": expected}, (method, path, status)
    assert "HTTPValidationError" not in json.dumps(document)
