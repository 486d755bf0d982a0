"""Mistakes in a command line, in the reader's language. The parser reports them in English, each in a known form."""

from __future__ import annotations

import re
from typing import NamedTuple

from typer._click.exceptions import ClickException, NoArgsIsHelpError, UsageError

from b24migrate.cli.exit_codes import USAGE, say
from b24migrate.messages.terminal import harmless, phrase


class Form(NamedTuple):
    key: str
    pattern: re.Pattern[str]


_VALUE = r"Invalid value for '?(?P<name>.+?)'?: "
# The first that fits. Tests try each of them, so that another version of the parser does not go unnoticed.
FORMS = tuple(
    Form(f"cli.usage.{key}", re.compile(pattern, re.DOTALL))
    for key, pattern in {
        "missing_argument": r"Missing argument '(?P<name>.+?)'\.",
        "missing_option": r"Missing option '(?P<name>.+?)'\.",
        "missing_command": r"Missing command\.",
        "unknown_option": r"No such option: (?P<name>\S+)( \(Possible options: (?P<near>.+)\))?",
        "unknown_command": r"No such command '(?P<name>.+?)'\.( Did you mean (?P<near>.+)\?)?",
        "extra": r"Got unexpected extra argument\(s\) \((?P<name>.+)\)",
        "needs_value": r"Option '(?P<name>.+?)' requires an argument\.",
        "takes_no_value": r"Option '(?P<name>.+?)' does not take a value\.",
        "not_integer": rf"{_VALUE}Input should be a valid integer.*",
        "not_number": rf"{_VALUE}Input should be a valid number.*",
        "too_small": rf"{_VALUE}Input should be greater than or equal to (?P<limit>\S+)",
        "too_large": rf"{_VALUE}Input should be less than or equal to (?P<limit>\S+)",
        "no_choice": rf"{_VALUE}Value error, (?P<value>.+) is not one of (?P<near>.+)\.",
        "other": r"(?P<name>.+)",
    }.items()
)

WEBHOOK = re.compile(r"(/rest/\d+/)[^/\s]+")
GUESSED = ("cli.usage.unknown_option", "cli.usage.unknown_command")


def report(error: ClickException) -> int:
    """The error and its fix. A webhook that was typed in a wrong place is not repeated."""
    if isinstance(error, NoArgsIsHelpError):
        error.show()
        return USAGE
    for line in (sentence(error.format_message()), *advice(error)):
        say(harmless(WEBHOOK.sub(r"\1…", line)))
    return USAGE


def sentence(text: str) -> str:
    key, found = next((form.key, match.groupdict()) for form in FORMS if (match := form.pattern.fullmatch(text)))
    values = {name: value.replace("'", "") for name, value in found.items() if value}
    known = phrase(key, **values)
    return f"{known} {phrase('cli.usage.near', near=values['near'])}" if key in GUESSED and "near" in values else known


def advice(error: ClickException) -> list[str]:
    """The form of the command, and where all of its options are listed."""
    context = error.ctx if isinstance(error, UsageError) else None
    command = context.command_path if context else "b24migrate"
    usage = [f"  → {' '.join(context.get_usage().split())}"] if context else []
    return [*usage, f"  → {phrase('cli.usage.help', command=f'{command} --help')}"]
