"""`box pack`: the module for the box as one file, from a checkout and from what is installed alike."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.browser.server import ROOT

from b24migrate import cli

MODULE = ROOT / "box-module" / "b24migrate.import"


def contents(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def test_it_holds_the_folder_of_the_module_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["box", "pack"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["b24migrate.import.zip"]
    wanted = {
        f"b24migrate.import/{file.relative_to(MODULE).as_posix()}": file.read_bytes()
        for file in MODULE.rglob("*")
        if file.is_file()
    }
    assert contents(tmp_path / "b24migrate.import.zip") == wanted
    assert "b24migrate.import/install/index.php" in wanted
    assert "local/modules" in capsys.readouterr().out


def test_the_same_version_makes_the_same_bytes_whenever_it_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    one, other = tmp_path / "one.zip", tmp_path / "other.zip"
    assert cli.execute(["box", "pack", "--out", str(one), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    (MODULE / "install" / "version.php").touch()
    assert cli.execute(["box", "pack", "--out", str(other)]) == 0
    assert one.read_bytes() == other.read_bytes()
    assert output == {"file": str(one), "sha256": hashlib.sha256(one.read_bytes()).hexdigest()}


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["box", "pack", "--out", str(tmp_path / "nowhere" / "it.zip")]) == 4
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["/", ".", ""])
def test_a_folder_is_no_place_for_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["box", "pack", "--out", place]) == 4
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_special_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """A device as well: an administrator could replace /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert cli.execute(["box", "pack", "--out", str(pipe)]) == 0
        said, _ = reader.communicate(timeout=60)
    assert pipe.is_fifo()
    assert said.startswith(b"PK")


def test_what_is_installed_packs_the_same_file(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    program = (
        "import sys; import b24migrate; from b24migrate import cli; assert 'installed' in b24migrate.__file__; "
        "sys.exit(cli.execute(['box', 'pack', '--out', 'it.zip']))"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, check=True, timeout=60)
    assert cli.execute(["box", "pack", "--out", str(tmp_path / "ours.zip")]) == 0
    assert (tmp_path / "it.zip").read_bytes() == (tmp_path / "ours.zip").read_bytes()
    assert (tmp_path / "installed" / "b24migrate" / "box_module" / "b24migrate.import").is_dir()
