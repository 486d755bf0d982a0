"""Asks both ends and the store whether a migration can begin. Every complaint names its fix."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from zoneinfo import ZoneInfo

from b24migrate.engine import optional
from b24migrate.engine.diagnosis import Check, Diagnosis, Facts, alike_gate
from b24migrate.messages import say
from b24migrate.model.errors import NO_SUCH_METHOD, GateUnmet, Limited, MigrationError, Permanent, Transient
from b24migrate.model.records import Args, Json
from b24migrate.model.streams import Entity
from b24migrate.ports import ANALYSIS, Answer, Clock, Command, RegisterRow, Source, Store, Target, TargetInfo

CONTRACT = 1
WORST_SKEW = timedelta(minutes=5)
LEAST_FREE_BYTES = 1_000_000_000
DELAYS_S = (0.0, 1.0, 2.0)
LIMITS_WAITED = 20
SELFTEST = say("doctor.name.box")  # prefix of its checks
SELFTEST_WAIT_S = 5.0  # for another self-test to end, besides the time that the box waits for it: two minutes in all
PROBES = ("server.time", "profile", "user.admin", "scope")

Said = TypeVar("Said")
WITHOUT_MODULE = say("target.install")


def examine(
    source: Source,
    target: Target,
    store: Store,
    entities: Sequence[Entity],
    *,
    timezone: ZoneInfo,
    clock: Clock,
    named: Collection[str] = (),
) -> Diagnosis:
    """Runs every check for these entities. Optional ones that were not named are skipped if a portal lacks a
    requirement. Never raises because of a portal's answer."""
    checks = list(_storage(store, clock))
    unnamed = optional.list_unnamed(entities, named)
    answered, info = _target(target, [one for one in entities if one not in unnamed], clock)
    untaken = optional.find_without_target(unnamed, info.streams) if info is not None else {}
    wanted = [one for one in entities if one.name not in untaken]
    asked, facts, told = _source(source, wanted, [one for one in wanted if one in unnamed], timezone, clock)
    checks += [*asked, *answered]
    left_out = {**untaken, **facts.left_out}
    compared = [one for one in wanted if one.name not in left_out] if info is not None else []
    unlike = _compare(target, compared, told, clock)
    checks += [Check(name, False, *said, alike_gate(name), name, fatal=True) for name, said in unlike.items()]
    checks += optional.list_checks(left_out)
    checks += [_check_served(one, info) for one in unnamed if info is not None and one.name not in left_out]
    at = clock.now().isoformat()
    learned = replace(facts, owners=tuple(source.owners), at=at, left_out=left_out, unlike=unlike)
    if info is not None:
        learned = replace(learned, served=info.entities, server=info.server, lacks=info.lacks, streams=info.streams)
    return Diagnosis(tuple(checks), learned)


# ---------------------------------------------------------------- the store


def _storage(store: Store, clock: Clock) -> Iterator[Check]:
    gate = "infra.storage.ready"
    try:
        about = store.describe()
        store.write(ANALYSIS, [RegisterRow("storage", {"Data": {"ready_at": clock.now().isoformat()}})])
    except MigrationError as error:
        fix = error.hint or say("doctor.store_fix")
        yield Check(say("doctor.name.store"), False, error.message, fix, gate, fatal=True, code=error.code)
        return
    yield Check(
        say("doctor.name.store"),
        True,
        say("doctor.store_ready", what=f"{about.get('kind', '')} {about.get('place', '')}".strip()),
        gate=gate,
    )
    free = about.get("free_bytes")
    if isinstance(free, int):
        enough = free >= LEAST_FREE_BYTES
        message = say("doctor.free", size=free / 1e9)
        yield Check(say("doctor.name.disk"), enough, message, "" if enough else say("doctor.free_fix"))


# ---------------------------------------------------------------- the source


def _source(
    source: Source, entities: Sequence[Entity], unnamed: Sequence[Entity], timezone: ZoneInfo, clock: Clock
) -> tuple[list[Check], Facts, dict[str, Json]]:
    """`unnamed`: entities that may be skipped. Also returns the source's answers to the questions for both portals."""
    needs, trials = _methods_to_call(entities), optional.list_calls(unnamed)
    both = list(dict.fromkeys(one.method for entity in entities for one in entity.alike))
    commands = [Command(name, {}) for name in PROBES]
    commands += [Command("method.get", {"name": name.lower()}) for name in needs]
    commands += [Command(name, params) for name, params in needs.items()]
    commands += [*trials, *(Command(name, {}) for name in both)]
    try:
        answers = wait_for_limits(clock, lambda: source.batch(commands))
    except MigrationError as error:
        return [refusal_check("source", error, "auth.cloud")], Facts(), {}
    told = {name: answer.known() for name, answer in zip(both, answers[len(commands) - len(both) :], strict=True)}
    answers = answers[: len(commands) - len(both)]
    probes = dict(zip(PROBES, answers, strict=False))
    checks = [_check_reached(probes)]
    checks += _clock(probes["server.time"].known(), timezone, clock)
    admin = _admin(probes["profile"].known(), probes["user.admin"].known())
    checks.append(_admin_check(admin))
    scopes = _scopes(probes["scope"].known())
    left_out = optional.find_without_methods(unnamed, trials, answers[len(answers) - len(trials) :])
    left_out |= optional.find_without_scope(unnamed, scopes)
    entities = [one for one in entities if one.name not in left_out]
    for entity in entities:
        checks += _scope_checks(entity, scopes)
        if admin is False and entity.needs_admin:
            checks.append(_incomplete_check(entity))
    unfit: dict[str, str] = {}
    for via in range(1, len(source.owners)):
        checks += _check_other_webhook(source, via, entities, clock, unfit)
    descriptions, called = (answers[len(PROBES) + start :][: len(needs)] for start in (0, len(needs)))
    found = {name: _exists(one.known(), call) for name, one, call in zip(needs, descriptions, called, strict=True)}
    methods = {name: exists for name, exists in found.items() if exists is not None}
    granted = tuple(sorted(scopes)) if scopes is not None else None
    ahead_s, zone_s = _compare_clocks(probes["server.time"].known(), probes["profile"].known(), clock)
    facts = Facts(granted, admin, methods, unfit=unfit, called=True, ahead_s=ahead_s, zone_s=zone_s, left_out=left_out)
    return checks, facts, told


def _check_reached(answers: Mapping[str, Answer]) -> Check:
    """A portal without any of the probes may still have the required methods, so this is only a warning."""
    if any(answer.error is None for answer in answers.values()):
        return Check(say("doctor.name.source"), True, say("doctor.reached"))
    first = answers[PROBES[0]].error
    return Check(
        say("doctor.name.source"),
        False,
        say("doctor.no_probe", why=first.sentence if isinstance(first, MigrationError) else ""),
        say("doctor.no_probe_fix"),
        code=getattr(first, "code", ""),
    )


def _clock(server_time: Json, timezone: ZoneInfo, clock: Clock) -> Iterator[Check]:
    try:
        theirs = datetime.fromisoformat(str(server_time))
    except ValueError:
        theirs = None
    if theirs is None or theirs.tzinfo is None:
        message = say("doctor.no_time")
        yield Check(say("doctor.name.clock"), False, message, say("doctor.no_time_fix"))
        return
    skew = abs(theirs - clock.now())
    near = skew <= WORST_SKEW
    message = say("doctor.skew", seconds=skew.total_seconds())
    yield Check(say("doctor.name.clock"), near, message, "" if near else say("doctor.skew_fix"))
    here = theirs.astimezone(timezone)
    same = here.utcoffset() == theirs.utcoffset()
    message = (
        say("doctor.zone", zone=timezone.key)
        if same
        else say("doctor.zone_differs", theirs=f"{theirs:%z}", zone=timezone.key, here=f"{here:%z}")
    )
    fix = "" if same else say("doctor.zone_fix")
    yield Check(say("doctor.name.zone"), same, message, fix)


def _compare_clocks(server_time: Json, profile: Json, clock: Clock) -> tuple[float, int | None]:
    """The seconds by which the portal's clock is ahead of ours, and the owner's zone of the server's. `profile` returns
    the owner's offset from UTC. None: it does not."""
    try:
        theirs = datetime.fromisoformat(str(server_time))
        offset = theirs.utcoffset()
        ahead_s = (theirs - clock.now()).total_seconds()
    except (ValueError, TypeError):
        return 0.0, None
    try:
        own = int(profile["TIME_ZONE_OFFSET"])
    except (KeyError, TypeError, ValueError):
        return ahead_s, None
    return ahead_s, None if offset is None else own - int(offset.total_seconds())


def _admin(profile: Json, user_admin: Json) -> bool | None:
    if isinstance(profile, dict) and "ADMIN" in profile:
        return profile["ADMIN"] in (True, "Y", "1", 1, "true")
    return user_admin if isinstance(user_admin, bool) else None


def _incomplete_check(entity: Entity) -> Check:
    """A list with gaps that do not show is the one thing that must not happen."""
    message = say("doctor.incomplete", entity=entity.name)
    fix = say("doctor.admin_fix")
    return Check(
        say("doctor.name.rights", entity=entity.name),
        False,
        message,
        fix,
        f"auth.cloud.{entity.name}",
        entity.name,
        fatal=True,
    )


def _admin_check(admin: bool | None) -> Check:
    if admin:
        return Check(say("doctor.name.admin"), True, say("doctor.admin"))
    message = say("doctor.admin_unknown") if admin is None else say("doctor.no_admin")
    return Check(say("doctor.name.admin"), False, message, say("doctor.admin_fix"))


def _scopes(names: Json) -> frozenset[str] | None:
    return frozenset(map(str, names)) if isinstance(names, list) else None


def _scope_checks(entity: Entity, scopes: frozenset[str] | None) -> Iterator[Check]:
    name = say("doctor.name.scopes", entity=entity.name)
    if scopes is None:
        wanted = ", ".join(entity.scopes)
        yield Check(
            name, False, say("doctor.scopes_unknown"), say("doctor.scopes_unknown_fix", scopes=wanted), "", entity.name
        )
        return
    gate = f"auth.cloud.{entity.name}"
    missing = ", ".join(f"`{scope}`" for scope in entity.scopes if scope not in scopes)
    if missing:
        message = say("doctor.scope", scopes=missing, entity=entity.name)
        fix = say("doctor.scope_fix", scopes=missing)
        yield Check(name, False, message, fix, gate, entity.name, fatal=True, code="insufficient_scope")
    else:
        yield Check(name, True, say("doctor.granted", scopes=list(entity.scopes)), "", gate, entity.name)
    for scope, loss in entity.optional_scopes.items():
        if scope not in scopes:
            message = say("doctor.optional", scope=scope, loss=loss)
            yield Check(name, False, message, say("doctor.optional_fix", scope=scope), "", entity.name)


def _check_other_webhook(
    source: Source, via: int, entities: Sequence[Entity], clock: Clock, unfit: dict[str, str]
) -> list[Check]:
    """An entity that is read through every webhook needs its scopes on every webhook."""
    name = say("doctor.name.webhook", user=source.owners[via])
    try:
        answer = wait_for_limits(clock, lambda: source.batch([Command("scope", {})], via=via))[0]
    except MigrationError as error:
        return [refusal_check(name, error, "auth.cloud")]
    scopes = _scopes(answer.known())
    checks = [Check(name, True, say("doctor.accepted"))]
    for entity in (one for one in entities if one.every_webhook and scopes is not None):
        missing = ", ".join(f"`{scope}`" for scope in entity.scopes if scope not in (scopes or ()))
        if missing:
            unfit[entity.name] = say("doctor.other_scope", webhook=name, scopes=missing, entity=entity.name)
            fix = say("doctor.other_scope_fix", scopes=missing)
            gate = f"auth.cloud.{entity.name}"
            checks.append(Check(name, False, unfit[entity.name], fix, gate, entity.name, fatal=True))
    return checks


def _methods_to_call(entities: Sequence[Entity]) -> dict[str, Args]:
    """The methods on which it depends how a stream is read, each with the parameters of a cheap call."""
    streams = [(entity, stream) for entity in entities for stream in (*entity.aids, *entity.streams)]
    readings = [(entity, reading) for entity, stream in streams for reading in (*stream.read, *stream.more)]
    calls: dict[str, Args] = {}
    for entity, reading in readings:
        for name in filter(None, (reading.needs, reading.without)):
            calls.setdefault(name, entity.probes.get(name, {}))
    return calls


def _exists(description: Json, called: Answer) -> bool | None:
    """The call is the proof: whatever the method itself answers, a refusal too, it is there. `method.get` counts only
    where the call failed for another reason, and of it only `isExisting`: `isAvailable` compares the module of a
    controller with the scopes, so it denies `tasks.task.list` to the scope `task`. And `isExisting` says only that
    there is a controller, as of up to a week ago (common/system/method-get.md; the kernel's rest_provider.php and
    ScopeManager). None: unknown."""
    error = called.error
    if isinstance(error, (Permanent, GateUnmet)):
        return error.code != NO_SUCH_METHOD
    if error is None:
        return True
    exists = description.get("isExisting") if isinstance(description, dict) else None
    return exists if isinstance(exists, bool) else None


# ---------------------------------------------------------------- the target


def _target(target: Target, entities: Sequence[Entity], clock: Clock) -> tuple[list[Check], TargetInfo | None]:
    try:
        info = wait_for_limits(clock, target.info)
    except Permanent as error:
        fix = WITHOUT_MODULE
        message = say("doctor.unserved", why=error.message)
        return [Check(say("doctor.name.target"), False, message, fix, "auth.target", fatal=True, code=error.code)], None
    except MigrationError as error:
        return [refusal_check("target", error, "auth.target")], None
    if info.contract != CONTRACT:
        message = say("doctor.contract", contract=info.contract, own=CONTRACT)
        fix = say("doctor.contract_fix")
        return [Check(say("doctor.name.target"), False, message, fix, "auth.target", fatal=True)], info
    checks = [Check(say("doctor.name.target"), True, say("doctor.answers", server=info.server))]
    module_checks = [(entity, info.checks[entity.wire]) for entity in entities if entity.wire in info.checks]
    behind = {entity.name for entity, one in module_checks if not one.ok}  # they are checked below
    checks += [one for entity in entities if not (one := _check_served(entity, info)).ok or entity.name not in behind]
    return [
        *checks,
        *(Check(one.name, one.ok, one.message, one.fix, "", entity.name) for entity, one in module_checks),
    ], info


def _check_served(entity: Entity, info: TargetInfo) -> Check:
    gate = f"auth.target.import.{entity.name}"
    name = say("doctor.name.import", entity=entity.name)
    if entity.wire in info.lacks:
        fix = say("doctor.lacks_fix", entity=entity.name)
        return Check(name, False, info.lacks[entity.wire], fix, gate, entity.name, fatal=True)
    if untaken := optional.find_untaken(entity, info.streams):
        fix = say("doctor.unserved_fix", entity=entity.name)
        message = say("doctor.untaken", entity=entity.name, streams=", ".join(untaken))
        return Check(name, False, message, fix, gate, entity.name, fatal=True)
    if entity.wire in info.entities or entity.name in info.entities:
        return Check(name, True, say("doctor.imports", entity=entity.name), "", gate, entity.name)
    fix = say("doctor.unserved_fix", entity=entity.name)
    return Check(name, False, say("doctor.not_imported", entity=entity.name), fix, gate, entity.name, fatal=True)


# ---------------------------------------------------------------- both


def _compare(
    target: Target, entities: Sequence[Entity], told: Mapping[str, Json], clock: Clock
) -> dict[str, tuple[str, str]]:
    """By entity what the portals differ in, and the fix. One that does not answer proves nothing."""
    found: dict[str, tuple[str, str]] = {}
    for name, one in [(entity.name, one) for entity in entities for one in entity.alike]:
        ours = told.get(one.method)
        theirs = wait_for_limits(clock, partial(_ask, target, one.method)) if ours else None
        wrong = one.differs(str(ours), str(theirs)) if theirs and str(ours) != str(theirs) else ""
        if wrong:
            found[name] = (wrong, one.fix(str(ours), str(theirs)))
    return found


def _ask(target: Target, method: str) -> Json:
    try:
        return target.ask(method)
    except Transient:
        return None


def refusal_check(name: str, error: MigrationError, gate: str) -> Check:
    """A portal that does not answer is not a gate: it stops the run with another exit code."""
    away = isinstance(error, (Transient, Limited)) or error.code == "PORTAL_DOWN"
    known = name in ("source", "target")
    outage = (
        say(f"doctor.away.{name}", why=error.message)
        if known
        else say("doctor.away_other", name=name, why=error.message)
    )
    message = outage if away else error.bare
    if isinstance(error, GateUnmet):
        gate = error.gate
    fix = error.hint or say("doctor.network_fix")
    if error.code == "HTML_ANSWER":
        fix = say("doctor.html_fix")
    shown = say(f"doctor.name.{name}") if known else name
    return Check(shown, False, message, fix, "" if away else gate, fatal=True, code=error.code)


def run_selftest(target: Target, clock: Clock) -> list[Check]:
    """The box's report on its self-test. At most warnings: a run requires acceptance of data that is not kept."""
    try:
        tried = wait_for_limits(clock, target.selftest, most_s=SELFTEST_WAIT_S, attempts=1)
    except MigrationError as error:
        message = say("doctor.selftest_unfinished", why=error.message)
        return [Check(SELFTEST, False, message, say("doctor.selftest_again"), code=error.code)]
    if tried is None:
        return [Check(SELFTEST, False, say("doctor.selftest_none"), say("doctor.selftest_install"))]
    fix = say("doctor.selftest_fix")
    return [
        Check(say("doctor.name.box_part", what=one.name), one.ok, one.detail, "" if one.ok else fix) for one in tried
    ]


def wait_for_limits(
    clock: Clock, ask: Callable[[], Said], *, most_s: float = math.inf, attempts: int = len(DELAYS_S)
) -> Said:
    """Three attempts; a limit of the portal is waited for, in all no longer than `most_s`."""
    limits = 0
    failures = 0
    while True:
        try:
            return ask()
        except Transient:
            failures += 1
            if failures == attempts:
                raise
            clock.sleep(DELAYS_S[failures])
        except Limited as limit:
            limits += 1
            most_s -= max(1.0, limit.wait_s)
            if limits > LIMITS_WAITED or most_s < 0:
                raise
            clock.sleep(max(1.0, limit.wait_s))
