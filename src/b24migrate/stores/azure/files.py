"""The bytes of attachments, as blobs. A blob's name is the SHA-256 of the file's key."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from secrets import token_hex
from typing import Any, BinaryIO, TypeVar, cast

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob import BlobBlock, BlobClient

from b24migrate.messages import say
from b24migrate.model.errors import Permanent, Transient
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import error_code, translated
from b24migrate.stores.azure.limits import MIB

T = TypeVar("T")

FILES = "files"
EMPTY_HAS_NO_RANGE = 416
BLOCK_BYTES = 4 * MIB  # memory of a file while it is written or read
_TURN = 3  # digits


class BlobFiles:
    def __init__(self, account: Account) -> None:
        self._account = account

    @contextmanager
    def writer(self, key: str) -> Iterator[BinaryIO]:
        upload = _Upload(self._blob(key), key, self._account.place)
        yield cast(BinaryIO, upload)
        upload.commit()

    @contextmanager
    def part(self, key: str, size: int | None = None) -> Iterator[_Upload]:
        upload = _Upload(self._blob(key), key, self._account.place)
        if size is None or size > BLOCK_BYTES:
            upload.take_up()
        yield upload
        if upload.whole:
            upload.commit()

    def open(self, key: str) -> BinaryIO:
        found = self._if_there(lambda: _Download(self._blob(key), key, self._account.place))
        if found is None:
            raise Permanent(say("store.no_file", key=key), code="FILE_MISSING", hint=say("store.no_file_fix"))
        return io.BufferedReader(found, BLOCK_BYTES)

    def size(self, key: str) -> int | None:
        return self._if_there(lambda: int(self._blob(key).get_blob_properties().size))

    def delete(self, key: str) -> None:
        self._if_there(lambda: self._blob(key).delete_blob())

    def _blob(self, key: str) -> BlobClient:
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return self._account.container(FILES).get_blob_client(name)

    def _if_there(self, ask: Callable[[], T]) -> T | None:
        with translated(self._account.place):
            try:
                return ask()
            except ResourceNotFoundError as error:
                if error_code(error) == "ContainerNotFound":
                    raise
                return None


class _Upload(io.RawIOBase):
    """Sends a block whenever there is one. Nothing is seen of them before `commit`; those that are never committed
    are forgotten by the service after a week.

    A block's name is `<token>-<place>`, of one length for all, as the service wants it. Blocks of another writer have
    another token, unless both write the same version: then the same bytes are in them."""

    def __init__(self, blob: BlobClient, key: str, place: str) -> None:
        self.whole = False
        self._blob = blob
        self._key = key
        self._place = place
        self._waiting = bytearray()
        self._turn = 0  # how often this file was started: the last start is the one to continue
        self._token = token_hex(8)
        self._lasting = False
        self._blocks: list[BlobBlock] = []

    @property
    def length(self) -> int:
        return len(self._blocks) * BLOCK_BYTES + len(self._waiting)

    @property
    def sure(self) -> int:
        return len(self._blocks) * BLOCK_BYTES if self._lasting else 0

    def take_up(self) -> None:
        """The consecutive full blocks of the last writer, from the first on."""
        with translated(self._place):
            try:
                _, waiting = self._blob.get_block_list("uncommitted")
            except ResourceNotFoundError as error:
                if error_code(error) == "ContainerNotFound":
                    raise
                return
        names = {str(block.id) for block in waiting if block.size == BLOCK_BYTES}
        tokens = {name.partition("-")[0] for name in names}
        turns = {int(token[:_TURN]): token for token in sorted(tokens) if token[:_TURN].isdecimal()}
        if not turns:
            return
        self._lasting = True
        self._turn = max(turns)
        self._token = turns[self._turn]
        for name in map(self._name, count()):
            if name not in names:
                break
            self._blocks.append(BlobBlock(name))

    def holds(self, version: str) -> bool:
        return bool(self._blocks) and bool(version) and self._token[_TURN:] == _digested(version)

    def begin(self, version: str) -> None:
        self._waiting.clear()
        self._blocks.clear()
        self._lasting = bool(version)
        self._turn = (self._turn + 1) % 10**_TURN
        self._token = f"{self._turn:0{_TURN}}{_digested(version)}" if version else token_hex(8)

    def publish(self) -> None:
        self.whole = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), BLOCK_BYTES):
            self._waiting += view[start : start + BLOCK_BYTES]
            while len(self._waiting) >= BLOCK_BYTES:
                self._send(bytes(self._waiting[:BLOCK_BYTES]))
                del self._waiting[:BLOCK_BYTES]
        return len(view)

    def commit(self) -> None:
        if not self._blocks:
            with translated(self._place):
                self._blob.upload_blob(bytes(self._waiting), overwrite=True)
            return
        if self._waiting:
            self._send(bytes(self._waiting))
        with translated(self._place):
            try:
                self._blob.commit_block_list(self._blocks)
            except HttpResponseError as error:
                if error_code(error) != "InvalidBlockList":
                    raise
                raise Transient(say("store.written_twice", key=self._key), code="FILE_CHANGED") from error

    def _send(self, block: bytes) -> None:
        name = self._name(len(self._blocks))
        with translated(self._place):
            self._blob.stage_block(name, block, length=len(block))
        self._blocks.append(BlobBlock(name))

    def _name(self, place: int) -> str:
        return f"{self._token}-{place:06}"


def _digested(version: str) -> str:
    """As long as the rest of a token."""
    return hashlib.sha256(version.encode()).hexdigest()[: 16 - _TURN]


class _Download(io.RawIOBase):
    """A file of one moment: if it is replaced while it is read, reading fails, and nothing is mixed."""

    def __init__(self, blob: BlobClient, key: str, place: str) -> None:
        self._blob = blob
        self._key = key
        self._place = place
        self._at = self._size = self._stretch_at = 0
        self._stretch = b""
        try:
            first = blob.download_blob(offset=0, length=BLOCK_BYTES)
        except HttpResponseError as error:
            if error.status_code != EMPTY_HAS_NO_RANGE:
                raise
            return
        self._etag = first.properties.etag
        _, _, whole = (first.properties.content_range or "/0").rpartition("/")  # "bytes 0-4194303/15360000"
        self._size = int(whole)
        self._stretch = first.readall()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"negative seek position {base + offset}")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._at >= self._size or not len(buffer):
            return 0
        if not self._stretch_at <= self._at < self._stretch_at + len(self._stretch):
            self._stretch, self._stretch_at = self._fetched(), self._at
        start = self._at - self._stretch_at
        some = memoryview(self._stretch)[start : start + len(buffer)]
        buffer[: len(some)] = some
        self._at += len(some)
        return len(some)

    def _fetched(self) -> bytes:
        with translated(self._place):
            try:
                return self._blob.download_blob(
                    offset=self._at,
                    length=min(BLOCK_BYTES, self._size - self._at),
                    etag=self._etag,
                    match_condition=MatchConditions.IfNotModified,
                ).readall()
            except (ResourceModifiedError, ResourceNotFoundError) as error:
                raise Transient(say("store.replaced", key=self._key), code="FILE_CHANGED") from error
