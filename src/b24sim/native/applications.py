"""A local application of the box: it calls with a token that expires, and renews it at the authorization server."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field

from b24sim.context import Caller
from b24sim.errors import RestError
from b24sim.methods.system import ALL_SCOPES
from b24sim.request import Params

TOKEN = "/oauth/token"
NAME = "oauth.token"  # under which misfortunes strike it
HOUR_S = 3600.0


@dataclass(slots=True)
class LocalApplication:
    """The user who installed it is its user; the authorization server is served by the box itself, for tests."""

    user: int = 1
    scopes: Collection[str] = ALL_SCOPES
    number: int = 7
    client_id: str = "local.65f1c0de5a1e42.12345678"
    client_secret: str = "Vd0kq2ZsLp81xYt6RwBnMe4Ja7UcHf3G"
    lifetime_s: float = HOUR_S
    access_token: str = ""
    refresh_token: str = ""
    refreshes: int = 0
    expires_at: float = 0.0
    _old: set[str] = field(default_factory=set)
    _issued: int = 0

    def issue(self, now: float) -> None:
        """A new pair. The old access token is one that has expired, the old refresh token an unknown one."""
        self._old.add(self.access_token)
        self._issued += 1
        self.access_token, self.refresh_token = (self._grown(kind) for kind in ("access", "refresh"))
        self.expires_at = now + self.lifetime_s

    def expire(self) -> None:
        self.expires_at = 0.0

    def revoke(self) -> None:
        """As when the application was deleted and made again: no token of the past is worth anything."""
        self.expire()
        self.refresh_token = ""

    def caller(self, token: str, now: float, admins: Collection[int]) -> Caller:
        if not token:
            raise RestError("NO_AUTH_FOUND", "Wrong authorization data", 401)
        if token in self._old or (token == self.access_token and now >= self.expires_at):
            raise RestError("expired_token", "The access token provided has expired.", 401)
        if token != self.access_token:
            raise RestError("invalid_token", "Unable to get application by token", 401)
        return Caller(self.user, self.client_id, self.user in admins, tuple(self.scopes), self.number)

    def renewed(self, params: Params, now: float, portal_url: str) -> dict[str, object]:
        """The answers of the authorization server (settings/oauth/auto-renewal, error-codes)."""
        if params.get("grant_type") != "refresh_token" or not params.get("refresh_token"):
            raise RestError("invalid_request", "Incorrect request")
        if (params.get("client_id"), params.get("client_secret")) != (self.client_id, self.client_secret):
            raise RestError("invalid_client", "Client not found", 401)
        if params["refresh_token"] != self.refresh_token:
            raise RestError("invalid_grant", "Grant is not valid")
        self.refreshes += 1
        self.issue(now)
        return {
            "access_token": self.access_token, "refresh_token": self.refresh_token,
            "expires": int(self.expires_at), "expires_in": int(self.lifetime_s), "scope": ",".join(self.scopes),
            "client_endpoint": f"{portal_url}/rest/", "server_endpoint": f"{portal_url}/rest/",
            "domain": "oauth.example",
            "member_id": self._grown("member"), "status": "L", "user_id": self.user,
        }  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """For the control API and for the first line of the output."""
        keys = {"client_id": self.client_id, "client_secret": self.client_secret}
        tokens = {"access_token": self.access_token, "refresh_token": self.refresh_token}
        return {**keys, **tokens, "user": self.user, "refreshes": self.refreshes}

    def _grown(self, kind: str) -> str:
        issue = 0 if kind == "member" else self._issued
        return hashlib.sha256(f"{self.client_id}:{kind}:{issue}".encode()).hexdigest()[:48]
