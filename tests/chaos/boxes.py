"""What the company moves to: a simulated box, or one that PHP serves, which may be struck down as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.portals import Portal, portal
from tests.chaos.proof import STREAMS
from tests.php_box import PhpBox, php_box


@dataclass(frozen=True, slots=True)
class Box:
    portal: Portal
    admin_email: str  # whom it knows before anything is moved
    strike: Callable[[], None] | None = None
    strays: Callable[[], list[str]] = list  # records that came by an import and that no key stands for, in words


@contextmanager
def simulated(_folder: Path, *weather: str) -> Iterator[Box]:
    with portal("--role=box", *weather) as box:
        yield Box(box, str(box.call("user.get", {"ID": 1})[0]["EMAIL"]))


@contextmanager
def served_by_php(folder: Path, *weather: str) -> Iterator[Box]:
    with php_box(folder) as php, portal(php.url, *weather, module="tests.front_door") as door:
        # no record is written in one transaction with its key: the more ways there are to die
        php.tell("reset", {"apart": STREAMS})
        own = _records(php)

        def strike() -> None:
            php.kill()
            php.start()

        def strays() -> list[str]:
            known = {(stream, row["id"]) for stream in STREAMS for row in php.ask("dump", stream=stream)}
            return [f"{stream}: {number} is on the box, and no key" for stream, number in _records(php) - own - known]

        yield Box(door, str(php.ask("rows", stream="users")["1"]["EMAIL"]), strike, strays)


def _records(php: PhpBox) -> set[tuple[str, str]]:
    return {(stream, number) for stream in STREAMS for number in php.ask("rows", stream=stream)}


BOXES = {"sim": simulated, "php": served_by_php}
