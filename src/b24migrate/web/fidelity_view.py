"""What the target does not keep, for the page: the target is asked, and what is counted quickly is counted."""

from __future__ import annotations

from b24migrate.app import App
from b24migrate.insight import fidelity
from b24migrate.ports import FORESEEN, SPARED
from b24migrate.web.context import Context
from b24migrate.web.responses import Refused
from b24migrate.web.schemas import FidelityView

COUNTED_AT_ONCE = 5000  # records of a stream: longer ones are counted by `b24migrate fidelity`


def view_fidelity(app: App) -> FidelityView:
    """Of the entities that the configuration wants."""
    store = app.context.store
    found = fidelity.current_list(app.context, app.chosen(), most=COUNTED_AT_ONCE)
    return FidelityView(found, store.count(FORESEEN, ""), store.count(SPARED, ""))


def accept_seen(context: Context, seen: str, by: str) -> None:
    """Only what was seen. Raises Refused."""
    with context.app() as app:
        if not fidelity.accept_list(app.context, app.chosen(), seen, by):
            raise Refused(409, fidelity.GATE, "fidelity_changed")
