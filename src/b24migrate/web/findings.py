"""Findings, a page at a time: there may be as many as records."""

from __future__ import annotations

from b24migrate.engine.phases.comparison import findings_register
from b24migrate.model.records import Fate
from b24migrate.ports import RegisterRow, Store
from b24migrate.web.schemas import Findings, FindingView

AT_ONCE = 500
MOST_LOOKED_AT = 5000  # in one answer
LONGEST = 2000  # characters of a value
COLUMNS = ("Stream", "Fate", "SourceId", "Field", "Expected", "Actual", "Note")


def findings_page(store: Store, stream: str, fate: str, after: str, limit: int) -> Findings:
    """What was foreseen, and what was foreseen and is equal, is listed when it is asked for by its fate."""
    prefix, register = f"{stream}:" if stream else "", findings_register(Fate(fate or Fate.DIFFERS))
    if not fate:
        rows = store.some_rows(register, prefix, after, limit + 1)
        following = rows[limit - 1].key if len(rows) > limit else None
        return Findings(store.count(register, prefix), tuple(map(_view, rows[:limit])), following)
    found: list[RegisterRow] = []
    for _ in range(MOST_LOOKED_AT // AT_ONCE):
        rows = store.some_rows(register, prefix, after, AT_ONCE)
        for row in rows:
            if row.values["Fate"] != fate:
                continue
            if len(found) == limit:
                return Findings(None, tuple(map(_view, found)), found[-1].key)
            found.append(row)
        if len(rows) < AT_ONCE:
            return Findings(None, tuple(map(_view, found)), None)
        after = rows[-1].key
    return Findings(None, tuple(map(_view, found)), after)


def _view(row: RegisterRow) -> FindingView:
    return FindingView(*(_cut(row.values.get(name) or "") for name in COLUMNS))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
