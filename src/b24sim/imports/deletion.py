"""Takes imports back: `import.<entity>.delete`."""

from b24sim.imports.options import forget_options
from b24sim.imports.store import Link, Store
from b24sim.imports.stream import Stream


def delete_records(store: Store, stream: Stream, keys: list[str]) -> list[dict[str, object]]:
    """One answer per key, taken in order: children first and their parents in the same call go together."""
    return [_delete(store, stream, key) for key in keys]


def _delete(store: Store, stream: Stream, key: str) -> dict[str, object]:
    link = store.link(key)
    if link is None or link.stream != stream.name:
        return {"key": key, "status": "absent", "reason": None}
    if store.get(stream.name, link.target_id) is None:  # a user has deleted it
        store.put_link(key, None)
        return {"key": key, "status": "absent", "reason": None}
    reason = None if link.adopted else _reason_to_keep(store, link)
    if reason is not None:
        return {"key": key, "status": "kept", "reason": reason}
    store.put_link(key, None)
    if not link.adopted:
        # a record that was only linked is not the import's to remove
        store.put_row(stream.name, link.target_id, None)
        if stream.options:
            forget_options(store, stream, link.target_id)
    return {"key": key, "status": "deleted", "reason": None}


def _reason_to_keep(store: Store, link: Link) -> str | None:
    address = link.stream, link.target_id
    if store.row(*address).edited:
        return "changed after its import"
    others = store.referrers(address)
    if others:
        return f"{len(others)} others depend on it, such as {min(others)[0]} {min(others)[1]}"
    return "another key stands for it too" if len(store.keys_of(address)) > 1 else None
