"""An incoming webhook: where a portal is, whose rights a call has, and its secret."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

from b24migrate.bitrix.hosts import is_listed, same_owner, split_address
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration

# The portal's own page shows the address with an example method at its end: `/rest/1/secret/profile.json`.
_PATH = re.compile(r"(?P<prefix>(?:/[^/]+)*?/(?:rest|webhook))/(?P<user>[0-9]+)/(?P<secret>[^/\s]+)(?:/[\w.]*)?/?")
_SHAPE = "https://portal.example/rest/<user id>/<secret>/"


@dataclass(frozen=True, slots=True, repr=False)
class Webhook:
    origin: str
    prefix: str
    user: int
    secret: str
    allow_http: bool = False

    @property
    def tag(self) -> str:
        """The replacement of the secret in output."""
        return tag_of(self.secret)

    @property
    def name(self) -> str:
        """For messages."""
        return say("portal.webhook", user=self.user, tag=self.tag)

    def named(self, portal: str) -> str:
        """The same with the name of its portal."""
        return say(f"portal.the_webhook.{portal}", user=self.user, tag=self.tag)

    @property
    def host(self) -> str:
        return urlsplit(self.origin).netloc

    def url(self, method: str) -> str:
        return f"{self.origin}{self.prefix}/{self.user}/{self.secret}/{method}"

    def moved(self, location: str, hosts: Collection[str] = ()) -> Webhook | None:
        """The same webhook where the portal lives now, or None when the secret may not go to `location`: only to a REST
        address, never from https to http, and only to the portal's own domain or to one of `hosts`. A portal that was
        renamed answers 302 (settings/how-to-call-rest-api/change-domen.md); names below bitrix24.ru and its sisters
        belong to different customers, so that the new name has to be given by a person."""
        if location.startswith("/") and not location.startswith("//"):
            return self if location.startswith(self.prefix + "/") else None
        parts = split_address(location)
        if parts is None or not parts.path.startswith(self.prefix + "/"):
            return None
        here, there = urlsplit(self.origin), parts.hostname or ""
        if not (parts.scheme == "https" or (parts.scheme == here.scheme and _may_be_asked(parts, self.allow_http))):
            return None
        if not (same_owner(here.hostname or "", there) or is_listed(there, hosts)):
            return None
        return replace(self, origin=f"{parts.scheme}://{parts.netloc}")

    def __repr__(self) -> str:
        return f"<Webhook {self}>"

    def __str__(self) -> str:
        return f"{self.origin}{self.prefix}/{self.user}/{self.tag}"


def tag_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:6]


def parse_webhook(text: str, *, key: str = "webhook", allow_http: bool = False) -> Webhook:
    """Raises BadConfiguration, which never repeats what was given: it may be a secret."""
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadConfiguration(say("settings.webhook_url", key=key), hint=say("settings.webhook_url_fix", shape=_SHAPE))
    found = _PATH.fullmatch(parts.path)
    if found is None or parts.query or parts.fragment or parts.username is not None:
        raise BadConfiguration(
            say("settings.webhook_path", key=key),
            hint=say("settings.webhook_path_fix", shape=_SHAPE),
        )
    if not _may_be_asked(parts, allow_http):
        raise BadConfiguration(
            say("settings.webhook_http", key=key),
            hint=say("settings.webhook_http_fix"),
        )
    origin = f"{parts.scheme}://{parts.netloc}"
    return Webhook(origin, found["prefix"], int(found["user"]), found["secret"], allow_http)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _may_be_asked(parts: SplitResult, allow_http: bool) -> bool:
    return parts.scheme == "https" or (parts.scheme == "http" and (allow_http or is_loopback(parts.hostname or "")))
