"""Files that are too large for a call: the box names an address, and the bytes are posted there."""

from __future__ import annotations

from typing import BinaryIO
from urllib.parse import urlsplit

import msgspec
import urllib3
from msgspec import Raw
from urllib3.exceptions import HTTPError

from b24migrate.bitrix.breaker import Attempt
from b24migrate.bitrix.client import USER_AGENT, Portal
from b24migrate.bitrix.envelope import Envelope
from b24migrate.bitrix.faults import open_answer
from b24migrate.errors import MigrationError, Permanent, Transient
from b24migrate.records import Json

NAME = "upload"


def post(portal: Portal, url: str, field: str, name: str, content: BinaryIO) -> Json:
    """What the box says of the file. The address has a secret in it, so it goes nowhere else."""
    if urlsplit(url).netloc not in portal.hosts:
        raise Permanent("The box wants the file to be sent to another host.", code="INSECURE_LINK")
    portal.breaker.admit()
    attempt = Attempt(f"{NAME}:{name}", portal.clock.monotonic())
    answer = _answer(portal, portal.redactor.unmask(url), field, name, content)
    if isinstance(answer, Transient):
        answer.message = portal.redactor.redact(answer.message)
        raise portal.failure(answer, attempt)
    portal.breaker.succeeded(attempt)
    if isinstance(answer, MigrationError):
        raise answer
    return msgspec.json.decode(answer.result) if isinstance(answer.result, Raw) else None


def _answer(portal: Portal, url: str, field: str, name: str, content: BinaryIO) -> Envelope | MigrationError:
    failed: HTTPError
    content.seek(0)
    timeout = urllib3.Timeout(connect=portal.timeouts.connect_s, read=portal.timeouts.read_s)
    try:
        with portal.under_way:
            reply = portal.pool.request(
                "POST",
                url,
                fields={field: (name, content.read())},
                headers={"Accept": "application/json", "User-Agent": USER_AGENT},
                timeout=timeout,
                retries=False,
                redirect=False,
            )
        return open_answer(reply.status, portal.redactor.mask(reply.data), NAME, portal.caller(0), Envelope)
    except HTTPError as error:
        failed = error
    return portal.transport_error(failed, NAME)
