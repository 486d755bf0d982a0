"""Errors of a portal: every known code with its recovery, and from an answer to one of our errors."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

from b24migrate.bitrix.envelope import UNREADABLE, Envelope, Head, Shape, number
from b24migrate.messages import Message, say
from b24migrate.messages.pages import PAGES, page_of
from b24migrate.model.errors import NO_SUCH_METHOD, GateUnmet, Halted, Limited, MigrationError, Permanent, Transient
from b24migrate.model.values import unescape_html
from b24migrate.ports.quota import bounded

__all__ = ["FAULTS", "Caller", "Fault", "Recovery", "code_error", "open_answer", "raw_error", "to_error"]

_LONGEST_TEXT = 300
# The answer of an existing controller without the action (module main, Engine\\Controller); for the caller this is the
# same as a missing method.
_UNKNOWN_ACTION = frozenset({"22002", "MAIN_CONTROLLER_22002"})
# Which check box of a webhook a method belongs to (§A10), the longest prefix first.
SCOPES: tuple[tuple[str, str], ...] = (
    ("user.userfield.", "user.userfield"),
    ("userfieldconfig.", "userfieldconfig"),
    ("user.", "user"),
    ("department.", "department"),
    ("sonet_group", "sonet_group"),
    ("socialnetwork.", "socialnetwork"),
    ("im.", "im"),
    ("log.", "log"),
    ("tasks.", "task"),
    ("task.", "task"),
    ("bizproc.", "bizproc"),
    ("crm.", "crm"),
    ("catalog.", "catalog"),
    ("voximplant.", "telephony"),
    ("disk.", "disk"),
    ("import.", "import"),
)


class Caller(NamedTuple):
    """The caller's name for messages, and the gate of a refusal. `redact` removes secrets from the portal's text before
    it is cut: half a secret would not be recognized."""

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
    """Descriptions may contain HTML and may be long."""
    plain = redact(" ".join(unescape_html(_HTML_TAG.sub(" ", text)).split()))
    return plain if len(plain) <= _LONGEST_TEXT else plain[:_LONGEST_TEXT] + "…"


# It ends at the next tag at the latest: otherwise each of many that are never closed is searched to the end of the
# text.
_HTML_TAG = re.compile(r"<[^<>]*>")
# A pair of halves is one character and stays; so does an escaped backslash, whatever follows it.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
_HALF = len(rb"\ud83d")
_UNKNOWN = rb"\ufffd"
_PIECE = 1 << 20
_MOST_GROWTH = 1 << 20  # half a million bytes that are no UTF-8 are no answer in UTF-8


def replace_invalid_bytes(body: bytes) -> bytes:
    """The same bytes where they are UTF-8. Others become the mark for an unknown character. Piece by piece: as text a
    large answer takes four times its size. Raises ValidationError for a body that is in another encoding."""
    if body.isascii():
        return body
    try:
        for _ in _decode_pieces(body, "strict"):
            pass
    except UnicodeDecodeError:
        repaired = bytearray()
        for piece in _decode_pieces(body, "replace"):
            repaired += piece.encode()
            if len(repaired) > len(body) + _MOST_GROWTH:
                raise msgspec.ValidationError from None
        return bytes(repaired)
    return body


def _decode_pieces(body: bytes, errors: str) -> Iterator[str]:
    decoder, whole = codecs.getincrementaldecoder("utf-8")(errors), memoryview(body)
    for start in range(0, len(body), _PIECE):
        yield decoder.decode(whole[start : start + _PIECE], final=start + _PIECE >= len(body))


def replace_half_characters(body: bytes) -> bytes:
    """With the mark for an unknown character in the place of every half of one. The mark is as long as the half."""
    repaired = bytearray(body)
    for found in _ESCAPES.finditer(body):
        if found.end() - found.start() == _HALF:
            repaired[found.start() : found.end()] = _UNKNOWN
    return bytes(repaired)


# ---------------------------------------------------------------- error codes
# From bitrix24-rest-1 §A4 and the method pages. The pages in messages explain each code. The code decides, not the
# HTTP status: the two contradict each other.


class Recovery(StrEnum):
    RETRY = "retry"
    WAIT = "wait"
    SKIP = "skip"
    GATE = "gate"
    HALT = "halt"


class Fault(NamedTuple):
    code: str
    recovery: Recovery
    at_5xx: Recovery | None = None  # some codes mean another thing when the server says it is its own failure

    @property
    def meaning(self) -> str:
        """For answers without a message."""
        page = PAGES.get(self.code)
        return say("portal.meaning", title=page.title) if page else ""

    @property
    def fix(self) -> str:
        return page_of(self.code).fix


_ROWS = (
    # limits
    Fault("QUERY_LIMIT_EXCEEDED", Recovery.WAIT),
    Fault("OPERATION_TIME_LIMIT", Recovery.WAIT),
    Fault("OVERLOAD_LIMIT", Recovery.HALT),
    # the portal's own trouble
    Fault("INTERNAL_SERVER_ERROR", Recovery.RETRY),
    Fault("ERROR_UNEXPECTED_ANSWER", Recovery.RETRY),
    Fault("WRONG_ENCODING", Recovery.SKIP),
    Fault("PORTAL_DELETED", Recovery.HALT),
    # permissions
    Fault("INVALID_CREDENTIALS", Recovery.GATE),
    Fault("NO_AUTH_FOUND", Recovery.GATE),
    Fault("INVALID_REQUEST", Recovery.GATE),
    Fault("expired_token", Recovery.GATE),
    Fault("invalid_token", Recovery.GATE),
    Fault("APPLICATION_NOT_FOUND", Recovery.GATE),
    Fault("PAYMENT_REQUIRED", Recovery.GATE),
    Fault("authorization_error", Recovery.GATE),
    Fault(
        "insufficient_scope",
        Recovery.GATE,
    ),
    Fault("METHOD_CONFIRM_WAITING", Recovery.GATE),
    Fault("METHOD_CONFIRM_DENIED", Recovery.SKIP),
    Fault("ACCESS_DENIED", Recovery.SKIP),
    Fault("WRONG_AUTH_TYPE", Recovery.SKIP),
    Fault("insufficient_auth_type", Recovery.SKIP),
    Fault("user_access_error", Recovery.SKIP),
    Fault("ACCESS_ERROR", Recovery.SKIP),
    # the requested record
    Fault("ERROR_CORE", Recovery.SKIP, Recovery.RETRY),
    Fault("ERROR_ARGUMENT", Recovery.SKIP),
    Fault("ERROR_NOT_FOUND", Recovery.SKIP),
    Fault("NOT_FOUND", Recovery.SKIP),
    Fault("ERROR_METHOD_NOT_FOUND", Recovery.SKIP),
    Fault("ERROR_MANIFEST_IS_NOT_AVAILABLE", Recovery.SKIP),
    Fault("ERROR_BATCH_LENGTH_EXCEEDED", Recovery.SKIP),
    Fault("ERROR_BATCH_METHOD_NOT_ALLOWED", Recovery.SKIP),
    Fault("ENTITY_TYPE_NOT_SUPPORTED", Recovery.SKIP),
    Fault("DIALOG_ID_EMPTY", Recovery.SKIP),
    Fault("CHAT_ID_EMPTY", Recovery.SKIP),
    Fault("USER_ID_EMPTY", Recovery.SKIP),
    Fault("FIRST_ID_STRING", Recovery.SKIP),
    Fault("LAST_ID_STRING", Recovery.SKIP),
    Fault("SONET_CONTROLLER_WORKGROUP_EMPTY", Recovery.SKIP),
    Fault("SONET_CONTROLLER_WORKGROUP_NOT_FOUND", Recovery.SKIP),
    Fault("ERROR_IMAGE_ID", Recovery.SKIP),
    # REST 3.0
    Fault("BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION", Recovery.SKIP),
    Fault("BITRIX_REST_V3_EXCEPTION_INSUFFICIENTSCOPEEXCEPTION", Recovery.GATE),
    # the import contract
    Fault("VALIDATION", Recovery.SKIP),
    # not an answer of a portal; these codes are ours
    Fault("TIMEOUT", Recovery.RETRY),
    Fault("UNREACHABLE", Recovery.RETRY),
    Fault("CONNECTION_LOST", Recovery.RETRY),
    Fault("TRUNCATED_ANSWER", Recovery.RETRY),
    Fault("ANSWER_TOO_LARGE", Recovery.RETRY),
    Fault("STRANGE_ANSWER", Recovery.RETRY),
    Fault("HTML_ANSWER", Recovery.RETRY),
    Fault("MISSING_ANSWER", Recovery.RETRY),
    Fault("HTTP_401", Recovery.GATE),
    Fault("HTTP_413", Recovery.SKIP),
    Fault("HTTP_429", Recovery.WAIT),
    Fault("PORTAL_DOWN", Recovery.WAIT),
    Fault("EMPTY", Recovery.SKIP, Recovery.RETRY),
)

FAULTS: dict[str, Fault] = {row.code: row for row in _ROWS}


def scope_of(method: str) -> str:
    return next((scope for prefix, scope in SCOPES if method.lower().startswith(prefix)), "")
