"""How the API answers: JSON that is always valid, and what went wrong in one shape, with what to do about it."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from b24migrate.engine import cutover, plan, undo_lock
from b24migrate.messages import DEFAULT, Message, Words, plain, render, say, words
from b24migrate.model.errors import BadConfiguration, GateUnmet, MigrationError
from b24migrate.monitor.logs import mask_email
from b24migrate.web.actions import BUSY

LOGGER = logging.getLogger("b24migrate.web")
USAGE, CONFLICT, GATE, CONFIGURATION, BUG, UNAVAILABLE = 400, 409, 412, 422, 500, 503


@dataclass(frozen=True, slots=True)
class Problem:
    """The body of every refusal. `code` has a page: `GET /api/v1/errors/{code}`."""

    code: str
    message: str
    hint: str


class Refused(MigrationError):
    """A request that is refused, with its status. Its message is `web.refusal.<key>`."""

    def __init__(
        self, status: int, code: str, key: str, *, headers: Mapping[str, str] | None = None, **places: object
    ) -> None:
        self.status = status
        self.headers = dict(headers or {})
        self._key, self._places = key, places
        message, hint = self._texts(words(DEFAULT))
        super().__init__(message, code=code, hint=hint)

    def to_problem(self, speaks: Words) -> Problem:
        return Problem(self.code, *self._texts(speaks))

    def _texts(self, speaks: Words) -> tuple[str, str]:
        message, hint = (speaks(f"web.refusal.{self._key}.{part}", **self._places) for part in ("message", "hint"))
        return message, hint


class Relayed(MigrationError):
    """A refusal by an Azure function, with its message."""

    def __init__(self, status: int, message: str, *, code: str = "", hint: str = "") -> None:
        super().__init__(message, code=code, hint=hint)
        self.status = status


class Answer(JSONResponse):
    """A value as JSON. Numbers that JSON does not have are null, halves of characters are replaced."""

    def render(self, content: Any) -> bytes:
        try:
            return msgspec.json.encode(content, enc_hook=plain)
        except UnicodeEncodeError:
            return msgspec.json.encode(_whole(msgspec.to_builtins(content, enc_hook=plain)))


class CsvAnswer(Response):
    """A table of any length: sent in parts of whole lines, of which one is in memory at a time."""

    media_type = "text/csv"

    def __init__(self, parts: Iterator[str], name: str, status_code: int = 200) -> None:
        super().__init__(None, status_code, headers={"Content-Disposition": f'attachment; filename="{name}"'})
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for part in iterate_in_threadpool(self._parts):
            await send({"type": "http.response.body", "body": part.encode("utf-8", "replace"), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def in_language(value: Any, language: str) -> Any:
    """A value of dicts, lists and texts, with every message in it rendered for the reader."""
    return msgspec.to_builtins(value, enc_hook=lambda message: _render_rest(message, language))


def _render_rest(value: object, language: str) -> str:
    """Encoders ask this of whatever is not plain JSON."""
    return str(render(value, language)) if isinstance(value, Message) else plain(value)


def refusal(error: MigrationError, language: str) -> tuple[Answer, Problem]:
    """Messages of ours in the language of the client."""
    if isinstance(error, Refused):
        problem = error.to_problem(words(language))
        return Answer(problem, error.status, error.headers), problem
    problem = Problem(error.code, render(error.message, language), render(error.hint, language))
    return Answer(problem, status_of(error)), problem


def bug(found: BaseException, redact: Callable[[str], str]) -> Problem:
    """Logged completely, without secrets; the answer has only the reference."""
    reference = secrets.token_hex(4)
    details = mask_email(redact("".join(traceback.format_exception(found))))
    LOGGER.error("a bug, reference %s: %s", reference, details)
    message = say("web.bug_named", kind=type(found).__name__, reference=reference)
    return Problem("BUG", message, say("web.bug_fix"))


def status_of(error: MigrationError) -> int:
    if isinstance(error, Relayed):
        return error.status
    if error.code in ("USAGE", plan.UNDER_WAY, undo_lock.UNDER_WAY, cutover.ORDER, BUSY):
        return USAGE if error.code == "USAGE" else CONFLICT
    kinds = {BadConfiguration: CONFIGURATION, GateUnmet: GATE}
    return kinds.get(type(error), UNAVAILABLE)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return value
