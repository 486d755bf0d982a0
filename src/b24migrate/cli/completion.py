"""Completion in the shell: the script, and the names that can follow."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

PROGRAM = "b24migrate"
VARIABLE = "_B24MIGRATE_COMPLETE"  # the shell asks with it; the parser's own name


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(show_choices=True)]) -> None:
    """Print the completion script of a shell."""
    from typer._completion_shared import get_completion_script

    typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell))


def prepare() -> None:
    """Before the parser runs, when a shell asks."""
    import os

    if VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()


def entities(incomplete: str) -> list[str]:
    from b24migrate.entities import catalog

    return _beginning([entity.name for entity in catalog().entities], incomplete)


def streams(incomplete: str) -> list[str]:
    from b24migrate.entities import catalog

    names = [stream.name for entity in catalog().entities for stream in entity.streams]
    return _beginning([*names, "files"], incomplete)


def mini_tasks(incomplete: str) -> list[str]:
    from b24migrate.entities import catalog
    from b24migrate.model.streams import PHASES

    names = [entity.task(phase) for entity in catalog().entities for phase in PHASES]
    return [name for name in names if name.startswith(incomplete.replace("_", "-"))]


def phases(incomplete: str) -> list[str]:
    from b24migrate.model.streams import PHASES

    return [name for name in PHASES if name.startswith(incomplete)]


def codes(incomplete: str) -> list[str]:
    from b24migrate.messages.pages import PAGES

    return [code for code in PAGES if code.startswith(incomplete)]


def _beginning(names: list[str], incomplete: str) -> list[str]:
    """With dashes, as people type them."""
    spelled = [name.replace("_", "-") for name in names] if "-" in incomplete else names
    return [name for name in spelled if name.startswith(incomplete)]
