"""What must never be shown, and where it may be kept instead of the file: `env:NAME`, `file:PATH`, `keyvault:NAME`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from b24migrate.settings.places import harmless
from b24migrate.settings.vault import Vault

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
    named = f"the environment variable {name}, which" if harmless(name) else "an environment variable that"
    if name not in environ:
        raise ValueError(f"takes its value from {named} is not set; set it, or use file:PATH")
    value = environ[name].strip()
    if not value:
        raise ValueError(f"takes its value from {named} is empty; fill it")
    return value


def _file(path: Path, name: str) -> str:
    named = f"the file {path}, which" if harmless(name) else "a file that"
    from_file = f"takes its value from {named}"
    try:
        value = path.read_text("utf-8-sig").strip()
    except FileNotFoundError:
        raise ValueError(f"{from_file} is not there; write it, or use env:NAME") from None
    except (OSError, ValueError):
        raise ValueError(f"{from_file} cannot be read; check that it is a text file that you may read") from None
    if not value:
        raise ValueError(f"{from_file} is empty; fill it")
    return value
