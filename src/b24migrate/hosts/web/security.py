"""Who may ask: the right host, the right token, no other site's page; and what every answer carries.

A browser is talked into things. A page elsewhere may send requests here (so a change needs a header that only our own
pages can set), may let its name lead to this machine (so the Host must be ours), and may show us in a frame (so no
page may). Whoever is not on this machine needs a token besides.
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
from urllib.parse import urlsplit

from b24migrate.errors import BadConfiguration
from b24migrate.hosts.web.answers import Refused

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
SHORTEST_TOKEN = 16
OPEN = ("/login", "/api/v1/login", "/static/")  # what is asked for before somebody has shown the token
PATIENT = 5  # so many wrong tokens cost nothing
LONGEST_S = 60.0
REMEMBERED = 1000  # addresses


# ---------------------------------------------------------------- which names are ours


@dataclass(frozen=True, slots=True)
class Doors:
    """The names under which we are asked. On loopback only its own; elsewhere also by any number, since only a name
    can be made to lead here by somebody else."""

    host: str = "127.0.0.1"
    more: frozenset[str] = frozenset()
    every: bool = False  # whoever serves us knows its names; a token is needed in any case

    @property
    def inside(self) -> bool:
        """Nobody from outside this machine can come, nor through a proxy that was let in by name."""
        return not self.every and is_loopback(self.host) and all(is_loopback(name) for name in self.more)

    def refuse(self, host: str) -> None:
        name = host_name(host)
        if self.every or name in LOOPBACK or name in self.more or (name and name == self.host.lower()):
            return
        if not is_loopback(self.host) and _is_number(name):
            return
        raise Refused(421, "DASHBOARD_HOST", "host")


def host_name(host: str) -> str:
    """Of a Host header, without the port; empty when it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".") if not set(host) & set("/?#@\\ ") else ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    return _is_number(host) and ipaddress.ip_address(host.strip("[]")).is_loopback


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------- who shows the token


class Patience:
    """Slows down who guesses, address by address, in bounded memory."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how often, and not again before

    def refuse(self, address: str) -> None:
        with self._lock:
            left_s = self._wrong.get(address, (0, 0.0))[1] - self._now()
        if left_s > 0:
            raise Refused(429, "DASHBOARD_GUESSED", "guessed", headers={"Retry-After": str(int(left_s) + 1)})

    def wrong(self, address: str) -> None:
        with self._lock:
            count = self._wrong.pop(address, (0, 0.0))[0] + 1
            pause_s = min(LONGEST_S, 2.0 ** min(count - PATIENT, 10)) if count >= PATIENT else 0.0
            self._wrong[address] = (count, self._now() + pause_s)
            while len(self._wrong) > REMEMBERED:
                self._wrong.popitem(last=False)

    def right(self, address: str) -> None:
        with self._lock:
            self._wrong.pop(address, None)


def origin_of(address: str) -> str:
    """Who guesses from one network of IPv6 has endless addresses in it."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    return str(number) if number.version == 4 else str(ipaddress.ip_network((number, 64), strict=False))


@dataclass(slots=True)
class Latch:
    """The token, and the cookie that stands for it in a browser: another one each time the dashboard is started, unless
    several processes are one dashboard."""

    token: str = field(repr=False)
    patience: Patience = field(default_factory=Patience)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @classmethod
    def shared(cls, token: str) -> Latch:
        """The same in every process that knows the token."""
        return cls(token, Patience(), hashlib.sha256(b"the dashboard's cookie " + token.encode()).digest())

    @property
    def cookie_name(self) -> str:
        """Another one for each dashboard: cookies do not tell the ports of a machine apart."""
        return f"b24migrate_{hashlib.sha256(self._key).hexdigest()[:8]}"

    @property
    def cookie(self) -> str:
        return hmac.new(self._key, self.token.encode(), hashlib.sha256).hexdigest()

    def opened_by(self, token: str, address: str) -> bool:
        """Raises Refused for who guessed too often."""
        place = origin_of(address)
        self.patience.refuse(place)
        if hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            self.patience.right(place)
            return True
        self.patience.wrong(place)
        return False

    def has_come(self, headers: Mapping[str, str], address: str) -> bool:
        """By `Authorization: Bearer`, else by cookie."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.opened_by(token.strip(), address)
        shown = cookies(headers.get("cookie", "")).get(self.cookie_name, "")
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self.cookie.encode())


def cookies(header: str) -> dict[str, str]:
    try:
        return {name: one.value for name, one in SimpleCookie(header).items()}
    except CookieError:
        return {}


def usable(token: str) -> str:
    if len(token) < SHORTEST_TOKEN:
        hint = "Take a longer one, or leave it out: then one is made and shown."
        message = f"The dashboard's token is shorter than {SHORTEST_TOKEN} characters."
        raise BadConfiguration(message, hint=hint, code="USAGE")
    return token


# ---------------------------------------------------------------- who may change something


def refuse_forged(headers: Mapping[str, str], doors: Doors) -> None:
    """What a page of another site cannot send, must be there; and what a browser says of such a page, must not."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "DASHBOARD_BODY", "not_json")
    if headers.get(MARK) != "1":
        raise Refused(403, "DASHBOARD_FORGED", "unmarked")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Refused(403, "DASHBOARD_FORGED", "cross_site")
    origin = headers.get("origin")
    if origin is not None and not _own(origin, headers.get("host", ""), doors):
        raise Refused(403, "DASHBOARD_FORGED", "cross_site")


def _own(origin: str, host: str, doors: Doors) -> bool:
    """A proxy may speak https before us, and may call us by another name than the browser did."""
    scheme, _, place = origin.lower().partition("://")
    return scheme in ("http", "https") and (place == host.lower() or host_name(place) in doors.more)
