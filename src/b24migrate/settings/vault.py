"""A key vault, asked as whoever this is: a managed identity in Azure, `az login` on a desk. No Azure library is
imported before a secret is wanted."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from b24migrate.settings.places import harmless

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
            raise ValueError("names no secret of a key vault; write keyvault:NAME, with letters, digits and dashes")
        if not self._address:
            raise ValueError(
                f"takes its value from a secret of a key vault, and no key vault is named; "
                f"set B24MIGRATE_KEY_VAULT to its address, {LIKE}"
            )
        value = (self._asked(name) or "").strip()
        if not value:
            raise ValueError(f"{self._origin(name)} is empty; fill it")
        return value

    def _asked(self, name: str) -> str | None:
        client = self._client
        from azure.core.exceptions import AzureError

        try:
            return client.get_secret(name).value
        except AzureError as error:
            raise ValueError(f"{self._origin(name)} {refusal(error)}") from None
        except ValueError:  # the library's word for an answer that no key vault gives
            raise ValueError(f"{self._origin(name)} {NO_VAULT}") from None

    def _origin(self, name: str) -> str:
        named = f"the secret {name}" if harmless(name) else "a secret"
        return f"takes its value from {named} of the key vault {self._address}, which"

    @cached_property
    def _client(self) -> SecretClient:
        try:
            from azure.identity import DefaultAzureCredential
            from azure.keyvault.secrets import SecretClient
        except ImportError:
            raise ValueError(
                "takes its value from a key vault, and the libraries for Azure are not installed; "
                'install them with `pip install "b24migrate[azure]"`'
            ) from None
        # Without a handler the library's own account of each failure would go to stderr, before our sentence.
        logging.getLogger("azure").addHandler(logging.NullHandler())
        return SecretClient(self._address, DefaultAzureCredential(), **PATIENCE)


NO_VAULT = f"does not answer as a key vault does; check the address, {LIKE}"


def refusal(error: AzureError) -> str:
    """What went wrong and what to do. The library's own words are long, and may tell what was sent."""
    from azure.core import exceptions

    match error:
        case exceptions.ResourceNotFoundError():
            return "is not there; create it with `az keyvault secret set`, or correct the name"
        case exceptions.ClientAuthenticationError():
            return "cannot be read without an identity; sign in with `az login`, or use a managed identity"
        case exceptions.HttpResponseError(status_code=403):
            return forbidden(error)
        case exceptions.HttpResponseError(status_code=int(status)) if status == 429 or status >= 500:
            return f"cannot be read at the moment (HTTP {status}); try again later"
        case exceptions.HttpResponseError():
            return NO_VAULT
        case exceptions.ServiceRequestError() | exceptions.ServiceResponseError():
            return "cannot be reached; check the address, the network and the vault's firewall"
        case _:
            return f"cannot be read ({type(error).__name__}); check the address and the identity"


def forbidden(error: HttpResponseError) -> str:
    """https://learn.microsoft.com/azure/key-vault/general/rest-error-codes tells the inner codes."""
    inner = str(getattr(error.error, "innererror", None) or "")
    if "SecretDisabled" in inner:
        return "is switched off; enable it, or name another"
    if "ForbiddenByFirewall" in inner or "ForbiddenByConnection" in inner:
        return "cannot be read from this network; allow it in the vault's firewall, or run inside its network"
    return "this identity may not read; give it the role `Key Vault Secrets User`"
