"""What a box does not keep of users when its own methods take them."""

from __future__ import annotations

from b24migrate.fidelity import Draft, Keeping, Rule
from b24migrate.target.rest.reasons import PICTURE

INVITED = "The box sends everybody an invitation by e-mail, and people count as invited until they first log in."


def without_department(draft: Draft) -> bool:
    return not draft.get("UF_DEPARTMENT")


def was_active(draft: Draft) -> bool:
    return bool(draft.get("ACTIVE")) and without_department(draft)


USERS = (
    Rule("users", "", Keeping.TRANSFORMED, INVITED, lambda _: True),
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
