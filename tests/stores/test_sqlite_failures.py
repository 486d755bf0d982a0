"""What the embedded store says when the disk, a lock or a mistake is in the way."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.stores.samples import EVERYTHING, GROUPS, TABLES, Time, row, stage

from b24migrate.model.errors import Halted, MigrationError
from b24migrate.model.records import Staged
from b24migrate.stores import Opened, open_store
from b24migrate.stores.sqlite import Database, SqliteStore, failures, files

ROOT = Path(__file__).parents[2]
COLUMNS = [
    "Ord",
    "PartitionKey",
    "RowKey",
    "Status",
    "Payload",
    "PayloadHash",
    "Attempts",
    "LastErrorCode",
    "LastError",
    "LastErrorAtUtc",
    "RetryAfterUtc",
    "TargetId",
    "ImportedAtUtc",
    "SourceOriginal",
    "SourceUtc",
    "OriginalOffsetMin",
    "PulledThrough",
    "Revision",
    "Losses",
    "LastErrorMessage",
    "RunId",
    "MigrationVersion",
    "Extras",
    "NaturalKey",
    "Pass",
]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    opened = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    yield opened
    opened.store.close()


def ask(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "store.db")) as raw:
        return raw.execute(sql).fetchall()


def test_a_full_disk_halts_and_loses_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.db", TABLES, Time())
    store = SqliteStore(database)
    stage(store, row(1))
    with database.writing() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    with database.reading():
        database._writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Halted, match=r"full.*Progress is saved.*free some space.*run the same command"):
        stage(store, *(Staged(str(key), b"x" * 5000) for key in range(500)))
    assert [one.row_key for one in store.records(GROUPS, EVERYTHING, 9)] == ["1"]
    database._writer.execute("PRAGMA max_page_count = 1000000")
    stage(store, *(Staged(str(key), b"x" * 5000) for key in range(500)))
    assert sum(store.counts(GROUPS).values()) == 500
    store.close()


def test_a_lock_held_too_long_halts(tmp_path: Path) -> None:
    store = SqliteStore(Database(tmp_path / "store.db", TABLES, Time(), patience_s=0.01))
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Halted, match=r"locked by another program.*Progress is saved"):
            stage(store, row(1))
        other.execute("ROLLBACK")
    stage(store, row(1))
    store.close()


def test_a_new_store_waits_for_whoever_is_making_it(tmp_path: Path) -> None:
    clock = Time()
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM sqlite_master").fetchall()
        with pytest.raises(Halted, match="locked"):
            Database(tmp_path / "store.db", TABLES, clock, patience_s=0.01)
    assert clock.passed_s >= 0.01


def test_a_store_that_may_not_be_written_halts(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.db", TABLES, Time())
    database._writer.execute("PRAGMA query_only = ON")
    with pytest.raises(Halted, match=r"read-only.*Progress is saved"):
        stage(SqliteStore(database), row(1))
    database.close()


WRITE_PAST_A_LIMIT = """
import resource, signal, sys
from pathlib import Path
from b24migrate.model.errors import Halted
from b24migrate.model.records import Staged
from b24migrate.stores import open_store
from tests.stores.samples import GROUPS, TABLES, Time

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store, queue, files = open_store("sqlite:///store.db", TABLES, Time(), base=Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
def bulk():
    for number in range(100):
        store.stage(GROUPS, [Staged(f"{number}:{key}", b"x" * 5000) for key in range(50)], run="r", pass_no=1)
def attach():
    with files.writer("k") as out:
        out.write(b"x" * 4_000_000)
for act in (bulk, attach):
    try:
        act()
    except Halted as error:
        print(error)
store.close()
"""


def test_a_disk_that_refuses_to_write_halts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WRITE_PAST_A_LIMIT, str(tmp_path)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Progress is saved") == 2
    opened = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    kept = sum(opened.store.counts(GROUPS).values())
    assert kept == ask(tmp_path, "SELECT count(*) FROM Groups")[0][0]
    assert kept % 50 == 0
    assert opened.files.size("k") is None
    opened.store.close()


@pytest.mark.parametrize(
    "code",
    ["FULL", "IOERR", "READONLY", "PERM", "CANTOPEN", "BUSY", "LOCKED", "PROTOCOL", "CORRUPT", "NOTADB", "NOMEM"],
)
def test_every_failure_of_a_disk_is_one_of_ours(code: str) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}") | (3 << 8)  # extended codes keep the plain one below
    ours = failures.translate(error, "a.db")
    assert isinstance(ours, MigrationError)
    assert "a.db" in ours.message
    assert ours.code
    assert ours.hint


def test_a_mistake_of_ours_is_not_hidden(opened: Opened) -> None:
    assert failures.translate(sqlite3.ProgrammingError("x"), "a.db") is None
    opened.store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened.store.counters()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened.store.add({"x": 1})


def test_a_folder_that_cannot_be_written_halts(tmp_path: Path) -> None:
    (tmp_path / "store.db.files").write_text("in the way")
    opened = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    with pytest.raises(Halted, match="Progress is saved"):
        opened.files.writer("k").__enter__()
    opened.store.close()


def test_unfinished_files_of_killed_processes_are_swept(tmp_path: Path) -> None:
    clock = Time()
    folder = tmp_path / "x.files"
    (folder / "unfinished").mkdir(parents=True)
    (folder / "unfinished" / "1-dead").write_bytes(b"half")
    clock.sleep(1e9)
    files.FolderFiles(folder, clock)
    assert list((folder / "unfinished").iterdir()) == []


def test_a_full_disk_is_told_from_a_broken_one() -> None:
    assert "free some space" in files._HINTS[errno.ENOSPC]
