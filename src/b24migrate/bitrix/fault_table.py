"""Every error code a portal is known to answer, and what we do.

From bitrix24-rest-1 §A4 and the method pages; what a code means and what to advise is on its page in messages. The
code decides, never the HTTP status: the two contradict each other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from b24migrate.messages import say
from b24migrate.messages.pages import PAGES, page_of


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
        """For answers without words of their own."""
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
    # who may call
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
    # what was asked for
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
    # what is no answer of a portal at all; these codes are ours
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
    ("disk.", "disk"),
    ("import.", "import"),
)


def scope_of(method: str) -> str:
    return next((scope for prefix, scope in SCOPES if method.lower().startswith(prefix)), "")
