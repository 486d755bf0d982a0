"""A store in Azure is made once, by whoever comes first, and is opened with one request ever after."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests import azurite
from tests.stores.azure import lossy_service
from tests.stores.azure.scripted_service import listening
from tests.stores.samples import GROUPS, TABLES, Time, row, stage

from b24migrate.model.errors import BadConfiguration, Halted, MigrationError
from b24migrate.model.records import Status, Table
from b24migrate.stores import open_store
from b24migrate.stores.azure import INFO, exists
from b24migrate.stores.azure.account import Account, Address

ROOT = Path(__file__).parents[3]
TASKS = Table("Tasks", "tasks")


def test_one_request_opens_a_store_that_is_there() -> None:
    url = azurite.url()
    open_store(url, TABLES, Time()).store.close()
    asked: list[str] = []

    def note(method: str, path: str) -> bool:
        asked.append(f"{method} {path}")
        return False

    with lossy_service.answers("TABLE", note):
        open_store(url, TABLES, Time()).store.close()
    assert len(asked) == 1, asked


def test_a_program_that_knows_more_tables_makes_them() -> None:
    url = azurite.url()
    open_store(url, TABLES, Time()).store.close()
    with closing(open_store(url, (*TABLES, TASKS), Time()).store) as store:
        assert stage(store, row(1), table=TASKS).added == 1
    with closing(open_store(url, TABLES, Time()).store) as store:
        assert store.counts(TASKS)[Status.NEW] == 1


def test_many_may_make_a_new_store_at_once() -> None:
    url = azurite.url()
    with ThreadPoolExecutor(6) as threads:
        for opened in threads.map(lambda _: open_store(url, TABLES, Time()), range(6)):
            stage(opened.store, row(1))
            opened.store.close()
    with closing(open_store(url, TABLES, Time()).store) as store:
        assert store.counts(GROUPS)[Status.NEW] == 1


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("make", [Account.make_container, Account.make_queue])
def test_who_has_a_role_for_one_container_or_queue_need_not_make_it(
    make: Callable[[Account, str], None], there: bool
) -> None:
    """Azure may forbid to make what is there already; Azurite knows no roles."""
    with forbidding(there) as port, ExitStack() as stack:
        ports = {f"AZURITE_{service}_PORT": str(port) for service in ("BLOB", "QUEUE")}
        account = stack.enter_context(closing(Account(Address.parse("azure://azurite"), {**os.environ, **ports})))
        if not there:
            stack.enter_context(pytest.raises(MigrationError))
        make(account, "files")


@contextmanager
def forbidding(there: bool) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer(403, "AuthorizationPermissionMismatch")

        def do_GET(self) -> None:
            self._answer(200 if there else 404, "" if there else "ContainerNotFound")

        do_HEAD = do_GET  # noqa: N815

        def _answer(self, status: int, code: str) -> None:
            self.send_response(status)
            if code:
                self.send_header("x-ms-error-code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with listening(Handler) as port:
        yield port


def test_stores_with_other_prefixes_are_others() -> None:
    with closing(open_store(azurite.url(), TABLES, Time()).store) as one:
        stage(one, row(1))
        with closing(open_store(azurite.url(), TABLES, Time()).store) as other:
            assert other.counts(GROUPS)[Status.NEW] == 0


def test_looking_for_a_store_makes_none() -> None:
    url = azurite.url()
    assert not exists(url)
    assert not exists(url)
    open_store(url, TABLES, Time()).store.close()
    assert exists(url)


def test_a_store_of_another_version_is_left_alone() -> None:
    url = azurite.url()
    open_store(url, TABLES, Time()).store.close()
    with closing(Account(Address.parse(url))) as account:
        account.table(INFO).update_entity({"PartitionKey": "store", "RowKey": "info", "Version": 99})
    with pytest.raises(BadConfiguration, match=r"version 99.*needs version 1.*start a new one"):
        open_store(url, TABLES, Time())


def test_a_table_that_somebody_deleted_is_named_as_the_trouble() -> None:
    url = azurite.url()
    with closing(open_store(url, TABLES, Time()).store) as store, closing(Account(Address.parse(url))) as account:
        account.table("Groups").delete_table()
        with pytest.raises(Halted, match=r"TableNotFound.*were not deleted"):
            stage(store, row(1))


def test_without_its_libraries_the_command_that_installs_them_is_named() -> None:
    code = (
        "import sys; sys.modules['azure.core'] = None\n"
        "from b24migrate.stores import open_store\n"
        "from b24migrate.model.errors import BadConfiguration\n"
        "try: open_store('azure://azurite', (), None)\n"
        "except BadConfiguration as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert 'pip install "b24migrate[azure]"' in done.stdout
