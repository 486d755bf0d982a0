"""A secret that has to lie in the store, sealed: whoever has the store and not the key can neither read nor alter it.

The standard library has no cipher. A keystream from SHAKE-256 over key and nonce, and an HMAC over what it hides, is
one as long as no nonce comes twice; the key must be as hard to guess as a secret of an application is."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

NONCE = 16
MARK = 32


def seal(text: str, key: str) -> str:
    nonce = secrets.token_bytes(NONCE)
    hidden = _mixed(text.encode(), key, nonce)
    return base64.b64encode(nonce + _mark(nonce + hidden, key) + hidden).decode()


def unseal(text: str, key: str) -> str | None:
    """None when it was sealed with another key, or is not what it was."""
    try:
        whole = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    nonce, mark, hidden = whole[:NONCE], whole[NONCE : NONCE + MARK], whole[NONCE + MARK :]
    if not hmac.compare_digest(mark, _mark(nonce + hidden, key)):
        return None
    return _mixed(hidden, key, nonce).decode()


def _mixed(data: bytes, key: str, nonce: bytes) -> bytes:
    stream = hashlib.shake_256(b"b24migrate seal\0" + nonce + key.encode()).digest(len(data))
    return bytes(one ^ other for one, other in zip(data, stream, strict=True))


def _mark(data: bytes, key: str) -> bytes:
    return hmac.digest(hashlib.sha256(b"b24migrate mark\0" + key.encode()).digest(), data, "sha256")
