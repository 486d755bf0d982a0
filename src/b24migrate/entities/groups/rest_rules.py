"""Rules: data of groups that a box does not keep without the import module."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.messages import say
from b24migrate.model.fidelity import EMPTY, Draft, Judge, Keeping, Rule
from b24migrate.model.records import Json
from b24migrate.ports import Command
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.deletion import keys_with_prefix
from b24migrate.targets.rest.writer import PICTURE, TODAY

TYPES = ("group", "project", "scrum")
DOUBLED = say("reason.rest_group_doubled")


def default_subject(box: Box) -> str:
    """The subject of groups on this box, unless the configuration sets it; empty if unknown."""
    told, group = box.questions(
        [
            Command("sonet_group_subject.get", {}),
            Command("sonet_group.get", {"ORDER": {"ID": "DESC"}, "IS_ADMIN": "Y"}),
        ]
    )
    named = (str(row.get("NAME") or "") for row in rows_at(told))
    used = (str(row.get("SUBJECT_NAME") or "") for row in rows_at(group))
    return next(named, "") or next(used, "")


def judge_doubled_names(box: Box) -> Judge:
    """Of a name that the box has, or an earlier group. The box compares without regard to case."""
    ours = keys_with_prefix(box, "groups")
    rows = box.pages("sonet_group.get", {"ORDER": {"ID": "ASC"}, "IS_ADMIN": "Y"})
    met = {known_as(row.get("NAME")) for row in rows if str(row["ID"]) not in ours}

    def judge(draft: Draft) -> bool:
        name = known_as(draft.get("NAME"))
        again = name in met
        met.add(name)
        return again

    return judge


def known_as(name: Json) -> str:
    return str(name or "").strip().casefold()


def group_rules(box: Box) -> Sequence[Rule]:
    def unusual(draft: Draft) -> bool:
        return draft.get("SUBJECT_NAME") not in (
            *EMPTY,
            box.kept("subject of groups", lambda: default_subject(box), 60.0),
        )

    return [
        Rule("groups", "NAME", Keeping.TRANSFORMED, DOUBLED, running=lambda: judge_doubled_names(box)),
        *(Rule("groups", name, Keeping.LOST, TODAY) for name in ("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY")),
        Rule(
            "groups",
            "SUBJECT_NAME",
            Keeping.LOST,
            say("reason.rest_subject"),
            unusual,
        ),
        Rule(
            "groups",
            "ACTIVE",
            Keeping.APPROXIMATED,
            say("reason.rest_group_active"),
            lambda draft: draft.get("ACTIVE") is False,
        ),
        Rule(
            "groups",
            "TYPE",
            Keeping.APPROXIMATED,
            say("reason.rest_group_kinds"),
            lambda draft: draft.get("TYPE") not in (None, "", *TYPES),
        ),
        Rule("groups", "IMAGE", Keeping.TRANSFORMED, PICTURE),
    ]
