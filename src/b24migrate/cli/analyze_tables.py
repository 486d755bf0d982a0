"""The tables of `analyze`, readable at 80 columns: the forecast first, then its basis."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence

import typer

from b24migrate.insight.forecast import Compared, Survey
from b24migrate.insight.forecast.model import Estimate, FieldFacts, Forecast
from b24migrate.insight.forecast.schedule import EXECUTION
from b24migrate.messages import say
from b24migrate.messages.measures import duration, percent
from b24migrate.messages.terminal import harmless, number, phrase, spoken, words

WIDEST = 80
SHOWN_FIELDS = 5  # of each entity
SHOWN_METHODS = 12
SHOWN_LARGE = 50
WORTH_TELLING = 0.02
KINDS = ("2", "3", "4", "31")  # types of CRM items that have a name: `cli.analysis.kind.*`
OWNERS = {
    True: say("cli.analysis.owner.admin"),
    False: say("cli.analysis.owner.other"),
    None: say("cli.analysis.owner.unknown"),
}
LIMITS = {
    "requests": "cli.analysis.limit.requests",
    "execution time": "cli.analysis.limit.execution",
    "latency": "cli.analysis.limit.answers",
    "the target": "cli.analysis.limit.target",
    "this computer": "cli.analysis.limit.computer",
}
WHAT_IFS = {
    "enterprise": say("cli.analysis.if.enterprise"),
    "night_only": say("cli.analysis.if.nights"),
    "without_files": say("cli.analysis.if.files"),
    "without_chats": say("cli.analysis.if.chats"),
}


def print_survey(found: Survey) -> None:
    for line in lines(found):
        typer.echo(line)


def lines(found: Survey) -> list[str]:
    texts = [verdict(found.forecast), "", *hours(found.forecast), "", *what_ifs(found.forecast), "", *counts(found)]
    texts += [*large_files(found), *methods(found), *fields(found), *portal(found), *missing(found), *basis(found)]
    return texts


def verdict(forecast: Forecast) -> str:
    low, high = shown_time(forecast.low_s), shown_time(forecast.high_s)
    return wrapped(
        phrase("cli.analysis.total", total=shown_time(forecast.total_s), low=low, high=high, limit=limit(forecast)), ""
    )


def limit(forecast: Forecast) -> str:
    """Names the limit that determines the time; empty if there is none."""
    method, why = forecast.method, forecast.limited_by
    if why not in LIMITS:
        return ""
    return phrase(LIMITS[why], method=method or say("cli.the_portal"))


def hours(forecast: Forecast) -> list[str]:
    rows = [("", *heads("read", "files", "import", "verify", "total", "range", "limit"))]
    rows += [
        (
            one.entity,
            shown_time(one.get_s),
            shown_time(one.fetch_s + one.upload_s),
            shown_time(one.fields_s + one.set_s + one.late_s),
            shown_time(one.verify_s),
            shown_time(one.total_s),
            f"{shown_time(one.low_s)} … {shown_time(one.high_s)}",
            one.method if one.limited_by == EXECUTION and one.method else limit_name(one.limited_by),
        )
        for one in forecast.entities
    ]
    return [*table(rows, left=(0, 7)), phrase("cli.analysis.parallel")]


def heads(*names: str) -> tuple[str, ...]:
    return tuple(phrase(f"cli.analysis.column.{name}") for name in names)


def limit_name(limited_by: str) -> str:
    return (
        phrase(f"cli.analysis.limited.{LIMITS[limited_by].rpartition('.')[2]}") if limited_by in LIMITS else limited_by
    )


def what_ifs(forecast: Forecast) -> list[str]:
    rows = [(f"  {spoken(WHAT_IFS[one.name])}", shown_time(one.total_s)) for one in forecast.what_ifs]
    notes = [f"  ({spoken(one.note)})" if one.note else "" for one in forecast.what_ifs]
    lines = [f"{line}{note}" for line, note in zip(table(rows), notes, strict=True)]
    return [phrase("cli.analysis.what_if"), *(wrapped(line, "    ") for line in lines)]


def counts(found: Survey) -> list[str]:
    rows = [heads("records", "about", "range", "sampled", "method")]
    rows += [
        (one.stream, counted(one.records), ranged(one.records), number(one.sampled), one.method)
        for one in found.streams
    ]
    lines = [*table(rows, left=(0, 4)), ""]
    if found.files:
        files = [heads("files_of", "about", "size", "range")]
        files += [(one.entity, counted(one.files), size(one.bytes.value), sizes(one.bytes)) for one in found.files]
        count, whole = sum(one.files.value for one in found.files), sum(one.bytes.value for one in found.files)
        files.append((phrase("cli.analysis.all"), f"≈{number(round(count))}", size(whole), ""))
        lines += [*table(files), ""]
    return lines


def large_files(found: Survey) -> list[str]:
    """Files that are too large to migrate."""
    limit = phrase("cli.analysis.over_limit", limit=size(found.file_limit))
    where = "" if found.all_met else "_sample"
    count = len(found.large_files)
    if not count:
        text = phrase(f"cli.analysis.no_large{where}", limit=limit)
        return [wrapped(text, ""), ""] if found.files and found.file_limit else []
    head = phrase(f"cli.analysis.large{where}", total=number(count), limit=limit, count=count)
    rows = [
        (size(one.bytes), harmless(one.name or one.key), f"({one.entity}, {one.key})")
        for one in found.large_files[:SHOWN_LARGE]
    ]
    rest = count - SHOWN_LARGE
    more = [phrase("cli.analysis.more_json", rest=number(rest))] * (rest > 0)
    return [wrapped(head, ""), *(wrapped("  " + "  ".join(row), "    ") for row in rows), *more, ""]


def methods(found: Survey) -> list[str]:
    rows = [heads("method", "calls", "seconds", "measured_on")]
    rows += [
        (
            one.method,
            number(round(one.calls)),
            f"{one.seconds:.3f}" if one.measured_on else "?",
            number(one.measured_on),
        )
        for one in found.methods[:SHOWN_METHODS]
    ]
    rest = len(found.methods) - SHOWN_METHODS
    return (
        [*table(rows), *([phrase("cli.analysis.more_json", rest=rest)] if rest > 0 else []), ""]
        if found.methods
        else []
    )


def fields(found: Survey) -> list[str]:
    """The fields of each entity that most records fill in."""
    if not found.fields:
        return []
    rows = [heads("field", "entity", "type", "filled")]
    more: list[str] = []
    for entity in dict.fromkeys(one.entity for one in found.fields):
        mine = sorted((one for one in found.fields if one.entity == entity), key=lambda one: -one.filled)
        rows += [
            (harmless(one.code[:34]), one.entity, harmless(one.type[:14]), filled(one)) for one in mine[:SHOWN_FIELDS]
        ]
        unused = sum(1 for one in mine if not one.filled)
        rest = len(mine) - SHOWN_FIELDS
        parts = [phrase("cli.errors.more_places", count=rest)] * (rest > 0)
        parts += [phrase("cli.analysis.unused", unused=unused)] * (unused > 0)
        more += [phrase("cli.analysis.fields", entity=entity, count=len(mine), said=", ".join(parts))] * bool(parts)
    return [
        *table(rows, left=(0, 1, 2)),
        *(wrapped(f"… {one}", "  ") for one in more),
        phrase("cli.analysis.all_json"),
        "",
    ]


def filled(one: FieldFacts) -> str:
    return (
        phrase(
            "cli.analysis.filled",
            filled=number(one.filled),
            of=number(one.of),
            share=percent(words(), one.filled / one.of),
        )
        if one.of
        else phrase("cli.analysis.nothing_seen")
    )


def portal(found: Survey) -> list[str]:
    """Facts about the portal: modules, scopes, users, pipelines."""
    looked = [one.entity for one in found.forecast.entities]
    granted = phrase("cli.analysis.not_told") if found.scopes is None else ", ".join(found.scopes)
    lines = [phrase("cli.analysis.movable", names=", ".join(looked) or say("gate.nothing"))]
    if found.skipped:
        lines.append(phrase("cli.analysis.cannot", names=", ".join(found.skipped)))
    lines.append(phrase("cli.analysis.scopes", granted=granted))
    lines.append(phrase("cli.analysis.webhooks", count=found.webhooks, owner=OWNERS[found.admin]))
    if found.seats:
        lines.append(phrase("cli.analysis.seats", count=counted(found.seats)))
    if found.pipelines:
        kinds = dict.fromkeys(one.entity_type for one in found.pipelines)
        of = [(kind, [one.name for one in found.pipelines if one.entity_type == kind]) for kind in kinds]
        listed = "; ".join(f"{kind_of_items(kind)}: {', '.join(names)}" for kind, names in of)
        lines.append(phrase("cli.analysis.pipelines", count=len(found.pipelines), listed=listed))
    return [*(wrapped(harmless(one), "  ") for one in lines), ""]


def kind_of_items(number_of_type: str) -> str:
    if number_of_type in KINDS:
        return phrase(f"cli.analysis.kind.{number_of_type}")
    return phrase("cli.analysis.kind_other", number=number_of_type)


def missing(found: Survey) -> list[str]:
    """Data that is not migrated, and warnings."""
    lines = [f"{counted(one.count)} {one.stream}: {spoken(one.reason)}" for one in found.impossible]
    lines = [wrapped(harmless(f"- {one}"), "  ") for one in lines]
    if found.unread_people:
        lines.append(phrase("cli.analysis.private", count=counted(found.unread_people)))
    notes = [*(f"{entity}: {spoken(why)}" for entity, why in found.skipped.items()), *map(spoken, found.warnings)]
    head = [phrase("cli.analysis.impossible")] if lines else []
    return [*head, *lines, *(wrapped(harmless(f"! {one}"), "  ") for one in dict.fromkeys(notes)), ""]


def basis(found: Survey) -> list[str]:
    return [phrase("cli.analysis.basis"), *(wrapped(f"- {spoken(one)}", "  ") for one in found.forecast.basis)]


def print_compared(made: Survey, found: Sequence[Compared]) -> None:
    for line in compared_lines(made, found):
        typer.echo(line)


def compared_lines(made: Survey, found: Sequence[Compared]) -> list[str]:
    """The whole run, then the phases that took long enough to compare."""
    if not found:
        return [phrase("cli.analysis.nothing_done")]
    whole = [one for one in found if not one.entity and one.phase == "run"]
    longest = max(max(one.foretold_s, one.took_s) for one in found)
    shown = [one for one in found if one not in whole and max(one.foretold_s, one.took_s) >= longest * WORTH_TELLING]
    rows = [("", *heads("phase", "forecast", "took", "error"))]
    rows += [
        (
            one.entity or phrase("cli.analysis.all"),
            one.phase,
            shown_time(one.foretold_s),
            shown_time(one.took_s),
            f"{one.error:+.0%}",
        )
        for one in shown
    ]
    head = [error_line(one) for one in whole] or [phrase("cli.analysis.unfinished")]
    note = [phrase("cli.analysis.short_phases", share=WORTH_TELLING)] * (len(shown) + len(whole) < len(found))
    return [*head, phrase("cli.analysis.made", at=made.at[:19]), "", *table(rows, left=(0, 1)), *note]


def error_line(one: Compared) -> str:
    """How near the forecast of a whole run was."""
    way = phrase("cli.analysis.too_long") if one.error > 0 else phrase("cli.analysis.too_short")
    difference = phrase("cli.analysis.as_forecast") if abs(one.error) < 0.005 else f"{abs(one.error):.0%} {way}"
    return phrase(
        "cli.analysis.compared", forecast=shown_time(one.foretold_s), took=shown_time(one.took_s), said=difference
    )


# ---------------------------------------------------------------- words and columns


def counted(one: Estimate) -> str:
    return number(round(one.value)) if one.exact else f"≈{number(round(one.value))}"


def ranged(one: Estimate) -> str:
    return "" if one.exact else f"{number(round(one.low))} … {number(round(one.high))}"


def sizes(one: Estimate) -> str:
    return "" if one.exact else f"{size(one.low)} … {size(one.high)}"


def size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return phrase(f"page.size.{unit}", n=f"{count:.0f}" if unit in ("B", "kB") else f"{count:.1f}")
        count /= 1000
    return phrase("page.size.TB", n=f"{count:.1f}")


def shown_time(seconds: float) -> str:
    return duration(words(), seconds)


def table(rows: Sequence[Sequence[str]], left: Iterable[int] = (0,)) -> list[str]:
    """Columns as wide as they need, cut at the edge of a small terminal."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lefts = set(left)
    lines = [
        "  ".join(
            cell.ljust(width) if place in lefts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…" for line in lines]


def wrapped(text: str, indent: str) -> str:
    width = min(WIDEST, shutil.get_terminal_size().columns)
    return textwrap.fill(text, width=max(40, width), subsequent_indent=indent, break_long_words=False)
