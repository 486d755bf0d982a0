"""What the target does not keep, for the page: the target is asked, and what is counted quickly is counted."""

from __future__ import annotations

from b24migrate.hosts.web.answers import Refused
from b24migrate.hosts.web.context import Context
from b24migrate.hosts.web.shapes import FidelityView
from b24migrate.phases.work import Work
from b24migrate.pipeline import fidelity
from b24migrate.ports import FORESEEN, SPARED

COUNTED_AT_ONCE = 5000  # records of a stream: longer ones are counted by `b24migrate fidelity`


def view(work: Work) -> FidelityView:
    found = fidelity.known(work, most=COUNTED_AT_ONCE)
    return FidelityView(found, work.store.count(FORESEEN, ""), work.store.count(SPARED, ""))


def accept(context: Context, seen: str, by: str) -> None:
    """Only what was seen. Raises Refused."""
    with context.app() as app:
        if not fidelity.accept_known(app.work.store, app.work.clock, seen, by):
            raise Refused(409, fidelity.GATE, "fidelity_changed")
