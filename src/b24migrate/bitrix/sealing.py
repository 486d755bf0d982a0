"""A secret that has to lie in the store, sealed: whoever has the store and not the key can neither read nor alter it.

The key is a secret of the settings that nobody can guess (an application's is long and random), so that one round of
hashing makes it as long as the cipher wants it."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


def seal(text: str, key: str) -> str:
    return _cipher(key).encrypt(text.encode()).decode()


def unseal(text: str, key: str) -> str | None:
    """None when it was sealed with another key, or is not what it was."""
    from cryptography.fernet import InvalidToken

    try:
        return _cipher(key).decrypt(text.encode()).decode()
    except InvalidToken:
        return None


def _cipher(key: str) -> Fernet:
    from cryptography.fernet import Fernet  # only here: few have an application, and every command would load it

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"b24migrate seal\0" + key.encode()).digest()))
