"""A full pass by its entities, the import of all it read, and delta passes after changes.

`python -m bench.clients.passes OPTIONS`: OPTIONS as for `ours`, with `shares`: what part of the records changes before
each delta pass.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections import Counter
from collections.abc import Sequence
from typing import Any

from b24migrate.app import App, open_app
from b24migrate.clock import SystemClock
from b24migrate.config import load
from b24migrate.model.streams import PHASES
from bench.clients.meter import say
from bench.clients.ours import Phases, asked, configured, step

IMPORT = ("custom-fields-get", "custom-fields-set", "set")
EMPTY = ("crm_companies", "crm_spitems")  # of which the company has none
APART_S = 3600  # more than the overlap of two passes, so that none reads what the one before it has read
SEED = 7
# A field or an option that goes makes its stream be read whole, at any share of changes.
WITHOUT = ("option_deleted",)


def main(options: dict[str, Any]) -> None:
    config = configured(options)
    source = options["controls"][0]
    clock = SystemClock()
    phases = Phases(clock)
    with open_app(load(config), base=config.parent, observers=(phases,), clock=clock) as app:
        read = []
        for entity, phase in options["steps"]:
            if phase == "get":  # what a mark depends on; as many requests in any pass, and counted in none
                complete(app, PHASES[:1], (entity,))
            read.append(step(app, phases, options["controls"], entity, phase))
        complete(app, PHASES[:-1], EMPTY)
        entities = (*dict.fromkeys(entity for entity, _ in options["steps"]), *EMPTY)
        complete(app, IMPORT, entities)
        deltas = [delta(app, source, share, entities) for share in options["shares"]]
    say(steps=read, deltas=deltas)


def delta(app: App, control: str, share: float, entities: tuple[str, ...]) -> dict[str, Any]:
    """Of the entities that were read, together, as `sync` does it."""
    counts: dict[str, Any] = {"streams": {}}
    if share:
        counts = wish(control, "mutate", {"days": 1, "seed": SEED, "share": share, "without": WITHOUT})
    wish(control, "clock", {"advance": APART_S})
    before = asked(control, "stats")
    complete(app, PHASES, entities, delta=True)
    after = asked(control, "stats")
    carried = Counter(after["carried"]) - Counter(before["carried"])
    commands = Counter(after["calls"]) - Counter(before["calls"])
    changes = {name: {done: len(ids) for done, ids in lists.items()} for name, lists in counts["streams"].items()}
    return {"share": share, "carried": carried, "commands": commands, "changes": changes, "notes": notes(app)}


def notes(app: App) -> list[str]:
    """Why streams were read whole."""
    from b24migrate.insight import status

    entities = status.snapshot(app.context).entities.values()
    return [str(note) for one in entities for note in one.notes if "read whole" in str(note)]


def complete(app: App, phases: Sequence[str], entities: tuple[str, ...] = (), *, delta: bool = False) -> None:
    ended = app.runner.run(app.chosen(entities), phases, delta=delta)
    if ended.exit_code not in (0, 5):
        raise SystemExit(f"{phases} ended with {ended.exit_code}: {ended.message}")


def wish(control: str, page: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode()
    request = urllib.request.Request(control + page, data, {"Content-Type": "application/json"})  # noqa: S310 (loopback)
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return json.load(answer)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
