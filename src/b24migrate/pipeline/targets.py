"""Into which boxes a store was imported: what is taken back is asked of that box and no other."""

from __future__ import annotations

from b24migrate.ports import ANALYSIS, RegisterRow, Store

_KEY = "targets"


def remember_target(store: Store, origin: str) -> None:
    """For every run that imports: into which box."""
    while origin not in (known := targets(store)):
        row = store.read(ANALYSIS, _KEY) or RegisterRow(_KEY, {})
        if store.swap(ANALYSIS, row._replace(values={"Data": {"origins": [*known, origin]}})):
            return


def targets(store: Store) -> list[str]:
    row = store.read(ANALYSIS, _KEY)
    return [str(one) for one in row.values["Data"]["origins"]] if row else []
