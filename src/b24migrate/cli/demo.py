"""`demo`: a whole migration between two simulated portals on this machine."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase

FINDINGS = 5
SPEAKERS = "1,2,3"  # whose chats can be read


def demo(
    context: typer.Context,
    *,
    users: Annotated[int, typer.Option(min=5)] = 60,
    groups: Annotated[int, typer.Option(min=0)] = 25,
    chats: Annotated[int, typer.Option(min=0)] = 40,
    messages: Annotated[int, typer.Option(min=0)] = 2000,
    tasks: Annotated[int, typer.Option(min=0)] = 100,
    deals: Annotated[int, typer.Option(min=0)] = 150,
    keep: Annotated[bool, typer.Option("--keep")] = False,
    serve: Annotated[bool, typer.Option("--serve")] = False,
    store: Annotated[str, typer.Option(metavar="URL")] = "",
) -> None:
    """Migrate between two simulated portals on this machine."""
    from b24migrate.cli.demo_portals import configuration, portals, prepared, refuse_without_simulator
    from b24migrate.cli.run_plan import conduct, run_plan
    from b24migrate.cli.serve import beside
    from b24migrate.cli.signals import interruptible
    from b24migrate.private_files import open_private

    session: Session = context.obj
    refuse_without_simulator()
    folder = prepared(Path("demo-out"))
    sizes = {"--users": users, "--groups": groups, "--chats": chats, "--messages": messages}
    sizes |= {"--tasks": tasks, "--deals": deals, "--contacts": deals // 2, "--companies": deals // 4}
    company = [text for name, size in sizes.items() for text in (name, str(size))]
    typer.echo(phrase("cli.demo.starting"))
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        cloud, box = stack.enter_context(portals([*company, "--webhooks", SPEAKERS]))
        session.config = folder / "b24migrate.toml"
        with open_private(session.config, "x", encoding="utf-8") as out:
            out.write(configuration(cloud, box, *([store] if store else [])))
        session.environ = {}
        stack.enter_context(beside(session))
        code = conduct(session, run_plan([]))
        if code == FINDINGS:
            typer.echo(phrase("cli.demo.company"))
            typer.echo(phrase("cli.demo.company_more"))
        typer.echo(phrase("cli.demo.results", folder=folder))
        for command in ("status", "errors", f"report --out {folder}/report", "serve --open"):
            typer.echo(f"  {own_name()} --config {session.config} {command}")
        if keep or serve:
            typer.echo(phrase("cli.demo.portals", url=cloud.url, url2=box.url))
            threading.Event().wait()
    raise typer.Exit(code)


def own_name() -> str:
    """How to call this program from here: its path where the shell would not find it."""
    script = Path(sys.argv[0])
    if shutil.which("b24migrate") or script.name != "b24migrate":
        return "b24migrate"
    return os.path.relpath(script)
