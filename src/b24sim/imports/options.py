"""The values of lists: each of the client's is one that the box has, or a new one."""

from collections.abc import Iterator, Mapping
from typing import Any

from b24sim.imports.kinds import Fields
from b24sim.imports.store import Row, Store
from b24sim.imports.stream import Stream

NAMES = ("xmlId", "value")
"""What two values are the same by: two may be spelled alike."""


def complete_options(store: Store, stream: Stream, target_id: str, fields: Fields) -> dict[str, str]:
    """The client's id of each value, and the box's; doing it twice changes nothing."""
    matched: dict[str, str] = {}
    wanted = list(_sent(fields))
    for name in NAMES:
        for option in wanted:
            found = _same(store, stream, target_id, name, option.get(name)) if option.get(name) else None
            if found and str(option["id"]) not in matched and found not in matched.values():
                matched[str(option["id"])] = found
    for option in wanted:
        if str(option["id"]) not in matched:
            matched[str(option["id"])] = _new(store, stream, target_id, option)
    return matched


def forget_options(store: Store, stream: Stream, target_id: str) -> None:
    """Of a record that is deleted."""
    for number in [number for number, row in store.rows(stream.options).items() if row.fields["property"] == target_id]:
        store.put_row(stream.options, number, None)


def _sent(fields: Fields) -> Iterator[Mapping[str, Any]]:
    sent = fields.get("options")
    return (option for option in sent if isinstance(option, dict)) if isinstance(sent, list) else iter(())


def _same(store: Store, stream: Stream, owner: str, name: str, value: object) -> str | None:
    return store.find(stream.options, ("property", name), (owner, value))


def _new(store: Store, stream: Stream, owner: str, option: Mapping[str, Any]) -> str:
    number = store.new_id(stream.options)
    fields = {name: option.get(name) for name in NAMES}
    store.put_row(stream.options, number, Row({"property": owner, **fields}))
    return number
