"""The usual methods that create custom fields."""

from __future__ import annotations

from collections.abc import Callable

from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.fields import FieldMethods


def older_methods(prefix: str, forget: Callable[[Box], None] = lambda _: None) -> FieldMethods:
    """`user.userfield.*`, `crm.<entity>.userfield.*`."""
    return FieldMethods(
        listing=lambda box, _: list(box.pages(f"{prefix}.list", {"order": {"ID": "ASC"}})),
        add=lambda box, _, described: box.call(f"{prefix}.add", {"fields": described}),
        update=lambda box, _, number, changed: box.call(f"{prefix}.update", {"id": number, "fields": changed}),
        code=lambda _box, _type, code: code,
        forget=forget,
    )


def positional_methods(prefix: str, types: frozenset[str]) -> FieldMethods:
    """`task.item.userfield.*`, whose parameters are taken by position."""
    return FieldMethods(
        listing=lambda box, _: list(rows_at(box.question(f"{prefix}.getlist", {"ORDER": {"ID": "ASC"}, "FILTER": {}}))),
        add=lambda box, _, described: box.call(f"{prefix}.add", {"PARAMS": described}),
        update=None,
        code=lambda _box, _type, code: code,
        types=types,
    )
