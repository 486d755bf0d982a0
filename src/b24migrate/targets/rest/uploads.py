"""Files that are too large for a call: the box names an address, and the bytes are posted there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO
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
from b24migrate.model.records import Json

NAME = "upload"
PIECE = 1 << 16


def post_file(portal: Portal, url: str, field: str, name: str, content: BinaryIO) -> Json:
    """What the box says of the file."""
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
    gigabyte may be under way."""
    boundary = choose_boundary()
    part = RequestField(field, b"", filename=name)
    part.make_multipart(content_type="application/octet-stream")
    head, tail = f"--{boundary}\r\n{part.render_headers()}".encode(), f"\r\n--{boundary}--\r\n".encode()
    size = content.seek(0, os.SEEK_END)
    content.seek(0)
    pieces = iter(lambda: content.read(PIECE), b"")
    return chain([head], pieces, [tail]), f"multipart/form-data; boundary={boundary}", len(head) + size + len(tail)
