"""Servers of the import contract, and what a test may ask or do behind their backs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol

from tests.php_box import PhpBox, php_box

from b24sim.imports import Imports, Limits
from b24sim.portal import Portal
from b24sim.serve import Running, serve

JSON = Any
REQUISITES = (*("crm_requisite_presets", "crm_requisites", "crm_bank_details", "crm_addresses", "crm_requisite_links"),)
SALES = ("crm_leads", "crm_quotes", "crm_invoices")
STREAMS = (
    *REQUISITES,
    *SALES,
    *("departments", "users", "groups", "group_members", "chats", "chat_messages", "feed_posts", "feed_comments"),
    *("tasks", "task_checklists", "task_comments", "workflow_templates"),
    *("crm_types", "crm_categories", "crm_stages", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems"),
    *("crm_currencies", "crm_measures", "crm_vats", "crm_price_types", "crm_catalog_sections", "crm_product_props"),
    *("crm_products", "crm_prices"),
    "files",
)
SMALL_LIMITS = {"items": 3, "body_bytes": 1000, "file_bytes": 64, "chunk_bytes": 8}


class Server(Protocol):
    """One for each process of the tests; `reset` makes an empty box of it again."""

    name: str

    @property
    def webhook(self) -> str: ...

    def reset(self, **settings: JSON) -> None:
        """`limits`, `timezone`, `entities`: values of `import.info` from then on."""
        ...

    def rows(self, stream: str) -> Mapping[str, Mapping[str, JSON]]:
        """Everything that the box has, imported or not, by id."""
        ...

    def dump(self, stream: str) -> list[JSON]:
        """Every key with what it stands for, and how often it was answered `created` and `updated`."""
        ...

    def snapshot(self) -> JSON:
        """Everything that the box holds. Of two boxes to which the same happened it is the same."""
        ...

    def edit(self, stream: str, target_id: str, fields: Mapping[str, JSON]) -> None:
        """Somebody changes a record by hand."""
        ...


class Simulated:
    """b24sim, served over HTTP from a thread of this process."""

    name = "b24sim/0.1"

    def __init__(self, running: Running) -> None:
        self._running = running

    @property
    def webhook(self) -> str:
        return self._running.webhook()

    @property
    def imports(self) -> Imports:
        return self._running.portal.imports

    def reset(self, *, limits: Mapping[str, int] | None = None, **settings: JSON) -> None:
        within = None if limits is None else Limits(**limits)
        self._running.portal.imports = Imports(now=at_ten, limits=within, **settings)

    def rows(self, stream: str) -> Mapping[str, Mapping[str, JSON]]:
        return dict(plain(self.imports.rows(stream)))

    def dump(self, stream: str) -> list[JSON]:
        return list(plain(self.imports.dump(stream)))

    def snapshot(self) -> JSON:
        box = self.imports
        return {stream: (box.rows(stream), box.dump(stream), box.custom_fields(stream)) for stream in STREAMS}

    def edit(self, stream: str, target_id: str, fields: Mapping[str, JSON]) -> None:
        self.imports.edit(stream, target_id, fields)


class Php:
    """The module for the box, on records that are not those of a kernel."""

    name = "b24migrate.import/"

    def __init__(self, box: PhpBox) -> None:
        self._box = box

    @property
    def webhook(self) -> str:
        return self._box.webhook

    def reset(self, **settings: JSON) -> None:
        self._box.tell("reset", settings)

    def rows(self, stream: str) -> Mapping[str, Mapping[str, JSON]]:
        return dict(self._box.ask("rows", stream=stream))

    def dump(self, stream: str) -> list[JSON]:
        return list(self._box.ask("dump", stream=stream))

    def snapshot(self) -> JSON:
        return without_times(self._box.ask("snapshot"))

    def edit(self, stream: str, target_id: str, fields: Mapping[str, JSON]) -> None:
        self._box.tell("edit", {"stream": stream, "id": target_id, "fields": dict(fields)})

    def lose(self, losses: Mapping[str, Mapping[str, str]]) -> None:
        """From now on the box cannot keep these fields, by stream, for the reasons given."""
        self._box.tell("losses", losses)

    def bend(self, fields: Mapping[str, Mapping[str, JSON]]) -> None:
        """From now on these fields, by stream, are what the box makes of them, whatever is written."""
        self._box.tell("bent", fields)

    def rows_of_all(self) -> JSON:
        return {stream: self.rows(stream) for stream in STREAMS}

    def die(self, at: str, times: int) -> None:
        """So many calls end when they come to this point; what they did up to there is done."""
        self._box.tell("crash", {"at": at, "times": times})


@contextmanager
def simulated() -> Iterator[Simulated]:
    with serve(Portal(role="box")) as running:
        yield Simulated(running)


@contextmanager
def php() -> Iterator[Php]:
    with php_box() as box:
        yield Php(box)


def at_ten() -> datetime:
    return datetime(2026, 11, 15, 10, tzinfo=UTC)


def without_times(held: JSON) -> JSON:
    for stream in STREAMS:
        for record in held[stream]["dump"]:
            del record["imported_at"]
    return held


def plain(value: object) -> JSON:
    """As it would come over a wire."""
    return json.loads(json.dumps(value, default=str))
