"""Workflow templates: a box takes them from an application only, never from a webhook, so that they stay behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from b24migrate.fidelity import Keeping, Rule
from b24migrate.records import Item
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.words import Known, Made, Writer

NOWHERE = "none"  # what it became
REASON = "A box takes workflow templates from applications only, not from a webhook: they stay behind."
LOST = (Rule("workflow_templates", "", Keeping.LOST, REASON, lambda _: True),)


def leave(_: Box, items: Sequence[Item]) -> Iterator[Made]:
    return (Made(item.key, NOWHERE) for item in items)


def nothing(_box: Box, _known: Known, _item: Item) -> None:
    """There is nothing to change."""


TEMPLATES = Writer(
    stream="workflow_templates",
    entity="workflows",
    needs=(),
    create=leave,
    find=lambda _box, _begun: {},
    update=nothing,
    read=lambda _box, _wanted: {},
    stays="it was never there",
    rules=lambda _: LOST,
)
