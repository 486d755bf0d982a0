"""From what came back to one of our errors, or none."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

from b24migrate.bitrix.envelope import UNREADABLE, Envelope, Head, Shape, number
from b24migrate.bitrix.fault_table import FAULTS, Fault, Recovery, scope_of
from b24migrate.messages import Message, say
from b24migrate.model.errors import NO_SUCH_METHOD, GateUnmet, Halted, Limited, MigrationError, Permanent, Transient
from b24migrate.ports.quota import bounded

__all__ = ["FAULTS", "Caller", "Fault", "Recovery", "code_error", "open_answer", "raw_error", "to_error"]

_LONGEST_TEXT = 300
# What a controller answers that is there but has no such action (module main, Engine\\Controller); for the caller
# this is the same as a missing method.
_UNKNOWN_ACTION = frozenset({"22002", "MAIN_CONTROLLER_22002"})


class Caller(NamedTuple):
    """Who asked, as a person should read it, and the gate that a refusal means. `redact` takes secrets out of what the
    portal says, before it is cut: half a secret would not be recognised."""

    who: str = say("portal.a_webhook")
    gate: str = "auth.cloud"
    redact: Callable[[str], str] = str


def to_error(status: int, body: bytes, method: str, caller: Caller = Caller()) -> MigrationError | None:  # noqa: B008
    opened = open_answer(status, body, method, caller, Envelope)
    return opened if isinstance(opened, MigrationError) else None


def open_answer(status: int, body: bytes, method: str, caller: Caller, shape: type[Shape]) -> Shape | MigrationError:
    """The answer, or the error it stands for. The key `error` is looked for first, whatever the status."""
    try:
        answer = _decode(replace_invalid_bytes(body), shape)
    except (msgspec.ValidationError, RecursionError):
        return code_error("STRANGE_ANSWER", method, status=status)
    except msgspec.DecodeError:
        return _no_json(status, body, method, caller)
    if answer.error is not UNSET and not (_null(answer.error) and answer.result is not UNSET):
        return raw_error(answer.error, answer, method, caller, status=status)
    if status != 200:
        return code_error(f"HTTP_{status}", method, status=status, caller=caller)
    if answer.result is UNSET:
        return code_error("STRANGE_ANSWER", method, status=status)
    return answer


def _decode(body: bytes, shape: type[Shape]) -> Shape:
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        repaired = replace_half_characters(body)
        if repaired == body:
            raise
        return msgspec.json.decode(repaired, type=shape)


def raw_error(error: Raw, head: Head, method: str, caller: Caller, *, status: int = 400) -> MigrationError:
    """The error inside an envelope: a text, an empty text, a number, or (REST 3.0) an object."""
    try:
        value = msgspec.json.decode(error)
    except UNREADABLE:
        return code_error("STRANGE_ANSWER", method, status=status)
    wait_s = number(head.retry_after)
    text = _text(head.error_description)
    if isinstance(value, dict):
        text = str(value.get("message") or text)
        value = value.get("code", {})
    if isinstance(value, (dict, list)):  # a refusal has a code
        return code_error("STRANGE_ANSWER", method, status=status)
    code = "EMPTY" if value is None or value is False or value == "" else str(value)
    if code in _UNKNOWN_ACTION and text.startswith("Could not find"):
        code = NO_SUCH_METHOD
    return code_error(code, method, text=text, status=status, caller=caller, wait_s=wait_s)


def code_error(
    code: str,
    method: str,
    *,
    text: str = "",
    status: int = 400,
    caller: Caller = Caller(),  # noqa: B008
    wait_s: float | None = None,
) -> MigrationError:
    fault = FAULTS.get(code) or Fault(code, _unknown(code, status))
    recovery = fault.at_5xx if status >= 500 and fault.at_5xx else fault.recovery
    if code == "BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION" and status == 401:
        recovery = Recovery.GATE  # REST 3.0 gives this code, and no reason, for any failed authentication
    words = text if isinstance(text, Message) else _plain(text, caller.redact)
    words = words or fault.meaning or say("portal.http", status=status)
    message = say("portal.answered", method=method, code=code, words=words)
    if recovery is Recovery.RETRY:
        return Transient(message, code=code, hint=fault.fix)
    if recovery is Recovery.WAIT:
        return Limited(message, wait_s=bounded(wait_s or 0.0), code=code, hint=fault.fix)
    if recovery is Recovery.HALT:
        return Halted(message, code=code, hint=fault.fix)
    if recovery is Recovery.GATE:
        return _gate(code, method, words, fault, caller)
    return Permanent(message, code=code, hint=fault.fix)


def _gate(code: str, method: str, words: str, fault: Fault, caller: Caller) -> GateUnmet:
    scope = scope_of(method) if "scope" in code.lower() else ""
    if scope:
        return GateUnmet(
            caller.gate,
            say("portal.no_scope", who=caller.who, scope=scope, method=method),
            code=code,
            hint=say("portal.no_scope_fix", scope=scope),
        )
    return GateUnmet(
        caller.gate, say("portal.refused", who=caller.who, code=code, words=words), code=code, hint=fault.fix
    )


def _unknown(code: str, status: int) -> Recovery:
    """A web server's page or a bare status says nothing about the record, so only the breaker's judge may count it
    against one; a code that we do not know, from the portal itself, is final unless the server blames itself."""
    return Recovery.RETRY if status >= 500 or code.startswith("HTTP_") else Recovery.SKIP


def _no_json(status: int, body: bytes, method: str, caller: Caller) -> MigrationError:
    if status != 200:
        return code_error(f"HTTP_{status}", method, status=status, caller=caller)
    start = body[:200].lstrip().lower()
    return code_error("HTML_ANSWER" if start.startswith(b"<") else "TRUNCATED_ANSWER", method, status=status)


def _null(raw: Raw) -> bool:
    return bytes(raw) == b"null"


def _text(raw: Raw | UnsetType) -> str:
    try:
        value = "" if raw is UNSET else msgspec.json.decode(raw)
    except UNREADABLE:
        return ""
    return value if isinstance(value, str) else ""


def _plain(text: str, redact: Callable[[str], str]) -> str:
    """Descriptions may hold HTML and are as long as they like."""
    plain = redact(" ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split()))
    return plain if len(plain) <= _LONGEST_TEXT else plain[:_LONGEST_TEXT] + "…"


# A pair of halves is one character and stays; so does an escaped backslash, whatever follows it.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
_HALF = len(rb"\ud83d")
_UNKNOWN = rb"\ufffd"


def replace_invalid_bytes(body: bytes) -> bytes:
    """The same bytes where they are UTF-8. Others become the mark for an unknown character."""
    if body.isascii():
        return body
    try:
        body.decode()
    except UnicodeDecodeError:
        return body.decode(errors="replace").encode()
    return body


def replace_half_characters(body: bytes) -> bytes:
    """With the mark for an unknown character in the place of every half of one."""
    return _ESCAPES.sub(lambda found: _UNKNOWN if len(found[0]) == _HALF else found[0], body)
