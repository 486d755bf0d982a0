"""A command that was started from a page, in its own process: `python -m b24migrate.cli.web_action NOTE COMMAND …`.
When it ends it notes how, with the sentence and the fix that a terminal would have shown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from b24migrate import cli
from b24migrate.model.errors import MigrationError
from b24migrate.web.actions import LastAction, read_action, write_action


def main(place: Path, arguments: list[str]) -> int:
    reason: dict[str, str] = {}

    def hear(error: MigrationError, redact: Callable[[str], str]) -> None:
        reason.update(message=redact(error.message), hint=redact(error.hint), code=error.code)

    code = cli.execute(arguments, hear=hear)
    begun = read_action(place) or LastAction(arguments[0], "")
    write_action(place, replace(begun, exit_code=code, **reason))
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
