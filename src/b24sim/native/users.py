"""user.add and user.update: no user is added without an invitation, or registered before today.

A user is registered first, and then changed (rest lib/api/user.php): who is refused then is there all the same.
"""

import re
from datetime import date
from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.users import BRIEF, CONTACTS, USER_SCOPES
from b24sim.native.custom_values import value_of
from b24sim.native.writing import created, file_sent, listed, now_of
from b24sim.paging import truthy, whole, yes
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

FORBIDDEN = {
    "ID", "LAST_LOGIN", "DATE_REGISTER", "IS_ONLINE", "TIME_ZONE_OFFSET", "TIMESTAMP_X", "LAST_ACTIVITY_DATE",
    "USER_TYPE", "LOGIN", "PASSWORD",
}  # fmt: skip
SYSTEM_UF = {
    f"UF_{name}"
    for name in (
        "SKYPE_LINK", "ZOOM", "EMPLOYMENT_DATE", "TIMEMAN", "DEPARTMENT", "INTERESTS", "SKILLS", "WEB_SITES", "XING",
        "LINKEDIN", "FACEBOOK", "TWITTER", "SKYPE", "DISTRICT", "PHONE_INNER",
    )
}  # fmt: skip
PLAIN = {*BRIEF, *CONTACTS, "EMAIL", "XML_ID", "ACTIVE"} - FORBIDDEN
DATES = {"PERSONAL_BIRTHDAY", "UF_EMPLOYMENT_DATE"}
OF_THE_SITE = "UF_EMPLOYMENT_DATE"  # converted by no method (prepareSaveData): only the format of the site is taken
REGISTERED = ("NAME", "LAST_NAME", "UF_DEPARTMENT", "ACTIVE", "XML_ID")  # intranet CIntranetInviteDialog::RegisterUser
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def add(context: Context, params: Params) -> Result:
    """An invitation always goes out, to every user, active or not."""
    _allowed(context)
    company, ledger = context.portal.company, context.portal.native
    email = _fresh_email(context, params.get("EMAIL"))
    extranet = yes(params.get("EXTRANET"))
    _belongs_somewhere(context, params, extranet)
    number, today = ledger.number("users"), _today(context)
    row: Row = {
        "ID": str(number), "XML_ID": "", "ACTIVE": True, "NAME": "", "LAST_NAME": "", "SECOND_NAME": "", "EMAIL": email,
        "LAST_LOGIN": "", "DATE_REGISTER": today, "TIME_ZONE": "", "IS_ONLINE": "N", "TIMESTAMP_X": {},
        "LAST_ACTIVITY_DATE": {}, "PERSONAL_GENDER": "", "PERSONAL_BIRTHDAY": "", "UF_EMPLOYMENT_DATE": "",
        "UF_DEPARTMENT": [], "USER_TYPE": "extranet" if extranet else "employee", "_TIMESTAMP_X": now_of(context),
        "_LAST_ACTIVITY_DATE": now_of(context), "_EXTERNAL_AUTH_ID": "", "_LOGIN": email,
    }  # fmt: skip
    first = {name: value for name, value in params.items() if name in REGISTERED}
    company.users.put(number, row | _accepted(context, number, first))
    created(context, "users", number, str(params.get("XML_ID") or email.casefold()))
    company.users.put(number, company.users.row(number) | _accepted(context, number, params) | {"EMAIL": email})
    ledger.tell("invitation", email, f"user {number}")
    for group in listed(params.get("SONET_GROUP_ID")) if extranet else ():
        ledger.tell("request to join", number, f"group {whole(group)}")
    return Result(number)


def update(context: Context, params: Params) -> Result:
    _allowed(context)
    company, number = context.portal.company, whole(params.get("ID"))
    if number not in company.users:
        raise RestError("ERROR_CORE", "access_denied")
    changes = _accepted(context, number, params)
    if "EMAIL" in params:
        changes["EMAIL"] = _fresh_email(context, params["EMAIL"], number, "ERROR_CORE")
    row = {name: value for name, value in company.users.row(number).items() if changes.get(name, value) is not None}
    changes = {name: value for name, value in changes.items() if value is not None}
    company.users.put(number, row | changes | {"_TIMESTAMP_X": now_of(context)})
    context.portal.native.updated("users", number)
    return Result(True)


def _allowed(context: Context) -> None:
    """Under a lesser scope the refusal comes with status 200."""
    if "user" not in context.caller.scopes:
        message = "The request requires higher privileges than provided by the webhook token"
        raise RestError("insufficient_scope", message, 200)
    if not context.caller.admin:
        raise RestError("ERROR_CORE", "access_denied")


def _fresh_email(context: Context, value: Any, own: int = 0, code: str = "ERROR_ARGUMENT") -> str:
    users, email = context.portal.company.users, str(value or "").strip()
    if not _EMAIL.fullmatch(email):
        raise RestError(code, "wrong_email", extra={"argument": ""})
    taken = (str(users.row(number).get("EMAIL", "")).casefold() for number in users if number != own)
    if email.casefold() in taken:
        raise RestError(code, f"Пользователь с E-mail {email} уже существует.<br>", extra={"argument": ""})
    return email


def _belongs_somewhere(context: Context, params: Params, extranet: bool) -> None:
    groups = [whole(group) for group in listed(params.get("SONET_GROUP_ID"))]
    if extranet and not any(group in context.portal.company.groups for group in groups):
        raise RestError("ERROR_ARGUMENT", "no_sonet_group_for_extranet", extra={"argument": ""})
    if not extranet and not listed(params.get("UF_DEPARTMENT")):
        raise RestError("ERROR_ARGUMENT", "no_extranet_field", extra={"argument": ""})


def _accepted(context: Context, number: int, params: Params) -> Row:
    """The accepted fields; others are ignored. None removes a value."""
    custom = {row["FIELD_NAME"]: row for row in context.portal.company.user_fields}
    row: Row = {}
    for name, value in params.items():
        if name in custom:
            field = custom[name]
            row[name] = value_of(context, field["USER_TYPE_ID"], field["MULTIPLE"] == "Y", value)
        elif name not in FORBIDDEN and (name in PLAIN or name in SYSTEM_UF or name.startswith(("PERSONAL_", "WORK_"))):
            row[name] = _value(context, number, name, value)
    return row


def _value(context: Context, number: int, name: str, value: Any) -> Any:
    if name == "ACTIVE":
        # To PHP the text "false" is true.
        return truthy(value) and value != "N"
    if name == "UF_DEPARTMENT":
        return [whole(department) for department in listed(value)]
    if name == "PERSONAL_PHOTO":
        return _photo(context, number, value)
    if name == OF_THE_SITE:
        return _day_of_the_site(context, value)
    if name in DATES:
        return _day(context, value)
    return "" if value is None else str(value)


def _photo(context: Context, number: int, value: Any) -> str | None:
    """An empty value deletes the picture."""
    sent, company = file_sent(value), context.portal.company
    if sent is None:
        company.pictures.pop(("main", number), None)
        return None
    company.pictures["main", number] = sent[1]
    return f"{company.portal_url}/upload/main/{number}/photo.png"


def _day(context: Context, value: Any) -> str:
    try:
        return context.portal.company.moments.day(date.fromisoformat(str(value)[:10]))
    except ValueError:
        return ""


def _day_of_the_site(context: Context, value: Any) -> str:
    if value in (None, ""):
        return ""
    found = context.portal.box_habits.day(str(value))
    if found is None:
        raise RestError("ERROR_CORE", "Неверный формат даты поля «Дата принятия на работу»<br>")
    return context.portal.company.moments.day(found)


def _today(context: Context) -> str:
    moments = context.portal.company.moments
    return moments.day(date.fromisoformat(moments.iso(now_of(context))[:10]))


METHODS = [
    Method("user.add", USER_SCOPES, add, upper=True),
    Method("user.update", USER_SCOPES, update, upper=True),
]
