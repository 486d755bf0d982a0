"""Rules: data of workflow templates that a box does not keep, with and without an application."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from b24migrate.messages import say
from b24migrate.model.fidelity import EMPTY, Draft, Judge, Keeping, Rule
from b24migrate.targets.rest.box import PEOPLE, Box

STREAM = "workflow_templates"
MOST = 3  # on creation, on change, or both
NO_APPLICATION = say("reason.rest_workflows")
NO_SCOPE = say("reason.rest_workflows_scope")
NO_ADMINISTRATOR = say("reason.rest_workflows_admin")
NO_METHOD = say("reason.rest_workflows_method")
BODILESS = say("reason.rest_workflows_bodiless")
CHANGED = say("reason.rest_today")
CHANGER = say("reason.rest_workflows_changer")
MARKED = say("reason.rest_workflows_code")
START = say("reason.rest_workflows_start")


class Standing(StrEnum):
    """Whether templates can be written here, and if not, why."""

    READY = "ready"
    ALONE = "no application"
    NARROW = "no scope"
    POWERLESS = "no administrator"
    OLD = "no method"


LOST = {
    Standing.ALONE: Rule(STREAM, "", Keeping.LOST, NO_APPLICATION, lambda _: True),
    Standing.NARROW: Rule(STREAM, "", Keeping.LOST, NO_SCOPE, lambda _: True),
    Standing.POWERLESS: Rule(STREAM, "", Keeping.LOST, NO_ADMINISTRATOR, lambda _: True),
    Standing.OLD: Rule(STREAM, "", Keeping.LOST, NO_METHOD, lambda _: True),
}


def template_rules(box: Box, standing: Standing, owner: str) -> Sequence[Rule]:
    if standing in LOST:
        return [LOST[standing]]

    def by_others(draft: Draft) -> bool:
        stands = box.kept(f"counterpart of {owner}", lambda: counterpart(box, owner))
        return has_body(draft) and draft.get("USER_ID") not in EMPTY and str(draft["USER_ID"]) != stands

    return [
        Rule(STREAM, "", Keeping.LOST, BODILESS, lambda draft: not has_body(draft)),
        Rule(STREAM, "MODIFIED", Keeping.LOST, CHANGED, judge_with_body("MODIFIED")),
        Rule(STREAM, "USER_ID", Keeping.APPROXIMATED, CHANGER, by_others),
        Rule(STREAM, "SYSTEM_CODE", Keeping.LOST, MARKED, judge_with_body("SYSTEM_CODE")),
        Rule(STREAM, "AUTO_EXECUTE", Keeping.APPROXIMATED, START, starts_at_end),
    ]


def counterpart(box: Box, owner: str) -> str:
    """The source user of this box user."""
    links = box.store.all_links(PEOPLE)
    return next((link.source_id for link in links if link.target_id == owner), "")


def has_body(fields: Draft) -> bool:
    return fields.get("TEMPLATE") not in EMPTY


def judge_with_body(name: str) -> Judge:
    """Of a template that is not written nothing differs."""
    return lambda draft: has_body(draft) and draft.get(name) not in EMPTY


def starts_at_end(draft: Draft) -> bool:
    return has_body(draft) and int(draft.get("AUTO_EXECUTE") or 0) > MOST
