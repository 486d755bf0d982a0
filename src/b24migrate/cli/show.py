"""`show`: one record on the source, in the store and on the target."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.completion import streams
from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import harmless, harmless_json, number, phrase, spoken, wrapped

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.insight.lookup.model import FieldRow, RecordView, Shown, Side

AsJson = Annotated[bool, typer.Option("--json")]
Clean = Callable[[str], str]
INDENT = "    "
LONGEST = 160
VERDICTS = {
    "equal": (say("cli.verdict.equal"), "green"),
    "differs": (say("cli.verdict.differs"), "red"),
    "missing": (say("cli.verdict.gone"), "red"),
    "failed": (say("cli.verdict.failed"), "red"),
    "waiting": (say("cli.verdict.pending"), "yellow"),
    "linked": (say("cli.verdict.matched"), "green"),
    "excluded": (say("cli.verdict.excluded"), "yellow"),
    "impossible": (say("cli.verdict.impossible"), "yellow"),
    "deleted": (say("cli.verdict.deleted"), "yellow"),
    "imported": (say("cli.verdict.imported"), ""),
    "aid": (say("cli.verdict.aid"), ""),
}
SIDES = {
    "gone": "cli.side.absent",
    "cannot": "cli.side.unable",
    "not_asked": "cli.side.unasked",
}
MARKS = {
    "equal": "=",
    "rewritten": "→",
    "differs": "✗",
    "foreseen": "~",
    "missing": "-",
    "only_source": "!",
    "beyond": "~",
    "own": "≈",
}
WORDS = {
    "only_source": say("cli.side.lost"),
    "foreseen": say("cli.side.foreseen"),
    "beyond": say("cli.side.not_kept"),
    "own": say("cli.side.adopted"),
    "only_target": say("cli.side.extra"),
}
HIDDEN = ("not_sent",)
AGREED = ("equal", "rewritten", "unknown")
STYLES = {"differs": "red", "only_source": "yellow", "missing": "red"}


def show(
    context: typer.Context,
    stream: Annotated[str, typer.Argument(metavar="STREAM", autocompletion=streams)],
    source_id: Annotated[str, typer.Argument(metavar="ID")],
    stored: Annotated[bool, typer.Option("--stored")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one record: source, saved copy and target, field by field."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import stream_name
    from b24migrate.insight.lookup import record
    from b24migrate.model.errors import BadConfiguration

    session: Session = context.obj
    with open_to_read(session) as app:
        name = stream_name(stream, app.context.streams)
        found = record(app.context, name, source_id, ask=not stored)
    if found is None:
        text = say("cli.show.unknown", stream=name, id=harmless(source_id[:100]))
        raise BadConfiguration(text, hint=say("cli.show.find"), code="USAGE")
    if as_json:
        typer.echo(harmless_json(session.redact(json.dumps(found.to_json(), ensure_ascii=False))))
        return
    print_record(found, console(), lambda text: harmless(session.redact(text)))


def print_record(found: RecordView, out: Console, clean: Clean) -> None:
    wrapped(out, clean(f"{found.stream} {found.id}  {found.title}".rstrip()), style="bold")
    words, style = VERDICTS[found.verdict]
    wrapped(out, words, style=style)
    for line in _facts(found):
        wrapped(out, clean(line), indent=INDENT)
    if found.trouble:
        wrapped(out, clean(f"{found.trouble.code}: {spoken(found.trouble.message)}"), indent=INDENT, style="red")
        wrapped(out, found.trouble.cause, indent=INDENT)
        wrapped(out, found.trouble.fix, indent=INDENT, first="→ ")
    _print_fields(found, out, clean)
    _print_beside(found, out, clean)


def _facts(found: RecordView) -> Iterable[str]:
    if found.aside:
        yield found.aside.reason
    if found.status:
        key = "cli.show.status_tries" if found.attempts else "cli.show.status"
        status = phrase(key, status=found.status, attempts=found.attempts, run=found.run)
        yield phrase("cli.show.pulled", status=status) if found.pulled_through else status
    if found.link:
        yield phrase(
            "cli.show.link",
            target_id=found.link.target_id,
            origin=found.link.origin,
            imported_at=found.link.imported_at,
        ).rstrip(", ")
    if found.times:
        yield phrase("cli.show.time", original=found.times.original, utc=found.times.utc)
    if found.changed:
        yield phrase("cli.show.changed")
    if found.problem:
        yield phrase("cli.show.unsendable", problem=found.problem)
    yield from _side("source", found.source)
    yield from _side("target", found.target)


def _side(name: str, side: Side) -> Iterable[str]:
    if side.message:
        yield f"{name}: {spoken(side.message)} {spoken(side.hint)}".rstrip()
    elif side.state in SIDES:
        yield phrase(SIDES[side.state], portal=name)


# ---------------------------------------------------------------- fields


def _print_fields(found: RecordView, out: Console, clean: Clean) -> None:
    shown = [one for one in found.fields if one.verdict not in HIDDEN]
    if shown:
        out.print()
    for one in shown:
        _print_field(one, out, clean)
    hidden = [one.name for one in found.fields if one.verdict in HIDDEN]
    if hidden:
        wrapped(out, clean(phrase("cli.show.not_sent", names=hidden)), style="dim")


def _print_field(one: FieldRow, out: Console, clean: Clean) -> None:
    mark, style = f"{MARKS.get(one.verdict, '?')} ", STYLES.get(one.verdict, "")
    sides = {"source": one.source, "sent": one.sent, "target": one.target}
    if one.changed:
        sides = {"staged": one.staged, **sides}
    values = {name: _value(value) for name, value in sides.items() if value is not None}
    if len(set(values.values())) == 1:
        values = {"": next(iter(values.values()))}
    elif one.verdict in AGREED and not one.changed and "source" in values and "sent" in values:
        values = {"": f"{values['source']} → {values['sent']}"}
    note = f" ({spoken(WORDS[one.verdict])})" if one.verdict in WORDS else ""
    if "" in values:
        wrapped(out, clean(f"{one.name}{note}: {values['']}"), first=mark, style=style)
        return
    wrapped(out, clean(f"{one.name}{note}"), first=mark, style=style)
    for name, value in values.items():
        wrapped(out, clean(value), indent=INDENT, first=f"{name:<7}")


def _value(value: Shown) -> str:
    text = value.text[:LONGEST]
    return text if value.length <= len(text) else f"{text}… ({number(value.length)} characters)"


# ---------------------------------------------------------------- what else is known


def _print_beside(found: RecordView, out: Console, clean: Clean) -> None:
    lines = [
        *(f"verify: {one.fate} {one.field} {one.expected} / {one.actual} {spoken(one.note)}" for one in found.findings),
        *(phrase("cli.show.place", place=one.place, what=one.what) for one in found.places),
        *(f"file {one.id} {one.name}: {one.state} {one.error}".rstrip() for one in found.files),
        *(
            phrase(f"cli.show.children{'_more' * one.more}", stream=one.stream, count=number(one.read))
            for one in found.children
        ),
    ]
    left = found.files_in_all - len(found.files)
    if left:
        lines.append(phrase("cli.show.more_files", count=number(left)))
    if lines:
        out.print()
    for line in lines:
        wrapped(out, clean(line))
