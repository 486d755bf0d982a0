"""Codes that a portal answers, and our own for what is no answer at all."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

_AGAIN = "Nothing to do: it is tried again. If it stays, look at the portal's status page or ask its support."
_OURS = "This is a defect of the migrator: please report it with the method's name."
_RECORD = "The record is set aside. Look at it on the portal, then run `b24migrate retry`."
_WEBHOOK = "Create the inbound webhook again on the portal and put its address into the configuration."
_PLAN = "Check the portal's plan and its Market subscription: REST needs both."
_OAUTH = "The method wants an OAuth application; a webhook cannot call it. What it holds is reported as impossible."
_MEMBER = "Give the webhook of somebody who takes part in it under source.more_webhooks."


def _waits(code: str, cause: str, fix: str) -> Page:
    return Page(code, Again.WAITS, cause, fix)


def _tries(code: str, cause: str, fix: str = _AGAIN, like: str = "") -> Page:
    return Page(code, Again.TRIES, cause, fix, like)


def _aside(code: str, cause: str, fix: str = _RECORD) -> Page:
    return Page(code, Again.ASIDE, cause, fix)


def _stops(code: str, cause: str, fix: str = _WEBHOOK) -> Page:
    return Page(code, Again.STOPS, cause, fix)


LIMITS = Chapter(
    "Limits of a portal",
    "A limit is no failure: the work waits and goes on by itself.",
    (
        _waits("LIMIT", "A limit of the portal is used up.", "Nothing to do: it goes on when the limit resets."),
        _waits("QUERY_LIMIT_EXCEEDED", "Too many requests at once.", "Nothing to do: the rate is lowered."),
        _waits(
            "OPERATION_TIME_LIMIT",
            "A method used up the working time that the portal grants it within ten minutes.",
            "Nothing to do: the method rests until its time is given back, at most ten minutes.",
        ),
        _waits("HTTP_429", "The web server before the portal limits requests.", "Nothing to do: the rate is lowered."),
        _stops(
            "OVERLOAD_LIMIT",
            "The vendor blocked the portal's REST because of overload.",
            "The vendor blocked the portal by hand and only its support lifts that. Then run the same command again.",
        ),
    ),
)

TROUBLE = Chapter(
    "Trouble of a portal or the network",
    "The other side did not do its part. An outage is nobody's failure: it is waited for.",
    (
        _waits(
            "PORTAL_DOWN",
            "The portal does not answer at all. After run.outage_minutes the command ends with exit code 4.",
            "Nothing to do: it is asked again. If it ended, run the same command again when the portal is back.",
        ),
        _tries("TIMEOUT", "No answer came in time."),
        _tries(
            "UNREACHABLE",
            "No connection to the portal could be made.",
            "Check the network, the proxy and the portal's address.",
        ),
        _tries("CONNECTION_LOST", "The connection broke in the middle of an answer."),
        _tries("TRUNCATED_ANSWER", "The answer ends in the middle."),
        _tries("STRANGE_ANSWER", "The answer is not what the protocol promises."),
        _tries("HTML_ANSWER", "A web page came instead of an answer."),
        _tries("MISSING_ANSWER", "A batch left one of its commands without an answer."),
        _tries("INTERNAL_SERVER_ERROR", "The portal failed inside."),
        _tries("ERROR_UNEXPECTED_ANSWER", "A server of the portal gave another one a wrong answer."),
        _tries("HTTP_5XX", "The web server before the portal failed (500, 502, 503, 504 …).", like="HTTP_5*"),
        _tries(
            "HTTP_XXX",
            "The web server before the portal answered with this status instead of the portal, or sends us elsewhere.",
            "Check that the webhook's address is the portal's present one, with https.",
            like="HTTP_*",
        ),
        _stops(
            "HTTP_401",
            "The web server before the portal asks for a password.",
            "Let the web server pass /rest/ without one.",
        ),
        _aside(
            "HTTP_413",
            "The web server before the portal refuses a request of this size.",
            "Raise client_max_body_size on the box, then run `b24migrate retry`.",
        ),
        _stops(
            "PORTAL_DELETED",
            "The portal was deleted, or its public part is switched off.",
            "Switch the portal's public part on (Settings → Main module), then run the same command again.",
        ),
    ),
)

RIGHTS = Chapter(
    "Rights on a portal",
    "The webhook, its owner or the portal's plan does not allow it.",
    (
        _stops("INVALID_CREDENTIALS", "The webhook was deleted, or its address is wrong."),
        _stops("NO_AUTH_FOUND", "The portal does not know the webhook."),
        _stops("INVALID_REQUEST", "The portal wants https.", "Write https:// in the webhook's address."),
        _stops("expired_token", "The webhook's access has expired."),
        _stops("invalid_token", "The portal does not know the webhook's access."),
        _stops("APPLICATION_NOT_FOUND", "The portal does not find what the webhook belongs to."),
        _stops("PAYMENT_REQUIRED", "The portal's plan does not include REST, or is not paid.", _PLAN),
        _stops(
            "authorization_error",
            "The owner of the webhook was dismissed or blocked.",
            "Let a working administrator create the webhook.",
        ),
        _stops(
            "insufficient_scope",
            "The webhook lacks a scope that the method needs.",
            "Tick the scope in the webhook's settings on the portal.",
        ),
        _stops("BITRIX_REST_V3_EXCEPTION_INSUFFICIENTSCOPEEXCEPTION", "The webhook lacks a scope (REST 3.0)."),
        _stops(
            "METHOD_CONFIRM_WAITING",
            "The portal waits until an administrator confirms the request.",
            "Let an administrator of the portal confirm the request, then run the same command again.",
        ),
        _aside(
            "METHOD_CONFIRM_DENIED",
            "An administrator of the portal denied the request.",
            "Ask an administrator of the portal.",
        ),
        _aside(
            "ACCESS_DENIED",
            "The webhook's owner may not see this, or the plan does not include REST.",
            f"Use the webhook of an administrator. {_PLAN}",
        ),
        _aside("BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION", "Access is denied (REST 3.0).", _WEBHOOK),
        _aside("WRONG_AUTH_TYPE", "A webhook may not call this method.", _OAUTH),
        _aside("insufficient_auth_type", "A webhook may not call this method.", _OAUTH),
        _aside("user_access_error", "The user does not have access to the application.", _OAUTH),
        _aside("ACCESS_ERROR", "The webhook's owner does not take part in the chat.", _MEMBER),
    ),
)

REFUSALS = Chapter(
    "Refusals of a portal",
    "The portal understood the question and does not give what was asked for.",
    (
        _aside("ERROR_CORE", "A rule of the portal forbids it. The message says which."),
        _aside("ERROR_ARGUMENT", "An argument is missing or wrong."),
        _aside("ERROR_NOT_FOUND", "The portal does not find it."),
        _aside("NOT_FOUND", "The portal does not find it."),
        _aside(
            "ERROR_METHOD_NOT_FOUND",
            "The portal does not know the method.",
            "The portal is older than the method, or the webhook's address is incomplete.",
        ),
        _aside("EMPTY", "The portal answered with an error that has no code."),
        _aside("WRONG_ENCODING", "The portal could not write its answer as JSON: a text in it is broken."),
        _aside("ENTITY_TYPE_NOT_SUPPORTED", "The kind of CRM record is not supported."),
        _aside("SONET_CONTROLLER_WORKGROUP_NOT_FOUND", "The group is not there, or may not be seen."),
        _aside("ERROR_IMAGE_ID", "The image cannot be used."),
        _aside(
            "STRANGE_RESULT",
            "The portal's list of records is not where it should be, or a record has no id.",
            "Please report it with the method's name and the portal's version.",
        ),
        _aside(
            "KEYSET_IGNORED",
            "The portal does not keep to the filter by id, so that records could be lost unseen.",
            "This portal's version of the method cannot be paged by id: please report it with the version.",
        ),
        _aside("ERROR_MANIFEST_IS_NOT_AVAILABLE", "The manifest is not available.", _OURS),
        _aside("ERROR_BATCH_LENGTH_EXCEEDED", "A batch has too many commands.", _OURS),
        _aside("ERROR_BATCH_METHOD_NOT_ALLOWED", "The method cannot be called in a batch.", _OURS),
        _aside("DIALOG_ID_EMPTY", "The id of a chat was not given.", _OURS),
        _aside("CHAT_ID_EMPTY", "The id of a chat was not given.", _OURS),
        _aside("USER_ID_EMPTY", "The id of a user was not given.", _OURS),
        _aside("FIRST_ID_STRING", "The id of a message is no number.", _OURS),
        _aside("LAST_ID_STRING", "The id of a message is no number.", _OURS),
        _aside("SONET_CONTROLLER_WORKGROUP_EMPTY", "The id of a group was not given.", _OURS),
    ),
)
