"""The source: a portal that is only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

from b24migrate.bitrix.batch import Batcher
from b24migrate.bitrix.children import ChildrenReader
from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.download import Downloads
from b24migrate.bitrix.keyset import KeysetReader
from b24migrate.bitrix.methods import only_reads
from b24migrate.bitrix.newest_first import PageHabits
from b24migrate.bitrix.pages import OffsetReader
from b24migrate.model.readings import Gather, Keyset, Listing, PerParent, Progress, Whole
from b24migrate.model.records import Args, Page
from b24migrate.model.streams import Habits
from b24migrate.ports import Answer, Billing, Command, Download, Part

_SEGMENTS = 4  # as many as there are workers: the last request of each is seldom full


class BitrixSource:
    """The port `Source` over one or more webhooks of one portal."""

    def __init__(self, portal: Portal, *, segments: int = _SEGMENTS) -> None:
        self._portal = portal
        self._batcher = Batcher(portal)
        self._downloads = Downloads(portal)
        self._segments = segments
        self._spelling: dict[str, tuple[str, ...]] = {}
        self._habits: dict[tuple[str, str], PageHabits] = {}
        self.habits: Habits = {}

    def page(self, reading: Listing | Gather, cursor: Args, *, limit: int = 0, gently: bool = False) -> Page:
        if isinstance(reading, Gather):
            return reading.read(self, cursor, limit)
        return self._reader(reading).read(cursor, limit=limit, gently=gently)

    def children(
        self, reading: PerParent, progress: Sequence[Progress], *, one_page: bool = False, gently: bool = False
    ) -> Page:
        only_reads(reading.method)
        habits = self._habits.setdefault((reading.of, reading.method), PageHabits())
        reader = ChildrenReader(self._batcher, reading, self.owners, habits, self._spelling)
        return reader.read(progress, one_page=one_page, gently=gently)

    def count(self, reading: Listing) -> int | None:
        return self._reader(reading).count()

    def call(self, method: str, params: Args, *, via: int = 0) -> Answer:
        only_reads(method)
        return self._batcher.patiently(self._batcher.single, Command(method, params), via=via)

    def batch(self, commands: Sequence[Command], *, via: int = 0) -> list[Answer]:
        for command in commands:
            only_reads(command.method)
        return self._batcher.run(commands, via=via) if commands else []

    def download(self, url: str, out: BinaryIO, *, limit: int) -> tuple[int, str]:
        return self._downloads.fetch(url, out, limit=limit)[:2]

    def resume(
        self, url: str, part: Part, *, limit: int, enough: Callable[[], bool] = lambda: False
    ) -> Download | None:
        return self._downloads.resume(url, part, limit=limit, enough=enough)

    @property
    def owners(self) -> Sequence[str]:
        return [str(webhook.user) for webhook in self._portal.webhooks]

    @property
    def billing(self) -> Billing | None:
        return self._portal.governor.billing

    def alive(self) -> bool:
        return self._portal.alive()

    def _reader(self, reading: Listing) -> KeysetReader | OffsetReader:
        only_reads(reading.method)
        if isinstance(reading.paging, Keyset):
            return KeysetReader(self._batcher, reading, reading.paging, segments=self._segments)
        return OffsetReader(self._batcher, reading, whole=isinstance(reading.paging, Whole))
