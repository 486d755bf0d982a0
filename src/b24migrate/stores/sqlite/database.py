"""One SQLite file: who may write, who may read, and what its failures mean to the operator."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from b24migrate.model.records import Table
from b24migrate.ports import Clock
from b24migrate.private_files import create, narrow
from b24migrate.stores.sqlite import schema
from b24migrate.stores.sqlite.failures import LOCKED, Failure, translate

# One writer at a time is SQLite's rule; one writing connection makes it ours, so that threads queue at a fair lock and
# only processes meet at SQLite's.
#
# synchronous=NORMAL: a killed process loses nothing; a power cut may take back the last few transactions, all of them
# from one moment on, never some from the middle. The work they recorded is done again, which changes nothing: pages
# are staged by id, and imports carry their idempotency key.
#
# page_size: with records of 1 to 2 KB, pages of 16 KB stage a fifth faster and take a quarter less room than of 4 KB.
#
# secure_delete: Debian builds SQLite with it, and every settled record would be overwritten with zeros first.
_WRITER = """
PRAGMA page_size = 16384;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -16384;
PRAGMA wal_autocheckpoint = 2000;
PRAGMA journal_size_limit = 67108864;
PRAGMA secure_delete = OFF;
PRAGMA temp_store = MEMORY;
"""
# No mmap: its pages would count as our memory.
_READER = """
PRAGMA query_only = ON;
PRAGMA cache_size = -4096;
PRAGMA temp_store = MEMORY;
"""
_WAL_LIMIT = 256 << 20  # readers can hold the log back; past this the writer waits for them once
_COMMITS_BETWEEN_LOOKS = 64


class _Reading:
    """A class, since a look asks a hundred questions, and a generator costs as much as a small one."""

    __slots__ = ("_connection", "_database")

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._connection = self._database.take()
        except sqlite3.Error as error:
            self._database.explain(error)
            raise
        return self._connection

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._database.give_back(self._connection)
        if isinstance(error, sqlite3.Error):
            self._database.explain(error)


def _keep_private(path: Path) -> None:
    """SQLite gives the files beside the database its permissions, so they are set before it opens it
    (sqlite.org/src, os_unix.c, findCreateFileMode). Those of an earlier version are narrowed. What cannot be created
    SQLite complains about."""
    with suppress(OSError):
        create(path)
    for ending in ("-wal", "-shm", "-journal"):
        narrow(path.with_name(path.name + ending))


class Database:
    """Every `sqlite3` error leaves here as one of ours. `path` None is a database in memory."""

    def __init__(self, path: Path | None, tables: Sequence[Table], clock: Clock, *, patience_s: float = 60.0) -> None:
        self.path = path
        self.place = str(path) if path else "in memory"
        self.clock = clock
        self.closing = ExitStack()  # closed together with the database
        self._patience_s = patience_s
        self._lock = threading.RLock()
        self._pool = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._made: set[str] = set()
        self._commits = 0
        if path is not None:
            _keep_private(path)
        with self._translated():
            self._writer = self._connect(_WRITER)
        try:
            with self._translated():
                complete = schema.complete(self._writer, tables, self.place)
                self._begin_log()
                if not complete:
                    with self.writing() as connection:
                        schema.prepare(connection, tables, self.place)
        except BaseException:
            self._writer.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, alone on the store: all of it happens, or nothing."""
        with self._lock, self._translated():
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk or an I/O error may have rolled it back already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            self._commits += 1
            if self._commits % _COMMITS_BETWEEN_LOOKS == 0:
                self._bound_log()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection of one's own, for the block. Readers never wait for the writer."""
        return _Reading(self)

    def once(self, name: str, statement: str) -> None:
        """Creates the index of this name before its first use. If it exists, this does not wait for writers."""
        if name in self._made:
            return
        with self.reading() as connection:
            there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        if not there:
            with self.writing() as connection:
                connection.execute(statement)
        self._made.add(name)

    def close(self) -> None:
        with self._lock, self._pool:
            if self._closed:
                return
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()
        self.closing.close()

    def take(self) -> sqlite3.Connection:
        if self.path is None:  # a database in memory belongs to its one connection
            self._lock.acquire()
            return self._writer
        return self._take()

    def give_back(self, connection: sqlite3.Connection) -> None:
        if self.path is None:
            self._lock.release()
        else:
            self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        with self._pool:
            if self._closed:
                raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
            if self._idle:
                return self._idle.pop()
        return self._connect(_READER)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self, pragmas: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path or ":memory:",
            timeout=self._patience_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
        try:
            connection.executescript(pragmas)
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin_log(self) -> None:
        """Switches to the write-ahead log. SQLite does not wait when another process is doing the same: we do."""
        deadline = self.clock.monotonic() + self._patience_s
        while True:
            try:
                self._writer.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if Failure.of(error) is not LOCKED or self.clock.monotonic() >= deadline:
                    raise
                self.clock.sleep(0.02)

    def _bound_log(self) -> None:
        if self.path is None:
            return
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists() and log.stat().st_size > _WAL_LIMIT:
            self._writer.execute("PRAGMA busy_timeout = 1000")  # a slow reader does not hold up the others for long
            try:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {int(self._patience_s * 1000)}")

    def explain(self, error: sqlite3.Error) -> None:
        """Raises the error for the operator, if the failure has one."""
        ours = translate(error, self.place)
        if ours is not None:
            raise ours from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self.explain(error)
            raise
