"""A migration to the module for the box, which PHP serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.engine.every_stream import PLAN, SETTINGS, STREAMS
from tests.engine.world import Migration
from tests.php_box import PhpBox, php_box

from b24sim import Company, Portal, serve

Json = Any
KEPT = (*STREAMS, "files")


@dataclass
class PhpWorld(Migration):
    box: PhpBox = field(kw_only=True)

    @property
    def target_webhook(self) -> str:
        return self.box.webhook

    def dump(self, stream: str) -> list[dict[str, Json]]:
        return list(self.box.ask("dump", stream=stream))

    def strays(self, own: dict[str, set[str]]) -> dict[str, set[str]]:
        """Records that no key stands for, without the box's own."""
        found = self.on_the_box()
        keyed = {stream: {row["id"] for row in self.dump(stream)} for stream in KEPT}
        return {stream: rest for stream in KEPT if (rest := found[stream] - own[stream] - keyed[stream])}

    def on_the_box(self) -> dict[str, set[str]]:
        """Every record that it has, imported or not."""
        return {stream: set(self.box.ask("rows", stream=stream)) for stream in KEPT}


@contextmanager
def everything_to_php(folder: Path) -> Iterator[PhpWorld]:
    """The company of `everything`."""
    with serve(Portal(Company(PLAN), webhooks=(1, 2))) as cloud, php_box(folder) as box:
        settings = {name: dict(table) for name, table in SETTINGS.items()}
        yield PhpWorld(cloud, folder, (1, 2), settings=settings, box=box)
