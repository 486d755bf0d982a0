"""Every error code a portal is known to answer, what the vendor means by it, and what we do and advise.

From bitrix24-rest-1 §A4 and the method pages. The code decides, never the HTTP status: the two contradict each other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


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
    fix: str
    at_5xx: Recovery | None = None  # some codes mean another thing when the server says it is its own failure


_AGAIN = "Nothing to do: it is tried again. If it stays, look at the portal's status page or ask its support."
_OURS = "This is a defect of the migrator: please report it with the method's name."
_RECORD = "The record is set aside. Look at it on the portal, then run `b24migrate retry`."
_WEBHOOK = "Create the inbound webhook again on the portal and put its address into the configuration."
_PLAN = "Check the portal's plan and its Market subscription: REST needs both."
_OAUTH = "The method wants an OAuth application; a webhook cannot call it. What it holds is reported as impossible."
_MEMBER = "Give the webhook of somebody who takes part in it under source.more_webhooks."

_ROWS = (
    # limits
    Fault("QUERY_LIMIT_EXCEEDED", Recovery.WAIT, "Too many requests.", "Nothing to do: the rate is lowered."),
    Fault(
        "OPERATION_TIME_LIMIT",
        Recovery.WAIT,
        "Method is blocked due to operation time limit.",
        "Nothing to do: the method rests until its time is given back, at most ten minutes.",
    ),
    Fault(
        "OVERLOAD_LIMIT",
        Recovery.HALT,
        "REST API is blocked due to overload.",
        "The vendor blocked the portal by hand and only its support lifts that. Then run the same command again.",
    ),
    # the portal's own trouble
    Fault("INTERNAL_SERVER_ERROR", Recovery.RETRY, "Internal server error.", _AGAIN),
    Fault("ERROR_UNEXPECTED_ANSWER", Recovery.RETRY, "Server returned an unexpected response.", _AGAIN),
    Fault("WRONG_ENCODING", Recovery.SKIP, "The answer could not be written as JSON.", _RECORD),
    Fault(
        "PORTAL_DELETED",
        Recovery.HALT,
        "The portal was deleted, or its public part is switched off.",
        "Switch the portal's public part on (Settings → Main module), then run the same command again.",
    ),
    # who may call
    Fault("INVALID_CREDENTIALS", Recovery.GATE, "Invalid request credentials.", _WEBHOOK),
    Fault("NO_AUTH_FOUND", Recovery.GATE, "Wrong authorization data.", _WEBHOOK),
    Fault("INVALID_REQUEST", Recovery.GATE, "Https required.", "Write https:// in the webhook's address."),
    Fault("expired_token", Recovery.GATE, "The access token provided has expired.", _WEBHOOK),
    Fault("invalid_token", Recovery.GATE, "Unable to get application by token.", _WEBHOOK),
    Fault("APPLICATION_NOT_FOUND", Recovery.GATE, "Application not found.", _WEBHOOK),
    Fault("PAYMENT_REQUIRED", Recovery.GATE, "Payment required.", _PLAN),
    Fault(
        "authorization_error",
        Recovery.GATE,
        "Unable to authorize user: dismissed or blocked.",
        "Let a working administrator create the webhook.",
    ),
    Fault(
        "insufficient_scope",
        Recovery.GATE,
        "The request requires higher privileges than provided by the webhook token.",
        "Tick the scope in the webhook's settings on the portal.",
    ),
    Fault(
        "METHOD_CONFIRM_WAITING",
        Recovery.GATE,
        "Waiting for confirmation.",
        "Let an administrator of the portal confirm the request, then run the same command again.",
    ),
    Fault("METHOD_CONFIRM_DENIED", Recovery.SKIP, "Method call denied.", "Ask an administrator of the portal."),
    Fault("ACCESS_DENIED", Recovery.SKIP, "Access denied.", "Use the webhook of an administrator. " + _PLAN),
    Fault("WRONG_AUTH_TYPE", Recovery.SKIP, "Current authorization type is denied for this method.", _OAUTH),
    Fault("insufficient_auth_type", Recovery.SKIP, "Current authorization type is denied for this method.", _OAUTH),
    Fault("user_access_error", Recovery.SKIP, "The user does not have access to the application.", _OAUTH),
    Fault("ACCESS_ERROR", Recovery.SKIP, "You do not have access to the specified dialog.", _MEMBER),
    # what was asked for
    Fault("ERROR_CORE", Recovery.SKIP, "A rule of the portal forbids it.", _RECORD, Recovery.RETRY),
    Fault("ERROR_ARGUMENT", Recovery.SKIP, "An argument is missing or wrong.", _RECORD),
    Fault("ERROR_NOT_FOUND", Recovery.SKIP, "Not found.", _RECORD),
    Fault("NOT_FOUND", Recovery.SKIP, "Not found.", _RECORD),
    Fault(
        "ERROR_METHOD_NOT_FOUND",
        Recovery.SKIP,
        "Method not found!",
        "The portal is older than the method, or the webhook's address is incomplete.",
    ),
    Fault("ERROR_MANIFEST_IS_NOT_AVAILABLE", Recovery.SKIP, "Manifest is not available.", _OURS),
    Fault("ERROR_BATCH_LENGTH_EXCEEDED", Recovery.SKIP, "Max batch length exceeded.", _OURS),
    Fault("ERROR_BATCH_METHOD_NOT_ALLOWED", Recovery.SKIP, "Method is not allowed for batch usage.", _OURS),
    Fault("ENTITY_TYPE_NOT_SUPPORTED", Recovery.SKIP, "The kind of CRM record is not supported.", _RECORD),
    Fault("DIALOG_ID_EMPTY", Recovery.SKIP, "Dialog ID can't be empty.", _OURS),
    Fault("CHAT_ID_EMPTY", Recovery.SKIP, "Chat ID can't be empty.", _OURS),
    Fault("USER_ID_EMPTY", Recovery.SKIP, "User ID can't be empty.", _OURS),
    Fault("FIRST_ID_STRING", Recovery.SKIP, "First ID can't be string.", _OURS),
    Fault("LAST_ID_STRING", Recovery.SKIP, "Last ID can't be string.", _OURS),
    Fault("SONET_CONTROLLER_WORKGROUP_EMPTY", Recovery.SKIP, "Empty workgroup id.", _OURS),
    Fault("SONET_CONTROLLER_WORKGROUP_NOT_FOUND", Recovery.SKIP, "Workgroup not found.", _RECORD),
    Fault("ERROR_IMAGE_ID", Recovery.SKIP, "The image cannot be used.", _RECORD),
    # REST 3.0
    Fault("BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION", Recovery.SKIP, "Access denied.", _WEBHOOK),
    Fault("BITRIX_REST_V3_EXCEPTION_INSUFFICIENTSCOPEEXCEPTION", Recovery.GATE, "Insufficient scope.", _WEBHOOK),
    # the import contract
    Fault("VALIDATION", Recovery.SKIP, "A field has a wrong value.", _RECORD),
    # what is no answer of a portal at all; these codes are ours
    Fault("TIMEOUT", Recovery.RETRY, "No answer in time.", _AGAIN),
    Fault("UNREACHABLE", Recovery.RETRY, "No connection.", "Check the network, the proxy and the portal's address."),
    Fault("CONNECTION_LOST", Recovery.RETRY, "The connection broke in the middle of an answer.", _AGAIN),
    Fault("TRUNCATED_ANSWER", Recovery.RETRY, "The answer ends in the middle.", _AGAIN),
    Fault("STRANGE_ANSWER", Recovery.RETRY, "The answer is not what the protocol promises.", _AGAIN),
    Fault("HTML_ANSWER", Recovery.RETRY, "A web page came instead of an answer.", _AGAIN),
    Fault("MISSING_ANSWER", Recovery.RETRY, "A batch left one of its commands without an answer.", _AGAIN),
    Fault(
        "HTTP_401",
        Recovery.GATE,
        "The web server itself asks for a password.",
        "Let the web server pass /rest/ without one.",
    ),
    Fault("HTTP_413", Recovery.SKIP, "The web server refuses a request of this size.", "Raise client_max_body_size."),
    Fault("HTTP_429", Recovery.WAIT, "The web server limits requests.", "Nothing to do: the rate is lowered."),
    Fault("PORTAL_DOWN", Recovery.WAIT, "The portal does not answer.", "Nothing to do: it is asked again."),
    Fault("EMPTY", Recovery.SKIP, "An error without a code.", _RECORD, Recovery.RETRY),
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
