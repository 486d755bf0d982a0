"""Access: the right host, the right token, no page of another site; and the headers of every answer.

A page of another site can make a browser act. It may send requests here (so a change needs a header that only our own
pages can set), may let its name lead to this machine (so the Host must be ours), and may show us in a frame (so no page
may). A token is needed in any case: other users of this machine can reach loopback as well.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.web.responses import Refused

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MARK = "x-b24migrate"
CONNECTION = "b24migrate.connection"  # in the scope of a request: what it came by
SHORTEST_TOKEN = 16
OPEN = ("/login", "/api/v1/login", "/static/")  # available without the token
PATIENT = 5  # so many wrong tokens cost nothing
LONGEST_S = 60.0
REMEMBERED = 1000  # addresses
WRONG_AT_ONCE, WRONG_PER_S = 50, 1.0  # of all addresses together
SESSION_S = 7 * 86400
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
THIS_MACHINE: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


# ---------------------------------------------------------------- which names are ours


@dataclass(frozen=True, slots=True)
class Hosts:
    """The host names that are accepted. On loopback only its own; elsewhere any IP address too, since only a name can
    be pointed here by an attacker."""

    host: str = "127.0.0.1"
    more: frozenset[str] = frozenset()
    every: bool = False  # the host in front knows its names and its users
    proxies: tuple[Network, ...] = ()  # where a proxy is that was named; those named without are on this machine

    def refuse(self, host: str) -> None:
        name = host_name(host)
        if self.every or name in LOOPBACK or name in self.more or (name and name == self.host.lower()):
            return
        if not is_loopback(self.host) and _is_number(name):
            return
        raise Refused(421, "DASHBOARD_HOST", "host")

    def client_of(self, headers: Headers, peer: str, scheme: str) -> tuple[str, str]:
        """The address and the scheme of the client: as the proxy reports them, if one is configured and it is the peer.
        Such headers from other peers are refused: they would hide who guesses tokens."""
        if self.every or not any(name == "forwarded" or name.startswith("x-forwarded-") for name in headers):
            return peer, scheme
        trusted = self.proxies or (THIS_MACHINE if self.more else ())
        number = _number(peer)
        if number is None or not any(number in one for one in trusted):
            raise Refused(400, "DASHBOARD_FORWARDED", "forwarded")
        address = last_address(",".join(headers.getlist("x-forwarded-for")))
        https = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower() == "https"
        return address or peer, "https" if https else scheme


def parse_network(text: str) -> Network:
    """Of a proxy: an address, or a network. Raises BadConfiguration."""
    try:
        return ipaddress.ip_network(text.strip("[]"))
    except ValueError:
        hint = say("web.proxy_fix")
        raise BadConfiguration(say("web.proxy", text=text), code="USAGE", hint=hint) from None


def last_address(forwarded: str) -> str:
    """Of X-Forwarded-For: the last address is the one that the proxy saw; a client can invent those before it."""
    address = forwarded.rpartition(",")[2].strip()
    return host_name(f"[{address}]" if address.count(":") > 1 and not address.startswith("[") else address)


def host_name(host: str) -> str:
    """The name in a Host header, without the port; empty if it is malformed."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".") if not set(host) & set("/?#@\\ ") else ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    return _is_number(host) and ipaddress.ip_address(host.strip("[]")).is_loopback


def _is_number(name: str) -> bool:
    return _number(name) is not None


def _number(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A socket for both versions of IP shows an IPv4 address as ::ffff:10.0.0.1."""
    try:
        number = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return None
    return getattr(number, "ipv4_mapped", None) or number


# ---------------------------------------------------------------- the token


class GuessLimit:
    """Slows down guesses of the token: per address, in bounded memory, and for all addresses together."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how often, and not again before
        self._left, self._at_s = float(WRONG_AT_ONCE), now()

    def refuse(self, address: str) -> None:
        with self._lock:
            now_s = self._now()
            self._left = min(WRONG_AT_ONCE, self._left + (now_s - self._at_s) * WRONG_PER_S)
            self._at_s = now_s
            left_s = self._wrong.get(address, (0, 0.0))[1] - now_s
            if self._left < 1:
                left_s = max(left_s, (1 - self._left) / WRONG_PER_S)
        if left_s > 0:
            raise Refused(429, "DASHBOARD_GUESSED", "guessed", headers={"Retry-After": str(int(left_s) + 1)})

    def wrong(self, address: str) -> None:
        with self._lock:
            self._left -= 1
            count = self._wrong.pop(address, (0, 0.0))[0] + 1
            pause_s = min(LONGEST_S, 2.0 ** min(count - PATIENT, 10)) if count >= PATIENT else 0.0
            self._wrong[address] = (count, self._now() + pause_s)
            while len(self._wrong) > REMEMBERED:
                self._wrong.popitem(last=False)

    def right(self, address: str) -> None:
        with self._lock:
            self._wrong.pop(address, None)


def guess_origin(address: str) -> str:
    """A guesser in one IPv6 network has an unlimited number of addresses."""
    number = _number(address)
    if number is None:
        return address[:64]
    return str(number) if number.version == 4 else str(ipaddress.ip_network((number, 64), strict=False))


class Logouts(Protocol):
    """The sessions that were ended before their time."""

    remote: bool  # looking takes a while

    def add(self, session: str, until_s: float) -> None: ...

    def has(self, session: str) -> bool: ...


class LogoutsInMemory:
    remote = False

    def __init__(self) -> None:
        self._lock = Lock()
        self._until_s: dict[str, float] = {}

    def add(self, session: str, until_s: float) -> None:
        now_s = time.time()
        with self._lock:
            kept = {one: until for one, until in self._until_s.items() if until > now_s}
            self._until_s = {**kept, session: until_s}

    def has(self, session: str) -> bool:
        return session in self._until_s


@dataclass(slots=True)
class Sessions:
    """The token, and the cookies that stand for it in browsers: a session for each login, valid until its logout, for a
    week, or until the dashboard is started again, unless several processes are one dashboard."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    patience: GuessLimit = field(default_factory=GuessLimit)
    logouts: Logouts = field(default_factory=LogoutsInMemory)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @classmethod
    def shared(cls, token: str, logouts: Logouts) -> Sessions:
        """The same in every process with this token."""
        return cls(token, GuessLimit(), logouts, hashlib.sha256(b"the dashboard's cookie " + token.encode()).digest())

    @property
    def cookie_name(self) -> str:
        """A different one for each dashboard: all ports of a machine share cookies."""
        return f"b24migrate_{hashlib.sha256(self._key).hexdigest()[:8]}"

    def new_cookie(self) -> str:
        return self._signed(secrets.token_hex(16), int(time.time()) + SESSION_S)

    def is_token(self, token: str, address: str) -> bool:
        """Raises Refused after too many wrong tokens."""
        place = guess_origin(address)
        self.patience.refuse(place)
        if hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            self.patience.right(place)
            return True
        self.patience.wrong(place)
        return False

    def is_signed_in(self, headers: Mapping[str, str], address: str) -> bool:
        """By `Authorization: Bearer`, else by cookie."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.is_token(token.strip(), address)
        session, _ = self._session(headers)
        return bool(session) and not self.logouts.has(session)

    def end(self, headers: Mapping[str, str]) -> None:
        """The session of this cookie, in every browser that has a copy of it."""
        session, until_s = self._session(headers)
        if session:
            self.logouts.add(session, until_s)

    def _session(self, headers: Mapping[str, str]) -> tuple[str, float]:
        """Empty for a cookie that is not ours, or too old."""
        shown = cookies(headers.get("cookie", "")).get(self.cookie_name, "")
        session, _, rest = shown.partition(".")
        until = rest.partition(".")[0]
        if not until.isascii() or not until.isdecimal() or len(until) > 12:
            return "", 0.0
        valid = hmac.compare_digest(shown.encode("utf-8", "replace"), self._signed(session, int(until)).encode())
        return (session, float(until)) if valid and int(until) > time.time() else ("", 0.0)

    def _signed(self, session: str, until_s: int) -> str:
        payload = f"{session}.{until_s}"
        proof = hmac.new(self._key, f"{payload}.{self.token}".encode("utf-8", "replace"), hashlib.sha256)
        return f"{payload}.{proof.hexdigest()}"


def cookies(header: str) -> dict[str, str]:
    try:
        return {name: one.value for name, one in SimpleCookie(header).items()}
    except CookieError:
        return {}


def check_token(token: str) -> str:
    if len(token) < SHORTEST_TOKEN:
        hint = say("web.short_token_fix")
        message = say("web.short_token", count=SHORTEST_TOKEN)
        raise BadConfiguration(message, hint=hint, code="USAGE")
    return token


# ---------------------------------------------------------------- requests that change something


def refuse_forged(headers: Headers, hosts: Hosts) -> None:
    """Requires a header that a page of another site cannot send, and refuses headers that browsers send for such a
    page."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "DASHBOARD_BODY", "not_json")
    if headers.get(MARK) != "1":
        raise Refused(403, "DASHBOARD_FORGED", "unmarked")
    refuse_cross_site(headers, hosts)


def refuse_cross_site(headers: Headers, hosts: Hosts) -> None:
    """Another port of this machine is another site: its page may belong to another user."""
    origin = headers.get("origin")
    foreign = origin is not None and not _is_own_origin(origin, headers.get("host", ""), hosts)
    if foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Refused(403, "DASHBOARD_FORGED", "cross_site")


def _is_own_origin(origin: str, host: str, hosts: Hosts) -> bool:
    """A proxy in front may use https, and another host name than the browser did."""
    scheme, _, place = origin.lower().partition("://")
    return scheme in ("http", "https") and (place == host.lower() or host_name(place) in hosts.more)
