"""A store is moved in the middle of a migration, which goes on in the copy as if nothing had been."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from tests import azurite
from tests.engine.world import World, small, world

from b24migrate.app import App, copy_store
from b24migrate.insight import status
from b24migrate.model.errors import Halted
from b24migrate.model.events import Event, Extracted, FileMoved, Sent
from b24migrate.model.records import Json
from b24migrate.model.streams import PHASES


class PulledPlug(list[tuple[datetime, Event]]):
    """Halts the run at the n-th event of a kind."""

    def __init__(self, kind: type[Event], number: int) -> None:
        super().__init__()
        self._kind = kind
        self._left = number

    def append(self, event: tuple[datetime, Event]) -> None:
        super().append(event)
        if isinstance(event[1], self._kind):
            self._left -= 1
            if self._left == 0:
                raise Halted("The plug was pulled.")


def run(made: World, url: str) -> int:
    with made.app(store={"url": url}) as app:
        return app.runner.run(app.chosen(()), PHASES, tick=lambda: leap(made, app)).exit_code


def leap(made: World, app: App) -> None:
    """To the next job that becomes visible, when no worker is at one, whatever the store is."""
    waiting = app.context.queue.jobs()
    due = [one.visible_at for one in waiting if one.visible_at]
    if due and len(due) == len(waiting) and not any(one.held for one in waiting):
        made.clock.sleep((min(due) - made.clock.now()).total_seconds())


def numbers(made: World, url: str) -> dict[str, Json]:
    """What a certificate speaks of."""
    with made.app(store={"url": url}) as app:
        snapshot = status.snapshot(app.context).to_json()["entities"]
        store = app.context.store
        counters = {
            name: value
            for name, value in store.counters().items()
            if value and not name.startswith(("limit_wait:", "retries:", "pace:", "spent:"))
        }
        links = {name: sorted(link.source_id for link in store.all_links(name)) for name in app.context.streams}
        return {"status": snapshot, "counters": counters, "links": links, "open": len(app.context.queue.jobs())}


# Azurite takes seconds for what SQLite does in a moment: enough to be stopped at, and no more.
FEW = small(users=6, departments=2, groups=2, chats=3, messages=30, files=3)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Json], dict[str, tuple[int, int]]]:
    """The numbers, and what was done to the box, of a migration that stays where it is."""
    with world(tmp_path_factory.mktemp("still"), FEW) as still:
        assert run(still, FIRST) == 0
        return numbers(still, FIRST), still.effects()


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, FEW) as one:
        yield one


FIRST = "sqlite:///first.db"
LAPTOP, COPY, CLOUD = (lambda: FIRST), (lambda: "sqlite:///copy.db"), azurite.url


@pytest.mark.parametrize(
    ("begun", "continued", "kind", "number"),
    [
        pytest.param(LAPTOP, COPY, Extracted, 3, id="laptop-laptop-reading"),
        pytest.param(LAPTOP, COPY, FileMoved, 2, id="laptop-laptop-fetching"),
        pytest.param(LAPTOP, COPY, Sent, 2, id="laptop-laptop-sending"),
        pytest.param(LAPTOP, COPY, Sent, 5, id="laptop-laptop-late"),
        pytest.param(LAPTOP, CLOUD, Sent, 2, id="laptop-azure-sending"),
        pytest.param(CLOUD, COPY, Sent, 2, id="azure-laptop-sending", marks=pytest.mark.slow),
    ],
)
def test_a_migration_goes_on_in_the_copy(
    made: World,
    undisturbed: tuple[dict[str, Json], dict[str, tuple[int, int]]],
    *,
    begun: Callable[[], str],
    continued: Callable[[], str],
    kind: type[Event],
    number: int,
) -> None:
    first = begun()
    made.seen = PulledPlug(kind, number)
    with pytest.raises(Halted, match="plug"):
        run(made, first)
    made.seen = []
    half = numbers(made, first)
    assert half["open"] > 0
    copied = copy_store(first, continued(), base=made.folder, clock=made.clock)
    assert copied.equal, [line for line in copied.lines if not line.equal]
    assert numbers(made, copied.to) == half
    assert run(made, copied.to) == 0
    assert (numbers(made, copied.to), made.effects()) == undisturbed
    assert made.box.portal.imports.order_violations == 0
    assert numbers(made, first) == half  # nobody touched it
