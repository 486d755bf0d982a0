"""A local application: its calls, its tokens and their renewal (settings/oauth/auto-renewal)."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import msgspec
import urllib3
from urllib3.exceptions import HTTPError
from urllib3.exceptions import TimeoutError as NoAnswer

from b24migrate.bitrix.client import USER_AGENT, Portal
from b24migrate.bitrix.envelope import Envelope
from b24migrate.bitrix.webhook import Webhook
from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet, MigrationError, TokenServerAway
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Args, Json
from b24migrate.ports import TOKENS, RegisterRow, Store

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


# Each renewal of the tokens returns a new pair and may invalidate the old one. The newest pair is in the store,
# encrypted. One worker renews it, the others wait.
CONNECT_S, READ_S = 10.0, 30.0
HELD_S = 60.0  # longer than any request: after that the process that was renewing is dead
LOOK_S = 0.5
LARGEST_ANSWER = 1 << 16
LONGEST_TEXT = 300
AGAIN = say("portal.install_again")


def seal(text: str, key: str) -> str:
    return _cipher(key).encrypt(text.encode()).decode()


def unseal(text: str, key: str) -> str | None:
    """None if it was encrypted with another key or altered."""
    from cryptography.fernet import InvalidToken

    try:
        return _cipher(key).decrypt(text.encode()).decode()
    except InvalidToken:
        return None


def _cipher(key: str) -> Fernet:
    from cryptography.fernet import Fernet  # only here: few have an application, and every command would load it

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"b24migrate seal\0" + key.encode()).digest()))


class Keys(NamedTuple):
    """The tokens of the settings."""

    client_id: str
    client_secret: str
    refresh_token: str
    access_token: str
    token_url: str


@prepared
class Pair(NamedTuple):
    access: str
    refresh: str


class Tokens:
    def __init__(self, keys: Keys, store: Store, portal: Portal) -> None:
        self._keys = keys
        self._store = store
        self._portal = portal
        self._lock = threading.Lock()  # the threads of one process need not compete at the store
        self._origin = hashlib.sha256(keys.refresh_token.encode()).hexdigest()[:16]
        self._last: Pair | None = None

    def access(self) -> str:
        """The newest known token. Raises like `renewed` if there is none yet."""
        pair = self._last or self._newest(self._row())
        return pair.access or self.renewed("")

    def renewed(self, stale: str) -> str:
        """Another token than `stale`: one that another process got meanwhile, or a new one. Raises GateUnmet if the
        authorization server refuses, Transient if it does not answer."""
        with self._lock:
            since = self._portal.clock.monotonic()
            while True:
                row = self._row()
                pair = self._newest(row)
                if pair.access and pair.access != stale:
                    return pair.access
                # No holder needs longer, even with a wrong clock.
                held = self._claim_row(row, over=self._portal.clock.monotonic() - since > HELD_S)
                if held is not None:
                    return self._renew(held, pair)
                self._portal.clock.sleep(LOOK_S)

    def _renew(self, held: RegisterRow, pair: Pair) -> str:
        try:
            fresh = self._ask(pair.refresh)
        except MigrationError as error:
            self._store.swap(TOKENS, held._replace(values={**held.values, "Holder": "", "HeldUntilUtc": ""}))
            other = self._newest(self._row())
            if isinstance(error, GateUnmet) and other != pair:  # the process that was taken for dead was only slow
                return other.access
            raise
        # A process that was taken for dead may have stored the newest pair.
        hidden = seal(msgspec.json.encode(fresh).decode(), self._keys.client_secret)
        self._store.write(TOKENS, [RegisterRow(held.key, {"Origin": self._origin, "Sealed": hidden})])
        self._last = fresh
        return fresh.access

    # ------------------------------------------------------------ the store

    def _row(self) -> RegisterRow:
        key = self._keys.client_id
        return self._store.read(TOKENS, key) or RegisterRow(key, {})

    def _newest(self, row: RegisterRow) -> Pair:
        """The last pair renewed from the token in the settings. Another token in the settings replaces it."""
        pair = Pair(self._keys.access_token, self._keys.refresh_token)
        text = unseal(str(row.values.get("Sealed") or ""), self._keys.client_secret)
        if text and row.values.get("Origin") == self._origin:
            pair = msgspec.json.decode(text, type=Pair)
        self._portal.redactor.learn(*pair)
        self._last = pair
        return pair

    def _claim_row(self, row: RegisterRow, *, over: bool) -> RegisterRow | None:
        """The row, claimed; None if another process holds it. `over`: ignore the time of the other claim."""
        now = self._portal.clock.now()
        if row.values.get("Holder") and not over and datetime.fromisoformat(str(row.values["HeldUntilUtc"])) > now:
            return None
        me = secrets.token_hex(8)
        until = (now + timedelta(seconds=HELD_S)).isoformat()
        if not self._store.swap(TOKENS, row._replace(values={**row.values, "Holder": me, "HeldUntilUtc": until})):
            return None
        mine = self._row()
        return mine if mine.values.get("Holder") == me else None

    # ------------------------------------------------------------ the authorization server

    def _ask(self, refresh: str) -> Pair:
        query = {
            "grant_type": "refresh_token",
            "client_id": self._keys.client_id,
            "client_secret": self._keys.client_secret,
            "refresh_token": refresh,
        }
        failed: HTTPError
        try:
            status, body, _ = self._portal.wire.exchange(
                "GET",
                self._keys.token_url,
                self._portal.bounds(CONNECT_S + READ_S),
                fields=query,
                headers={"Accept": "application/json", "User-Agent": USER_AGENT},
                timeout=urllib3.Timeout(connect=CONNECT_S, read=READ_S),
                most=LARGEST_ANSWER,
            )
            return self._parse(status, body)
        except HTTPError as error:
            failed = error
        # Outside the block, so that no context with an address in it hangs on the error.
        code = "TIMEOUT" if isinstance(failed, NoAnswer) else "UNREACHABLE"
        raise self._no_answer(say("portal.token_silent", kind=type(failed).__name__), code)

    def _parse(self, status: int, body: bytes) -> Pair:
        try:
            values: Json = msgspec.json.decode(body)
        except msgspec.DecodeError:
            values = None
        if isinstance(values, Mapping) and values.get("access_token") and values.get("refresh_token"):
            fresh = Pair(str(values["access_token"]), str(values["refresh_token"]))
            self._portal.redactor.learn(*fresh)
            return fresh
        if isinstance(values, Mapping) and values.get("error") and status < 500:
            raise self._refusal(str(values["error"]), str(values.get("error_description") or ""))
        raise self._no_answer(say("portal.token_none", status=status), "STRANGE_ANSWER")

    def _refusal(self, code: str, words: str) -> GateUnmet:
        who = say("portal.application", client_id=self._keys.client_id)
        text = self._portal.redactor.redact(f"{code} {words}".strip())[:LONGEST_TEXT]
        return GateUnmet(
            "auth.target",
            say("portal.application_refused", who=who, host=self._host, text=text),
            code="APPLICATION_REFUSED",
            hint=AGAIN,
        )

    def _no_answer(self, what: str, code: str) -> TokenServerAway:
        hint = say("portal.token_url_fix")
        return TokenServerAway(say("portal.token_server", host=self._host, what=what), code=code, hint=hint)

    @property
    def _host(self) -> str:
        return urlsplit(self._keys.token_url).netloc


EXPIRED = "expired_token"


@dataclass(frozen=True, slots=True, repr=False)
class ApplicationEndpoint(Webhook):
    """The address of an application's calls. Its `secret` is the client_id, which is public; the token is in the
    body."""

    def url(self, method: str) -> str:
        return f"{self.origin}{self.prefix}/{method}"

    @property
    def name(self) -> str:
        return f"application {self.secret}"

    def named(self, portal: str) -> str:
        return say(f"portal.the_application.{portal}", client=self.secret)

    def __str__(self) -> str:
        return f"{self.origin}{self.prefix}"


def application_door(webhook: Webhook, client_id: str) -> ApplicationEndpoint:
    """On the same portal: `/rest/`, also where a gateway gives webhooks another path."""
    prefix = f"{webhook.prefix.rpartition('/')[0]}/rest"
    return ApplicationEndpoint(webhook.origin, prefix, 0, client_id, webhook.allow_http)


class Application:
    """`via`: the index of its endpoint among the webhooks of the portal."""

    def __init__(self, portal: Portal, tokens: Tokens, via: int) -> None:
        self._portal = portal
        self._tokens = tokens
        self._via = via

    def call(self, method: str, params: Args) -> Envelope:
        """Raises like a portal; GateUnmet also if the tokens cannot be renewed. A call that is refused because of its
        token had no effect, so it is repeated once."""
        token = self._tokens.access()
        try:
            return self._called(method, params, token)
        except GateUnmet as refusal:
            if refusal.code != EXPIRED:
                raise
        return self._called(method, params, self._tokens.renewed(token))

    def _called(self, method: str, params: Args, token: str) -> Envelope:
        return self._portal.call(method, {**params, "auth": token}, via=self._via)
