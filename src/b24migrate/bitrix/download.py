"""Fetches a file behind a link (bitrix24-rest-2 §E.1): links carry secrets, expire, and may lead to a login page."""

from __future__ import annotations

import hashlib
from typing import BinaryIO, NamedTuple
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from b24migrate.bitrix.breaker import Attempt
from b24migrate.bitrix.client import USER_AGENT, Portal
from b24migrate.bitrix.envelope import Envelope
from b24migrate.bitrix.faults import open_answer
from b24migrate.bitrix.webhook import is_loopback
from b24migrate.errors import Limited, MigrationError, Permanent, Stop, Transient
from b24migrate.ports import Bill

_CHUNK = 1 << 16
_LONGEST_ERROR = 1 << 16
_MOST_REDIRECTS = 5
_NAME = "download"


class Fetched(NamedTuple):
    size: int
    sha256: str


class Downloads:
    def __init__(self, portal: Portal) -> None:
        self._portal = portal

    def fetch(self, url: str, out: BinaryIO, *, limit: int) -> Fetched:
        """Raises Permanent for what is no file or too large, Transient for what may succeed later."""
        webhook = self._portal.webhooks[0]
        url = urljoin(webhook.origin + "/", url)
        ours = urlsplit(url).netloc in self._portal.hosts
        if ours:  # a link that only pretends to be the portal's never gets the secret
            url = self._portal.redactor.unmask(url)
            self._portal.breaker.admit()
        if ours and "/rest/" in url:
            self._portal.governor.acquire(webhook.tag, (_NAME,))
        digest = hashlib.blake2b(url.encode(), digest_size=12).hexdigest()
        attempt = Attempt(f"{_NAME}:{digest}", self._portal.clock.monotonic())
        with self._portal.under_way:
            fetched = self._follow(url, out, limit)
        if isinstance(fetched, Fetched):
            if ours:
                self._portal.breaker.succeeded(attempt)
            if self._portal.governor.meter:
                took_s = self._portal.clock.monotonic() - attempt.started
                self._portal.governor.meter(Bill(0, _NAME, 1, None, None, 0.0, took_s))
            return fetched
        raise self._judged(fetched, attempt, ours)

    def _judged(self, error: MigrationError, attempt: Attempt, ours: bool) -> MigrationError:
        error.message = self._portal.redactor.redact(error.message)
        if isinstance(error, Transient):
            if ours:
                return self._portal.failure(error, attempt)
            error.own = self._portal.breaker.own_fault(attempt)
        if isinstance(error, Limited):
            return self._portal.limited(error, attempt.started, _NAME, 0)
        if isinstance(error, Stop):  # a stale link is this file's trouble, not the run's
            return Permanent(error.message, code=error.code, hint=error.hint)
        return error

    def _follow(self, url: str, out: BinaryIO, limit: int) -> Fetched | MigrationError:
        for _ in range(_MOST_REDIRECTS):
            if not self._allowed(url):
                return Permanent(
                    "The file's link uses http.", code="INSECURE_LINK", hint="Set allow_http to follow it."
                )
            answer = self._get(url)
            if isinstance(answer, MigrationError):
                return answer
            try:
                if not 300 <= answer.status < 400:
                    return self._receive(answer, out, limit)
                url = urljoin(url, answer.headers.get("Location", ""))
            finally:
                answer.close()  # what was not read to its end must not meet the next request
        return Transient("The file's link leads from one address to the next.", code="TOO_MANY_REDIRECTS")

    def _allowed(self, url: str) -> bool:
        parts = urlsplit(url)
        webhook = self._portal.webhooks[0]
        plain = webhook.allow_http or (parts.netloc in self._portal.hosts and is_loopback(parts.hostname or ""))
        return parts.scheme == "https" or (parts.scheme == "http" and plain)

    def _get(self, url: str) -> BaseHTTPResponse | Transient:
        timeouts = self._portal.timeouts
        headers = {
            # Without these the web server before the files may answer 404 to a good link.
            "User-Agent": USER_AGENT,
            "Accept": "*/*",
            "Accept-Language": "en",
            "Accept-Encoding": "identity",
            "Referer": self._portal.webhooks[0].origin + "/",
        }
        failed: HTTPError
        try:
            return self._portal.pool.request(
                "GET",
                url,
                headers=headers,
                timeout=urllib3.Timeout(connect=timeouts.connect_s, read=timeouts.read_s),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except HTTPError as error:
            failed = error
        return self._portal.transport_error(failed, _NAME)

    def _receive(self, answer: BaseHTTPResponse, out: BinaryIO, limit: int) -> Fetched | MigrationError:
        failed: HTTPError
        try:
            refusal = self._refusal(answer)
            if refusal is not None:
                return refusal
            if int(answer.headers.get("Content-Length") or 0) > limit:
                return self._too_large(limit)
            return self._copy(answer, out, limit)
        except HTTPError as error:
            failed = error
        return self._portal.transport_error(failed, _NAME)

    def _copy(self, answer: BaseHTTPResponse, out: BinaryIO, limit: int) -> Fetched | MigrationError:
        size, sha256 = 0, hashlib.sha256()
        for chunk in answer.stream(_CHUNK):
            size += len(chunk)
            if size > limit:
                return self._too_large(limit)
            sha256.update(chunk)
            out.write(chunk)
        return Fetched(size, sha256.hexdigest())

    def _refusal(self, answer: BaseHTTPResponse) -> MigrationError | None:
        """What came instead of a file. A file of such a type is sent as an attachment; a page or an error is not."""
        kind = answer.headers.get("Content-Type", "").lower()
        attached = "attachment" in answer.headers.get("Content-Disposition", "").lower()
        if answer.status == 200 and (attached or not ("html" in kind or "json" in kind)):
            return None
        body = answer.read(_LONGEST_ERROR) if "json" in kind else b"<"
        error = open_answer(answer.status, body, _NAME, self._portal.caller(0), Envelope)
        if answer.status == 200 and "html" in kind:
            return Permanent("A web page came in place of the file.", code="HTML_INSTEAD_OF_FILE", hint=_LOGIN)
        if isinstance(error, MigrationError) and (answer.status >= 500 or "json" in kind or answer.status == 429):
            return error
        return Permanent(f"The file's link answers HTTP {answer.status}.", code=f"HTTP_{answer.status}", hint=_LOGIN)

    @staticmethod
    def _too_large(limit: int) -> Permanent:
        return Permanent(f"The file is larger than {limit:,} bytes.", code="TOO_LARGE")


_LOGIN = "The webhook's owner may not read the file, or the link is meant for a browser."
