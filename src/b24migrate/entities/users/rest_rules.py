"""Rules: data of users that a box does not keep without the import module."""

from __future__ import annotations

import re

from b24migrate.messages import say
from b24migrate.model.fidelity import Draft, Keeping, Rule
from b24migrate.targets.rest.writer import PICTURE

INVITED = say("reason.rest_invited")
UNINVITED = say("reason.rest_uninvited")
NO_EMAIL = say("reason.rest_no_email")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]{2,}")


def without_department(draft: Draft) -> bool:
    return not draft.get("UF_DEPARTMENT")


def was_active(draft: Draft) -> bool:
    return bool(draft.get("ACTIVE")) and without_department(draft)


def is_active(draft: Draft) -> bool:
    return bool(draft.get("ACTIVE")) and not without_department(draft)


def has_no_email(draft: Draft) -> bool:
    return _EMAIL.fullmatch(str(draft.get("EMAIL") or "").strip()) is None


USERS = (
    Rule("users", "", Keeping.TRANSFORMED, INVITED, is_active),
    Rule("users", "", Keeping.TRANSFORMED, UNINVITED, lambda draft: not is_active(draft)),
    Rule("users", "EMAIL", Keeping.LOST, NO_EMAIL, has_no_email),
    Rule("users", "DATE_REGISTER", Keeping.LOST, say("reason.rest_registered")),
    Rule(
        "users",
        "XML_ID",
        Keeping.TRANSFORMED,
        say("reason.rest_person_stamp"),
        lambda draft: "XML_ID" in draft and not draft["XML_ID"],
    ),
    Rule(
        "users",
        "UF_DEPARTMENT",
        Keeping.APPROXIMATED,
        say("reason.rest_no_department"),
        without_department,
    ),
    Rule(
        "users",
        "ACTIVE",
        Keeping.APPROXIMATED,
        say("reason.rest_dismissed"),
        was_active,
    ),
    Rule(
        "users",
        "USER_TYPE",
        Keeping.APPROXIMATED,
        say("reason.rest_extranet"),
        lambda draft: draft.get("USER_TYPE") not in (None, "", "employee"),
    ),
    Rule("users", "PERSONAL_PHOTO", Keeping.TRANSFORMED, PICTURE),
)
