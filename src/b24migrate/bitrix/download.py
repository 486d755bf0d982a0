"""Fetches a file behind a link (bitrix24-rest-2 §E.1): links carry secrets, expire, and may lead to a login page.

A link is followed to the portal's own domain, to the vendor's delivery hosts and to `source.file_hosts`; only the
portal itself gets the secret. From there a redirect may lead to any public https host: the vendor does not name its
storage hosts, and a redirect carries no secret of ours. Addresses of private networks, of this machine and of cloud
services are never asked, unless the portal is in the same place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from b24migrate.bitrix.breaker import Attempt
from b24migrate.bitrix.client import USER_AGENT, Portal
from b24migrate.bitrix.envelope import Envelope
from b24migrate.bitrix.faults import open_answer
from b24migrate.bitrix.hosts import is_listed, is_near, is_public, is_vendor_file_host, same_owner, split_address
from b24migrate.bitrix.http import Forbidden, limit_exchange
from b24migrate.bitrix.webhook import is_loopback
from b24migrate.messages import say
from b24migrate.model.errors import Limited, MigrationError, Permanent, Stop, Transient
from b24migrate.ports import Bill, Download, Part

_CHUNK = 1 << 16
_LONGEST_ERROR = 1 << 16
_MOST_REDIRECTS = 5
_NAME = "download"
_PARTIAL, _NO_SUCH_RANGE = 206, 416
_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18})")
_LONGEST_NUMBER = 18
_LONGEST_FILE_NAME = 200
_NAMED = re.compile(r"filename\*\s*=\s*utf-8'[^']*'([^;\s]+)", re.IGNORECASE)
_CALLED = re.compile(r'filename\s*=\s*"([^"]+)"', re.IGNORECASE)
_LONGEST_HOST = 253


class Enough(NamedTuple):
    """Time is up: the rest is downloaded later."""


class _Stretch(NamedTuple):
    """The range of an answer: first byte, total size, and version of the file."""

    start: int
    whole: int | None
    version: str  # empty if versions cannot be distinguished or the server gives no ranges

    @classmethod
    def of(cls, answer: BaseHTTPResponse) -> _Stretch:
        """A version is known by its ETag, unless that is a weak one, or by the time of its change. The kernel itself
        (main, CFile::ViewByUser) sends neither where nothing is to be cached, writes the ETag without quotes, and
        names a range in whole answers, too; for a file in a cloud storage that it reads for us it answers 206 without
        a range and begins at the first byte."""
        found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        start, whole = (int(found[1]), int(found[2])) if found else (0, _length(answer))
        if answer.status == _PARTIAL and not found:
            start = -1
        etag, changed = answer.headers.get("ETag", ""), answer.headers.get("Last-Modified", "")
        known = changed if etag.startswith("W/") else etag or changed
        lasting = bool(found) or answer.headers.get("Accept-Ranges", "") == "bytes"
        plain = answer.headers.get("Content-Encoding", "identity") == "identity"
        version = f"{known} {whole}" if known and whole is not None and lasting and plain else ""
        return cls(start, whole, version)


class Whole:
    """A whole download into `out`, which is empty."""

    length = sure = 0

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def holds(self, version: str) -> bool:  # noqa: ARG002
        return False

    def begin(self, version: str) -> None:
        pass

    def write(self, data: bytes) -> int:
        return self._out.write(data)

    def publish(self) -> None:
        pass


class Downloads:
    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._announced: set[str] = set()  # hosts that the portal redirects to, each logged once

    def fetch(self, url: str, out: BinaryIO, *, limit: int) -> Download:
        """Raises Permanent if it is not a file or too large, Transient if a retry may succeed."""
        fetched = self.resume(url, Whole(out), limit=limit)
        assert fetched is not None  # noqa: S101 (it never has enough)
        return fetched

    def resume(
        self, url: str, part: Part, *, limit: int, enough: Callable[[], bool] = lambda: False
    ) -> Download | None:
        """Like `fetch`, after the existing bytes. None: stopped before the end."""
        webhook = self._portal.webhooks[0]
        url = _join_address(webhook.origin + "/", url)
        parts = split_address(url)
        ours = parts is not None and parts.netloc in self._portal.hosts
        if ours:  # a link that only pretends to be the portal's never gets the secret
            url = self._portal.redactor.unmask(url)
            self._portal.breaker.admit()
        if ours and "/rest/" in url:
            self._portal.governor.acquire(webhook.tag, (_NAME,))
        digest = hashlib.blake2b(url.encode(), digest_size=12).hexdigest()
        attempt = Attempt(f"{_NAME}:{digest}", self._portal.clock.monotonic())
        with self._portal.under_way:
            fetched = self._follow(url, part, limit, enough)
        if isinstance(fetched, Download | Enough):
            if ours:
                self._portal.breaker.succeeded(attempt)
            if self._portal.governor.meter:
                took_s = self._portal.clock.monotonic() - attempt.started
                self._portal.governor.meter(Bill(0, _NAME, 1, None, None, 0.0, took_s))
            return fetched if isinstance(fetched, Download) else None
        raise self._judge(fetched, attempt, ours)

    def _judge(self, error: MigrationError, attempt: Attempt, ours: bool) -> MigrationError:
        error.message = self._portal.redactor.redact(error.message)
        if isinstance(error, Transient) and error.own:  # it did answer
            if ours:
                self._portal.breaker.succeeded(attempt)
            return error
        if isinstance(error, Transient):
            if ours:
                return self._portal.failure(error, attempt)
            error.own = self._portal.breaker.own_fault(attempt)
        if isinstance(error, Limited):
            return self._portal.limited(error, attempt.started, _NAME, 0)
        if isinstance(error, Stop):  # a stale link is this file's trouble, not the run's
            return Permanent(error.message, code=error.code, hint=error.hint)
        return error

    def _follow(
        self, url: str, part: Part, limit: int, enough: Callable[[], bool]
    ) -> Download | Enough | MigrationError:
        before: SplitResult | None = None
        for _ in range(_MOST_REDIRECTS):
            parts = split_address(url)
            refusal = _foreign_host_error("") if parts is None else self._refuse(parts, before)
            if parts is None or refusal is not None:
                return refusal or _foreign_host_error("")
            following = self._ask(url, parts, part, limit, enough)
            if not isinstance(following, str):
                return following
            url, before = _join_address(url, following), parts
        return Transient(say("file.redirects"), code="TOO_MANY_REDIRECTS")

    def _refuse(self, parts: SplitResult, before: SplitResult | None) -> Permanent | None:
        """Why a link, or a redirect from `before`, is not followed."""
        host = parts.hostname or ""
        webhook = self._portal.webhooks[0]
        known = parts.netloc in self._portal.hosts or self._is_listed(host)
        plain = parts.scheme == "http" and known and (webhook.allow_http or is_loopback(host))
        if parts.scheme not in ("http", "https"):
            return _foreign_host_error(host)
        if parts.scheme == "http" and (not plain or (before is not None and before.scheme == "https")):
            return Permanent(say("file.insecure"), code="INSECURE_LINK", hint=say("file.insecure_fix"))
        if known or self._is_own(host) or is_vendor_file_host(host):
            return None
        secret = self._portal.redactor.redact(parts.geturl()) != parts.geturl()
        if before is None or secret:
            return _foreign_host_error(host)
        if host not in self._announced:
            self._announced.add(host)
            self._portal.note("info", say("file.redirected", portal=self._portal.name, host=host))
        return None

    def _is_own(self, host: str) -> bool:
        return any(same_owner(urlsplit(f"//{one}").hostname or "", host) for one in self._portal.hosts)

    def _is_listed(self, host: str) -> bool:
        return is_listed(host, self._portal.file_hosts)

    def _ask(
        self, url: str, parts: SplitResult, part: Part, limit: int, enough: Callable[[], bool]
    ) -> Download | Enough | MigrationError | str:
        """The file, or the address that the answer redirects to."""
        failed: HTTPError
        try:
            with self._open(url, parts, part.length) as answer:
                if 300 <= answer.status < 400:
                    return answer.headers.get("Location", "")
                return self._receive(answer, part, limit, enough)
        except Forbidden:
            return _foreign_host_error(parts.hostname or "")
        except HTTPError as error:
            failed = error
        return self._portal.transport_error(failed, _NAME)

    @contextmanager
    def _open(self, url: str, parts: SplitResult, start: int) -> Iterator[BaseHTTPResponse]:
        portal, host = self._portal, parts.hostname or ""
        headers = {
            # Without these the web server before the files may answer 404 to a good link.
            "User-Agent": USER_AGENT,
            "Accept": "*/*",
            "Accept-Language": "en",
            "Accept-Encoding": "identity",
            "Referer": portal.webhooks[0].origin + "/",
            **({"Range": f"bytes={start}-"} if start else {}),
        }
        timeout = urllib3.Timeout(connect=portal.timeouts.connect_s, read=portal.timeouts.read_s)
        bounds = portal.bounds(float("inf"))
        if parts.hostname not in {urlsplit(f"//{one}").hostname for one in portal.hosts} and not self._is_listed(host):
            bounds.may_connect = self._may_connect
        with limit_exchange(bounds), portal.wire.open("GET", url, headers=headers, timeout=timeout) as answer:
            yield answer

    def _may_connect(self, address: str) -> bool:
        return is_public(address) or is_near(address, self._portal.address)

    def _receive(
        self, answer: BaseHTTPResponse, part: Part, limit: int, enough: Callable[[], bool]
    ) -> Download | Enough | MigrationError:
        if part.length and answer.status == _NO_SUCH_RANGE:
            return _restart_error(part)
        refusal = self._refusal(answer)
        if refusal is not None:
            return refusal
        stretch = _Stretch.of(answer)
        if stretch.whole is not None and stretch.whole > limit:
            return self._too_large(limit)
        wanted_from = part.length
        if stretch.start != wanted_from or not part.holds(stretch.version):
            if stretch.start != 0:
                return _restart_error(part)
            part.begin(stretch.version)
        # A server that did not return the rest would not do so the next time either.
        lasting = bool(stretch.version) and stretch.start == wanted_from
        return self._copy(answer, part, limit, enough if lasting else lambda: False, stretch.whole)

    def _copy(
        self, answer: BaseHTTPResponse, part: Part, limit: int, enough: Callable[[], bool], whole: int | None
    ) -> Download | Enough | MigrationError:
        size, sure = part.length, part.sure
        sha256 = None if size else hashlib.sha256()
        for chunk in answer.stream(_CHUNK, decode_content=True):
            size += len(chunk)
            if size > limit:
                return self._too_large(limit)
            if sha256:
                sha256.update(chunk)
            part.write(chunk)
            if part.sure > sure and size != whole:
                sure = part.sure
                if enough():
                    return Enough()
        if whole is not None and size != whole and not answer.headers.get("Content-Encoding"):
            return Transient(say("file.length", whole=whole, size=size), code="WRONG_LENGTH", own=True)
        return Download(size, sha256.hexdigest() if sha256 else "", _file_name(answer))

    def _refusal(self, answer: BaseHTTPResponse) -> MigrationError | None:
        """The error of an answer that is not a file. Portals send files of these types as attachments, but not pages
        and errors."""
        kind = answer.headers.get("Content-Type", "").lower()
        attached = "attachment" in answer.headers.get("Content-Disposition", "").lower()
        if answer.status in (200, _PARTIAL) and (attached or not ("html" in kind or "json" in kind)):
            return None
        # Masked before it is cut anywhere: half a secret would not be recognised.
        body = self._portal.redactor.mask(answer.read(_LONGEST_ERROR)) if "json" in kind else b"<"
        error = open_answer(answer.status, body, _NAME, self._portal.caller(0), Envelope)
        if answer.status == 200 and "html" in kind:
            return Permanent(say("file.html"), code="HTML_INSTEAD_OF_FILE", hint=_LOGIN)
        if isinstance(error, MigrationError) and (answer.status >= 500 or "json" in kind or answer.status == 429):
            return error
        return Permanent(say("file.status", status=answer.status), code=f"HTTP_{answer.status}", hint=_LOGIN)

    @staticmethod
    def _too_large(limit: int) -> Permanent:
        return Permanent(say("file.larger", limit=limit), code="TOO_LARGE")


def _file_name(answer: BaseHTTPResponse) -> str:
    """As the header calls it (kernel main, CFile::ViewByUser: percent-encoded, in UTF-8): no other place has the name
    of a file in a CRM field. A portal chooses it, so what leads out of a folder and what cannot be seen is left out."""
    told = answer.headers.get("Content-Disposition", "")
    found = _NAMED.search(told) or _CALLED.search(told)
    name = unquote(found[1], errors="replace").rpartition("/")[2].rpartition("\\")[2] if found else ""
    return "".join(one for one in name if one.isprintable()).strip(" .")[-_LONGEST_FILE_NAME:]


def _length(answer: BaseHTTPResponse) -> int | None:
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdecimal() and len(length) <= _LONGEST_NUMBER else None


def _join_address(base: str, link: str) -> str:
    """An address that cannot be joined stays as it is: it is refused when it is taken apart."""
    try:
        return urljoin(base, link)
    except ValueError:
        return link


def _foreign_host_error(host: str) -> Permanent:
    text = say("file.foreign", host=host[:_LONGEST_HOST]) if host else say("file.no_address")
    hint = say("file.foreign_fix") if host else ""
    return Permanent(text, code="FOREIGN_LINK", hint=hint)


def _restart_error(part: Part) -> Transient:
    """The bytes do not continue what is here. The link may be valid once only, so the next attempt gets another."""
    part.begin("")
    return Transient(say("file.replaced"), code="FILE_REPLACED", own=True)


_LOGIN = say("file.owner_fix")
