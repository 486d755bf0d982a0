"""Where a report is written: whole or not at all, and never over what is not ours."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from tests.engine.world import World
from tests.report.report_reader import report

from b24migrate.insight.report import Tally
from b24migrate.model.errors import BadConfiguration
from b24migrate.report import write as making
from b24migrate.report.page import Texts
from b24migrate.report.tables import Sources, Table


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(made: World, name: str, *words: str) -> None:
    """In one sentence, with what to do, having changed nothing."""
    with made.app():  # now there is a store
        pass
    before = {path.name for path in made.folder.iterdir()}
    with pytest.raises(BadConfiguration) as stop:
        report(made, name)
    assert stop.value.exit_code == 2
    assert stop.value.code == "REPORT_NOT_WRITTEN"
    assert "--out" in stop.value.hint
    for word in words:
        assert word in stop.value.message
    assert {path.name for path in made.folder.iterdir()} == before


def test_other_files_stay(fresh: World) -> None:
    folder = fresh.folder / "report"
    (folder / "inner").mkdir(parents=True)
    (folder / "letter.txt").write_text("mine")
    (folder / "inner" / "links.csv").write_text("mine too")
    report(fresh)
    assert (folder / "letter.txt").read_text() == "mine"
    assert (folder / "inner" / "links.csv").read_text() == "mine too"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_an_earlier_report_is_replaced(fresh: World) -> None:
    first = report(fresh).bytes()
    fresh.run()
    second = report(fresh).bytes()
    assert sorted(first) == sorted(second)
    assert first["report.html"] != second["report.html"]
    assert first["links.csv"] != second["links.csv"]


@pytest.mark.parametrize("name", ["report.html", "links.csv"])
def test_a_file_that_only_has_the_name_of_ours_is_not_replaced(fresh: World, name: str) -> None:
    folder = fresh.folder / "report"
    folder.mkdir()
    (folder / name).write_text("mine")
    refused(fresh, "report", name, "not part of an earlier report")
    assert contents(folder) == {name: b"mine"}
    report(fresh, force=True)
    assert (folder / name).read_text() != "mine"


def test_a_place_that_is_no_folder(fresh: World) -> None:
    (fresh.folder / "file").write_text("mine")
    (fresh.folder / "dangling").symlink_to(fresh.folder / "nowhere")
    refused(fresh, "file", "cannot be written to", "file")
    refused(fresh, "file/inner", "cannot be written to")
    refused(fresh, "dangling", "cannot be written to")
    (fresh.folder / "folder" / "report.html").mkdir(parents=True)
    refused(fresh, "folder", "cannot be written to")
    assert (fresh.folder / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(fresh: World) -> None:
    (fresh.folder / "locked").mkdir(mode=0o500)
    refused(fresh, "locked", "Permission denied")


def test_folders_on_the_way_are_made(fresh: World) -> None:
    assert report(fresh, "a/b/c").folder.is_dir()


def test_a_full_disk_leaves_nothing_behind(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    report(fresh)
    before = contents(fresh.folder / "report")
    monkeypatch.setattr(making, "write_table", full)
    with pytest.raises(OSError, match="No space"):
        report(fresh)
    assert contents(fresh.folder / "report") == before
    with pytest.raises(OSError, match="No space"):
        report(fresh, "other")
    assert not (fresh.folder / "other").exists()
    assert not list(fresh.folder.rglob(".b24migrate-report-*"))


def test_it_appears_as_a_whole(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[bool] = []
    write = making.write_table

    def watched(table: Table, made: Sources, texts: Texts) -> Tally:
        found.append((fresh.folder / "report").exists())
        return write(table, made, texts)

    monkeypatch.setattr(making, "write_table", watched)
    report(fresh)
    assert found
    assert not any(found)


def test_only_their_owner_can_read_them_whatever_the_umask(fresh: World) -> None:
    before = os.umask(0)
    try:
        folder = report(fresh).folder
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {0o600}
