"""The tables of `analyze`, readable at 80 columns. First the verdict, then what it rests on."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence

import typer

from b24migrate.hosts.cli.pace import number
from b24migrate.pipeline.survey import Compared, Survey
from b24migrate.pipeline.survey.model import Estimate, Forecast

WIDEST = 80
SHOWN_FIELDS = 15
SHOWN_METHODS = 8
WHAT_IFS = {
    "enterprise": "with the limits of Enterprise",
    "night_only": "only at night",
    "without_files": "without files",
    "without_chats": "without chats",
}


def print_survey(found: Survey) -> None:
    for line in lines(found):
        typer.echo(line)


def lines(found: Survey) -> list[str]:
    told = [verdict(found.forecast), "", *hours(found.forecast), "", *what_ifs(found.forecast), "", *counts(found)]
    told += [*methods(found), *fields(found), *people(found), *missing(found), *basis(found)]
    return told


def verdict(forecast: Forecast) -> str:
    by = f"; {forecast.method} limits it ({forecast.limited_by})" if forecast.method else ""
    low, high = shown_time(forecast.low_s), shown_time(forecast.high_s)
    return wrapped(f"About {shown_time(forecast.total_s)}, between {low} and {high}{by}.", "")


def hours(forecast: Forecast) -> list[str]:
    rows = [("", "read", "files", "import", "in all", "from … to", "limited by")]
    rows += [
        (
            one.entity,
            shown_time(one.get_s),
            shown_time(one.fetch_s + one.upload_s),
            shown_time(one.set_s),
            shown_time(one.total_s),
            f"{shown_time(one.low_s)} … {shown_time(one.high_s)}",
            one.method if one.limited_by not in ("requests", "latency") else one.limited_by,
        )
        for one in forecast.entities
    ]
    return table(rows, left=(0, 6))


def what_ifs(forecast: Forecast) -> list[str]:
    rows = [("What if:", "", "")]
    rows += [(f"  {WHAT_IFS[one.name]}", shown_time(one.total_s), one.note) for one in forecast.what_ifs]
    return table(rows, left=(0, 2))


def counts(found: Survey) -> list[str]:
    rows = [("records", "about", "from … to", "seen")]
    rows += [(one.stream, counted(one.records), ranged(one.records), number(one.sampled)) for one in found.streams]
    told = [*table(rows), ""]
    if found.files:
        rows = [("files of", "about", "size", "from … to")]
        rows += [(one.entity, counted(one.files), size(one.bytes.value), sizes(one.bytes)) for one in found.files]
        told += [*table(rows), ""]
    return told


def methods(found: Survey) -> list[str]:
    rows = [("method", "calls", "s each", "measured on")]
    rows += [
        (
            one.method,
            number(round(one.calls)),
            f"{one.seconds:.3f}" if one.measured_on else "?",
            number(one.measured_on),
        )
        for one in found.methods[:SHOWN_METHODS]
    ]
    return [*table(rows), ""] if found.methods else []


def fields(found: Survey) -> list[str]:
    if not found.fields:
        return []
    rows = [("custom field", "of", "type", "filled in")]
    most = sorted(found.fields, key=lambda one: -one.filled)
    rows += [
        (one.code[:34], one.entity, one.type[:14], f"{number(one.filled)} of {number(one.of)}")
        for one in most[:SHOWN_FIELDS]
    ]
    rest = len(most) - SHOWN_FIELDS
    return [*table(rows, left=(0, 1, 2)), *([f"… and {rest} more: --json"] if rest > 0 else []), ""]


def people(found: Survey) -> list[str]:
    told = []
    if found.seats:
        told.append(f"People who will need a seat on the box: {counted(found.seats)} (active, of the company itself).")
    if found.pipelines:
        told.append(f"Pipelines: {len(found.pipelines)}.")
    granted = "the portal does not tell" if found.scopes is None else ", ".join(found.scopes)
    told.append(f"Scopes granted: {granted}.")
    return [*(wrapped(one, "  ") for one in told), ""]


def missing(found: Survey) -> list[str]:
    """What stays behind, and what is not right yet."""
    told = [f"{counted(one.count)} {one.stream}: {one.reason}" for one in found.impossible]
    told = [wrapped(f"- {one}", "  ") for one in told]
    notes = [*(f"{entity}: {why}" for entity, why in found.skipped.items()), *found.warnings]
    head = ["What the API cannot give:"] if told else []
    return [*head, *told, *(wrapped(f"! {one}", "  ") for one in dict.fromkeys(notes)), ""]


def basis(found: Survey) -> list[str]:
    return ["It rests on:", *(wrapped(f"- {one}", "  ") for one in found.forecast.basis)]


def print_compared(made: Survey, found: Sequence[Compared]) -> None:
    if not found:
        typer.echo("Nothing has been done since the forecast. Begin with `b24migrate run`.")
        return
    typer.echo(f"Forecast of {made.at} beside what it took:")
    rows = [("", "phase", "foretold", "took", "error")]
    rows += [
        (one.entity, one.phase, shown_time(one.foretold_s), shown_time(one.took_s), f"{one.error:+.0%}")
        for one in found
    ]
    for line in table(rows, left=(0, 1)):
        typer.echo(line)


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
            return f"{count:.0f} {unit}" if unit in ("B", "kB") else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def shown_time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def table(rows: Sequence[Sequence[str]], left: Iterable[int] = (0,)) -> list[str]:
    """Columns as wide as they need, cut at the edge of a small terminal."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lefts = set(left)
    told = [
        "  ".join(
            cell.ljust(width) if place in lefts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…" for line in told]


def wrapped(text: str, indent: str) -> str:
    width = min(WIDEST, shutil.get_terminal_size().columns)
    return textwrap.fill(text, width=max(40, width), subsequent_indent=indent, break_long_words=False)
