"""Every number of the report is the store's and the status's."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.engine.every_stream import CATALOG
from tests.engine.world import World
from tests.report.conftest import DRIFT, Troubled
from tests.report.report_reader import Report, number, report

from b24migrate.entities import FILES
from b24migrate.insight import certificate, status
from b24migrate.insight.causes import group_causes, list_causes
from b24migrate.insight.certificate.form import CLASSES
from b24migrate.insight.status.model import StreamStatus
from b24migrate.messages import words
from b24migrate.report.tables import TABLES

COLUMNS = (
    *("source", "read", "imported", "verified", "failed", "waiting", "excluded", "impossible", "drift", "findings"),
    "deleted",
)


def streams(made: World) -> dict[str, StreamStatus]:
    with made.app() as app:
        found = status.snapshot(app.context)
    return {name: one for entity in found.entities.values() for name, one in entity.streams.items()}


def one_number(made: World, query: str) -> int:
    ((found,),) = made.sql(query)
    return int(found)


def test_the_page_shows_the_numbers_of_the_status(troubled: Troubled) -> None:
    known = streams(troubled.world)
    shown = {
        row.attributes["data-stream"]: dict(zip(COLUMNS, (number(cell.text) for cell in row.children[1:]), strict=True))
        for row in troubled.english.by_id("table-streams").all("tr")
        if "data-stream" in row.attributes
    }
    assert list(shown) == list(known) == list(CATALOG.streams)
    for name, one in known.items():
        cells = shown[name]
        assert cells["source"] == one.source
        assert cells["read"] == one.read
        assert (cells["imported"], cells["failed"]) == (one.imported, one.failed)
        assert (cells["excluded"], cells["impossible"]) == (one.excluded, one.impossible)
        assert (cells["drift"], cells["findings"]) == (one.drift, one.findings)
        assert cells["waiting"] == one.waiting + one.retrying
        assert cells["deleted"] == one.deleted
    assert shown["crm_deals"]["drift"] == DRIFT
    assert shown["users"]["failed"] == 1


def test_the_sums_are_those_of_the_lines(troubled: Troubled) -> None:
    *lines, together = [row for row in troubled.english.cells("table-streams") if len(row) > 1]
    for column in range(3, len(together)):
        assert number(together[column]) == sum(number(line[column]) or 0 for line in lines)
    for name, column in (("source", 1), ("imported", 3), ("verified", 4), ("failed", 5), ("impossible", 8)):
        assert troubled.english.by_id(f"big-{name}").text == together[column]


def test_what_was_compared_and_equal_is_what_verify_kept(troubled: Troubled) -> None:
    kept = dict.fromkeys(CATALOG.streams, 0)
    for stream, ids in troubled.world.sql("SELECT Stream, Ids FROM Compared"):
        kept[stream] += len(json.loads(ids))
    assert {row["stream"]: int(row["verified"]) for row in troubled.english.rows("streams")} == kept
    assert number(troubled.english.by_id("big-verified").text) == sum(kept.values()) > 0


@pytest.mark.parametrize(
    ("table", "query"),
    [
        ("findings", "SELECT count(*) FROM Findings"),
        ("links", "SELECT count(*) FROM IdMap"),
        ("set_aside", "SELECT count(*) FROM SetAside"),
        (
            "unresolved",
            "SELECT (SELECT count(*) FROM Unresolved) + (SELECT count(*) FROM Findings WHERE Fate = 'dangling')",
        ),
        ("drift", "SELECT count(*) FROM SourceInventory"),
        ("custom_fields", "SELECT count(*) FROM CustomFields"),
        ("files_failed", "SELECT count(*) FROM Files WHERE Status = 'IMPORT_ERR'"),
    ],
)
def test_a_table_has_every_row_of_the_store(troubled: Troubled, table: str, query: str) -> None:
    assert len(troubled.english.rows(table)) == one_number(troubled.world, query) > 0
    assert troubled.english.written.rows[f"{table}.csv"] == len(troubled.english.rows(table))


def test_the_page_counts_the_rows_of_every_table(troubled: Troubled) -> None:
    numbers = {row[0]: number(row[1]) for row in troubled.english.cells("table-tables")}
    assert numbers == {table.file: len(troubled.english.rows(table.name)) for table in TABLES}


def test_each_failed_record_stands_there_with_its_cause_and_what_to_do(troubled: Troubled) -> None:
    rows = {(row["stream"], row["source_id"]): row for row in troubled.english.rows("failed")}
    assert len(rows) == sum(one.failed for one in streams(troubled.world).values()) > 1
    person = str(troubled.world.cloud.portal.company.users.ids[-1])
    one = rows["users", person]
    assert (one["code"], one["message"]) == ("VALIDATION", "NAME must not be empty in the source")
    assert "b24migrate retry" in one["fix"]
    assert "@company.example" in one["title"]
    assert "@company.example" in troubled.english.section("lists")
    assert one["title"].rpartition(" ")[2] not in troubled.english.html  # addresses are masked on the page


def test_what_failed_is_grouped_by_its_cause(troubled: Troubled) -> None:
    with troubled.world.app() as app:
        groups = group_causes(list_causes(app.context))
    section = troubled.english.section("failed")
    for group in groups:
        assert group.code in section
        assert f"{group.page.title} · {group.count}" in section
    assert {"VALIDATION", "REFERENCE_MISSING"} < {group.code for group in groups}


def test_findings_are_counted_by_fate(troubled: Troubled) -> None:
    counted = Counter((row["fate"], row["stream"]) for row in troubled.english.rows("findings"))
    shown = {(row[0], row[1]): number(row[2]) for row in troubled.english.cells("table-fates")}
    speech = words("en")
    assert shown == {
        (speech(f"report.fate.{fate}"), speech.named("stream", stream)): count
        for (fate, stream), count in counted.items()
    }
    assert {fate for fate, _ in counted} >= {"differs"}


def test_what_was_set_aside_is_counted_by_reason(troubled: Troubled) -> None:
    rows = troubled.english.rows("set_aside")
    shown = troubled.english.cells("table-aside")
    assert sum(number(row[2]) or 0 for row in shown) == len(rows)
    assert {row["why"] for row in rows} == {"excluded", "impossible"}
    assert all(row["reason"] for row in rows)


def test_drift_says_where(troubled: Troubled) -> None:
    ((name, reported, read, drift),) = troubled.english.cells("table-drift")
    assert (name, drift) == ("Deals", f"+{DRIFT}")
    assert (number(reported) or 0) - (number(read) or 0) == DRIFT
    assert not [one for one in troubled.closed.page.walk() if one.attributes.get("id") == "table-drift"]


def test_files_are_counted_with_their_bytes(troubled: Troubled) -> None:
    made = troubled.world
    known = one_number(made, "SELECT count(*) FROM Files")
    failed = one_number(made, "SELECT count(*) FROM Files WHERE Status = 'IMPORT_ERR'")
    sums = [sum(number(row[place]) or 0 for row in troubled.english.cells("table-files")) for place in (1, 2, 3)]
    assert sums == [known, known - failed, failed]
    assert number(troubled.english.by_id("big-files").text) == known - failed
    in_all = one_number(made, "SELECT sum(json_extract(Payload, '$.size')) FROM Files WHERE Status = 'IMPORT_OK'")
    assert f"{in_all / 1000:,.1f} KB" in troubled.english.section("files")


def test_people_are_told_apart_by_how_they_came(troubled: Troubled) -> None:
    rows = [row for row in troubled.english.rows("links") if row["stream"] == "users"]
    shown = [number(row[1]) for row in troubled.english.cells("table-people")]
    origins = Counter(row["origin"] for row in rows)
    assert shown == [origins["import"], origins["matched"], origins["loaded"]]
    assert sum(origins.values()) == streams(troubled.world)["users"].imported


def test_links_say_what_became_of_each_id(troubled: Troubled) -> None:
    rows = {(row["stream"], row["source_id"]): row["target_id"] for row in troubled.english.rows("links")}
    for stream in (*CATALOG.streams.values(), FILES):
        staged = troubled.world.sql(f'SELECT RowKey, TargetId FROM "{stream.table.name}" WHERE TargetId IS NOT NULL')  # noqa: S608
        assert all(rows[stream.name, key] == target for key, target in staged)


def test_every_step_is_timed(troubled: Troubled) -> None:
    rows = troubled.english.rows("timing")
    phases = [row for row in rows if row["kind"] == "phase"]
    with troubled.world.app() as app:
        found = status.snapshot(app.context)
    begun = {(name, phase) for name, one in found.entities.items() for phase, at in one.phases.items() if at.started}
    assert begun <= {(row["name"], row["phase"]) for row in phases}
    assert all(float(row["seconds"]) >= 0 and row["finished_utc"].endswith("Z") for row in phases)
    assert len([row for row in rows if row["kind"] == "run"]) == len(troubled.english.cells("table-runs")) == 2


def test_a_certificate_that_does_not_close_says_where(troubled: Troubled) -> None:
    assert troubled.closed.by_id("root").text == troubled.closed.written.root
    assert len(troubled.closed.written.root) == 64
    assert troubled.closed.written.root in troubled.closed.section("certificate")
    assert troubled.english.written.root == ""
    section = troubled.english.section("certificate")
    assert "Totals do not match" in section
    assert "crm_deals: the source reports" in section


def test_a_clean_run_has_the_certificates_own_root(clean: World, tmp_path: Path) -> None:
    found = report(clean)
    with clean.app() as app:
        made = certificate.make(app.context, tmp_path / "certificate")
    assert found.written.root == made.root
    listed = {row["stream"]: row for row in found.rows("streams")}
    for sums in made.head.streams[:-1]:
        assert int(listed[sums.stream]["verified"]) == sums.verified
        assert int(listed[sums.stream]["imported"]) == sums.verified + sums.migrated
    shown = [number(row[1]) for row in found.cells("table-classes")]
    assert shown == [sum(getattr(sums, name) for sums in made.head.streams) for name in CLASSES]


def test_both_languages_show_the_same_numbers(troubled: Troubled) -> None:
    def numbers(one: Report) -> list[list[int | None]]:
        rows = [row for row in one.cells("table-streams") if len(row) > 1]
        return [[number(cell) for cell in row[1:]] for row in rows]

    assert numbers(troubled.english) == numbers(troubled.russian)
    assert troubled.english.written.rows == troubled.russian.written.rows
