"""The results of the check of both portals, in the store. The gates and the readings depend on them."""

from __future__ import annotations

from dataclasses import dataclass

from b24migrate.engine.diagnosis import Facts
from b24migrate.engine.phases.context import Facts as PortalFacts
from b24migrate.ports import ANALYSIS, RegisterRow, Store

KEY = "latest"


@dataclass(frozen=True, slots=True)
class Analysis:
    completed: bool
    mapped: bool
    facts: Facts

    def lacks(self, scopes: tuple[str, ...]) -> list[str]:
        """Of these scopes the ones that are certainly not granted."""
        granted = self.facts.scopes
        return [] if granted is None else [scope for scope in scopes if scope not in granted]

    @property
    def for_phases(self) -> PortalFacts:
        scopes = None if self.facts.scopes is None else frozenset(self.facts.scopes)
        there, lacking = (
            frozenset(name for name, exists in self.facts.methods.items() if exists is wanted)
            for wanted in (True, False)
        )
        # Only a call shows that a method is missing: `method.get` denies some that work.
        known = self.facts
        lacking = lacking if known.called else frozenset()
        return PortalFacts(scopes, there, lacking, known.ahead_s, known.zone_s, admin=known.admin is True)


def load(store: Store) -> Analysis:
    row = store.read(ANALYSIS, KEY)
    if row is None:
        return Analysis(False, False, Facts())
    data = row.values["Data"]
    return Analysis(True, bool(data["mapped"]), Facts.from_json(data["facts"]))


def save(store: Store, facts: Facts) -> None:
    """The field map is filled by the custom-fields phases; the user map by matching or by the admin: both may be empty,
    so the mapping is made as soon as both ends are known."""
    store.write(ANALYSIS, [RegisterRow(KEY, {"Data": {"mapped": True, "facts": facts.as_json()}})])
