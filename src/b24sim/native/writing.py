"""Shared by all writing methods: the user, the time and common refusals."""

import binascii
from base64 import b64decode
from typing import Any

from b24sim.context import Context
from b24sim.errors import RestError
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.table import Row


def now_of(context: Context) -> float:
    return context.portal.clock.now()


def iso_now(context: Context) -> str:
    return context.portal.company.moments.iso(now_of(context))


def created(context: Context, kind: str, number: object, stamp: str) -> None:
    context.portal.native.created(kind, number, stamp, context.caller.user, now_of(context))


def notify(context: Context, users: Any, about: str) -> None:
    """Everybody concerned but the writer himself."""
    for user in dict.fromkeys(whole(user) for user in users):
        if user and user != context.caller.user:
            context.portal.native.tell("notification", user, about)


def mapping(params: Params, name: str) -> Row:
    value = params.get(name)
    return dict(value) if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """Values of a field that may hold several, however they were sent."""
    if isinstance(value, dict):
        return list(value.values())
    if value in (None, "", False):
        return []
    return list(value) if isinstance(value, list) else [value]


def file_sent(value: Any) -> tuple[str, bytes] | None:
    """`[name, base64]`; None where the value is nothing of the kind."""
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)):
        return None
    try:
        return value[0], b64decode(value[1], validate=True)
    except (binascii.Error, ValueError):
        return None


def flag(value: Any, default: str = "N") -> str:
    if value is None:
        return default
    return "Y" if value is True or str(value).upper() in {"Y", "1", "TRUE"} else "N"


def moment(context: Context, value: Any) -> float | None:
    return context.portal.company.moments.parse(value) if value not in (None, "", False) else None


def require_administrator(context: Context) -> None:
    if not context.caller.admin:
        raise RestError("", "Access denied.")


def access_denied(status: int = 400) -> RestError:
    return RestError("ACCESS_DENIED", "Доступ запрещен", status)
