"""The file with the details of a bug: one for each bug, for its owner only, and never through a link."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from b24migrate.monitor import bug_file
from b24migrate.monitor.bug_file import bug_keeper, write_bug

SECRET = "s3cr3tsecret"


def no_secret(text: str) -> str:
    return text.replace(SECRET, "******")


def divided() -> ZeroDivisionError:
    try:
        raise ZeroDivisionError(f"https://portal.example/rest/1/{SECRET}/")
    except ZeroDivisionError as bug:
        return bug


def key_error() -> KeyError:
    try:
        raise KeyError("name")
    except KeyError as bug:
        return bug


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_has_the_traceback_and_the_record_but_no_secret() -> None:
    path = write_bug(divided(), no_secret, "users 5")
    text = path.read_text()
    assert text.startswith("users 5\n")
    assert "ZeroDivisionError" in text
    assert SECRET not in text


def test_it_is_readable_by_its_owner_only() -> None:
    before = os.umask(0)
    try:
        path = write_bug(divided(), no_secret)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_bug_has_one_file() -> None:
    keep = bug_keeper(no_secret)
    assert keep(divided(), "users 5") == keep(divided(), "users 6")
    assert keep(key_error(), "users 5") != keep(divided(), "users 5")
    assert len(list(Path().glob("b24migrate-bug-*.txt"))) == 2


def test_a_link_that_somebody_put_there_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f"b24migrate-bug-{bug_file.bug_id(divided())}.txt").symlink_to(victim)
    path = write_bug(divided(), no_secret)
    assert victim.read_text() == "mine"
    assert "ZeroDivisionError" in path.read_text()
    assert not path.is_symlink()


def test_where_no_folder_can_be_written_nothing_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/nowhere/at/all")
    monkeypatch.setattr(Path, "cwd", lambda: Path("/nowhere/either"))
    assert str(write_bug(divided(), no_secret)) == bug_file.NOWHERE
