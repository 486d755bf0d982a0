"""What a box does not keep of groups when its own methods take them."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.fidelity import EMPTY, Keeping, Rule
from b24migrate.ports import Command
from b24migrate.target.rest.box import Box, inside, refused

TODAY = "The box takes the time of the move; no method sets another."
TYPES = ("group", "project", "scrum")


def subject(box: Box) -> str:
    """What groups are about on this box, unless somebody says otherwise; empty where it does not tell."""
    (answer,) = box.answers([Command("sonet_group_subject.get", {})])
    if refused(answer):
        return ""
    return next((str(row.get("NAME")) for row in inside(box.question("sonet_group_subject.get", {}))), "")


def of_groups(box: Box) -> Sequence[Rule]:
    usual = subject(box)
    return [
        *(Rule("groups", name, Keeping.LOST, TODAY) for name in ("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY")),
        Rule(
            "groups",
            "SUBJECT_NAME",
            Keeping.LOST,
            "Every group gets the subject that the box has first.",
            lambda draft: draft.get("SUBJECT_NAME") not in (*EMPTY, usual),
        ),
        Rule(
            "groups",
            "ACTIVE",
            Keeping.APPROXIMATED,
            "Every group arrives active.",
            lambda draft: draft.get("ACTIVE") is False,
        ),
        Rule(
            "groups",
            "TYPE",
            Keeping.APPROXIMATED,
            "Collabs and the like arrive as groups: the box's own methods make groups, projects and scrums.",
            lambda draft: draft.get("TYPE") not in (None, "", *TYPES),
        ),
        Rule("groups", "IMAGE", Keeping.TRANSFORMED, "The picture arrives as a copy with a number of its own."),
    ]
