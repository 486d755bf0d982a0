"""The log: an observer that writes one line per event, JSON for machines and readable for people."""

from __future__ import annotations

import io
import json
import logging
import re
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from functools import singledispatch
from typing import Any, TextIO, cast

import structlog

from b24migrate.messages import revise
from b24migrate.model.events import (
    Event,
    Extracted,
    FileMoved,
    JobDone,
    JobFailed,
    Noted,
    Observer,
    PhaseChanged,
    PortalBack,
    PortalDown,
    PortalMoved,
    RecordFailed,
    Sent,
    Waited,
)
from b24migrate.model.records import Status
from b24migrate.model.streams import FINAL, LATE, PHASES
from b24migrate.monitor.bug_file import bug_id

KEYS = ("ts", "level", "run", "entity", "op", "sourceId", "status", "attempt", "latency_ms", "error_code", "msg")
# each run of letters is examined once: a name may have a million letters
EMAIL = re.compile(r"(?<![\w.+%-])([\w.+%-])[\w.+%-]*+@([\w-]++(?:\.[\w-]++)+)")
LONGEST = 500

Redact = Callable[[str], str]
Line = dict[str, Any]
LOGGER = logging.getLogger("b24migrate")


def mask_email(text: str) -> str:
    """`ursula@example.org` → `u***@example.org`."""
    return revise(text, lambda one: EMAIL.sub(r"\1***@\2", one))


def log(out: TextIO, *, run: Callable[[], str], redact: Redact, readable: bool = False) -> Observer:
    """An observer that writes every event to `out`."""
    logger = _logger(out, redact, _readable if readable else _json)

    def observe(event: Event) -> None:
        line = describe(event)
        line["run"] = run()
        logger.log(_LEVELS[line.pop("level", "info")], line.pop("msg"), **line)

    return observe


_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def _logger(out: TextIO, redact: Redact, render: Callable[[Line], str]) -> Any:
    def clean(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        for key, value in line.items():
            if isinstance(value, str):
                line[key] = mask_email(redact(value))[:LONGEST]
        return line

    def ordered(_: Any, __: str, line: MutableMapping[str, Any]) -> str:
        line["msg"] = line.pop("event")
        return render({key: line.get(key) for key in KEYS})

    return structlog.wrap_logger(
        structlog.WriteLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", key="ts"),
            clean,
            ordered,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(20),
    )


def _json(line: Line) -> str:
    return str(structlog.processors.JSONRenderer(ensure_ascii=False)(None, "", line))


def _readable(line: Line) -> str:
    about = " ".join(str(line[key]) for key in ("entity", "op") if line[key])
    more = [f"{name} {line[key]}" for key, name in (("sourceId", "id"), ("error_code", "code")) if line[key]]
    if line["attempt"]:
        more.append(f"attempt {line['attempt']}")
    if line["latency_ms"] is not None:
        more.append(f"{line['latency_ms']:.0f} ms")
    mark = {"warning": "! ", "error": "✗ "}.get(str(line["level"]), "")
    tail = f" ({', '.join(more)})" if more else ""
    return f"{str(line['ts'])[11:19]} {mark}{about + ': ' if about else ''}{line['msg']}{tail}"


# ---------------------------------------------------------------- one line per event


@singledispatch
def describe(event: Event) -> Line:
    return {"msg": type(event).__name__}


@describe.register
def _(event: JobDone) -> Line:
    return {"level": "debug", "op": event.scope, "msg": "job done"}


@describe.register
def _(event: PhaseChanged) -> Line:
    levels = {"failed": "error", "blocked": "warning", "pending": "debug", "skipped": "debug"}
    level = levels.get(event.state, "info")
    msg = f"{event.phase} {event.state}" + (f": {event.message}" if event.message else "")
    return {"level": level, "entity": event.entity, "op": event.phase, "status": event.state, "msg": msg}


@describe.register
def _(event: Extracted) -> Line:
    msg = f"{event.records} records read"
    return {"entity": event.stream, "op": "get", "status": "ok", "latency_ms": _ms(event.latency_ms), "msg": msg}


@describe.register
def _(event: Sent) -> Line:
    msg = f"{event.ok} imported" + _some(event.failed, "failed") + _some(event.retried, "to be tried again")
    return {
        "level": "warning" if event.failed or event.retried else "info",
        "entity": event.stream,
        "op": "set",
        "status": "ok" if not event.failed and not event.retried else "partly",
        "latency_ms": _ms(event.latency_ms),
        "msg": msg,
    }


@describe.register
def _(event: RecordFailed) -> Line:
    return {
        "level": "error" if event.status == Status.IMPORT_ERR else "warning",
        "entity": event.stream,
        "op": "set",
        "sourceId": event.source_id,
        "status": event.status,
        "attempt": event.attempt,
        "error_code": event.error_code,
        "msg": event.error,
    }


@describe.register
def _(event: FileMoved) -> Line:
    failed = event.op == "failed"
    return {
        "level": "warning" if failed else "info",
        "entity": event.entity,
        "op": "file",
        "sourceId": event.key,
        "status": event.op,
        "error_code": event.error_code,
        "msg": event.error if failed else f"{event.bytes} bytes {event.op}",
    }


@describe.register
def _(event: JobFailed) -> Line:
    phase = max((one for one in (*PHASES, LATE, FINAL) if event.job.scope.endswith(f"-{one}")), key=len, default="")
    wait = f"; again in {event.wait_s:.0f} s" if event.wait_s else ""
    return {
        "level": "error" if event.what == "buried" else "warning" if event.what == "retried" else "info",
        "entity": event.job.scope.removesuffix(f"-{phase}").replace("-", "_"),
        "op": phase,
        "status": event.what,
        "attempt": event.job.attempts,
        "error_code": event.error_code,
        "msg": event.error + wait,
    }


@describe.register
def _(event: Waited) -> Line:
    return {
        "op": event.method,
        "status": "waited",
        "latency_ms": _ms(event.seconds * 1000),
        "msg": f"waited {event.seconds:.1f} s for a limit of the {event.portal}",
    }


@describe.register
def _(event: PortalDown) -> Line:
    msg = f"the {event.portal} has not answered for {event.since_s:.0f} s: {event.error}"
    return {"level": "warning", "op": "probe", "status": "down", "error_code": "PORTAL_DOWN", "msg": msg}


@describe.register
def _(event: PortalBack) -> Line:
    return {"op": "probe", "status": "up", "msg": f"the {event.portal} answers again"}


@describe.register
def _(event: PortalMoved) -> Line:
    msg = f"the {event.portal} redirects from {event.before} to {event.now}; the webhook is used there"
    return {"level": "warning", "op": "redirect", "status": "moved", "msg": msg}


@describe.register
def _(event: Noted) -> Line:
    more: Mapping[str, str] = dict(event.extra)
    msg = event.message + (f" ({', '.join(f'{name} {value}' for name, value in more.items())})" if more else "")
    return {"level": event.level, "entity": event.entity, "op": "note", "msg": msg}


def _some(count: int, what: str) -> str:
    return f", {count} {what}" if count else ""


def _ms(value: float) -> float:
    return round(value, 1)


# ---------------------------------------------------------------- Azure Functions
# JSON lines through `logging`, which the host sends to Application Insights.


class _Lines(io.TextIOBase):
    def write(self, text: str) -> int:
        for line in filter(None, text.splitlines()):
            level = logging.getLevelNamesMapping()[str(json.loads(line)["level"]).upper()]
            LOGGER.log(level, "%s", line)
        return len(text)


def log_stream() -> TextIO:
    """The destination of an observer's lines."""
    LOGGER.setLevel(logging.INFO)
    return cast("TextIO", _Lines())


def quiet_libraries() -> None:
    """The libraries for Azure log every request, and the host of the functions would keep all of it: the address of a
    table row contains its key, and a migration makes millions of them."""
    logging.getLogger("azure").setLevel(logging.WARNING)


def log_line(level: int, message: str, **more: object) -> None:
    """One line besides the events: what this host did with its input."""
    LOGGER.log(level, "%s", json.dumps({"msg": mask_email(message), **more}, ensure_ascii=False))


def log_bug(bug: BaseException, redact: Callable[[str], str], **more: object) -> None:
    """The whole of it, without secrets."""
    details = mask_email(redact("".join(traceback.format_exception(bug))))
    LOGGER.error("%s", json.dumps({"msg": f"a bug: {type(bug).__name__}", "details": details, **more}))


def log_bugs(redact: Callable[[str], str]) -> Callable[[BaseException, str], str]:
    """Keeps the details of bugs in jobs in the log, under a reference."""

    def keep(bug: BaseException, about: str) -> str:
        reference = bug_id(bug)
        log_bug(bug, redact, reference=reference, job=mask_email(redact(about)))
        return f"the log, reference {reference}"

    return keep
