"""What goes wrong is one clear sentence with the fix on stderr, the right exit code, and no traceback."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import SOURCE_SECRET, TARGET_SECRET, Result, Scene, answering, box, cloud

from b24migrate import cli
from b24migrate.engine import jobs
from b24migrate.engine.phases import context as work_of_phases
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.insight import causes
from b24migrate.model.records import Job


def is_clear(result: Result, code: int, *words: str) -> None:
    assert result.code == code, result.all
    for word in words:
        assert word in result.all, result.all
    assert "Traceback" not in result.all
    assert SOURCE_SECRET not in result.all
    assert TARGET_SECRET not in result.all


COMMANDS = (["run"], ["run", "--json"], ["doctor"])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_portal_that_is_not_there(company: Scene, command: list[str]) -> None:
    company.source = f"http://127.0.0.1:1/rest/1/{SOURCE_SECRET}/"
    is_clear(company.run(*command), 4, "source", "UNREACHABLE", "Check the network")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_secret(company: Scene, command: list[str]) -> None:
    company.source = company.source.replace(SOURCE_SECRET, "notthesecret")
    result = company.run(*command)
    is_clear(result, 3, "INVALID_CREDENTIALS", "webhook")
    assert "notthesecret" not in result.all


def test_a_wrong_secret_of_the_box(company: Scene) -> None:
    company.target = company.target.replace(TARGET_SECRET, "notthesecret")
    is_clear(company.run("run"), 3, "target", "INVALID_CREDENTIALS")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_scope_that_was_not_granted(scene: Scene, command: list[str]) -> None:
    with cloud("--scopes", "user,department,im") as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        result = scene.run(*command)
        is_clear(result, 3, "sonet_group", "Add")
        if "--json" in command:
            assert result.json["entities"]["groups"]["phases"]["get"] == "blocked"
            assert result.json["entities"]["users"]["phases"]["verify"] == "done"


def test_an_optional_scope_that_was_not_granted_is_a_warning(scene: Scene) -> None:
    with cloud("--scopes", "user,department,im,sonet_group") as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        is_clear(scene.run("doctor"), 0, "! scopes of groups", "socialnetwork")


def test_a_webhook_of_somebody_who_is_no_administrator_lists_with_gaps_and_is_a_gate(scene: Scene) -> None:
    with cloud("--admins", "2") as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        is_clear(scene.run("doctor"), 3, "only an administrator", "Create the webhook")


def test_another_time_zone_than_the_portal_has_is_a_warning(company: Scene) -> None:
    company.source += '"\ntimezone = "Asia/Yekaterinburg'
    is_clear(company.run("doctor"), 0, "! time zone", "Set source.timezone")


def test_a_source_that_answers_with_web_pages(company: Scene) -> None:
    with answering({}) as webhook:
        company.source = webhook
        is_clear(company.run("run"), 4, "web page")


def test_a_source_that_knows_no_probe_is_no_crash(company: Scene) -> None:
    with answering({}, {"error": "ERROR_METHOD_NOT_FOUND", "error_description": "Method not found!"}) as webhook:
        company.source = webhook
        result = company.run("doctor")
        assert result.code in (0, 3, 4)
        assert "Traceback" not in result.all


def test_a_box_without_the_import_module(company: Scene) -> None:
    with answering({}, {"error": "ERROR_METHOD_NOT_FOUND", "error_description": "Method not found!"}) as webhook:
        company.target = webhook
        is_clear(company.run("run"), 3, "import", "Install the import module", 'Or set target.kind = "rest"')


INFO = {
    "contract": 1,
    "server": "old/0.1",
    "timezone": "Europe/Moscow",
    "entities": ["users"],
    "limits": {"items": 100, "body_bytes": 8000000, "file_bytes": 104857600, "chunk_bytes": 4194304},
}


def test_a_box_that_lacks_an_entity(company: Scene) -> None:
    unknown = {"error": "ERROR_METHOD_NOT_FOUND", "error_description": "Method not found!"}
    with answering({"import.info": {"result": INFO}, "import.fidelity": unknown}) as webhook:
        company.target = webhook
        is_clear(company.run("doctor"), 3, "does not import groups", "Update the import module")


def test_a_box_with_another_contract(company: Scene) -> None:
    with answering({"import.info": {"result": {**INFO, "contract": 2}}}) as webhook:
        company.target = webhook
        is_clear(company.run("run"), 3, "protocol version: 2", "matching version")


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("[run]\nworker = 3\n", ["b24migrate.toml, line 6", "run.worker", '"workers"']),
        ("[store]\nurl = 'nonsense'\n", ["store.url", "sqlite:///"]),
    ],
)
def test_a_mistake_in_the_configuration(company: Scene, more: str, wanted: list[str]) -> None:
    company.more = more
    for command in ("run", "doctor", "status", "errors", "metrics", "retry", "worker"):
        is_clear(company.run(command), 2, *wanted)


def test_a_store_of_another_version(company: Scene) -> None:
    company.run("status")
    with sqlite3.connect(company.folder / "b24migrate.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    is_clear(company.run("status"), 2, "version 999")


def test_a_store_that_is_no_store(company: Scene) -> None:
    (company.folder / "b24migrate.db").write_text("this is a letter to my mother\n" * 100)
    is_clear(company.run("run"), 2, "b24migrate.db")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run", "--entity", "grups"], ["grups", "Did you mean groups", "users"]),
        (["do", "groups-gte"], ["groups-gte", "Did you mean groups-get"]),
        (["get", "crm"], ["crm", "Valid values"]),
        (["retry", "--entity", "x"], ["Valid values"]),
        (["run", "--test-limit", "-1"], ["--test-limit"]),
        (["run", "--test-limit", "many"], ["--test-limit"]),
        (["frobnicate"], ["frobnicate"]),
        (["run", "--frob"], ["--frob"]),
        (["users", "load", "nowhere.csv"], ["nowhere.csv"]),
    ],
)
def test_a_mistyped_command(company: Scene, arguments: list[str], wanted: list[str]) -> None:
    is_clear(company.run(*arguments), 2, *wanted)


def test_names_are_taken_with_dashes_and_underscores(company: Scene) -> None:
    assert company.run("do", "users_custom_fields_get").code == 0


@pytest.mark.parametrize(
    ("arguments", "exit_code"), [(["retry", "--code", "\udcff"], 0), (["serve", "--host", "\udcff"], 2)]
)
def test_bytes_that_are_no_text_are_no_bug(company: Scene, arguments: list[str], exit_code: int) -> None:
    """A terminal hands them over as lone halves of characters."""
    result = company.run(*arguments)
    assert result.code == exit_code, result.all
    assert not list(company.folder.glob("b24migrate-bug-*"))


def test_init_writes_a_configuration_that_loads_and_never_overwrites(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from b24migrate.config import load

    assert cli.execute(["init"]) == 0
    assert cli.execute(["init"]) == 2
    assert "is not changed" in capsys.readouterr().err
    hooks = {"B24_SOURCE": "https://a.example/rest/1/x/", "B24_TARGET": "https://b.example/rest/1/y/"}
    settings = load(Path("b24migrate.toml"), environ=hooks)
    assert settings.run.workers == 4
    monkeypatch.delenv("B24_SOURCE", raising=False)
    assert cli.execute(["doctor"]) == 2
    assert "B24_SOURCE" in capsys.readouterr().err


def test_without_a_configuration_the_way_to_one_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["run"]) == 2
    assert "b24migrate init" in capsys.readouterr().err


def test_a_bug_is_a_short_message_and_a_file(company: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError(f"calling {company.source}")

    monkeypatch.setattr(causes, "list_causes", broken)
    result = company.run("errors")
    is_clear(result, 1, "bug", "b24migrate-bug-")
    (file,) = Path().glob("b24migrate-bug-*.txt")
    details = file.read_text()
    assert "ZeroDivisionError" in details
    assert SOURCE_SECRET not in details
    monkeypatch.setenv("B24MIGRATE_DEBUG", "1")
    result = company.run("errors")
    assert "Traceback" in result.err
    assert SOURCE_SECRET not in result.err


def test_a_bug_in_a_job_stops_that_job_only_and_errors_names_the_file(
    company: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = jobs.PERFORMERS["read"]

    def broken(context: RunContext, job: Job) -> Follow:
        if job.args["stream"] == "groups":
            raise ZeroDivisionError(f"calling {company.source}")
        return read(context, job)

    monkeypatch.setitem(jobs.PERFORMERS, "read", broken)
    monkeypatch.setattr(work_of_phases, "DELAYS_S", (0.0, 0.0, 0.0))
    result = company.run("run", "--entity", "users", "--entity", "groups")
    assert result.code == 4
    assert "Traceback" not in result.out + result.err
    (file,) = Path().glob("b24migrate-bug-*.txt")
    assert SOURCE_SECRET not in file.read_text()
    errors = company.run("errors")
    assert "UNEXPECTED" in errors.out
    assert file.name in errors.out.replace("\n", "").replace(" ", "")
    monkeypatch.undo()
    assert company.run("retry").code == 0


HEAVY = ("pydantic", "urllib3", "sqlite3", "rich", "prometheus_client", "starlette", "b24migrate.app")


def test_help_comes_at_once_because_nothing_heavy_is_loaded_for_it() -> None:
    script = f"""
import sys
from b24migrate import cli
code = cli.execute(["--help"])
loaded = [name for name in {HEAVY!r} if name in sys.modules]
sys.exit(f"loaded: {{loaded}}" if loaded else code)
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "b24migrate demo" in ended.stdout
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["--version"]) == 0
    assert capsys.readouterr().out.startswith("b24migrate ")
