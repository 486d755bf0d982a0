"""`serve`: the dashboard, for as long as it is wanted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import BadConfiguration
from b24migrate.private_files import is_exposed, replace_private

if TYPE_CHECKING:
    from b24migrate.web.auth import Hosts, Sessions
    from b24migrate.web.context import Context

HOST, PORT = "127.0.0.1", 8724


def serve(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option()] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535)] = PORT,
    token: Annotated[
        str,
        typer.Option(metavar="env:NAME|file:PATH"),
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME"),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS"),
    ] = None,
    show: Annotated[bool, typer.Option("--open/--no-open")] = False,
) -> None:
    """Open the dashboard: the live migration in a browser, until Ctrl-C."""
    from b24migrate.web.auth import Hosts, parse_network

    session: Session = context.obj
    names = frozenset(name.lower() for name in allow_host or ())
    if proxy and not names:
        hint = say("cli.serve.proxy_fix")
        raise BadConfiguration(say("cli.serve.proxy"), code="USAGE", hint=hint)
    hosts = Hosts(host, names, proxies=tuple(map(parse_network, proxy or ())))
    show_dashboard(session, hosts, port, sessions_for(session, token), show=show, kept=token)


def show_dashboard(session: Session, hosts: Hosts, port: int, sessions: Sessions, *, show: bool, kept: str) -> None:
    """Until Ctrl-C or SIGTERM. A token that is `kept` somewhere is not printed."""
    from b24migrate.cli.signals import interruptible
    from b24migrate.web.context import Context

    context = Context(config=session.config, environ=session.environ, hosts=hosts, sessions=sessions)
    try:
        with context.app():
            pass  # a mistake in the configuration is reported here, not on a page
        with interruptible():
            _listen(context, port, show=show, kept=kept)
    except KeyboardInterrupt:
        typer.echo(phrase("cli.serve.closed"), err=True)
    finally:
        context.close()


def _listen(context: Context, port: int, *, show: bool, kept: str) -> None:
    from b24migrate.web.application import make_application
    from b24migrate.web.server import address, listen, serve_in_thread

    place = listen(context.hosts.host, port)
    with serve_in_thread(make_application(context), place):
        url = address(place)
        link = link_to(url, context.sessions)
        typer.echo(phrase("cli.serve.at", url=url))
        if kept:
            typer.echo(phrase("cli.serve.sign_in", kept=kept))
        else:
            typer.echo(f"Open {link}")
            typer.echo(phrase("cli.serve.link"))
        with opened(link, context) if show else nullcontext():
            threading.Event().wait()


def link_to(url: str, sessions: Sessions) -> str:
    """Browsers do not send the part after "#" to servers, so it is in no log or Referer."""
    return f"{url}/login#{quote(sessions.token, safe='')}"


@contextmanager
def opened(link: str, context: Context) -> Iterator[None]:
    """Opens the browser with a private file that redirects there, because every user of this machine can read command
    lines. The file is next to the store: browsers in a sandbox cannot read temporary or hidden folders."""
    with context.app() as app:
        file = app.settings.store.log_file.with_suffix(".open.html")
    try:
        with suppress(OSError):  # the link is printed as well
            with replace_private(file, encoding="utf-8") as out:
                out.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(link)}">\n')
            typer.launch(str(file))
        yield
    finally:
        file.unlink(missing_ok=True)


@contextmanager
def dashboard_running(session: Session) -> Iterator[None]:
    """Serves the dashboard during the block: at its usual port, or at any free one."""
    from b24migrate.web.application import make_application
    from b24migrate.web.context import Context
    from b24migrate.web.server import address, listen, serve_in_thread

    context = Context(config=session.config, environ=session.environ)
    try:
        place = listen(HOST, PORT)
    except BadConfiguration:
        place = listen(HOST, 0)
    try:
        with serve_in_thread(make_application(context), place):
            typer.echo(phrase("cli.serve.watch", place=link_to(address(place), context.sessions)))
            yield
    finally:
        context.close()


def sessions_for(session: Session, token: str) -> Sessions:
    """Raises BadConfiguration when the token cannot be had, or is too short."""
    from b24migrate.web.auth import Sessions, check_token

    return Sessions(check_token(_given(session, token))) if token else Sessions()


def _given(session: Session, reference: str) -> str:
    from b24migrate.config import secret_at

    if not reference.startswith(("env:", "file:")):
        hint = say("cli.serve.token_fix")
        raise BadConfiguration(say("cli.serve.token"), code="USAGE", hint=hint)
    file = Path(reference.removeprefix("file:")).expanduser()
    if reference.startswith("file:") and is_exposed(file):
        typer.echo(phrase("cli.serve.exposed", file=file), err=True)
    return secret_at(reference, folder=Path.cwd(), environ=session.environ)
