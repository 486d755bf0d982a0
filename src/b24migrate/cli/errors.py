"""`errors`: what failed by cause, and what one code means."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.completion import codes, streams
from b24migrate.cli.session import Session
from b24migrate.messages.terminal import language, phrase, spoken

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.insight.causes import Group
    from b24migrate.messages.pages import Page

Clean = Callable[[str], str]
INDENT = "    "
PLACES = 4  # so many streams are named beside a code


def errors(
    context: typer.Context,
    code: Annotated[
        str, typer.Argument(metavar="[CODE]", help="Explain this code instead.", autocompletion=codes)
    ] = "",
    stream: Annotated[
        str, typer.Option("--stream", metavar="NAME", help="Only this kind of record.", autocompletion=streams)
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")] = False,
) -> None:
    """Show what failed, and what to do about it.

    Grouped by cause, the most frequent first, with an example of each. With a CODE: what it means.

    Examples: b24migrate errors · b24migrate errors --stream users · b24migrate errors DUPLICATE_EMAIL
    """
    if code:
        explain(code, as_json=as_json)
        return
    from b24migrate.cli.open_app import looking
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import stream_name
    from b24migrate.insight.causes import causes, grouped
    from b24migrate.messages.safe_text import harmless, harmless_json
    from b24migrate.monitor.logs import masked

    session: Session = context.obj
    with looking(session) as app:
        found = causes(app.context, stream_name(stream, app.context.streams) if stream else "")
    if as_json:
        text = json.dumps({"errors": [cause.to_json() for cause in found]}, ensure_ascii=False)
        typer.echo(harmless_json(masked(session.redact(text))))
        return
    print_groups(grouped(found), console(), lambda text: harmless(masked(session.redact(text))))


def explain(code: str, *, as_json: bool) -> None:
    """What the code means: without a store, so it also works on another machine."""
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import unknown_name
    from b24migrate.messages import say
    from b24migrate.messages.pages import PAGES, UNKNOWN, link, page_of

    spelled = {known.lower(): known for known in PAGES}
    page = page_of(spelled.get(code.lower(), code))
    if page is UNKNOWN and code.upper() != UNKNOWN.code:
        raise unknown_name(code, say("cli.names.code"), list(PAGES), hint=say("cli.errors.known"))
    if as_json:
        told = {"code": page.code, "cause": page.cause, "fix": page.fix, "again": page.retried, "page": link(page)}
        typer.echo(json.dumps(told, ensure_ascii=False))
    else:
        print_page(page, console())


def print_page(page: Page, out: Console) -> None:
    from b24migrate.messages.pages import link
    from b24migrate.messages.safe_text import wrapped

    wrapped(out, page.code, style="bold")
    wrapped(out, page.cause, indent=INDENT)
    wrapped(out, page.fix, indent=INDENT, first="→ ")
    wrapped(out, page.retried, indent=INDENT, first=f"{phrase('errors.document.again')} ")
    wrapped(out, link(page, language()), indent=INDENT, style="dim")


def print_groups(groups: Sequence[Group], out: Console, clean: Clean) -> None:
    from b24migrate.messages.safe_text import wrapped

    wrapped(out, verdict(groups), style="bold" if groups else "green")
    for group in groups:
        out.print()
        print_group(group, out, clean)
    if any(not group.waits for group in groups):
        out.print()
        wrapped(out, phrase("cli.errors.after"))


def verdict(groups: Sequence[Group]) -> str:
    from b24migrate.cli.lanes import number

    failed = [group for group in groups if not group.waits]
    waiting = sum(group.count for group in groups if group.waits)
    said = phrase("cli.errors.none")
    if failed:
        total = sum(group.count for group in failed)
        said = phrase("cli.errors.total", total=number(total), count=len(failed))
    return phrase("cli.errors.waiting", said=said, count=number(waiting)) if waiting else said


def print_group(group: Group, out: Console, clean: Clean) -> None:
    from rich.markup import escape

    from b24migrate.cli.lanes import number
    from b24migrate.cli.progress import shortened
    from b24migrate.messages.pages import link
    from b24migrate.messages.safe_text import wrapped

    first = group.causes[0]
    colour = "yellow" if group.waits else "red"
    again = " " + phrase("cli.errors.again") if group.waits else ""
    code = escape(clean(group.code)) or phrase("cli.errors.no_code")
    out.print(f"[{colour}]{number(group.count)} ×[/] [bold]{code}[/]{again}")
    wrapped(out, where(group), indent=INDENT)
    wrapped(out, group.page.cause, indent=INDENT)
    example = phrase("cli.errors.example", place=first.place, id=first.example, message=first.message)
    wrapped(out, shortened(clean(example if first.example else spoken(first.message))), indent=INDENT, style="dim")
    for fix in group.fixes:
        wrapped(out, fix, indent=INDENT, first="→ ")
    wrapped(out, link(group.page, language()), indent=INDENT, style="dim")


def where(group: Group) -> str:
    from b24migrate.cli.lanes import number

    named = [f"{cause.place} {number(cause.count)}" for cause in group.causes[:PLACES]]
    left = len(group.causes) - len(named)
    more = [phrase("cli.errors.more_places", count=left)] if left else []
    return phrase("cli.errors.where", names=", ".join([*named, *more]))
