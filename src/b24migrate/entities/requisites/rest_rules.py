"""What a box does not keep of company details when its own methods take them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from b24migrate.messages import say
from b24migrate.model.fidelity import Draft, Keeping, Rule
from b24migrate.targets.rest.writer import TODAY

AUTHOR = say("reason.rest_requisite_author")
STAMPED = say("reason.rest_stamp")
STARTED = say("reason.rest_requisite_started")


def is_present(name: str, draft: Draft) -> bool:
    """Whether the source has the field, even if it is empty."""
    return name in draft


def detail_rules(stream: str) -> Sequence[Rule]:
    return [
        *(Rule(stream, name, Keeping.LOST, TODAY) for name in ("DATE_CREATE", "DATE_MODIFY")),
        *(Rule(stream, name, Keeping.LOST, AUTHOR) for name in ("CREATED_BY_ID", "MODIFY_BY_ID")),
        Rule(stream, "ORIGINATOR_ID", Keeping.TRANSFORMED, STAMPED, partial(is_present, "ORIGINATOR_ID")),
        Rule(stream, "", Keeping.TRANSFORMED, STARTED),
    ]
