"""Checks the source's behavior in cases that are undocumented or contradictory, and keeps the results (docs/probe.md).

The families define the probes. Each probe has a few commands; a round of all probes is one request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from b24migrate import __version__
from b24migrate.engine.doctor import wait_for_limits
from b24migrate.engine.phases.context import RunContext
from b24migrate.model.errors import MigrationError
from b24migrate.model.records import Json
from b24migrate.model.streams import Asking, Entity, Habits, Probe
from b24migrate.ports import ANALYSIS, Answer, Clock, Command, RegisterRow, Source, Store

KEY = "probe"
FORMAT, VERSION = "b24migrate-probe", 1
FRESH = timedelta(days=1)  # a run asks again after this time
WAITED_S = 10.0  # for limits, at the start of a run: it can do without the answers
# No method returns module versions; one module has a revision (api-reference/chats/im-revision-get.md).
MODULES = ("main", "rest", "im", "crm", "tasks", "socialnetwork", "disk", "bizproc")
REVISIONS = {"im_rest": "rest", "im_web": "web", "im_mobile": "mobile", "im_desktop": "desktop"}
PLANS = ("project", "free", "demo", "basic", "start", "std", "pro", "ent", "team", "company", "crm", "tf", "selfhosted")


def probe_source(context: RunContext, entities: Sequence[Entity]) -> None:
    """For a run: asks unless it is known. A probe that fails stops nothing."""
    known = context.store.read(ANALYSIS, KEY)
    probes = all_probes(entities)
    keys = {key for probe in probes for key in probe.values}
    if (
        known is None
        or not keys <= set(known.values["Data"]["answers"])
        or _is_old(known.values["Data"], context.clock)
    ):
        with suppress(MigrationError):
            ask(context, probes)
    load_habits(context)


def load_habits(context: RunContext) -> None:
    """Passes the stored results to the source's readers."""
    context.source.habits = {key: value for key, value in load(context.store).items() if value is not None}


def ask(context: RunContext, probes: Sequence[Probe], *, wide: bool = False) -> None:
    """Asks now and keeps the answers. Raises MigrationError."""
    found = ask_probes(context.source, probes, context.clock, wide=wide) | {"billing": context.source.billing}
    # A thorough probe may have seen what a quick one does not.
    fresh = found if wide else {key: value for key, value in found.items() if value is not None}
    kept = dict.fromkeys(found) | load(context.store) | fresh
    at = context.clock.now().isoformat()
    context.store.write(ANALYSIS, [RegisterRow(KEY, {"Data": {"asked_at": at, "answers": kept}})])


def load(store: Store) -> dict[str, str | int | None]:
    row = store.read(ANALYSIS, KEY)
    return dict(row.values["Data"]["answers"]) if row is not None else {}


def all_probes(entities: Iterable[Entity]) -> list[Probe]:
    return list(dict.fromkeys(probe for entity in entities for probe in entity.habits))


def ask_probes(source: Source, probes: Sequence[Probe], clock: Clock, *, wide: bool) -> dict[str, str | int | None]:
    """One request for each round, as long as its commands fit. Raises what the source raises for a whole request."""
    found: dict[str, str | int | None] = {key: None for probe in probes for key in probe.values}
    waiting = [(probe, asking, next(asking)) for probe in probes for asking in (probe.ask(wide),)]
    while waiting:
        commands = [command for _, _, wanted in waiting for command in wanted]
        ask = partial(source.batch, commands)
        got = wait_for_limits(clock, ask) if wide else wait_for_limits(clock, ask, most_s=WAITED_S)
        further: list[tuple[Probe, Asking, Sequence[Command]]] = []
        for probe, asking, wanted in waiting:
            mine, got = got[: len(wanted)], got[len(wanted) :]
            following, habits = _step(asking, mine)
            found.update(_allowed(probe, habits))
            further += [] if following is None else [(probe, asking, following)]
        waiting = further
    return found


def _step(asking: Asking, mine: Sequence[Answer]) -> tuple[Sequence[Command] | None, Habits]:
    try:
        return asking.send(mine), {}
    except StopIteration as end:
        return None, end.value
    except (LookupError, TypeError, ValueError, AttributeError):
        return None, {}  # an answer of unknown shape shows nothing


def _allowed(probe: Probe, habits: Habits) -> dict[str, str | int | None]:
    """Keeps only the listed values: no name or ID passes."""
    return {
        key: value
        for key, value in habits.items()
        if not isinstance(value, bool) and value is not None and value in probe.values[key]
    }


def _is_old(kept: Mapping[str, Json], clock: Clock) -> bool:
    return abs(clock.now() - datetime.fromisoformat(kept["asked_at"])) >= FRESH


# ---------------------------------------------------------------- every portal: versions, plan


def _ask_portal(_: bool) -> Asking:
    revision, about = yield [Command("im.revision.get", {}), Command("app.info", {})]
    numbers, application = (_object(answer) for answer in (revision, about))
    # A webhook may be refused here: then the plan is not known (api-reference/common/system/app-info.md).
    plan = re.fullmatch(r"[a-z]{2,3}_([a-z]+)\d*", str(application.get("LICENSE") or ""))
    return {**{key: numbers.get(name) for key, name in REVISIONS.items()}, "plan": plan[1] if plan else None}


def _object(answer: Answer) -> Mapping[str, Json]:
    found = answer.known()
    return found if isinstance(found, dict) else {}


PORTAL = Probe({**dict.fromkeys(REVISIONS, range(100_000)), "plan": PLANS}, _ask_portal)


# ---------------------------------------------------------------- the file


def probe_document(context: RunContext, methods: Mapping[str, bool]) -> dict[str, Json]:
    """The answers so far, for a file: numbers and fixed words only. b24sim simulates them (`--like`)."""
    kept = load(context.store)
    revisions = {name: kept.get(key) for key, name in REVISIONS.items()}
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": __version__,
        "date": context.clock.now().date().isoformat(),
        "plan": kept.get("plan"),
        "modules": {name: revisions if name == "im" and any(revisions.values()) else None for name in MODULES},
        "answers": {key: value for key, value in sorted(kept.items()) if key not in PORTAL.values},
        "methods": dict(sorted(methods.items())),
    }
