"""`errors`: what failed by cause, and what one code means."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.completion import codes, streams
from b24migrate.cli.session import Session
from b24migrate.messages.terminal import language, phrase, spoken
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.insight.causes import Chains, Group
    from b24migrate.messages.pages import Page

Clean = Callable[[str], str]
INDENT = "    "
PLACES = 4  # streams named with a code
CHAINS = 10  # records named that others wait for


def errors(
    context: typer.Context,
    code: Annotated[str, typer.Argument(metavar="[CODE]", autocompletion=codes)] = "",
    stream: Annotated[str, typer.Option("--stream", metavar="NAME", autocompletion=streams)] = "",
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Show failures by cause, with fixes."""
    if code:
        explain(code, as_json=as_json)
        return
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import stream_name
    from b24migrate.insight.causes import chains, group_causes, list_causes
    from b24migrate.messages.terminal import harmless, harmless_json
    from b24migrate.monitor.logs import mask_email

    session: Session = context.obj
    with open_to_read(session) as app:
        name = stream_name(stream, app.context.streams) if stream else ""
        found, chained = list_causes(app.context, name), chains(app.context, name)
    if as_json:
        output: dict[str, Json] = {"errors": [cause.to_json() for cause in found]}
        output |= {"chains": [chain.to_json() for chain in chained.chains], "chains_complete": chained.complete}
        text = json.dumps(output, ensure_ascii=False)
        typer.echo(harmless_json(mask_email(session.redact(text))))
        return
    print_groups(group_causes(found), console(), lambda text: harmless(mask_email(session.redact(text))), chained)


def explain(code: str, *, as_json: bool) -> None:
    """Explains the code without a store, so it also works on another machine."""
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import unknown_name
    from b24migrate.messages import say
    from b24migrate.messages.pages import PAGES, UNKNOWN, link, page_of

    spelled = {known.lower(): known for known in PAGES}
    page = page_of(spelled.get(code.lower(), code))
    if page is UNKNOWN and code.upper() != UNKNOWN.code:
        raise unknown_name(code, say("cli.names.code"), list(PAGES), hint=say("cli.errors.known"))
    if as_json:
        output = {"code": page.code, "cause": page.cause, "fix": page.fix, "again": page.retried, "page": link(page)}
        typer.echo(json.dumps(output, ensure_ascii=False))
    else:
        print_page(page, console())


def print_page(page: Page, out: Console) -> None:
    from b24migrate.messages.pages import link
    from b24migrate.messages.terminal import wrapped

    wrapped(out, page.code, style="bold")
    wrapped(out, page.cause, indent=INDENT)
    wrapped(out, page.fix, indent=INDENT, first="→ ")
    wrapped(out, page.retried, indent=INDENT, first=f"{phrase('errors.document.again')} ")
    wrapped(out, link(page, language()), indent=INDENT, style="dim")


def print_groups(groups: Sequence[Group], out: Console, clean: Clean, chained: Chains | None = None) -> None:
    from b24migrate.messages.terminal import wrapped

    wrapped(out, verdict(groups), style="bold" if groups else "green")
    for group in groups:
        out.print()
        print_group(group, out, clean, chained)
    if groups:
        out.print()
    if any(not group.waits for group in groups):
        wrapped(out, phrase("cli.errors.after"))


def verdict(groups: Sequence[Group]) -> str:
    from b24migrate.messages.terminal import number

    failed = [group for group in groups if not group.waits]
    waiting = sum(group.count for group in groups if group.waits)
    text = phrase("cli.errors.none")
    if failed:
        total = sum(group.count for group in failed)
        text = phrase("cli.errors.total", total=number(total), count=len(failed))
    return phrase("cli.errors.waiting", said=text, count=number(waiting)) if waiting else text


def print_group(group: Group, out: Console, clean: Clean, chained: Chains | None) -> None:
    """The code and its title, then labelled lines: where, an example, which records to fix first, and how."""
    from rich.markup import escape

    from b24migrate.cli.progress import shortened
    from b24migrate.insight.causes import CODE
    from b24migrate.messages.pages import UNKNOWN
    from b24migrate.messages.terminal import number, wrapped

    first = group.causes[0]
    colour = "yellow" if group.waits else "red"
    again = " " + phrase("cli.errors.again") if group.waits else ""
    code = escape(clean(group.code)) or phrase("cli.errors.no_code")
    title = "" if group.page is UNKNOWN else f": {escape(spoken(group.page.title))}"
    out.print(f"[{colour}]{number(group.count)} ×[/] [bold]{code}[/]{title}{again}")
    example = phrase("cli.errors.example", place=first.place, id=first.example, message=first.message)
    lines = [("where", where(group)), ("example", clean(example if first.example else spoken(first.message)))]
    if chained is not None and chained.chains and group.code == CODE and not group.waits:
        lines += [("first", line) for line in first_lines(chained, clean)]
    lines += [("fix", fix) for fix in group.fixes]
    labels = {name: phrase(f"cli.errors.label.{name}") for name in ("where", "example", "first", "fix")}
    width = max(map(len, labels.values())) + 2
    before = ""
    for name, text in lines:
        label = "" if name == before else labels[name]
        shown = text if name == "fix" else shortened(text)
        wrapped(out, shown, indent=INDENT, first=label.ljust(width), style="dim" if name == "example" else "")
        before = name


def first_lines(chained: Chains, clean: Clean) -> list[str]:
    """How many failures follow from how few records, and which these are."""
    shown = chained.chains[:CHAINS]
    lines = [follow_line(chained)]
    lines += [
        clean(phrase("cli.errors.chain", count=one.records, place=one.stream, id=one.id, message=one.message))
        for one in shown
    ]
    left = len(chained.chains) - len(shown)
    return [*lines, phrase("cli.errors.more_chains", count=left)] if left else lines


def follow_line(chained: Chains) -> str:
    """Also for the end of a run, and for `status`."""
    from b24migrate.messages.terminal import number

    key = "cli.errors.follow" if chained.complete else "cli.errors.follow_least"
    return phrase(key, records=number(chained.records), count=len(chained.chains))


def where(group: Group) -> str:
    from b24migrate.messages.terminal import number

    named = [f"{cause.place} {number(cause.count)}" for cause in group.causes[:PLACES]]
    left = len(group.causes) - len(named)
    more = [phrase("cli.errors.more_places", count=left)] if left else []
    return ", ".join([*named, *more])
