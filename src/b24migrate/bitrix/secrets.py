"""Removes the secrets of webhooks and applications from all output."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable

from b24migrate.bitrix.webhook import Webhook, tag_of
from b24migrate.messages import revise

_SHORTEST_UNMISTAKABLE = 8  # a shorter one may be an ordinary word: it counts only where an address has one


class Redactor:
    """Knows every secret of the run. Three `in` tests per secret are all that a clean text costs."""

    def __init__(self, webhooks: Iterable[Webhook] = (), more: Iterable[str] = ()) -> None:
        self._secrets: list[_Secret] = []
        self.learn(*(webhook.secret for webhook in webhooks), *more)

    def learn(self, *secrets: str) -> None:
        """The secrets of an application change while it works. Old ones are kept: an answer may still contain them. The
        longest comes first, since it may contain another."""
        fresh = {one for one in secrets if one} - {one.text for one in self._secrets}
        if fresh:  # a new list: another thread may be walking over the old one
            self._secrets = sorted(
                [*self._secrets, *(_Secret(one, tag_of(one)) for one in fresh)],
                key=lambda one: (-len(one.text), one.text),
            )

    def covers(self, other: Redactor) -> bool:
        return [one.text for one in self._secrets] == [one.text for one in other._secrets]

    def redact(self, text: str) -> str:
        """For output: the secret is replaced by the first digits of its hash."""
        return revise(text, self._redact) if self._secrets else text

    def _redact(self, text: str) -> str:
        for secret in self._secrets:
            if secret.text in text:
                text = secret.in_text(text)
            if secret.is_disguised(text):
                text = secret.undisguise(text)
        return text

    def mask(self, body: bytes) -> bytes:
        """For the store: a marker that `unmask` understands. File links of a portal carry the secret."""
        for secret in self._secrets:
            if secret.raw in body:
                body = secret.in_body(body)
        return body

    def unmask(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret.marker, secret.text)
        return text

    def guard(self, logger: str) -> None:
        """Redacts what a library logs: the HTTP client writes whole addresses at its debug level."""
        target = logging.getLogger(logger)
        target.addFilter(_LogFilter(self.redact))


class _Secret:
    def __init__(self, text: str, tag: str) -> None:
        self.text = text
        self.raw = text.encode()
        self.tag = tag
        self.marker = f"{{{{webhook:{tag}}}}}"
        self._sure = len(text) >= _SHORTEST_UNMISTAKABLE
        self._lower = text.lower()
        spellings = (f"(?:{re.escape(one)}|{_percent(one)})" for one in text)
        self._disguised = re.compile("".join(spellings), re.IGNORECASE)
        # In JSON a portal writes `\/` for `/`; in a query the secret follows `=`, possibly percent-encoded.
        around = r"(?<=[/=])%s(?=[/&\"'\\?#\s<>]|$)" % re.escape(text)  # noqa: UP031
        self._in_text = re.compile(around)
        self._in_body = re.compile(around.encode())

    def in_text(self, text: str) -> str:
        return text.replace(self.text, self.tag) if self._sure else self._in_text.sub(self.tag, text)

    def is_disguised(self, text: str) -> bool:
        """It may be there in capitals, or percent-encoded: a portal can repeat an address as it likes."""
        return self._sure and ("%" in text or self._lower in text.lower())

    def undisguise(self, text: str) -> str:
        return self._disguised.sub(self.tag, text)

    def in_body(self, body: bytes) -> bytes:
        marker = self.marker.encode()
        return body.replace(self.raw, marker) if self._sure else self._in_body.sub(marker, body)


def _percent(character: str) -> str:
    """As it is in an address that was encoded once or more: `%2573` is `%73`, and this is `s`."""
    return "".join(f"%(?:25)*{byte:02x}" for byte in character.encode())


class _LogFilter(logging.Filter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redact(record.getMessage()), ()
        return True
