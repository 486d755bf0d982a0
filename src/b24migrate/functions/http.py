"""Requests: start, pause, resume, status, a mini-task by its name, retry, errors. The words of the command line."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from b24migrate.app import App
from b24migrate.app_cache import AppCache
from b24migrate.engine import plan, requeue, undo_lock
from b24migrate.engine.plan import NoRun, Plan, Run
from b24migrate.entities.names import entity_name, mini_task
from b24migrate.insight import fidelity
from b24migrate.insight.causes import list_causes
from b24migrate.insight.status import snapshot
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, GateUnmet, Halted, MigrationError, Stop
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Json
from b24migrate.model.streams import PHASES
from b24migrate.monitor.logs import log_bug, mask_email

OK, ACCEPTED, USAGE, CONFLICT, GATE, CONFIGURATION, BUG, UNAVAILABLE = 200, 202, 400, 409, 412, 422, 500, 503


class Reply(NamedTuple):
    status: int
    body: Mapping[str, Json]


@prepared
class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of `start`; without them the configuration decides."""

    entities: list[str] = []
    phases: list[str] = []
    test_limit: int | None = None
    accept_fidelity: bool = False  # what the target does not keep


@prepared
class Limit(msgspec.Struct, forbid_unknown_fields=True):
    test_limit: int | None = None


@prepared
class RetryWish(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of `retry`; without them everything that failed."""

    entities: list[str] = []
    scope: str = ""
    code: str = ""


# ---------------------------------------------------------------- what may be asked


def start(keeper: AppCache, body: bytes) -> Reply:
    """Looks at both portals, makes the plan, puts the first jobs on the queue. A run of the same plan that is under
    way or has stopped goes on."""

    def act(app: App) -> Reply:
        wish = _read(body, Wish)
        names = [entity_name(name, app.catalog) for name in wish.entities]
        if wish.accept_fidelity:
            rules = fidelity.relevant_rules(app.context, fidelity.ask_target(app.context), app.chosen(tuple(names)))
            fidelity.accept(app.context, rules, say("work.by_request"))
        limit = _limit(app, wish.test_limit)
        together = names and not wish.phases
        chosen = app.chosen_together(names) if together else app.chosen(names)
        wanted = Plan(tuple(chosen), tuple(_phases(wish.phases)), limit)
        return _begin_run(app, wanted, named=names)

    return _answer(keeper, act, fresh=True)


def do(keeper: AppCache, task: str, body: bytes) -> Reply:
    """One mini-task."""

    def act(app: App) -> Reply:
        entity, phase = mini_task(task, app.catalog)
        limit = _limit(app, _read(body, Limit).test_limit)
        return _begin_run(app, Plan((entity,), (phase,), limit), named=[entity])

    return _answer(keeper, act, fresh=True)


def pause(keeper: AppCache) -> Reply:
    """Pauses the run: running jobs finish, no other starts. Messages that arrive during the pause are removed; `resume`
    sends new ones for the remaining jobs."""

    def act(app: App) -> Reply:
        run = plan.pause(app.context.store, app.context.clock, say("work.by_request"))
        if run is None:
            raise NoRun(say("work.nothing_to_pause"), code=plan.NO_RUN, hint=say("work.see_status"))
        return Reply(OK, {"run": run.id, "state": run.state, "message": run.message})

    return _answer(keeper, act)


def resume(keeper: AppCache) -> Reply:
    """Goes on with the current run, whatever its plan is: one that is paused, or has stopped."""

    def act(app: App) -> Reply:
        wanted = plan.resumable_run(app.context.store).plan
        return _begin_run(app, wanted, named=wanted.entities)

    return _answer(keeper, act, fresh=True)


def status(keeper: AppCache) -> Reply:
    """How far everything is, and how the run ended or why it stopped."""

    def act(app: App) -> Reply:
        run = plan.current(app.context.store)
        state = "none" if run is None else "stopped" if _has_stopped(run) else run.state
        ending = {"exit_code": run.exit_code if run else None, "message": run.message if run else ""}
        return Reply(OK, {**snapshot(app.context).to_json(), "state": state, **ending})

    return _answer(keeper, act)


def errors(keeper: AppCache) -> Reply:
    """Errors grouped by cause, each with its fix."""
    return _answer(keeper, lambda app: Reply(OK, {"errors": [cause.to_json() for cause in list_causes(app.context)]}))


def retry(keeper: AppCache, body: bytes) -> Reply:
    """Puts what failed back to work."""

    def act(app: App) -> Reply:
        wish = _read(body, RetryWish)
        names = [entity_name(name, app.catalog) for name in wish.entities]
        names += [mini_task(wish.scope, app.catalog)[0]] if wish.scope else []
        names = names or _list_retryable(app)
        _refuse_other_entities(app, names)
        renewed = requeue.requeue(app.context, names, wish.code)
        counts = {"records": renewed.records, "files": renewed.files, "parts": renewed.parts}
        if not renewed:
            return Reply(OK, {**counts, "message": say("work.nothing_to_retry")})
        wanted = requeue.reopen_plan(app.context, renewed)
        reply = _begin_run(app, wanted, named=wanted.entities)
        return Reply(reply.status, {**reply.body, **counts})

    return _answer(keeper, act, fresh=True)


# ---------------------------------------------------------------- what they have in common


def _limit(app: App, wished: int | None) -> int:
    return app.context.options.test_limit if wished is None else wished


def _begin_run(app: App, wanted: Plan, *, named: Sequence[str]) -> Reply:
    planned = {*app.planned(), *named}  # as far as the last check of both portals shows
    ordered = tuple(one.name for one in app.catalog.entities if one.name in wanted.entities and one.name in planned)
    _refuse_second_run(app, replace(wanted, entities=ordered))
    run = app.runner.begin(wanted, named=named)
    app.context.queue.tend(now=app.context.clock.now())  # jobs of a stopped run
    if app.runner.conductor(run).step():
        app.runner.conclude(run)
    return Reply(ACCEPTED, {"run": run.id, "entities": list(run.plan.entities), "phases": list(run.plan.phases)})


def _refuse_second_run(app: App, wanted: Plan) -> None:
    run = plan.current(app.context.store)
    if run is None:
        return
    begun = datetime.fromisoformat(run.started) if run.started else app.context.clock.now()
    beginning = run.state == plan.BEGINNING and app.context.clock.now() - begun < timedelta(seconds=plan.BEGINNING_S)
    if beginning or (run.under_way and run.plan != wanted):
        raise _under_way_error(run)


def _refuse_other_entities(app: App, names: Sequence[str]) -> None:
    """During a run only entities of its plan can be retried."""
    run = plan.current(app.context.store)
    if run is not None and run.under_way and not set(names) <= set(run.plan.entities):
        raise _under_way_error(run)


def _list_retryable(app: App) -> list[str]:
    run = plan.current(app.context.store)
    return list(run.plan.entities) if run is not None and run.under_way else [one.name for one in app.catalog.entities]


def _under_way_error(run: Run) -> Halted:
    hint = say("work.other_plan_fix")
    return Halted(say("work.other_plan", id=run.id), code=plan.UNDER_WAY, hint=hint)


def _has_stopped(run: Run) -> bool:
    return run.state == plan.ACTIVE and not run.under_way


def _phases(names: Sequence[str]) -> Sequence[str]:
    unknown = [name for name in names if name not in PHASES]
    if unknown:
        hint = say("cli.valid", names=list(PHASES))
        raise BadConfiguration(say("settings.no_phase", name=unknown[0]), hint=hint, code="USAGE")
    return [phase for phase in PHASES if phase in names] or PHASES


def _read(body: bytes, shape: type[msgspec.Struct]) -> Json:
    try:
        read = msgspec.json.decode(body.strip() or b"{}", type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        text = say("settings.bad_body", error=error)
        hint = say("settings.bad_body_fix", names=", ".join(shape.__struct_fields__))
        raise BadConfiguration(text, hint=hint, code="USAGE") from None
    if getattr(read, "test_limit", None) is not None and read.test_limit < 0:  # type: ignore[attr-defined]
        raise BadConfiguration(say("settings.negative_limit"), hint=say("settings.zero_means_all"), code="USAGE")
    return read


# ---------------------------------------------------------------- how it is answered


def _answer(keeper: AppCache, act: Callable[[App], Reply], *, fresh: bool = False) -> Reply:
    """Never raises; no secret and no traceback leaves."""
    redact: Callable[[str], str] = str
    try:
        with keeper.app(fresh=fresh) as app:
            redact = app.settings.redactor.redact
            return _clean(act(app), redact)
    except MigrationError as error:
        problem = {"code": error.code, "message": error.message, "hint": error.hint}
        exit_code = {"exit_code": error.exit_code} if isinstance(error, Stop) else {}
        return _clean(Reply(_status_of(error), {**problem, **exit_code}), redact)
    except Exception as bug:  # noqa: BLE001 - the one place where a bug becomes an answer
        reference = secrets.token_hex(4)
        log_bug(bug, redact, reference=reference)
        message = say("web.bug", reference=reference)
        return Reply(BUG, {"code": "BUG", "message": message, "reference": reference})


def _status_of(error: MigrationError) -> int:
    if error.code == "USAGE":
        return USAGE
    if error.code in (plan.UNDER_WAY, plan.ON_PAUSE, plan.NO_RUN, undo_lock.UNDER_WAY):
        return CONFLICT
    kinds = {BadConfiguration: CONFIGURATION, GateUnmet: GATE}
    return kinds.get(type(error), UNAVAILABLE)


def _clean(reply: Reply, redact: Callable[[str], str]) -> Reply:
    body: Mapping[str, Json] = json.loads(mask_email(redact(json.dumps(reply.body, ensure_ascii=False))))
    return Reply(reply.status, body)
