"""The state of a migration in sentences: the first lines of the page, the report and `status --watch`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from b24migrate.insight.status.model import Overview, Verdict
from b24migrate.messages import Words, render
from b24migrate.messages.measures import about, clock_time, duration, number, percent

NAMED = 3  # so many methods and mini-tasks are named
OWN_WORDS = (Verdict.STOPPED, Verdict.BLOCKED)  # its message gives the reason
UNDER_WAY = (Verdict.RUNNING, Verdict.LIMITED, Verdict.OUTAGE, Verdict.STILL)
OVER = (Verdict.DONE, Verdict.FINDINGS)
STUCK = ("failed", "blocked")


def sentence(words: Words, overview: Overview, zone: tzinfo | None = None) -> str:
    """The verdict."""
    return " ".join(_verdict(words, overview, zone))


def advice(words: Words, overview: Overview) -> str:
    """The command to run, if there is one."""
    key = f"status.advice.{overview.now.verdict}"
    return words(key) if key in words else ""


def progress_sentence(words: Words, overview: Overview) -> str:
    """How far it is and how long it will take, with the basis."""
    return " ".join(_progress(words, overview))


# ---------------------------------------------------------------- the verdict


def _verdict(words: Words, overview: Overview, zone: tzinfo | None) -> Iterator[str]:
    now = overview.now
    places = {
        "time": duration(words, _time_s(overview)),
        "doing": _few(words, _tasks(words, overview, ("running",))),
        "methods": _few(words, now.waits_for),
        "portal": _portals(words, now.waits_for),
        "since": clock_time(words, now.since, overview.at, zone),
        "imported": number(overview.progress.imported),
    }
    idle = now.verdict is Verdict.RUNNING and not now.busy
    yield words(f"status.verdict.{now.verdict}{'_idle' if idle else ''}", **places)
    if now.verdict in OWN_WORDS and now.message:
        yield render(now.message, words.language)
    if now.verdict is Verdict.OUTAGE:
        yield words("status.more.next_probe", at=clock_time(words, now.next_at, overview.at, zone))
        yield words("status.more.stops_at", at=clock_time(words, now.stops_at, overview.at, zone))
    if now.verdict is Verdict.RUNNING and now.waits_for:
        yield words("status.more.limits", methods=_few(words, now.waits_for))
    if now.verdict in OVER and overview.run is not None and overview.run.test_limit:
        yield words("status.more.tryout", count=number(overview.run.test_limit))
    if overview.run is not None and overview.run.delta:
        yield words("status.more.delta")
    yield from _findings(words, overview)


def _portals(words: Words, names: Sequence[str]) -> str:
    keys = [f"status.portal.{name}" for name in names]
    return ", ".join(words(key) for key in keys if key in words)


def _findings(words: Words, overview: Overview) -> Iterator[str]:
    files = overview.files
    if overview.now.verdict in UNDER_WAY and files.imported + files.failed < files.known:
        yield words("status.more.files", there=number(files.imported), known=number(files.known))
    if overview.now.verdict in UNDER_WAY and (stuck := _tasks(words, overview, STUCK)):
        yield words("status.more.stuck", tasks=_few(words, stuck))
    if overview.now.verdict is Verdict.FINDINGS:
        drift = sum(abs(stream.drift) for entity in overview.entities for stream in entity.streams)
        counted = {
            "failed": overview.failed,
            "findings": overview.findings,
            "drift": drift,
            "parts": overview.dead_letters,
        }
        for name, count in counted.items():
            if count:
                yield words(f"status.more.{name}", count=number(count))


def _time_s(overview: Overview) -> float:
    """Of a standstill how long it lasts, else how long the run has."""
    if overview.now.verdict is not Verdict.STILL or not overview.now.since:
        return overview.now.spent_s
    return (datetime.fromisoformat(overview.at) - datetime.fromisoformat(overview.now.since)).total_seconds()


def _tasks(words: Words, overview: Overview, states: Sequence[str]) -> list[str]:
    return [
        words(f"status.doing.{phase.name}", entity=words.named("entity", entity.name))
        for entity in overview.entities
        for phase in entity.phases
        if entity.planned and phase.state in states
    ]


def _few(words: Words, names: Sequence[str]) -> str:
    more = len(names) - NAMED
    named = ", ".join(names[:NAMED])
    return words("status.more.others", named=named, count=number(more)) if more > 0 else named


# ---------------------------------------------------------------- how far, how long


def _progress(words: Words, overview: Overview) -> Iterator[str]:
    progress, verdict = overview.progress, overview.now.verdict
    if verdict is Verdict.NO_RUN:
        forecast_s = overview.forecast_s
        yield (
            words("status.progress.none")
            if not forecast_s
            else words("status.progress.expected", time=about(words, forecast_s))
        )
        return
    if verdict in OVER:
        yield words("status.progress.done", time=duration(words, overview.now.spent_s))
    elif progress.left_s is None:
        key = "unknown" if verdict in UNDER_WAY else "not_running"
        yield words(f"status.progress.{key}", percent=percent(words, progress.share))
    else:
        key = "pace" if progress.left_basis == "pace" else "forecast"
        places = {"percent": percent(words, progress.share), "time": about(words, progress.left_s)}
        places |= {"window": duration(words, progress.window_s)}
        yield words(f"status.progress.{key}", **places)
    if progress.read or progress.imported:
        yield _records(words, overview)


def _records(words: Words, overview: Overview) -> str:
    progress = overview.progress
    key = {"source": "records", "forecast": "records_forecast"}.get(progress.total_basis, "records_unknown")
    total = number(progress.records or 0)
    return words(f"status.progress.{key}", read=number(progress.read), imported=number(progress.imported), total=total)
