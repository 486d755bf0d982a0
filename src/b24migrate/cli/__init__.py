"""The command line: parses, calls, prints, and turns every result into an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from b24migrate.cli import exit_codes, signals
from b24migrate.cli.session import Session
from b24migrate.messages import terminal
from b24migrate.model.errors import MigrationError
from b24migrate.private_files import OTHERS

if TYPE_CHECKING:
    from typer._click.core import Command

# Imports create no cycles, but the default threshold collects a dozen times while a command starts.
ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000


def main(arguments: Sequence[str] | None = None) -> None:
    os.umask(OTHERS)  # for files that libraries write; our own set their permissions
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # saves a search in all installed packages
    signals.end_in_time()
    code = None
    try:
        with signals.interruptible():
            code = execute(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # before or after the command
        code = exit_codes.stopped() if code is None else code
    if code == exit_codes.INCOMPLETE:
        leave(code)
    sys.exit(code)


def leave(code: int) -> NoReturn:
    """At once. If an interrupt hits code that is made of text (every dataclass is), CPython ends the process by SIGINT
    later, whatever exit code it is given (`unhandled_keyboard_interrupt` in Modules/main.c)."""
    with suppress(OSError, ValueError):  # the reader of the pipe has gone
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


Hear = Callable[[MigrationError, Callable[[str], str]], None]


def execute(arguments: list[str], *, hear: Hear = lambda *_: None) -> int:
    """Never raises: an error becomes a sentence on stderr and an exit code. `hear` gets the error and the function that
    removes secrets."""
    session = Session()
    terminal.suggest(terminal.of_locale())
    try:
        return exit_codes.of_exit(_parse(arguments, session))
    except SystemExit as leaving:
        return exit_codes.of_exit(leaving.code)
    except KeyboardInterrupt:
        return exit_codes.stopped()
    except MigrationError as error:
        hear(error, session.redact)
        return exit_codes.refused(error, session.redact)
    except Exception as bug:  # noqa: BLE001 - the one place where a bug becomes a sentence
        return exit_codes.broken(bug, session.redact)
    finally:
        terminal.forget()


@cache
def _command() -> Command:
    """All commands. It takes thirty milliseconds, which a process that runs several commands spends once."""
    from typer.main import get_command

    from b24migrate.cli.commands import app

    return get_command(app)


def _parse(arguments: list[str], session: Session) -> object:
    """Parses and calls; the exit code. The imports take a while, and may be interrupted like the command itself."""
    from typer import Abort
    from typer._click.exceptions import ClickException

    from b24migrate.cli import completion, usage
    from b24migrate.cli.help import describe, suggest_language

    completion.prepare()
    suggest_language(arguments)
    command = _command()
    describe(command)
    try:
        return command.main(arguments, prog_name="b24migrate", obj=session, standalone_mode=False)
    except ClickException as error:
        suggest_language(arguments, configured=True)
        return usage.report(error)
    except Abort:
        raise KeyboardInterrupt from None
