"""A file is called after the command that it serves."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from b24migrate.cli.commands import app

# phases of a run, and what goes on with one
WITH = {"do": "run", "get": "run", "set": "run", "verify": "run", "create": "run", "resume": "pause"}


def commands(of: typer.Typer, group: str = "") -> Iterator[tuple[str, str, str]]:
    for one in of.registered_commands:
        assert one.callback is not None
        yield group, str(one.name or one.callback.__name__), one.callback.__module__.rpartition(".")[2]
    for below in of.registered_groups:
        assert below.typer_instance is not None
        yield from commands(below.typer_instance, str(below.name))


def test_every_command_is_in_the_file_of_its_name() -> None:
    found = list(commands(app))
    assert len(found) > 20
    named = {(group or name).replace("-", "_") for group, name, _ in found}
    wrong = [
        f"{group} {name}: cli/{file}.py"
        for group, name, file in found
        if file not in {(group or name).replace("-", "_"), WITH.get(name, "")}
    ]
    assert not wrong
    assert {file for _, _, file in found} <= named
