"""`serve`: the dashboard, for as long as it is wanted."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.errors import BadConfiguration
from b24migrate.hosts.cli.session import Session

if TYPE_CHECKING:
    from b24migrate.hosts.web.context import Context
    from b24migrate.hosts.web.security import Doors, Latch

HOST, PORT = "127.0.0.1", 8724


def serve(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option(help="Where to listen; anything but loopback needs a token.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = PORT,
    token: Annotated[
        str,
        typer.Option(
            metavar="env:NAME|file:PATH", help="Where the token is kept; without it one is made where one is needed."
        ),
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A name that a proxy calls us by; may be repeated."),
    ] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser.")] = False,
) -> None:
    """Show the migration in a browser, live, until Ctrl-C.

    \b
    Start, pause, resume and retry from the page; what is started there goes on
    when this ends. Only this machine can see it, unless --host says otherwise.
    """
    from b24migrate.hosts.web.security import Doors

    session: Session = context.obj
    doors = Doors(host, frozenset(name.lower() for name in allow_host or ()))
    show_dashboard(session, doors, port, latch_for(session, doors, token), show=show, made=not token)


def show_dashboard(
    session: Session, doors: Doors, port: int, latch: Latch | None, *, show: bool = False, made: bool = True
) -> None:
    """Until Ctrl-C or SIGTERM."""
    from b24migrate.hosts.cli.opening import terminated_politely
    from b24migrate.hosts.web.context import Context

    context = Context(config=session.config, environ=session.environ, doors=doors, latch=latch)
    try:
        with context.app():
            pass  # a mistake in the configuration is said here, not on a page
        with terminated_politely():
            _listen(context, port, show=show, made=made)
    except KeyboardInterrupt:
        typer.echo("The dashboard is closed. What was started from it goes on.", err=True)
    finally:
        context.close()


def _listen(context: Context, port: int, *, show: bool, made: bool) -> None:
    from b24migrate.hosts.web.application import application
    from b24migrate.hosts.web.server import address, listening, served

    place = listening(context.doors.host, port)
    with served(application(context), place):
        url = address(place)
        typer.echo(f"The dashboard is at {url} until Ctrl-C.")
        if context.latch is not None and made:
            typer.echo(f"Its token, shown only now: {context.latch.token}")
            typer.echo(f"Or open {url}/login#{context.latch.token}")
        if show:
            typer.launch(url)
        threading.Event().wait()


@contextmanager
def beside(session: Session) -> Iterator[None]:
    """While something else is done: at its usual port, or at any that is free."""
    from b24migrate.hosts.web.application import application
    from b24migrate.hosts.web.context import Context
    from b24migrate.hosts.web.server import address, listening, served

    context = Context(config=session.config, environ=session.environ)
    try:
        place = listening(HOST, PORT)
    except BadConfiguration:
        place = listening(HOST, 0)
    try:
        with served(application(context), place):
            typer.echo(f"Watch it at {address(place)}")
            yield
    finally:
        context.close()


def latch_for(session: Session, doors: Doors, token: str) -> Latch | None:
    """Raises BadConfiguration when the token cannot be had, or is too short."""
    from b24migrate.hosts.web.security import Latch, usable

    if token:
        return Latch(usable(_given(session, token)))
    return None if doors.inside else Latch(secrets.token_urlsafe(24))


def _given(session: Session, reference: str) -> str:
    from b24migrate.settings import secret_at

    if not reference.startswith(("env:", "file:")):
        hint = "Write --token env:NAME or --token file:PATH: what stands on a command line, every process can read."
        raise BadConfiguration("--token wants a place, not the token itself.", code="USAGE", hint=hint)
    return secret_at(reference, folder=Path.cwd(), environ=session.environ)
