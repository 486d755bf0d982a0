"""Calls of a local application: another address than a webhook's, and a token that is renewed when it has expired
(settings/oauth/auto-renewal)."""

from __future__ import annotations

from dataclasses import dataclass

from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.envelope import Envelope
from b24migrate.bitrix.tokens import Tokens
from b24migrate.bitrix.webhook import Webhook
from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet
from b24migrate.model.records import Args

EXPIRED = "expired_token"


@dataclass(frozen=True, slots=True, repr=False)
class ApplicationEndpoint(Webhook):
    """Where an application calls. Its `secret` is the client_id, which is none; the token goes in the body."""

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
    """`via`: the place of its door among the portal's webhooks."""

    def __init__(self, portal: Portal, tokens: Tokens, via: int) -> None:
        self._portal = portal
        self._tokens = tokens
        self._via = via

    def call(self, method: str, params: Args) -> Envelope:
        """Raises as a portal does; GateUnmet also when the tokens cannot be renewed. A call that was refused because
        of its token had no effect, so that it is repeated, once."""
        token = self._tokens.access()
        try:
            return self._called(method, params, token)
        except GateUnmet as refusal:
            if refusal.code != EXPIRED:
                raise
        return self._called(method, params, self._tokens.renewed(token))

    def _called(self, method: str, params: Args, token: str) -> Envelope:
        return self._portal.call(method, {**params, "auth": token}, via=self._via)
