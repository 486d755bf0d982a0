"""Takes files in chunks. Only the running SHA-256 is kept, never the bytes."""

import binascii
import hashlib
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from b24sim.imports import arguments
from b24sim.imports.arguments import malformed
from b24sim.imports.limits import Limits
from b24sim.imports.store import Link, Row, Store

if TYPE_CHECKING:
    from hashlib import _Hash

STREAM = "files"
HOW_FAR = -1


@dataclass(frozen=True)
class Announcement:
    """The values about the whole file that a client sends with every chunk."""

    name: str
    size: int
    sha256: str

    @classmethod
    def read(cls, body: Mapping[str, object], limits: Limits) -> "Announcement":
        size, sha256 = arguments.whole_number(body, "size"), arguments.text(body, "sha256")
        if size < 0 or size > limits.file_bytes:
            raise malformed(f"size must be between 0 and {limits.file_bytes}")
        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise malformed("sha256 must be 64 lower-case hex digits")
        return cls(arguments.text(body, "name"), size, sha256)


@dataclass
class Upload:
    """A file under way."""

    of: Announcement
    received: int = 0
    running: "_Hash" = field(default_factory=hashlib.sha256)

    def add(self, chunk: bytes) -> None:
        self.running.update(chunk)
        self.received += len(chunk)


class FileTaker:
    def __init__(self, store: Store, limits: Limits):
        self._store, self._limits = store, limits
        self._uploads: dict[str, Upload] = {}

    def put(self, body: Mapping[str, object], now: datetime) -> dict[str, object]:
        key, offset = arguments.text(body, "key"), arguments.whole_number(body, "offset")
        done = self._store.link(key)
        if done is not None and done.stream != STREAM:
            raise malformed(f"{key} stands for a record of {done.stream}")
        if done is not None:
            return {"received": self._store.row(STREAM, done.target_id).fields["size"], "id": done.target_id}
        if offset == HOW_FAR:
            return _so_far(self._uploads.get(key))
        announced, chunk = Announcement.read(body, self._limits), self._chunk(body)
        upload = self._upload(key, announced)
        if offset != upload.received:
            return _so_far(upload)
        if upload.received + len(chunk) > announced.size:
            raise malformed(f"{key}: more bytes than its size of {announced.size}")
        upload.add(chunk)
        return self._finished(key, upload, now) if upload.received == announced.size else _so_far(upload)

    def _chunk(self, body: Mapping[str, object]) -> bytes:
        content = body.get("content")
        try:
            chunk = b64decode(content, validate=True) if isinstance(content, str) else None
        except (binascii.Error, ValueError):
            chunk = None
        if chunk is None:
            raise malformed("content must be base64")
        if len(chunk) > self._limits.chunk_bytes:
            raise malformed(f"a chunk may hold at most {self._limits.chunk_bytes} bytes")
        return chunk

    def _upload(self, key: str, announced: Announcement) -> Upload:
        """The upload under way, or a fresh one where the file is announced for the first time or differently."""
        upload = self._uploads.get(key)
        if upload is None or upload.of != announced:
            upload = self._uploads[key] = Upload(announced)
        return upload

    def _finished(self, key: str, upload: Upload, now: datetime) -> dict[str, object]:
        del self._uploads[key]
        announced = upload.of
        if upload.running.hexdigest() != announced.sha256:
            raise malformed(f"{key}: the SHA-256 does not match, the upload is discarded")
        target_id = self._store.new_id(STREAM)
        fields = {"name": announced.name, "size": announced.size, "sha256": announced.sha256}
        self._store.put_row(STREAM, target_id, Row(fields))
        link = Link(key, STREAM, target_id, announced.sha256, adopted=False, imported_at=now)
        self._store.put_link(key, link)
        return {"received": announced.size, "id": target_id}


def _so_far(upload: Upload | None) -> dict[str, object]:
    return {"received": 0 if upload is None else upload.received, "id": None}
