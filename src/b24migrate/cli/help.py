"""Help of every command in the reader's language. Its texts are messages (`help.toml`)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer._click.core import Context
from typer._click.formatting import HelpFormatter

from b24migrate.messages import terminal
from b24migrate.messages.terminal import phrase, words

HELP = frozenset({"-h", "--help"})
ROOT = "root"
CONFIGURATION = "b24migrate.toml"  # config.DEFAULT_FILE: help loads no configuration library
LARGEST_CONFIGURATION = 1 << 20  # bytes
SECTIONS = {"Arguments": "help.word.arguments", "Options": "help.word.options", "Commands": "help.word.commands"}


class Formatter(HelpFormatter):
    """The parser writes headings and marks in English; here they follow the reader's language."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or phrase("help.word.usage"))

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        with super().section(phrase(SECTIONS[name]) if name in SECTIONS else name):
            yield

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(name, _marked(about)) for name, about in rows], col_max, col_spacing)


class HelpContext(Context):
    formatter_class = Formatter


def describe(command: Any, path: Sequence[str] = ()) -> None:
    """Gives the command, its parameters and its commands their texts."""
    name, known = " ".join(path) or ROOT, words()
    command.context_class = HelpContext
    command.help = phrase(f"help.about.{name}").strip()
    for parameter in command.params:
        keys = (f"help.option.{name}.{parameter.name}", f"help.shared.{parameter.name}")
        parameter.help = next((phrase(key) for key in keys if key in known), None)
    for child, each in getattr(command, "commands", {}).items():
        describe(each, (*path, child))


def suggest_language(arguments: Sequence[str], *, configured: bool = False) -> None:
    """The language from `--lang`, the environment or the configuration (for help, or if `configured`), before anything
    is parsed. The command itself reports mistakes in them."""
    if configured or not arguments or HELP & set(arguments):
        terminal.suggest(_of_configuration(arguments))
    terminal.suggest(os.environ.get("B24MIGRATE_RUN__LANGUAGE", ""))
    terminal.suggest(_value("--lang", arguments))


def _of_configuration(arguments: Sequence[str]) -> str:
    try:
        with Path(_value("--config", arguments) or CONFIGURATION).open("rb") as file:
            settings = tomllib.loads(file.read(LARGEST_CONFIGURATION).decode("utf-8-sig"))
        return str(settings["run"]["language"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def _value(option: str, arguments: Sequence[str]) -> str:
    for at, text in enumerate(arguments):
        if text == option:
            return next(iter(arguments[at + 1 : at + 2]), "")
        if text.startswith(f"{option}="):
            return text.partition("=")[2]
    return ""


def _marked(about: str) -> str:
    """`[required]`, `[default: 60]` and the help of `--help` are the parser's own."""
    if about == "Show this message and exit.":
        return phrase("help.word.help")
    for mark, key in (("[required", "required"), ("[default:", "default")):
        about = about.replace(mark, f"[{phrase(f'help.word.{key}')}")
    return about
