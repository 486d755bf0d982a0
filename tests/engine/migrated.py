"""A migration that is done once and taken up by many tests where it ended. Each has a store, a cloud and a box of its
own; only the two addresses are the same, since a store remembers whence and where to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.engine.world import SMALL, TALK, LeapingClock, World

from b24sim import Company, Plan, Portal, serve
from b24sim.app import App
from b24sim.imports import Imports

TakeUp = Callable[[Path], World]


class Listening(Imports):
    """Keeps the records as text, so that a change of a record does not change the next box."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.told: list[tuple[str, str]] = []

    def handle(self, method: str, body: Mapping[str, object], size: int | None = None) -> dict[str, object]:
        with self._lock:  # in the order of their effects
            answer = super().handle(method, body, size)
            self.told.append((method, json.dumps(body)))
        return answer


@contextmanager
def migrated(
    folder: Path,
    plan: Plan = SMALL,
    *,
    webhooks: Sequence[int] = (1,),
    settings: Mapping[str, Any] | None = None,
    further: Callable[[World], None] = lambda _: None,
) -> Iterator[TakeUp]:
    """`further`: what else is done once, and changes nothing in the cloud."""
    wishes = dict(settings or {"run": {"entities": list(TALK)}})
    cloud, box = App(Portal(Company(plan), webhooks=webhooks)), App(Portal(role="box"))
    box.portal.imports = heard = Listening(now=box.portal.clock.now)
    with ExitStack() as stack:
        source = stack.enter_context(serve(cloud.portal, app=lambda _: cloud))
        target = stack.enter_context(serve(box.portal, app=lambda _: box))
        first = World(source, folder, webhooks, settings=wishes, box=target)
        assert first.run().exit_code == 0
        further(first)
        events = tuple(heard.told)

        def taken_up(place: Path) -> World:
            shutil.copytree(folder, place, dirs_exist_ok=True)
            cloud.portal, box.portal = Portal(Company(plan), webhooks=webhooks), Portal(role="box")
            cloud.portal.company.settle(source.url)
            box.portal.company.settle(target.url)
            for method, body in events:
                box.portal.imports.handle(method, json.loads(body))
            clock = LeapingClock()
            clock.sleep((first.clock.now() - clock.now()).total_seconds())  # it was ahead when the migration ended
            return World(
                replace(source, portal=cloud.portal),
                place,
                webhooks,
                clock,
                list(first.seen),
                {name: dict(table) for name, table in wishes.items()},
                box=replace(target, portal=box.portal),
            )

        yield taken_up
