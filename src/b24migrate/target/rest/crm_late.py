"""CRM records that came later than their turn, or changed since: which of their times are not as the order would have
kept them. They are few, and nobody can foretell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from b24migrate.fidelity import KEY, Draft
from b24migrate.ports import NATIVE, RegisterRow
from b24migrate.records import Args, Item
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.crm_structure import numbers
from b24migrate.target.rest.crm_times import KEPT_S, LONG_AGO, changed, first_floor, raised
from b24migrate.target.rest.spelling import utc


def note(box: Box, stream: str, number: str, items: Sequence[Item], sent: Mapping[str, Mapping[str, str]]) -> None:
    """Before they leave. Who is in his turn now may have been late before: what an undo took back goes once more."""
    floor = first_floor(box, number)
    differ = {item.key: changed(item.fields, sent[item.key]) for item in items}
    late = [item.key for item in items if differ[item.key] != changed(item.fields, raised(item.fields, floor).times)]
    noted = differ if _some(box, stream) else {key: differ[key] for key in late}
    if noted:
        rows = [
            RegisterRow(_row(stream, key), {"Stream": "late", "Trace": names if key in late else None})
            for key, names in noted.items()
        ]
        box.store.write(NATIVE, rows)
        box.forget(_mark(stream))


def note_update(box: Box, stream: str, number: str, item: Item, there: Args, *, moves: bool) -> None:
    """A change takes no times along, and the box itself says when a record went to another stage."""
    sent = dict(raised(item.fields, first_floor(box, number)).times)
    sent |= {name: str(utc(there[name])) for name in ("createdTime", "movedTime") if there.get(name)}
    note(box, stream, number, [item], {item.key: {**sent, "movedTime": ""} if moves else sent})


def is_raised(box: Box, stream: str, number: str, name: str, draft: Draft) -> bool:
    """Whether the box has or will have another time of this name."""
    if _some(box, stream) and (row := box.store.read(NATIVE, _row(stream, str(draft.get(KEY))))):
        names = row.values.get("Trace")
        if names is not None:
            return name in names
    kind = number or box.kept("numbers", lambda: numbers(box), KEPT_S).get(str(draft.get("entityTypeId")), "")
    floor = first_floor(box, kind) if kind else LONG_AGO  # nothing is there of a smart process that is not there
    return name in changed(draft, raised(draft, floor).times)


def _some(box: Box, stream: str) -> bool:
    """Whether there are any: hardly ever, and then nothing more needs to be asked."""
    return box.kept(_mark(stream), lambda: bool(box.store.some_rows(NATIVE, _row(stream, ""), "", 1)), KEPT_S)


def _mark(stream: str) -> str:
    return f"late {stream}"


def _row(stream: str, key: str) -> str:
    return f"late:{stream}:{key}"
