"""How a command ends: the exit codes, and what a person reads on stderr."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from b24migrate import messages
from b24migrate.messages.terminal import harmless, phrase, spoken
from b24migrate.model.errors import MigrationError, Stop, is_exhausted
from b24migrate.monitor.bug_file import write_bug

CLEAN, BUG, USAGE, GATE, INCOMPLETE, FINDINGS = 0, 1, 2, 3, 4, 5
INTERRUPTED = 130  # the parser's code for Ctrl-C
STOPPED = messages.say("cli.stopped")


def of_exit(code: object) -> int:
    """A pipe closed by its reader ends the parser with 1, which here is reserved for bugs."""
    if code == INTERRUPTED:
        return stopped()
    if code == BUG:
        return INCOMPLETE
    return code if isinstance(code, int) else CLEAN


def stopped() -> int:
    say(spoken(STOPPED))
    return INCOMPLETE


def refused(error: MigrationError, redact: Callable[[str], str]) -> int:
    for line in sentence(spoken(error.message)).split("\n"):  # a file with several mistakes has a line for each
        say(harmless(redact(line)))
    if error.hint:
        say(harmless(redact(f"  → {spoken(error.hint)}")))
    return error.exit_code if isinstance(error, Stop) else INCOMPLETE


def whole(stop: BaseException) -> str:
    """The cause and the next step in one text."""
    return f"{sentence(stop.message)} {stop.hint}".strip() if isinstance(stop, MigrationError) else STOPPED


def broken(bug: Exception, redact: Callable[[str], str]) -> int:
    from b24migrate.config import debug_wanted

    if isinstance(bug, OSError) and is_exhausted(bug):
        where = f" ({bug.filename})" if bug.filename else ""
        say(phrase("cli.exhausted", why=f"{bug.strerror}{where}"))
        say(f"  → {phrase('cli.exhausted_fix')}")
        return INCOMPLETE
    if debug_wanted():
        say(redact("".join(traceback.format_exception(bug))))
        return BUG
    say(phrase("cli.bug", kind=type(bug).__name__))
    say(f"  → {phrase('cli.bug_fix', file=write_bug(bug, redact))}")
    return BUG


def sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 - stderr is where a person looks
