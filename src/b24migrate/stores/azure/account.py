"""Which storage account, by which identity, and its clients. One per process, shared by threads."""

from __future__ import annotations

import base64
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.core.pipeline.transport import RequestsTransport
from azure.data.tables import TableClient, TableServiceClient, TableTransactionError
from azure.storage.blob import BlobServiceClient, ContainerClient
from azure.storage.queue import QueueClient, QueueServiceClient
from requests import Session
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.stores.azure.failures import error_code, translated
from b24migrate.stores.azure.properties import content_name
from b24migrate.stores.azure.transactions import Operation, send

CONNECTION_STRING = "AZURE_STORAGE_CONNECTION_STRING"
FORBIDDEN = 403
AT_ONCE = 16  # requests in parallel instead of one after the other
_ADDRESS = re.compile(r"azure://(?P<account>[a-z0-9]{3,24})?(?:/(?P<prefix>[A-Za-z][A-Za-z0-9]{0,19}))?/?")
_HINT = say("store.azure_url_fix", variable=CONNECTION_STRING)
# Azurite's account and key are the same everywhere and published: they protect nothing.
_AZURITE = "azurite"
_AZURITE_ACCOUNT = "devstoreaccount1"
_AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_AZURITE_PORTS = {"blob": "10000", "queue": "10001", "table": "10002"}
# About a minute in all. The libraries count it in different ways; those of queues and blobs would begin with 15 s.
_STEADY: dict[str, Any] = {"retry_total": 6, "initial_backoff": 0.5, "increment_base": 2, "random_jitter_range": 0.5}
_PATIENCE: dict[str, dict[str, Any]] = {
    "table": {"retry_total": 7, "retry_connect": 3, "retry_read": 7, "retry_status": 7, "retry_backoff_factor": 0.4},
    "queue": _STEADY | {"retry_connect": 3},
    "blob": _STEADY | {"retry_connect": 3},
}
_METHODS = frozenset(["GET", "HEAD", "PUT", "DELETE", "POST", "PATCH"])  # POST is what the library would not repeat
_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

A = TypeVar("A")
B = TypeVar("B")
PAYLOADS = "payloads"


class Address(NamedTuple):
    """`account` is empty if a connection string names it."""

    account: str
    prefix: str

    @classmethod
    def parse(cls, url: str) -> Address:
        found = _ADDRESS.fullmatch(url)
        if not found:
            raise BadConfiguration(say("store.url", url=url), code="STORE_URL", hint=_HINT)
        return cls(found["account"] or "", found["prefix"] or "")

    def __str__(self) -> str:
        return f"azure://{self.account}" + (f"/{self.prefix}" if self.prefix else "")


class Account:
    """Names in here are ours (`Users`, `work`); the prefix is added on the way out."""

    def __init__(self, address: Address, environ: Mapping[str, str] = os.environ) -> None:
        self.place = str(address)
        self.closing = ExitStack()
        self._address = address
        self._environ = environ
        self._lock = Lock()
        self._tables: dict[str, TableClient] = {}
        self.closed = False

    # ------------------------------------------------------------ clients

    def table(self, name: str) -> TableClient:
        with self._lock:
            if name not in self._tables:
                self._tables[name] = self.table_service.get_table_client(self._address.prefix + name)
            return self._tables[name]

    def queue(self, name: str) -> QueueClient:
        return self.queue_service.get_queue_client(self._dashed(name))

    def container(self, name: str) -> ContainerClient:
        return self.blob_service.get_container_client(self._dashed(name))

    @cached_property
    def table_service(self) -> TableServiceClient:
        client: TableServiceClient = self._client(TableServiceClient, "table")
        return client

    @cached_property
    def queue_service(self) -> QueueServiceClient:
        client: QueueServiceClient = self._client(QueueServiceClient, "queue")
        return client

    @cached_property
    def blob_service(self) -> BlobServiceClient:
        client: BlobServiceClient = self._client(BlobServiceClient, "blob")
        return client

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="azure")
        self.closing.callback(pool.shutdown)
        return pool

    def side_by_side(self, act: Callable[[A], B], things: Iterable[A]) -> list[B]:
        """One after the other would cost a round trip each."""
        todo = list(things)
        return [act(thing) for thing in todo] if len(todo) < 2 else list(self._threads.map(act, todo))

    def submit(self, table: str, operations: Sequence[Operation]) -> list[Mapping[str, Any]]:
        """One transaction. It is repeated when the connection fails or the service is busy, so a conditional one may be
        reported as failed although it succeeded the first time: the caller finds out by reading."""
        pauses = iter(_PAUSES_S)
        while True:
            try:
                return send(self.table(table), operations, retry_on_methods=_METHODS)
            # of the operations inside; the library repeats only for the status of the whole
            except TableTransactionError as error:
                pause_s = next(pauses, None)
                if error.status_code not in (500, 503) or pause_s is None:
                    raise
            time.sleep(pause_s)

    # ------------------------------------------------------------ what must be there

    def make_tables(self, names: Iterable[str]) -> None:
        def make(name: str) -> None:
            with self._ignoring_existing("TableAlreadyExists"):
                self.table(name).create_table(retry_on_methods=_METHODS)

        self.side_by_side(make, names)

    def make_queue(self, name: str) -> None:
        with self._ignoring_existing("QueueAlreadyExists", self.queue(name).get_queue_properties):
            self.queue(name).create_queue()

    def make_container(self, name: str) -> None:
        with self._ignoring_existing("ContainerAlreadyExists", self.container(name).get_container_properties):
            self.container(name).create_container()

    @contextmanager
    def _ignoring_existing(self, already: str, look: Callable[[], object] | None = None) -> Iterator[None]:
        """Not every conflict means that it is there: what was deleted stays in the way for a while. An identity that
        has its role for one container or queue may be forbidden to make it, and may look at it."""
        with translated(self.place):
            try:
                yield
            except HttpResponseError as error:
                if error.status_code == FORBIDDEN and look is not None:
                    try:
                        look()
                    except HttpResponseError:
                        raise error from None
                elif error_code(error) != already:
                    raise

    def close(self) -> None:
        with self._lock:
            if self.closed:
                return
            self.closed = True
        self.closing.close()

    # ------------------------------------------------------------ how to get there

    def _client(self, kind: Any, service: str) -> Any:
        with translated(self.place):
            session = _session()
            client = self._connected(kind, service, session)
            self.closing.callback(client.close)
            session.proxies.update(get_environ_proxies(client.url))
            return client

    def _connected(self, kind: Any, service: str, session: Session) -> Any:
        account = self._address.account
        how = {**_PATIENCE[service], "transport": RequestsTransport(session=session, connection_verify=_certificates())}
        if not account:
            try:
                _check_key(self._connection_string())
                return kind.from_connection_string(self._connection_string(), **how)
            except ValueError:
                raise BadConfiguration(
                    say("store.bad_connection", variable=CONNECTION_STRING), code="STORE_URL", hint=_HINT
                ) from None
        if account == _AZURITE:
            port = self._environ.get(f"AZURITE_{service.upper()}_PORT", _AZURITE_PORTS[service])
            key: Any = AzureNamedKeyCredential(_AZURITE_ACCOUNT, _AZURITE_KEY)
            return kind(f"http://127.0.0.1:{port}/{_AZURITE_ACCOUNT}", credential=key, **how)
        return kind(f"https://{account}.{service}.core.windows.net", credential=self._identity, **how)

    def _connection_string(self) -> str:
        text = self._environ.get(CONNECTION_STRING, "").strip()
        if not text:
            raise BadConfiguration(
                say("store.no_connection", variable=CONNECTION_STRING),
                code="STORE_URL",
                hint=_HINT,
            )
        return text

    @cached_property
    def _identity(self) -> Any:
        from azure.identity import DefaultAzureCredential

        # Without a log it prints a page of attempts; our error has the fix.
        logging.getLogger("azure.identity").addHandler(logging.NullHandler())
        credential = DefaultAzureCredential()
        self.closing.callback(credential.close)
        return credential

    def _dashed(self, name: str) -> str:
        return f"{self._address.prefix.lower()}-{name}" if self._address.prefix else name


def _check_key(connection_string: str) -> None:
    """The libraries find out only when they sign the first request, and blame the identity."""
    fields = dict(field.partition("=")[::2] for field in connection_string.split(";"))
    base64.b64decode(fields.get("AccountKey", ""), validate=True)


def _session() -> Session:
    """With a connection for each request that may be on its way; the libraries' own keeps ten. And it would ask the
    environment at every request which way to go, which takes a sixth of its time: we do that once."""
    session = Session()
    session.trust_env = False
    adapter = HTTPAdapter(pool_maxsize=4 * AT_ONCE, max_retries=0)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def _certificates() -> str | bool:
    """Those that the environment names, or else the library's."""
    return os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True


class Blobs:
    """Large values of rows, named by their content: putting one twice is harmless, and none is ever changed."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def put(self, content: bytes) -> str:
        name = content_name(content)
        with translated(self._account.place):
            self._account.container(PAYLOADS).upload_blob(name, content, overwrite=True)
        return name

    def get(self, name: str) -> bytes:
        with translated(self._account.place):
            try:
                return self._account.container(PAYLOADS).download_blob(name).readall()
            except ResourceNotFoundError as error:
                raise Halted(
                    say("store.no_blob", name=name, place=self._account.place),
                    code="STORE_DAMAGED",
                    hint=say("store.no_blob_fix"),
                ) from error
