"""Limits and trouble of a portal: its own codes, and ours for what is no answer at all."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

_AGAIN = "Nothing to do: it is tried again. If it stays, look at the portal's status page or ask its support."


def _waits(code: str, title: str, cause: str, fix: str) -> Page:
    return Page(code, title, Again.WAITS, cause, fix)


def _tries(code: str, title: str, cause: str, fix: str = _AGAIN, like: str = "") -> Page:
    return Page(code, title, Again.TRIES, cause, fix, like)


def _aside(code: str, title: str, cause: str, fix: str) -> Page:
    return Page(code, title, Again.ASIDE, cause, fix)


def _stops(code: str, title: str, cause: str, fix: str) -> Page:
    return Page(code, title, Again.STOPS, cause, fix)


LIMITS = Chapter(
    "Limits of a portal",
    "A limit is no failure: the work waits and goes on by itself.",
    (
        _waits(
            "LIMIT",
            "A limit is used up",
            "A limit of the portal is used up.",
            "Nothing to do: it goes on when the limit resets.",
        ),
        _waits(
            "QUERY_LIMIT_EXCEEDED",
            "Too many requests",
            "Too many requests at once.",
            "Nothing to do: the rate is lowered.",
        ),
        _waits(
            "OPERATION_TIME_LIMIT",
            "The method's working time is used up",
            "A method used up the working time that the portal grants it within ten minutes.",
            "Nothing to do: the method rests until its time is given back, at most ten minutes.",
        ),
        _waits(
            "HTTP_429",
            "The web server limits requests",
            "The web server before the portal limits requests.",
            "Nothing to do: the rate is lowered.",
        ),
        _stops(
            "OVERLOAD_LIMIT",
            "The portal is blocked for overload",
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
            "The portal does not answer",
            "The portal does not answer at all. After run.outage_minutes the command ends with exit code 4.",
            "Nothing to do: it is asked again. If it ended, run the same command again when the portal is back.",
        ),
        _tries("TIMEOUT", "No answer in time", "No answer came in time."),
        _tries(
            "UNREACHABLE",
            "No connection to the portal",
            "No connection to the portal could be made.",
            "Check the network, the proxy and the portal's address.",
        ),
        _tries("CONNECTION_LOST", "The connection broke", "The connection broke in the middle of an answer."),
        _tries("TRUNCATED_ANSWER", "Half an answer", "The answer ends in the middle."),
        _tries(
            "PAGE_REPEATED",
            "The portal repeats a page",
            "The portal returns the same records again instead of older ones or an empty page.",
            "Pages are read again one by one. If the error stays, report it with the method and the portal's version.",
        ),
        _tries(
            "ANSWER_TOO_LARGE",
            "The answer is too large",
            "The portal returned more than 64 MB in one answer, counted after unpacking.",
            "Pages are read again one by one. If the error stays, report it with the method and the portal's version.",
        ),
        _tries("STRANGE_ANSWER", "An answer that makes no sense", "The answer is not what the protocol promises."),
        _tries("HTML_ANSWER", "A web page instead of an answer", "A web page came instead of an answer."),
        _tries("MISSING_ANSWER", "A command without an answer", "A batch left one of its commands without an answer."),
        _tries("INTERNAL_SERVER_ERROR", "The portal failed inside", "The portal failed inside."),
        _tries(
            "ERROR_UNEXPECTED_ANSWER",
            "The portal's servers did not understand each other",
            "A server of the portal gave another one a wrong answer.",
        ),
        _tries(
            "HTTP_5XX",
            "The web server failed",
            "The web server before the portal failed (500, 502, 503, 504 …).",
            like="HTTP_5*",
        ),
        _tries(
            "HTTP_XXX",
            "The web server answered instead of the portal",
            "The web server before the portal answered with this status instead of the portal, or sends us elsewhere.",
            "Check that the webhook's address is the portal's present one, with https.",
            like="HTTP_*",
        ),
        _stops(
            "PORTAL_MOVED",
            "The portal redirects to another domain",
            "The portal redirects to a host outside its own domain. The webhook is a password, so it is not sent there."
            " Names below bitrix24.ru, bitrix24.com and so on belong to different customers.",
            "If the portal was renamed, put the webhook with its new address into the configuration, or add the host"
            " to source.redirect_hosts (target.redirect_hosts for the box). Then run the same command again.",
        ),
        _stops(
            "HTTP_401",
            "The web server asks for a password",
            "The web server before the portal asks for a password.",
            "Let the web server pass /rest/ without one.",
        ),
        _aside(
            "HTTP_413",
            "The request is too large for the web server",
            "The web server before the portal refuses a request of this size.",
            "Raise client_max_body_size on the box, then run `b24migrate retry`.",
        ),
        _stops(
            "PORTAL_DELETED",
            "The portal is deleted or switched off",
            "The portal was deleted, or its public part is switched off.",
            "Switch the portal's public part on (Settings → Main module), then run the same command again.",
        ),
    ),
)
