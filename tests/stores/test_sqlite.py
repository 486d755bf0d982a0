"""What is true of the embedded store alone: its address, its file, and what people see in it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.stores.samples import EVERYTHING, FILES, GROUPS, NOON, TABLES, Time, at, failed, imported, row, settle, stage

from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Job, Staged, Status, Table
from b24migrate.ports import CUSTOM_FIELDS, REGISTERS, RUNS, SET_ASIDE, RegisterRow
from b24migrate.stores import Opened, open_store
from b24migrate.stores.sqlite import SqliteStore, database

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
    "DeletedUtc",
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


# ---------------------------------------------------------------- its address


def test_a_relative_address_is_beside_the_base(tmp_path: Path) -> None:
    open_store("sqlite:///deep/er/x.db", TABLES, Time(), base=tmp_path).store.close()
    assert (tmp_path / "deep/er/x.db").is_file()


def test_an_absolute_address_is_itself(tmp_path: Path) -> None:
    opened = open_store(f"sqlite:///{tmp_path}/x.db", TABLES, Time(), base=Path("elsewhere"))
    assert opened.store.describe()["place"] == str(tmp_path / "x.db")
    opened.store.close()


@pytest.mark.parametrize("url", ["", "store.db", "sqlite:", "sqlite://", "sqlite:///", "postgres:///x", "sqlite:/x.db"])
def test_another_address_is_refused_with_the_fix(url: str) -> None:
    with pytest.raises(BadConfiguration, match=r"sqlite:///b24migrate\.db"):
        open_store(url, TABLES, Time())


# ---------------------------------------------------------------- its file


def test_a_store_opened_again_has_everything(tmp_path: Path, opened: Opened) -> None:
    stage(opened.store, row(1), row(2))
    settle(opened.store, imported(1))
    opened.queue.put([Job("s", "k")])
    with opened.files.writer("f") as out:
        out.write(b"x")
    opened.store.close()
    again = open_store("sqlite:///store.db", [*TABLES, Table("Later", "later")], Time(), base=tmp_path)
    assert len(again.store.records(GROUPS, EVERYTHING, 9)) == 2
    assert (again.queue.open("s"), again.files.size("f")) == (1, 1)
    stage(again.store, row(1), table=Table("Later", "later"))
    again.store.close()


def test_a_store_of_another_version_is_refused(tmp_path: Path, opened: Opened) -> None:
    opened.store.close()
    ask(tmp_path, "PRAGMA user_version = 99")
    with pytest.raises(BadConfiguration, match=r"version 99.*store\.url"):
        open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)


def test_somebody_else_s_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    ask(tmp_path, "CREATE TABLE Theirs (x)")
    before = (tmp_path / "store.db").read_bytes()
    with pytest.raises(BadConfiguration, match=r"not a b24migrate store.*store\.url"):
        open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    assert (tmp_path / "store.db").read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be one" * 100, b"short"])
def test_a_file_that_is_no_database_is_refused_and_not_touched(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "store.db").write_bytes(content)
    with pytest.raises(BadConfiguration, match="not a b24migrate store"):
        open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    assert (tmp_path / "store.db").read_bytes() == content


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.db").mkdir()
    with pytest.raises(BadConfiguration, match="folder"):
        open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)


def test_a_place_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadConfiguration, match="cannot be created"):
        open_store("sqlite:///file/store.db", TABLES, Time(), base=tmp_path)


def test_a_table_s_name_is_a_plain_word() -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        open_store("sqlite://:memory:", [Table('x"; DROP TABLE Jobs; --', "x")], Time())


# ---------------------------------------------------------------- what people see


def test_a_record_table_has_the_columns_of_the_book(tmp_path: Path, opened: Opened) -> None:
    found = [name for _, name, *_ in ask(tmp_path, "PRAGMA table_info(Groups)")]
    assert sorted(map(str, found)) == sorted(COLUMNS)


def test_a_store_of_before_there_were_losses_gets_their_column(tmp_path: Path) -> None:
    before = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path).store
    stage(before, *(row(one) for one in (1, 2)))
    settle(before, imported(1))
    before.close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as raw:
        for table in TABLES:
            raw.execute(f'ALTER TABLE "{table.name}" DROP COLUMN Losses')
            raw.execute(f'ALTER TABLE "{table.name}" DROP COLUMN DeletedUtc')
    after = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path).store
    settle(after, imported(2, losses={"dropped": 2}))
    after.take_back("groups", GROUPS, ["1"])
    assert [(one.row_key, one.losses) for one in after.records(GROUPS, EVERYTHING, 9)] == [
        ("1", {}),
        ("2", {"dropped": 2}),
    ]
    assert after.counters("dropped:") == {"dropped:groups": 2}
    after.close()


def test_a_person_can_read_a_record(tmp_path: Path, opened: Opened) -> None:
    stage(opened.store, Staged("5", '{"NAME": "Отдел", "N": 1}'.encode(), source_utc="2026-01-01T00:00:00Z"))
    settle(opened.store, failed(5, "NAME_TAKEN"))
    answer = ask(
        tmp_path,
        "SELECT PartitionKey, RowKey, Status, typeof(Payload), Payload ->> 'NAME', LastErrorCode, LastErrorAtUtc,"
        " RunId, MigrationVersion, Revision, SourceUtc FROM Groups",
    )
    moment = "2026-11-15T12:00:00.000000Z"
    expected = (
        "groups",
        "5",
        "IMPORT_ERR",
        "text",
        "Отдел",
        "NAME_TAKEN",
        moment,
        "run-1",
        1,
        0,
        "2026-01-01T00:00:00Z",
    )
    assert answer == [expected]
    settle(opened.store, imported(5), now=at(1))
    assert ask(tmp_path, "SELECT TargetId, ImportedAtUtc, LastErrorAtUtc FROM Groups") == [
        ("t5", "2026-11-15T12:00:01.000000Z", None)
    ]


def test_a_person_can_ask_for_files_by_name_and_size(tmp_path: Path, opened: Opened) -> None:
    about = b'{"kind":"disk","id":"7","name":"plan.pdf","size":12,"sha256":"ab","location":"disk:7","entity":"tasks"}'
    stage(opened.store, Staged("disk:7", about), table=FILES)
    answer = ask(tmp_path, "SELECT Name, Size, Sha256, Location, Entity FROM Files WHERE Size > 10")
    assert answer == [("plan.pdf", 12, "ab", "disk:7", "tasks")]


def test_registers_are_tables_with_their_columns(tmp_path: Path, opened: Opened) -> None:
    for register in REGISTERS:
        found = {name for _, name, *_ in ask(tmp_path, f"PRAGMA table_info({register.name})")}
        assert {"PartitionKey", "RowKey", *register.columns} <= found
    opened.store.write(CUSTOM_FIELDS, [RegisterRow("UF_A", {"Payload": {"a": 1}, "Type": "string"}, partition="tasks")])
    opened.store.write(RUNS, [RegisterRow("r", {"ExitCode": 0, "State": True})])
    assert ask(tmp_path, "SELECT PartitionKey, RowKey, Payload ->> 'a', Type FROM CustomFields") == [
        ("tasks", "UF_A", 1, "string")
    ]
    assert ask(tmp_path, "SELECT PartitionKey, ExitCode, State FROM Runs") == [("run", 0, 1)]


def test_a_person_can_read_the_queue(tmp_path: Path, opened: Opened) -> None:
    opened.queue.put([Job("groups-get", "read", {"after": "5"})])
    opened.queue.claim("host:1:2", now=NOON, lease_s=90)
    assert ask(tmp_path, "SELECT Scope, Kind, Args ->> 'after', Owner, LeaseUntil FROM Jobs") == [
        ("groups-get", "read", "5", "host:1:2", "2026-11-15T12:01:30.000000Z")
    ]


def test_every_hot_question_walks_an_index(tmp_path: Path, opened: Opened) -> None:
    questions = {
        "SELECT Seq FROM Jobs WHERE VisibleAt IS NULL ORDER BY Seq LIMIT 1": "JobsVisible",
        "SELECT VisibleAt FROM Jobs ORDER BY VisibleAt LIMIT 1": "JobsVisible",
        "UPDATE Jobs SET VisibleAt = NULL WHERE VisibleAt <= 'x'": "JobsVisible",
        "SELECT RowKey FROM Groups WHERE NaturalKey = 'x' ORDER BY Ord LIMIT 1": "GroupsNatural",
        "SELECT RowKey FROM IdMap WHERE PartitionKey = 'map' AND RowKey IN ('a', 'b')": "autoindex_IdMap",
    }
    opened.store.holder(GROUPS, "x")
    for sql, index in questions.items():
        plan = " ".join(str(step[-1]) for step in ask(tmp_path, f"EXPLAIN QUERY PLAN {sql}"))
        assert index in plan
        assert "TEMP B-TREE" not in plan


def test_who_looks_on_walks_past_nothing(opened: Opened) -> None:
    """What a dashboard asks every second is answered by a handful of steps, however much has failed."""

    def steps() -> int:
        counted = [0]

        def count() -> int:
            counted[0] += 1
            return 0

        assert isinstance(opened.store, SqliteStore)
        with opened.store.database.reading() as connection:  # the one that is asked next
            connection.set_progress_handler(count, 1)
        opened.queue.dead_parts()
        opened.queue.dead_parts("groups-set")
        opened.queue.dead_count(parts=True)
        opened.queue.held(now=NOON)
        opened.store.one_failed(GROUPS, Status.IMPORT_ERR, "RARE")
        opened.store.counts(GROUPS)
        with opened.store.database.reading() as connection:
            connection.set_progress_handler(None, 1)
        return counted[0]

    fail(opened, 1, 50)
    before = steps()
    fail(opened, 50, 1_000)
    assert steps() < before + 50


def fail(opened: Opened, first: int, end: int) -> None:
    stage(opened.store, *map(row, range(first, end)))
    settle(opened.store, *(failed(number, "RARE" if number == end - 1 else "BAD") for number in range(first, end)))
    for number in range(first, end):
        job = Job("groups-set", "send", {"stream": "groups", "record": str(number)})
        opened.queue.letter(job, code="BAD", reason="no", now=NOON)
    opened.queue.put([Job("groups-get", "read", {"after": number}) for number in range(first, end)], visible_at=at(99))


def test_questions_for_any_number_of_keys_are_few_statements(opened: Opened) -> None:
    """A connection keeps each statement that it prepared."""
    stage(opened.store, *map(row, range(300)))
    opened.store.write(SET_ASIDE, [RegisterRow(f"excluded:groups:{key}", {"Why": "excluded"}) for key in range(300)])
    assert isinstance(opened.store, SqliteStore)
    statements: set[str] = set()
    with opened.store.database.reading() as connection:
        connection.set_trace_callback(lambda statement: statements.add(re.sub("'[^']*'", "?", statement)))
    for count in range(600):
        wanted = [str(key) for key in range(count)]
        there = set(wanted[:300])
        assert opened.store.known(GROUPS, wanted) == there
        assert opened.store.get(GROUPS, wanted).keys() == there
        found = opened.store.rows_of(SET_ASIDE, [f"excluded:groups:{key}" for key in wanted])
        assert {key.rpartition(":")[2] for key in found} == there
    assert len(statements) <= 3 * 10


def test_the_log_does_not_grow_without_bound(tmp_path: Path, opened: Opened) -> None:
    for number in range(40):
        stage(opened.store, *(Staged(f"{number}:{key}", b"x" * 3000) for key in range(500)))
    assert (tmp_path / "store.db-wal").stat().st_size < 48 << 20


def test_a_log_that_readers_held_back_is_cut(tmp_path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_WAL_LIMIT", 1)
    monkeypatch.setattr(database, "_COMMITS_BETWEEN_LOOKS", 1)
    stage(opened.store, row(1))
    assert (tmp_path / "store.db-wal").stat().st_size == 0


def test_a_job_whose_row_is_damaged_is_a_dead_letter_and_the_others_go_on(opened: Opened, tmp_path: Path) -> None:
    damaged, whole = Job("groups-get", "read", {"after": "5"}), Job("groups-get", "read", {"after": "9"})
    opened.queue.put([damaged, whole])
    with closing(sqlite3.connect(tmp_path / "store.db", timeout=60)) as raw, raw:
        raw.execute("UPDATE Jobs SET Args = '{\"after\": ' WHERE Id = ?", (damaged.id,))
    lease = opened.queue.claim("host:1:0", now=NOON, lease_s=60)
    assert lease is not None
    assert lease.job == whole
    opened.queue.finish(lease, [])
    (letter,) = opened.queue.dead()
    assert (letter.code, letter.job.scope, letter.job.is_damaged) == ("BROKEN_ROW", "groups-get", True)
    assert opened.queue.open("groups-get") == 0
    assert opened.queue.claim("host:1:0", now=NOON, lease_s=60) is None
    assert [one.code for one in opened.queue.dead()] == ["BROKEN_ROW"]
