"""CRM records that came later than their turn, or changed since: which of their times are not as the order would have
kept them. They are few, and not known before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from b24migrate.entities.crm.rest_structure import numbers
from b24migrate.entities.crm.rest_times import LONG_AGO, changed_names, first_floor, raise_times
from b24migrate.model.fidelity import KEY, Draft
from b24migrate.model.records import Args, Item
from b24migrate.ports import NATIVE, RegisterRow
from b24migrate.targets.rest.box import Box
from b24migrate.targets.rest.values import utc


def note_raised(
    box: Box, stream: str, number: str, items: Sequence[Item], sent: Mapping[str, Mapping[str, str]]
) -> None:
    """Before they leave."""
    _note(box, stream, number, items, {item.key: changed_names(item.fields, sent[item.key]) for item in items})


def note_update(box: Box, stream: str, number: str, item: Item, there: Args, *, moves: bool) -> None:
    """An update does not accept times, and the box itself sets the user and time of a stage change."""
    has = {name: str(utc(there[name])) for name in ("createdTime", "movedTime") if there.get(name)}
    expected = raise_times(item.fields, first_floor(box, number)).times
    differ = changed_names(item.fields, {**expected, **has, **({"movedTime": ""} if moves else {})})
    mover = item.fields.get("movedBy")
    if mover and (moves or str(mover) != str(there.get("movedBy"))):
        differ.append("movedBy")
    _note(box, stream, number, [item], {item.key: differ})


def _note(box: Box, stream: str, number: str, items: Sequence[Item], differ: Mapping[str, list[str]]) -> None:
    """A record in its turn may have been late before: after an undo it is sent again."""
    floor = first_floor(box, number)
    late = {
        one.key for one in items if differ[one.key] != changed_names(one.fields, raise_times(one.fields, floor).times)
    }
    noted = differ if _has_notes(box, stream) else late
    if noted:
        traces = {key: differ[key] if key in late else None for key in noted}
        box.store.write(
            NATIVE, [RegisterRow(_row(stream, key), {"Stream": "late", "Trace": traces[key]}) for key in traces]
        )
        box.forget(_mark(stream))


def is_raised(box: Box, stream: str, number: str, name: str, draft: Draft) -> bool:
    """Whether the box has or will have another time of this name."""
    names = _find_note(box, stream, draft)
    if names is not None:
        return name in names
    kind = number or box.kept("numbers", lambda: numbers(box)).get(str(draft.get("entityTypeId")), "")
    floor = first_floor(box, kind) if kind else LONG_AGO  # nothing is there of a smart process that is not there
    return name in changed_names(draft, raise_times(draft, floor).times)


def is_moved(box: Box, stream: str, draft: Draft) -> bool:
    """Whether the box takes another user for the one who put it into its stage."""
    return "movedBy" in (_find_note(box, stream, draft) or ())


def _find_note(box: Box, stream: str, draft: Draft) -> list[str] | None:
    row = box.store.read(NATIVE, _row(stream, str(draft.get(KEY)))) if _has_notes(box, stream) else None
    return row.values.get("Trace") if row else None


def _has_notes(box: Box, stream: str) -> bool:
    """Whether there are any. Usually there are none, and no more queries are needed."""
    return box.kept(_mark(stream), lambda: bool(box.store.some_rows(NATIVE, _row(stream, ""), "", 1)))


def _mark(stream: str) -> str:
    return f"late {stream}"


def _row(stream: str, key: str) -> str:
    return f"late:{stream}:{key}"
