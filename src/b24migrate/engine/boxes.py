"""Into which boxes a store was imported: an undo deletes records on that box and on no other."""

from __future__ import annotations

from b24migrate.ports import ANALYSIS, RegisterRow, Store

_KEY = "targets"


def remember_target(store: Store, origin: str) -> None:
    """For every run that imports: into which box."""
    while True:
        row = store.read(ANALYSIS, _KEY)
        known = _origins(row)
        # Read and swap the same version: another process may be starting with another box.
        fresh = (row or RegisterRow(_KEY, {}))._replace(values={"Data": {"origins": [*known, origin]}})
        if origin in known or store.swap(ANALYSIS, fresh):
            return


def target_origins(store: Store) -> list[str]:
    return _origins(store.read(ANALYSIS, _KEY))


def _origins(row: RegisterRow | None) -> list[str]:
    return [str(one) for one in row.values["Data"]["origins"]] if row else []
