"""Nothing that the program writes can be read by other users of the machine, whatever the umask."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import TALK, Scene

from b24migrate import cli
from b24migrate.app import open_app
from b24migrate.config import load


@pytest.fixture(autouse=True)
def everybody() -> Iterator[None]:
    """The widest umask there is."""
    before = os.umask(0)
    yield
    os.umask(before)


def exposed(folder: Path) -> list[str]:
    """What group and others may do anything with."""
    found = (one for one in folder.rglob("*") if one.lstat().st_mode & 0o077 and not one.is_symlink())
    return sorted(str(one.relative_to(folder)) for one in found)


def test_nothing_of_a_whole_migration_is_for_others(company: Scene) -> None:
    folder = company.folder / "work"
    company.more = f'{TALK}[store]\nurl = "sqlite:///{folder}/store/b24migrate.db"\n'
    assert company.run("run").code in (0, 5)
    assert company.run("report", "--out", str(folder / "report")).code == 0
    assert company.run("certificate", "--out", str(folder / "certificate.jsonl")).code == 0
    assert company.run("users", "export", str(folder / "users.csv")).code == 0
    assert company.run("custom-fields", "export", str(folder / "fields.csv")).code == 0
    assert company.run("doctor", "--probe", "--out", str(folder / "probe.json")).code == 0
    assert exposed(folder) == []
    names = {one.name for one in folder.rglob("*")}
    assert names >= {"b24migrate.db", "b24migrate.log", "b24migrate.db.files", "report.html", "certificate.jsonl"}
    assert names >= {"users.csv", "fields.csv", "probe.json"}
    assert any(len(name) == 64 for name in names)  # a file of the company


def test_the_files_beside_an_open_store_are_private(company: Scene) -> None:
    company.write()
    with open_app(load(company.config)):
        here = {one.name for one in company.folder.iterdir()}
        assert {"b24migrate.db", "b24migrate.db-wal", "b24migrate.db-shm"} <= here
        assert [name for name in exposed(company.folder) if name.startswith("b24migrate.db")] == []


def test_a_store_of_an_earlier_version_is_narrowed(company: Scene) -> None:
    assert company.run("run", "--entity", "users").code in (0, 5)
    store, files = company.folder / "b24migrate.db", company.folder / "b24migrate.db.files"
    log = company.folder / "b24migrate.log"
    for path, mode in ((store, 0o644), (log, 0o644), (files, 0o755), (company.folder, 0o755)):
        path.chmod(mode)
    assert company.run("run", "--entity", "users").code in (0, 5)
    assert [path.stat().st_mode & 0o777 for path in (store, log, files)] == [0o600, 0o600, 0o700]
    assert company.folder.stat().st_mode & 0o777 == 0o755  # the user's own


def test_a_folder_that_the_user_made_for_the_report_stays_as_it_is(company: Scene) -> None:
    assert company.run("run", "--entity", "users").code in (0, 5)
    out = company.folder / "mine"
    out.mkdir(0o755)
    assert company.run("report", "--out", str(out)).code == 0
    assert out.stat().st_mode & 0o777 == 0o755
    assert exposed(out) == []


def test_a_new_configuration_is_private(tmp_path: Path) -> None:
    assert cli.execute(["init"]) == 0
    assert exposed(tmp_path) == []


def test_metrics_are_for_the_exporter_of_another_user(company: Scene) -> None:
    assert company.run("metrics", "--out", str(company.folder / "b24.prom")).code == 0
    assert (company.folder / "b24.prom").stat().st_mode & 0o777 == 0o644


def test_doctor_names_every_file_that_others_can_read_and_the_command(company: Scene) -> None:
    secret = company.folder / "a secret.txt"
    secret.write_text(company.source)
    (company.folder / ".env").write_text("B24_SOURCE=…")
    company.source = f"file:{secret.name}"
    company.write()
    company.config.chmod(0o640)
    result = company.run("doctor")
    assert result.code == 0
    for path in (company.config, secret, company.folder / ".env"):
        assert f"other users of this machine can read {path}" in result.out
    assert f"chmod 600 {company.config}" in result.out
    assert f"chmod 600 '{secret}'" in result.out
    russian = company.run("doctor", "--lang", "ru").out
    assert f"файл {secret} с настройками или секретами доступен другим пользователям" in russian
    assert f"Выполните `chmod 600 '{secret}'`" in russian
    warned = [one for one in company.run("doctor", "--json").json["checks"] if one["name"] == "private files"]
    assert [one["level"] for one in warned] == ["warning"] * 3
    for path in (company.config, secret, company.folder / ".env"):
        path.chmod(0o600)
    assert "chmod" not in company.run("doctor").out


UMASK = """
import os
from b24migrate import cli
try:
    cli.main(["--version"])
except SystemExit:
    print(os.umask(0))
"""


def test_the_program_itself_starts_with_a_narrow_umask() -> None:
    """For what a library writes."""
    output = subprocess.run([sys.executable, "-c", UMASK], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == str(0o077)
