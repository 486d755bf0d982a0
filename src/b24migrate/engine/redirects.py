"""Redirects that portals answered and that were followed: kept in the store, for `status`."""

from __future__ import annotations

from collections.abc import Mapping

from b24migrate.model.events import Event, Observer, PortalMoved
from b24migrate.model.values import utc_text
from b24migrate.ports import ANALYSIS, Clock, RegisterRow, Store

_KEY = "moved:{}"


def note_redirects(store: Store, clock: Clock) -> Observer:
    def observe(event: Event) -> None:
        if isinstance(event, PortalMoved):
            data = {"from": event.before, "to": event.now, "at": utc_text(clock.now())}
            store.write(ANALYSIS, [RegisterRow(_KEY.format(event.portal), {"Data": data})])

    return observe


def find_redirects(store: Store, hosts: Mapping[str, str]) -> dict[str, str]:
    """The redirect of each portal. `hosts` are the configured ones; redirects of other hosts are outdated."""
    found = {}
    for portal, host in hosts.items():
        row = store.read(ANALYSIS, _KEY.format(portal))
        if row is not None and row.values["Data"]["from"] == host:
            found[portal] = str(row.values["Data"]["to"])
    return found
