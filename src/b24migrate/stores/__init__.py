"""The stores: one module per technology, opened by URL."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Table
from b24migrate.ports import Clock, Files, Queue, Store
from b24migrate.private_files import make_folder
from b24migrate.stores.sqlite import Database, FolderFiles, SqliteQueue, SqliteStore

_IN_MEMORY = ("sqlite://:memory:", "sqlite:///:memory:")
_HINT = say("store.url_fix")
_FILE = "sqlite:///"


class Opened(NamedTuple):
    """One store through its three ports. Closing `store` closes them all."""

    store: Store
    queue: Queue
    files: Files


def open_store(url: str, tables: Sequence[Table], clock: Clock, *, base: Path = Path()) -> Opened:
    """`sqlite:///path.db` is relative to `base`, `sqlite:////path.db` absolute, `sqlite://:memory:` for tests.
    `azure://azurite`,
    `azure://ACCOUNT` and `azure://`, with or without `/PREFIX`: see `stores.azure.account`.
    Raises BadConfiguration for any other address, a store of another version, or a file that is no store."""
    if url in _IN_MEMORY:
        return _open(None, tables, clock)
    if url.startswith("azure://"):
        return _open_azure(url, tables, clock)
    kind, found, path = url.partition(":///")
    if kind != "sqlite" or not found or not path:
        raise BadConfiguration(say("store.url", url=url), code="STORE_URL", hint=_HINT)
    return _open((base / path).absolute(), tables, clock)


def _open(path: Path | None, tables: Sequence[Table], clock: Clock) -> Opened:
    if path:
        _check(path)
    database = Database(path, tables, clock)
    if path:
        folder = path.with_name(path.name + ".files")
    else:
        folder = Path(database.closing.enter_context(tempfile.TemporaryDirectory(prefix="b24migrate-")))
    try:
        return Opened(SqliteStore(database), SqliteQueue(database), FolderFiles(folder, clock))
    except BaseException:
        database.close()
        raise


def _open_azure(url: str, tables: Sequence[Table], clock: Clock) -> Opened:
    """Its libraries take a second or two to import, so only those who use it wait for them, or need them at all."""
    try:
        from b24migrate.stores.azure import open_azure
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("azure"):
            raise
        raise BadConfiguration(
            say("store.library", url=url),
            code="STORE_URL",
            hint=say("store.library_fix"),
        ) from error
    return Opened(*open_azure(url, tables, clock))


def _check(path: Path) -> None:
    if path.is_dir():
        raise BadConfiguration(say("store.folder", path=path), code="STORE_URL", hint=_HINT)
    try:
        make_folder(path.parent)
    except OSError as error:
        problem = error.strerror or str(error)
        raise BadConfiguration(
            say("store.no_folder", path=path.parent, problem=problem), code="STORE_URL", hint=_HINT
        ) from error


def located(url: str, *, base: Path) -> str:
    """The same address for the same place, however it was written. Raises BadConfiguration for what lasts no longer
    than a process; opening it reports other mistakes."""
    if url.endswith(":memory:"):
        raise BadConfiguration(
            say("store.memory"),
            code="STORE_URL",
            hint=say("store.memory_fix"),
        )
    path = url.removeprefix(_FILE)
    if url.startswith(_FILE) and path:
        return f"{_FILE}{(base / Path(path).expanduser()).resolve()}"
    return url.rstrip("/") if url.startswith("azure://") and url != "azure://" else url


def exists(address: str) -> bool:
    """For an address of `located`. Nothing is created. Also true if only opening it shows whether it exists."""
    if address.startswith(_FILE):
        path = Path(address.removeprefix(_FILE))
        return path.is_dir() or (path.is_file() and path.stat().st_size > 0)
    if address.startswith("azure://"):
        try:
            from b24migrate.stores.azure import exists as is_there
        except ModuleNotFoundError:
            return True
        return is_there(address)
    return True
