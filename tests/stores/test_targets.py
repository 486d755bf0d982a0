"""Into which boxes a store was imported."""

from __future__ import annotations

from typing import Any

from b24migrate.engine.boxes import remember_target, target_origins
from b24migrate.ports import Register, RegisterRow, Store


class Overtaken:
    """A store whose caller is overtaken by another process right after his first look."""

    def __init__(self, store: Store, by: str) -> None:
        self._store, self._by = store, [by]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, register: Register, key: str) -> RegisterRow | None:
        found = self._store.read(register, key)
        if self._by:
            remember_target(self._store, self._by.pop())
        return found


def test_two_processes_that_begin_with_different_boxes_are_both_remembered(store: Store) -> None:
    overtaken: Any = Overtaken(store, by="https://second.example")
    remember_target(overtaken, "https://first.example")
    assert set(target_origins(store)) == {"https://first.example", "https://second.example"}
    remember_target(store, "https://first.example")
    assert len(target_origins(store)) == 2
