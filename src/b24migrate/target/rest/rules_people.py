"""What a box does not keep of users when its own methods take them."""

from __future__ import annotations

import re

from b24migrate.fidelity import Draft, Keeping, Rule
from b24migrate.target.rest.reasons import PICTURE

INVITED = "The box emails an invitation to every active user. Users count as invited until they first log in."
UNINVITED = (
    "Dismissed users are created under a technical address, so that they get no invitation. It stays their login; their"
    " email is kept."
)
NO_EMAIL = "The box refuses users without a valid email address."
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
    Rule("users", "DATE_REGISTER", Keeping.LOST, "The box takes the day of the move for the day of registration."),
    Rule(
        "users",
        "XML_ID",
        Keeping.TRANSFORMED,
        "Where the source has no external code, the source's number is kept there, so that nobody arrives twice.",
        lambda draft: "XML_ID" in draft and not draft["XML_ID"],
    ),
    Rule(
        "users",
        "UF_DEPARTMENT",
        Keeping.APPROXIMATED,
        "People without a department are put into the topmost one: the box adds nobody without.",
        without_department,
    ),
    Rule(
        "users",
        "ACTIVE",
        Keeping.APPROXIMATED,
        "People without a department arrive dismissed, so that no outsider becomes an employee unnoticed.",
        was_active,
    ),
    Rule(
        "users",
        "USER_TYPE",
        Keeping.APPROXIMATED,
        "Everybody arrives as an employee; extranet users must be made such again.",
        lambda draft: draft.get("USER_TYPE") not in (None, "", "employee"),
    ),
    Rule("users", "PERSONAL_PHOTO", Keeping.TRANSFORMED, PICTURE),
)
