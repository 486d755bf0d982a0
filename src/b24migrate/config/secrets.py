"""What must never be shown, and where it may be kept instead of the file: `env:NAME`, `file:PATH`, `keyvault:NAME`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from b24migrate.config.origin import harmless
from b24migrate.config.vault import Vault
from b24migrate.messages import say

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
    """The text that a reference stands for; any other text as it is. ValueError says what is missing and what to do."""
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
        value = path.read_text("utf-8-sig").strip()
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
