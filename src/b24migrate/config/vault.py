"""A key vault, asked as this process: a managed identity in Azure, `az login` elsewhere. No Azure library is
imported before a secret is wanted."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from b24migrate.config.origin import harmless
from b24migrate.messages import say

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError, HttpResponseError
    from azure.keyvault.secrets import SecretClient

LIKE = "https://NAME.vault.azure.net"
PATIENCE = {"retry_total": 2, "retry_backoff_factor": 0.2, "connection_timeout": 10, "read_timeout": 30}


def is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme == "https" and bool(parts.hostname) and text.rstrip("/") == f"https://{parts.netloc}"
    except ValueError:
        return False


class Vault:
    """Reads each secret once. ValueError continues a sentence that begins with the key which refers to the secret."""

    def __init__(self, address: str = "") -> None:
        self._address = address
        self._known: dict[str, str] = {}

    def secret(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> str:
        if not (name.isascii() and name.replace("-", "").isalnum()):
            raise ValueError(say("settings.vault_name"))
        if not self._address:
            raise ValueError(say("settings.vault_none", like=LIKE))
        value = (self._asked(name) or "").strip()
        if not value:
            raise ValueError(self._about(name, say("settings.vault.empty")))
        return value

    def _asked(self, name: str) -> str | None:
        client = self._client
        from azure.core.exceptions import AzureError

        try:
            return client.get_secret(name).value
        except AzureError as error:
            raise ValueError(self._about(name, refusal(error))) from None
        except ValueError:  # the library's word for an answer that no key vault gives
            raise ValueError(self._about(name, say("settings.vault.foreign", like=LIKE))) from None

    def _about(self, name: str, what: str) -> str:
        if not harmless(name):
            return say("settings.vault_secret_unnamed", address=self._address, what=what)
        return say("settings.vault_secret", name=name, address=self._address, what=what)

    @cached_property
    def _client(self) -> SecretClient:
        try:
            from azure.identity import DefaultAzureCredential
            from azure.keyvault.secrets import SecretClient
        except ImportError:
            raise ValueError(say("settings.vault_library")) from None
        # Without a handler the library's own account of each failure would go to stderr, before our sentence.
        logging.getLogger("azure").addHandler(logging.NullHandler())
        return SecretClient(self._address, DefaultAzureCredential(), **PATIENCE)


def refusal(error: AzureError) -> str:
    """What went wrong and what to do. The library's own words are long, and may tell what was sent."""
    from azure.core import exceptions

    match error:
        case exceptions.ResourceNotFoundError():
            return say("settings.vault.missing")
        case exceptions.ClientAuthenticationError():
            return say("settings.vault.identity")
        case exceptions.HttpResponseError(status_code=403):
            return forbidden(error)
        case exceptions.HttpResponseError(status_code=int(status)) if status == 429 or status >= 500:
            return say("settings.vault.later", status=status)
        case exceptions.HttpResponseError():
            return say("settings.vault.foreign", like=LIKE)
        case exceptions.ServiceRequestError() | exceptions.ServiceResponseError():
            return say("settings.vault.unreachable")
        case _:
            return say("settings.vault.failed", kind=type(error).__name__)


def forbidden(error: HttpResponseError) -> str:
    """https://learn.microsoft.com/azure/key-vault/general/rest-error-codes tells the inner codes."""
    inner = str(getattr(error.error, "innererror", None) or "")
    if "SecretDisabled" in inner:
        return say("settings.vault.disabled")
    if "ForbiddenByFirewall" in inner or "ForbiddenByConnection" in inner:
        return say("settings.vault.network")
    return say("settings.vault.role")
