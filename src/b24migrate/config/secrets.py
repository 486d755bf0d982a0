"""Secrets: never shown, and stored outside the file by `env:NAME`, `file:PATH` or `keyvault:NAME`."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from b24migrate.config.origin import harmless
from b24migrate.config.small_file import read_small_file
from b24migrate.messages import say

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError, HttpResponseError
    from azure.keyvault.secrets import SecretClient


# ---------------------------------------------------------------- key vault
# By the identity of this process: a managed identity in Azure, `az login` elsewhere. Azure libraries are imported only
# when a secret is needed.


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
        value = (self._fetch(name) or "").strip()
        if not value:
            raise ValueError(self._about(name, say("settings.vault.empty")))
        return value

    def _fetch(self, name: str) -> str | None:
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
    """The cause and its fix. The library's own message is long and may contain the request."""
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
    """Inner codes: https://learn.microsoft.com/azure/key-vault/general/rest-error-codes"""
    inner = str(getattr(error.error, "innererror", None) or "")
    if "SecretDisabled" in inner:
        return say("settings.vault.disabled")
    if "ForbiddenByFirewall" in inner or "ForbiddenByConnection" in inner:
        return say("settings.vault.network")
    return say("settings.vault.role")


NO_VAULT = Vault()


class Secret:
    """Prints as the first six hex digits of its SHA-256. Only `reveal` gives it away."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Secret({self})"

    def __str__(self) -> str:
        return hashlib.sha256(self._text.encode()).hexdigest()[:6]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a secret is not written anywhere")


def file_of(text: str, folder: Path) -> Path | None:
    """The file that a `file:PATH` leads to; None for any other text."""
    kind, colon, name = text.partition(":")
    return folder / Path(name).expanduser() if colon and kind == "file" else None


def resolve(text: str, *, folder: Path, environ: Mapping[str, str], vault: Vault = NO_VAULT) -> str:
    """The value of a reference; any other text unchanged. ValueError says what is missing and what to do."""
    kind, colon, name = text.partition(":")
    if not colon or kind not in ("env", "file", "keyvault"):
        return text
    if kind == "env":
        return _variable(name, environ)
    if (path := file_of(text, folder)) is not None:
        return _file(path, name)
    return vault.secret(name)


def _variable(name: str, environ: Mapping[str, str]) -> str:
    if name not in environ:
        raise _wrong("variable_unset", "name", name)
    value = environ[name].strip()
    if not value:
        raise _wrong("variable_empty", "name", name)
    return value


def _file(path: Path, name: str) -> str:
    shown = str(path) if harmless(name) else ""
    try:
        value = read_small_file(path).strip()
    except FileNotFoundError:
        raise _wrong("file_missing", "path", shown) from None
    except (OSError, ValueError):
        raise _wrong("file_unreadable", "path", shown) from None
    if not value:
        raise _wrong("file_empty", "path", shown)
    return value


def _wrong(key: str, kind: str, name: str) -> ValueError:
    """A name that looks like a secret is not repeated."""
    if not name or not harmless(name):
        return ValueError(say(f"settings.{key}_unnamed"))
    return ValueError(say(f"settings.{key}", **{kind: name}))
