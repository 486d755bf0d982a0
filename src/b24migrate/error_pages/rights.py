"""Codes of a portal about rights."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

_WEBHOOK = "Create the inbound webhook again on the portal and put its address into the configuration."
_PLAN = "Check the portal's plan and its Market subscription: REST needs both."
_OAUTH = "The method wants an OAuth application; a webhook cannot call it. What it holds is reported as impossible."
_MEMBER = "Give the webhook of somebody who takes part in it under source.more_webhooks."


def _stops(code: str, title: str, cause: str, fix: str = _WEBHOOK) -> Page:
    return Page(code, title, Again.STOPS, cause, fix)


def _aside(code: str, title: str, cause: str, fix: str) -> Page:
    return Page(code, title, Again.ASIDE, cause, fix)


CHAPTER = Chapter(
    "Rights on a portal",
    "The webhook, its owner or the portal's plan does not allow it.",
    (
        _stops(
            "INVALID_CREDENTIALS",
            "The webhook is deleted or wrong",
            "The webhook was deleted, or its address is wrong.",
        ),
        _stops("NO_AUTH_FOUND", "The webhook is not known", "The portal does not know the webhook."),
        _stops(
            "INVALID_REQUEST",
            "The portal wants https",
            "The portal wants https.",
            "Write https:// in the webhook's address.",
        ),
        _stops("expired_token", "The webhook has expired", "The webhook's access has expired."),
        _stops("invalid_token", "The webhook's access is not known", "The portal does not know the webhook's access."),
        _stops(
            "APPLICATION_NOT_FOUND",
            "What the webhook belongs to is not there",
            "The portal does not find what the webhook belongs to.",
        ),
        _stops(
            "APPLICATION_REFUSED",
            "The application gets no new token",
            "The authorization server does not renew the tokens of the application in target.application: it was"
            " deleted or made anew, its keys are wrong, or its refresh token is older than 180 days or was used"
            " elsewhere.",
            "Open the application's page on the box, check client_id and client_secret, install it anew, and put the"
            " tokens that it gets then into target.application; then run the same command again.",
        ),
        _stops(
            "PAYMENT_REQUIRED",
            "The plan has no REST, or is not paid",
            "The portal's plan does not include REST, or is not paid.",
            _PLAN,
        ),
        _stops(
            "authorization_error",
            "The webhook's owner is blocked",
            "The owner of the webhook was dismissed or blocked.",
            "Let a working administrator create the webhook.",
        ),
        _stops(
            "insufficient_scope",
            "The webhook lacks a scope",
            "The webhook lacks a scope that the method needs.",
            "Tick the scope in the webhook's settings on the portal.",
        ),
        _stops(
            "BITRIX_REST_V3_EXCEPTION_INSUFFICIENTSCOPEEXCEPTION",
            "The webhook lacks a scope",
            "The webhook lacks a scope (REST 3.0).",
        ),
        _stops(
            "METHOD_CONFIRM_WAITING",
            "An administrator must confirm",
            "The portal waits until an administrator confirms the request.",
            "Let an administrator of the portal confirm the request, then run the same command again.",
        ),
        _aside(
            "METHOD_CONFIRM_DENIED",
            "An administrator said no",
            "An administrator of the portal denied the request.",
            "Ask an administrator of the portal.",
        ),
        _stops(
            "ACCESS_LOST",
            "Access to the portal was lost",
            "The portal refuses all requests, or requests that it allowed before. The plan or the Market subscription"
            " has lapsed, a scope was removed, or the webhook owner lost access.",
            "Check the portal's plan and Market subscription, the webhook's scopes and its owner. Then run the same"
            " command again.",
        ),
        _stops(
            "METHOD_REFUSED",
            "The portal does not allow a method",
            "The portal refuses all calls of one method, and records are incomplete without it. The message names the"
            " method.",
            "Give the webhook's owner access to these records, or create the webhook as an administrator. Then run the"
            " same command again.",
        ),
        _stops(
            "ADDRESS_BLOCKED",
            "The address of this machine is blocked",
            "The portal answers all requests with HTTP 403 and a web page. A firewall or the vendor's protection blocks"
            " the address of this machine.",
            "Ask the network administrator or the vendor's support to allow this address, or use another machine. Then"
            " run the same command again.",
        ),
        _aside(
            "ACCESS_DENIED",
            "Access denied",
            "The webhook owner cannot see this record. Other calls of the webhook work.",
            "Use an administrator's webhook, or give the webhook owner access to the record.",
        ),
        _aside(
            "BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION", "Access denied", "Access is denied (REST 3.0).", _WEBHOOK
        ),
        _aside("WRONG_AUTH_TYPE", "Not for webhooks", "A webhook may not call this method.", _OAUTH),
        _aside("insufficient_auth_type", "Not for webhooks", "A webhook may not call this method.", _OAUTH),
        _aside("user_access_error", "Not for webhooks", "The user does not have access to the application.", _OAUTH),
        _aside(
            "ACCESS_ERROR",
            "The webhook's owner is not in the chat",
            "The webhook's owner does not take part in the chat.",
            _MEMBER,
        ),
    ),
)
