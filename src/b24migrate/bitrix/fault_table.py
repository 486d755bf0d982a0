"""Every error code a portal is known to answer, what the vendor means by it, and what we do.

From bitrix24-rest-1 §A4 and the method pages; what to advise is on the code's page in error_pages. The code decides,
never the HTTP status: the two contradict each other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from b24migrate.error_pages import page_of


class Recovery(StrEnum):
    RETRY = "retry"
    WAIT = "wait"
    SKIP = "skip"
    GATE = "gate"
    HALT = "halt"


class Fault(NamedTuple):
    code: str
    recovery: Recovery
    meaning: str
    at_5xx: Recovery | None = None  # some codes mean another thing when the server says it is its own failure

    @property
    def fix(self) -> str:
        return page_of(self.code).fix


_ROWS = (
    # limits
    Fault("QUERY_LIMIT_EXCEEDED", Recovery.WAIT, "Too many requests."),
    Fault("OPERATION_TIME_LIMIT", Recovery.WAIT, "Method is blocked due to operation time limit."),
    Fault("OVERLOAD_LIMIT", Recovery.HALT, "REST API is blocked due to overload."),
    # the portal's own trouble
    Fault("INTERNAL_SERVER_ERROR", Recovery.RETRY, "Internal server error."),
    Fault("ERROR_UNEXPECTED_ANSWER", Recovery.RETRY, "Server returned an unexpected response."),
    Fault("WRONG_ENCODING", Recovery.SKIP, "The answer could not be written as JSON."),
    Fault("PORTAL_DELETED", Recovery.HALT, "The portal was deleted, or its public part is switched off."),
    # who may call
    Fault("INVALID_CREDENTIALS", Recovery.GATE, "Invalid request credentials."),
    Fault("NO_AUTH_FOUND", Recovery.GATE, "Wrong authorization data."),
    Fault("INVALID_REQUEST", Recovery.GATE, "Https required."),
    Fault("expired_token", Recovery.GATE, "The access token provided has expired."),
    Fault("invalid_token", Recovery.GATE, "Unable to get application by token."),
    Fault("APPLICATION_NOT_FOUND", Recovery.GATE, "Application not found."),
    Fault("PAYMENT_REQUIRED", Recovery.GATE, "Payment required."),
    Fault("authorization_error", Recovery.GATE, "Unable to authorize user: dismissed or blocked."),
    Fault(
        "insufficient_scope",
        Recovery.GATE,
        "The request requires higher privileges than provided by the webhook token.",
    ),
    Fault("METHOD_CONFIRM_WAITING", Recovery.GATE, "Waiting for confirmation."),
    Fault("METHOD_CONFIRM_DENIED", Recovery.SKIP, "Method call denied."),
    Fault("ACCESS_DENIED", Recovery.SKIP, "Access denied."),
    Fault("WRONG_AUTH_TYPE", Recovery.SKIP, "Current authorization type is denied for this method."),
    Fault("insufficient_auth_type", Recovery.SKIP, "Current authorization type is denied for this method."),
    Fault("user_access_error", Recovery.SKIP, "The user does not have access to the application."),
    Fault("ACCESS_ERROR", Recovery.SKIP, "You do not have access to the specified dialog."),
    # what was asked for
    Fault("ERROR_CORE", Recovery.SKIP, "A rule of the portal forbids it.", Recovery.RETRY),
    Fault("ERROR_ARGUMENT", Recovery.SKIP, "An argument is missing or wrong."),
    Fault("ERROR_NOT_FOUND", Recovery.SKIP, "Not found."),
    Fault("NOT_FOUND", Recovery.SKIP, "Not found."),
    Fault("ERROR_METHOD_NOT_FOUND", Recovery.SKIP, "Method not found!"),
    Fault("ERROR_MANIFEST_IS_NOT_AVAILABLE", Recovery.SKIP, "Manifest is not available."),
    Fault("ERROR_BATCH_LENGTH_EXCEEDED", Recovery.SKIP, "Max batch length exceeded."),
    Fault("ERROR_BATCH_METHOD_NOT_ALLOWED", Recovery.SKIP, "Method is not allowed for batch usage."),
    Fault("ENTITY_TYPE_NOT_SUPPORTED", Recovery.SKIP, "The kind of CRM record is not supported."),
    Fault("DIALOG_ID_EMPTY", Recovery.SKIP, "Dialog ID can't be empty."),
    Fault("CHAT_ID_EMPTY", Recovery.SKIP, "Chat ID can't be empty."),
    Fault("USER_ID_EMPTY", Recovery.SKIP, "User ID can't be empty."),
    Fault("FIRST_ID_STRING", Recovery.SKIP, "First ID can't be string."),
    Fault("LAST_ID_STRING", Recovery.SKIP, "Last ID can't be string."),
    Fault("SONET_CONTROLLER_WORKGROUP_EMPTY", Recovery.SKIP, "Empty workgroup id."),
    Fault("SONET_CONTROLLER_WORKGROUP_NOT_FOUND", Recovery.SKIP, "Workgroup not found."),
    Fault("ERROR_IMAGE_ID", Recovery.SKIP, "The image cannot be used."),
    # REST 3.0
    Fault("BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION", Recovery.SKIP, "Access denied."),
    Fault("BITRIX_REST_V3_EXCEPTION_INSUFFICIENTSCOPEEXCEPTION", Recovery.GATE, "Insufficient scope."),
    # the import contract
    Fault("VALIDATION", Recovery.SKIP, "A field has a wrong value."),
    # what is no answer of a portal at all; these codes are ours
    Fault("TIMEOUT", Recovery.RETRY, "No answer in time."),
    Fault("UNREACHABLE", Recovery.RETRY, "No connection."),
    Fault("CONNECTION_LOST", Recovery.RETRY, "The connection broke in the middle of an answer."),
    Fault("TRUNCATED_ANSWER", Recovery.RETRY, "The answer ends in the middle."),
    Fault("ANSWER_TOO_LARGE", Recovery.RETRY, "The answer is larger than any that a portal gives."),
    Fault("STRANGE_ANSWER", Recovery.RETRY, "The answer is not what the protocol promises."),
    Fault("HTML_ANSWER", Recovery.RETRY, "A web page came instead of an answer."),
    Fault("MISSING_ANSWER", Recovery.RETRY, "A batch left one of its commands without an answer."),
    Fault("HTTP_401", Recovery.GATE, "The web server itself asks for a password."),
    Fault("HTTP_413", Recovery.SKIP, "The web server refuses a request of this size."),
    Fault("HTTP_429", Recovery.WAIT, "The web server limits requests."),
    Fault("PORTAL_DOWN", Recovery.WAIT, "The portal does not answer."),
    Fault("EMPTY", Recovery.SKIP, "An error without a code.", Recovery.RETRY),
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
