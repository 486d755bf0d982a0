"""Only their owner can read them, from the moment they exist, whatever the umask."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from b24migrate import private_files
from b24migrate.private_files import create, is_exposed, make_folder, narrow, open_private, replace_private


@pytest.fixture(autouse=True, params=[0o000, 0o022], ids=["umask 000", "umask 022"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


WRITING = re.compile(
    r"""\.open\(\s*["'][^"']*[wax+]|\.write_(text|bytes)\(|\bos\.(open|mkdir|makedirs)\(|\.mkdir\((?!FOLDER)"""
)
PUBLIC = {"messages/__main__.py"}  # writes docs
READING = {"web/actions.py": 1, "stores/sqlite/files.py": 1}  # a look at a lock; a folder that is synced


def test_no_other_module_writes_files_by_itself() -> None:
    root = Path(private_files.__file__).parent
    found = {str(file.relative_to(root)): len(WRITING.findall(file.read_text("utf-8"))) for file in root.rglob("*.py")}
    ours = {name: count for name, count in found.items() if count and name not in PUBLIC}
    assert ours.pop("private_files.py")
    assert ours == READING


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("how", ["w", "x", "a", "ab+", "xb"])
def test_a_new_file_is_private_before_anything_is_in_it(tmp_path: Path, how: str) -> None:
    with open_private(tmp_path / "a", how):
        assert mode(tmp_path / "a") == 0o600


@pytest.mark.parametrize("how", ["w", "a"])
def test_an_old_file_is_narrowed_before_anything_is_written(tmp_path: Path, how: str) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o664)
    with open_private(tmp_path / "a", how):
        assert mode(tmp_path / "a") == 0o600


def test_what_is_replaced_is_another_file(tmp_path: Path) -> None:
    """Who had opened the old one reads nothing new."""
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(0o644)
    with path.open() as spy:
        with replace_private(path) as out:
            out.write("new")
            assert mode(tmp_path / "a.csv.new") == 0o600
            assert path.read_text() == "old"
        assert spy.read() == "old"
    assert (path.read_text(), mode(path)) == ("new", 0o600)
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_what_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(TypeError), replace_private(path, "wb") as out:
        out.write("a text")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a", "old")]


def test_a_link_that_somebody_put_in_the_way_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "a.new").symlink_to(victim)
    with replace_private(tmp_path / "a") as out:
        out.write("new")
    assert (victim.read_text(), (tmp_path / "a").read_text()) == ("mine", "new")


def test_what_is_no_file_is_written_as_it_is() -> None:
    with replace_private(Path(os.devnull)) as out:
        out.write("new")
    assert not Path(os.devnull).is_file()


def test_missing_folders_are_private_and_existing_ones_stay(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(0o755)
    make_folder(tmp_path / "mine" / "a" / "b")
    assert [mode(tmp_path / one) for one in ("mine", "mine/a", "mine/a/b")] == [0o755, 0o700, 0o700]
    make_folder(tmp_path / "mine")
    assert mode(tmp_path / "mine") == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_folder(tmp_path / "file")


def test_a_database_is_created_by_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    create(tmp_path / "link.db")
    assert mode(tmp_path / "real.db") == 0o600


def test_creating_again_keeps_the_locks_of_this_process(tmp_path: Path) -> None:
    """To close a file that SQLite has open would end its locks."""
    path = tmp_path / "a.db"
    create(path)
    script = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('CREATE TABLE t (x)')"
    with closing(sqlite3.connect(path, isolation_level=None)) as one:
        one.execute("BEGIN EXCLUSIVE")
        create(path)
        other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "database is locked" in other.stderr


def test_what_others_can_read_or_change_is_told_and_narrowed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    for wide, narrowed in ((0o640, 0o600), (0o604, 0o600), (0o602, 0o600), (0o444, 0o400)):
        path.chmod(wide)
        assert is_exposed(path)
        narrow(path)
        assert mode(path) == narrowed
        assert not is_exposed(path)
    assert not is_exposed(tmp_path / "nothing")
    narrow(tmp_path / "nothing")
