"""The API is what its document says, whatever is sent: schemathesis attacks all of it with every check it has."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import jsonschema_rs
import pytest
from tests.web.dashboard import NOBODY, TOKEN, Desk, configured, dashboard

from b24migrate.model.records import Span
from b24migrate.web.actions import LastAction
from b24migrate.web.auth import GuessLimit
from b24migrate.web.request_schemas import STREAMS

SETTINGS = Path(__file__).with_name("schemathesis.toml")
HANDBOOK = Path(__file__).parents[2] / "docs" / "api.md"


class Calm:
    """Begins nothing: hundreds of runs are not what is looked at here. `test_actions` begins real ones."""

    able: Sequence[str] = ("start", "resume", "retry", "analyze", "cutover")

    def run(self, entities: Sequence[str], phases: Sequence[str], test_limit: int | None) -> None: ...

    def resume(self) -> None: ...

    def retry(self, entities: Sequence[str], code: str) -> None: ...

    def analyze(self) -> None: ...

    def sync(self, *, report_only: bool) -> None: ...

    def cutover(self, step: str) -> None: ...

    def last(self) -> LastAction | None:
        return None


class Forgiving(GuessLimit):
    """Who attacks with thousands of wrong tokens would soon be told nothing else."""

    def wrong(self, address: str) -> None: ...


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Desk]:
    with dashboard(configured(tmp_path, *NOBODY), starter=Calm()) as desk:
        desk.context.sessions.patience = Forgiving()
        yield desk


def attack(desk: Desk, *options: str) -> None:
    script = Path(sys.executable).with_name("schemathesis")
    command = [str(script), "--config-file", str(SETTINGS), "run", f"{desk.url}/api/v1/openapi.json"]
    bounds = ["--generation-deterministic", "--no-color"]
    kept = subprocess.run(
        [*command, "--checks", "all", *bounds, *options], cwd=desk.folder, capture_output=True, text=True, check=False
    )
    assert kept.returncode == 0, kept.stdout[-6000:] + kept.stderr[-2000:]
    assert "Tested: 28" in kept.stdout


@pytest.mark.slow
def test_nothing_breaks_the_api_and_every_answer_is_in_its_document(locked: Desk) -> None:
    """With a token, so that a way around it would be found as well."""
    bearer = ("-H", f"Authorization: Bearer {TOKEN}")
    attack(locked, *bearer, "--phases", "coverage,fuzzing", "--max-examples", "8")


def test_the_handbook_lists_every_endpoint(quiet: Desk) -> None:
    rows = ["| | | |", "|---|---|---|"]
    for path, methods in quiet.look("openapi.json")["paths"].items():
        for method, operation in methods.items():
            query = [one["name"] for one in operation["parameters"] if one["in"] == "query" and one["name"] != "lang"]
            asked = f"`{path.removeprefix('/api/v1')}`" + (
                f" ? {', '.join(f'`{name}`' for name in query)}" if query else ""
            )
            rows.append(f"| {method.upper()} | {asked} | {operation['summary']} |")
    wanted = "\n".join(rows)
    assert wanted in HANDBOOK.read_text("utf-8"), f"docs/api.md wants:\n{wanted}"


def one_of_each_kind(desk: Desk) -> list[str]:
    with desk.context.app() as app:
        found = [(name, app.context.store.records(one.table, Span(), 1)) for name, one in app.context.streams.items()]
    return [f"{name}/{records[0].row_key}" for name, records in found if records and name in STREAMS]


def test_what_is_told_of_a_company_that_was_moved_is_in_the_document_too(moved: Desk) -> None:
    document = moved.look("openapi.json")
    code = next(group["code"] for group in moved.look("errors")["groups"])
    asked = {
        "overview": "overview",
        "history": "history",
        "errors": "errors",
        f"errors/{code}": "errors/{code}",
        "findings": "findings",
        "conflicts": "conflicts",
        "cutover": "cutover",
        "pass": "pass",
        "search?q=a": "search",
        **{f"records/{quote(one)}": "records/{stream}/{source_id}" for one in one_of_each_kind(moved)},
        "analysis": "analysis",
        "certificate": "certificate",
        "session": "session",
    }
    for path, operation in asked.items():
        for language in ("en", "ru"):
            reply = moved.send("GET", f"/api/v1/{path}", {"Accept-Language": language})
            assert reply.status == 200, path
            response = document["paths"][f"/api/v1/{operation}"]["get"]["responses"]["200"]
            schema = {**response["content"]["application/json"]["schema"], "components": document["components"]}
            jsonschema_rs.validate(schema, reply.json)
