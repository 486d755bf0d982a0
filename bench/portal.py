"""The portals of the benchmarks: b24sim, with rows prepared so that the portal is never what is measured.

Half a million users or deals would take the simulator a minute to write out. Here a thousand are grown, and every
further one is a copy of one of them under its own id (and e-mail). Nobody has a picture and no deal a file: files are
only there where they are what is measured, in chats, and `--file-bytes` says how large they are.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from zlib import crc32

from b24sim import portal as costs
from b24sim.app import CONTROL, App
from b24sim.company import (
    activities,
    company,
    crm_clients,
    crm_deals,
    crm_invoices,
    crm_leads,
    crm_quotes,
    crm_smart,
    feed_files,
    tasks_checklists,
    tasks_comments,
    tasks_rows,
)
from b24sim.company.activity_rows import activity_row
from b24sim.company.chats import Chat
from b24sim.company.crm import Items
from b24sim.company.crm_ids import DEAL, LEAD, QUOTE, SMART_INVOICE
from b24sim.company.files import File, file_of
from b24sim.company.timeline import Timeline
from b24sim.http import Message, Receive, Scope, Send
from b24sim.options import parser
from b24sim.portal import Portal
from b24sim.portal_setup import portal_from
from b24sim.serve import serve
from b24sim.table import Row, Table

GROWN = 1_000
PICTURES = ("previewPicture", "detailPicture", "property115")


class Copies(Table):
    """Rows 1 to `count`, of which the first thousand are genuine."""

    def __init__(self, genuine: Table, count: int) -> None:
        self.ids: range = range(1, count + 1)  # type: ignore[assignment]
        self.version = 0
        self._no_order = (-1, [])
        self._genuine = genuine
        self._patterns = [_pattern(genuine, number) for number in genuine.ids]

    def row(self, number: int) -> Row:
        row: Row = json.loads(self.encoded(number))
        return row

    def encoded(self, number: int) -> bytes:
        return self._patterns[number % len(self._patterns)] % {b"n": number}

    def forget_encodings(self) -> None:
        pass

    def __contains__(self, number: int) -> bool:
        return number in self.ids

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids)


def _pattern(table: Table, number: int) -> bytes:
    text = table.encoded(number).replace(b"%", b"%%")
    text = re.sub(rb'"ID":"\d+"', rb'"ID":"%(n)d"', text, count=1)
    return re.sub(rb'"EMAIL":"[^"]*"', rb'"EMAIL":"user%(n)d@example.org"', text, count=1)


def multiplied(portal: Portal, users: int) -> None:
    portal.company.users = Copies(portal.company.users, users)


def copied_items(items: Items) -> None:
    """Records above a thousand; the product rows of each are its own."""
    genuine = items.plain
    grown = items.ids[:GROWN]
    texts = [text.replace(b"%", b"%%") for text in map(genuine, grown) if text is not None]
    patterns = [re.sub(rb'"id":\d+', rb'"id":%(n)d', text, count=1) for text in texts]

    def plain(number: int) -> bytes | None:
        return genuine(number) if number <= grown[-1] else patterns[number % len(patterns)] % {b"n": number}

    items.plain = plain  # type: ignore[method-assign]


def scattered_kinds() -> None:
    """Activities of all kinds in no order: there are as many of each among any."""
    activities.activity_row = lambda number, _, **named: activity_row(number, crc32(b"%d" % number), **named)  # type: ignore[attr-defined]


def many_schedules(portal: Portal, count: int) -> None:
    """Of recurring deals, whose templates nobody reads."""
    schedules = portal.company.schedules
    schedules.table = Table(range(1, count + 1), lambda number: schedules._row(number, number % 40, number, 0))


def without_pictures(portal: Portal) -> None:
    Chat.has_avatar = property(lambda _: False)  # type: ignore[assignment, method-assign]
    for rows, picture in ((portal.company.users, "PERSONAL_PHOTO"), (portal.company.groups, "IMAGE")):
        rows._make = _without(picture, rows._make)
    for module in (crm_deals, crm_leads, crm_quotes, crm_invoices):
        module.files_of = lambda *_: {}  # type: ignore[attr-defined]
    crm_quotes.attached = lambda *_: []
    activities.files_of_place = lambda place: ()  # type: ignore[attr-defined]  # noqa: ARG005
    activities.has_recording = lambda call: False  # noqa: ARG005
    activities.call_row = _emptied(("CALL_RECORD_URL",), activities.call_row)  # type: ignore[attr-defined]
    Timeline._files = lambda *_: []  # type: ignore[method-assign]
    for rows in portal.company.catalog.products.values():
        rows._make = _emptied(PICTURES, rows._make)
    crm_deals.TEMPLATE_PLACE = -1  # none is a template of a recurring deal, which would be skipped


def _emptied(fields: Sequence[str], make: Callable[..., Row]) -> Callable[..., Row]:
    return lambda *args, **named: make(*args, **named) | dict.fromkeys(fields)


def _without(field: str, make: Callable[[int], Row]) -> Callable[[int], Row]:
    return lambda number: {name: value for name, value in make(number).items() if name != field}


def files_of_about(size: int) -> None:
    """Files of chats: from half as large to half as large again."""

    def large(seed: int, number: int, ordinal: int, sizes: tuple[int, ...] = ()) -> File:  # noqa: ARG001
        return File(number, file_of(seed, number, ordinal).name, size // 2 + number * 7_919 % size)

    company.file_of = large  # type: ignore[attr-defined]


def plain_tasks() -> None:
    """One task in five has one file, and no comment or checklist has any; no task has more than 20 comments."""
    tasks_comments.LONG_TALK = 20
    tasks_rows.files_of = lambda company, place: int(place % 5 == 0)  # noqa: ARG005
    tasks_comments.has_file = lambda *_: False
    tasks_checklists.has_file = lambda *_: False
    feed_files.FeedFiles.of_comment = lambda *_: []  # type: ignore[method-assign]
    for module in (crm_clients, crm_smart):
        module.files_of = lambda *_: {}  # type: ignore[attr-defined]


class Punctual(App):
    """Answers every call so many seconds after it came, whatever there was to do meanwhile."""

    service_s = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        due = time.monotonic() + self.service_s

        async def in_time(message: Message) -> None:
            if message["type"] == "http.response.start" and not scope["path"].startswith(CONTROL):
                await asyncio.sleep(due - time.monotonic())
            await send(message)

        await super().__call__(scope, receive, in_time)


def _options(arguments: list[str]) -> argparse.Namespace:
    known = parser()
    known.add_argument("--file-bytes", type=int, default=0, help="average size of a chat's file")
    known.add_argument("--genuine", action="store_true", help="no record of the CRM is a copy")
    known.add_argument("--schedules", type=int, default=0, help="schedules of recurring deals, without the deals")
    known.add_argument("--cheap-rows", action="store_true", help="what a page skips costs no execution time")
    known.add_argument("--plain-tasks", action="store_true", help="short talks; one task in five has a file")
    return known.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """As `python -m b24sim`; users and records of the CRM above a thousand are copies."""
    options = _options(arguments)
    users = options.users or 0
    if users > GROWN:
        options.users = GROWN
    Punctual.service_s, options.latency = options.latency, 0.0
    if options.plain_tasks:
        plain_tasks()
    portal = portal_from(options)
    without_pictures(portal)
    scattered_kinds()
    if options.cheap_rows:
        costs.ROW_COST_S = 0.0
    if options.schedules:
        many_schedules(portal, options.schedules)
    if options.file_bytes:
        files_of_about(options.file_bytes)
    leave = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: leave.set())
    with serve(portal, options.host, options.port, tls=options.tls, app=Punctual) as running:
        if users > GROWN:
            multiplied(portal, users)
        for kind, count in (
            (DEAL, options.deals),
            (LEAD, options.leads),
            (QUOTE, options.quotes),
            (SMART_INVOICE, options.invoices),
        ):
            if (count or 0) > GROWN and not options.genuine:
                copied_items(portal.company.crm.items[kind])
        print(json.dumps(running.ready()), flush=True)
        leave.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
