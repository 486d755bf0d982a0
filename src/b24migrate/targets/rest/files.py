"""Files: each into a folder of its own below `b24migrate`, named after its key, so that it is found again."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import BinaryIO, NamedTuple
from urllib.parse import urlsplit

import msgspec
import urllib3
from msgspec import Raw
from urllib3.exceptions import HTTPError
from urllib3.fields import RequestField
from urllib3.filepost import choose_boundary

from b24migrate.bitrix.breaker import Attempt
from b24migrate.bitrix.client import USER_AGENT, Portal
from b24migrate.bitrix.envelope import Envelope
from b24migrate.bitrix.faults import open_answer
from b24migrate.bitrix.hosts import split_address
from b24migrate.messages import say
from b24migrate.model.errors import Limited, MigrationError, Permanent, Transient
from b24migrate.model.records import Args, Json
from b24migrate.targets.rest.box import INSIDE_BYTES, Box, new_id, rows_at
from b24migrate.targets.rest.journal import Journal, JournalEntry, State

STREAM = "files"
FOLDER = "b24migrate"
BY_NUMBER = ("disk", "attached")  # the kinds of files that lie on the source's Drive, too
# methods that a stream with files needs
NEEDS = ("disk.storage.getlist", "disk.folder.getchildren", "disk.folder.addsubfolder", "disk.folder.uploadfile")
AT_ONCE_BYTES = 4 * 1024 * 1024  # base64 in a call costs a third more, and memory on the box
NAME = "upload"
PIECE = 1 << 16


class Upload(NamedTuple):
    key: str
    name: str
    size: int
    sha256: str


def most_bytes(key: str, of_the_box: int) -> int:
    """A file that is referenced by its Drive number may be as large as the box allows; all others are sent as
    copies."""
    _, _, kind, *_ = (*key.split(":"), "", "")
    return of_the_box if kind in BY_NUMBER else min(INSIDE_BYTES, of_the_box)


def put_file(box: Box, journal: Journal, upload: Upload, content: BinaryIO) -> str:
    known = journal.find(STREAM, [upload.key]).get(upload.key)
    if known and known.state is State.DONE:
        return known.target_id
    place = find_folder(box, upload.key)
    found = find_upload(box, place, upload) if known else ""
    if known and not found:
        box.under_way.refuse({upload.key: known.begun})
    if not known:
        begun = box.under_way.signature()
        journal.write(STREAM, [JournalEntry(upload.key, State.BEGUN, digest=upload.sha256, begun=begun)])
    try:
        target_id = found or upload_file(box, place, upload, content)
    except Transient as lost:
        box.under_way.gave_up([upload.key], lost)
        raise
    stands = journal.first(STREAM, JournalEntry(upload.key, State.DONE, target_id, upload.sha256)).target_id
    if stands != target_id:  # another worker was faster and may have deleted the copy already
        with suppress(Permanent):
            box.call("disk.file.delete", {"id": target_id})
    return stands


def find_upload(box: Box, place: str, upload: Upload) -> str:
    """The file of an upload whose answer was lost."""
    rows = box.pages("disk.folder.getchildren", {"id": place, "order": {"ID": "ASC"}})
    sizes = ((str(row["ID"]), int(row.get("SIZE") or 0)) for row in rows if row.get("TYPE") == "file")
    return next((target_id for target_id, size in sizes if size == upload.size), "")


def upload_file(box: Box, place: str, upload: Upload, content: BinaryIO) -> str:
    if upload.size > AT_ONCE_BYTES:
        place_for_bytes = box.question("disk.folder.uploadfile", {"id": place, "generateUniqueName": True})
        name = upload.name or "file"
        address, field = str(place_for_bytes["uploadUrl"]), str(place_for_bytes["field"])
        return new_id(post_file(box.portal, address, field, name, content)["ID"], NAME)
    content.seek(0)
    encoded = base64.b64encode(content.read()).decode()
    name = upload.name or "file"
    params = {"id": place, "data": {"NAME": name}, "fileContent": [name, encoded], "generateUniqueName": True}
    return new_id(box.call("disk.folder.uploadfile", params)["ID"], "disk.folder.uploadfile")


# ---------------------------------------------------------------- folders


def find_folder(box: Box, key: str) -> str:
    return subfolder(box, files_folder(box), hashlib.sha256(key.encode()).hexdigest()[:16])


def files_folder(box: Box) -> str:
    return box.kept("folder of files", lambda: subfolder(box, _drive(box), FOLDER), 3600.0)


def _drive(box: Box) -> str:
    """The Drive of the webhook's owner: on the company Drive everyone could read files of private chats."""
    params = {"filter": {"ENTITY_TYPE": "user", "ENTITY_ID": box.owner}, "order": {"ID": "ASC"}}
    rows = box.pages("disk.storage.getlist", params)
    own = (row for row in rows if row.get("ENTITY_TYPE") == "user" and str(row.get("ENTITY_ID")) == box.owner)
    found = next(own, None)
    if found is None:
        raise Permanent(say("target.no_drive"), code="FILE_NOT_FOUND")
    return str(found["ROOT_OBJECT_ID"])


def subfolder(box: Box, parent: str, name: str) -> str:
    """The one that is there, or a new one: two of one name are refused, so that this may be repeated."""
    return _find_by_name(box, parent, name) or _add_folder(box, parent, name)


def _add_folder(box: Box, parent: str, name: str) -> str:
    made: Args
    try:
        made = box.call("disk.folder.addsubfolder", {"id": parent, "data": {"NAME": name}})
    except Permanent:
        found = _find_by_name(box, parent, name)
        if not found:
            raise
        return found
    return new_id(made["ID"], "disk.folder.addsubfolder")


def _find_by_name(box: Box, parent: str, name: str) -> str:
    rows = rows_at(box.question("disk.folder.getchildren", {"id": parent, "filter": {"NAME": name}}))
    found = (str(row["ID"]) for row in rows if row.get("TYPE") == "folder" and row.get("NAME") == name)
    return next(found, "")


def post_file(portal: Portal, url: str, field: str, name: str, content: BinaryIO) -> Json:
    """The box's data of the file."""
    url = address(portal, url)
    portal.breaker.admit()
    portal.governor.acquire(portal.webhooks[0].tag, (NAME,))
    attempt = Attempt(f"{NAME}:{name}", portal.clock.monotonic())
    answer = _answer(portal, portal.redactor.unmask(url), field, name, content)
    if isinstance(answer, MigrationError):
        answer.message = portal.redactor.redact(answer.message)
    if isinstance(answer, Transient):
        raise portal.failure(answer, attempt)
    portal.breaker.succeeded(attempt)
    if isinstance(answer, Limited):
        raise portal.limited(answer, attempt.started, NAME, 0)
    if isinstance(answer, MigrationError):
        raise answer
    return msgspec.json.decode(answer.result) if isinstance(answer.result, Raw) else None


def address(portal: Portal, url: str) -> str:
    """The named path at the webhook's own address. A box behind a proxy often names http where the proxy speaks https,
    and the path has the secret in it: scheme, host and port are the webhook's, whatever the box says."""
    parts, webhook = split_address(url), portal.webhooks[0]
    own = urlsplit(webhook.origin)
    if parts is None or parts.hostname not in {urlsplit(f"//{one}").hostname for one in portal.hosts}:
        raise Permanent(say("target.other_host"), code="FOREIGN_LINK")
    return parts._replace(scheme=own.scheme, netloc=own.netloc).geturl()


def _answer(portal: Portal, url: str, field: str, name: str, content: BinaryIO) -> Envelope | MigrationError:
    failed: HTTPError
    form, kind, length = _form(field, name, content)
    timeout = urllib3.Timeout(connect=portal.timeouts.connect_s, read=portal.timeouts.read_s)
    try:
        with portal.under_way:
            status, body, _ = portal.wire.exchange(
                "POST",
                url,
                portal.bounds(portal.timeouts.call_s + length / portal.timeouts.sent_bytes_s),
                body=form,
                headers={
                    "Accept": "application/json",
                    "User-Agent": USER_AGENT,
                    "Content-Type": kind,
                    "Content-Length": str(length),
                },
                timeout=timeout,
            )
        return open_answer(status, portal.redactor.mask(body), NAME, portal.caller(0), Envelope)
    except HTTPError as error:
        failed = error
    return portal.transport_error(failed, NAME)


def _form(field: str, name: str, content: BinaryIO) -> tuple[Iterator[bytes], str, int]:
    """A form with one file, its type and its length: read piece by piece as it is sent, since several files of a
    gigabyte may be sent at once."""
    boundary = choose_boundary()
    part = RequestField(field, b"", filename=name)
    part.make_multipart(content_type="application/octet-stream")
    head, tail = f"--{boundary}\r\n{part.render_headers()}".encode(), f"\r\n--{boundary}--\r\n".encode()
    size = content.seek(0, os.SEEK_END)
    content.seek(0)
    pieces = iter(lambda: content.read(PIECE), b"")
    return chain([head], pieces, [tail]), f"multipart/form-data; boundary={boundary}", len(head) + size + len(tail)
