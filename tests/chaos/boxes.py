"""The target of the company: a simulated box, with or without the module, or one that PHP serves, which may be killed
as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.chaos import native, proof, storm
from tests.chaos.kills import Migration
from tests.chaos.oracle import Json, Source
from tests.chaos.portals import Portal, portal
from tests.chaos.proof import LATER, STREAMS, Compared, Proof
from tests.php_box import PhpBox, php_box

Prove = Callable[[Source, Portal, Migration, Json], Proof]
Compare = Callable[[Source, Portal, Migration], Compared]
Edit = Callable[[Portal, str, str, str], None]
ALL = (*STREAMS, *LATER)
# Changes that users make on the box.
NAMES = {
    "groups": "NAME",
    "tasks": "title",
    "crm_activities": "SUBJECT",
    "crm_products": "name",
    **dict.fromkeys(("crm_deals", "crm_leads", "crm_invoices"), "title"),
}
APPLICATION = ("client_id", "client_secret", "refresh_token", "access_token", "token_url")
STRANGE = "rest_4f1c3a9d7e"  # an activity that the simulated company has from an application


@dataclass(frozen=True, slots=True)
class Box:
    portal: Portal
    admin_email: str  # users that it has before the migration
    weather: list[storm.Rule] = field(default_factory=storm.over_the_box)
    settings: str = ""  # its configuration besides its address
    habits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # options of commands
    prove: Prove = lambda source, box, _migration, status: proof.prove(source, box, status)
    compare: Compare = proof.compare_box
    edit: Edit = lambda box, stream, number, text: box.edit(stream, number, {NAMES[stream]: text})
    book: Callable[[Portal], Json] = proof.snapshot  # data that a further run must not change
    in_turn: bool = False
    untaken: Collection[str] = ()  # streams of which the box takes nothing
    strike: Callable[[], None] | None = None
    repair: Callable[[Path, str], bool] = lambda _config, _output: False  # what the output asks for; whether it did
    strays: Callable[[], list[str]] = list  # records that came by an import and that no key stands for, in words


@contextmanager
def simulated(_folder: Path, speed: float) -> Iterator[Box]:
    with portal("--role=box", *_pace(speed)) as box:
        yield Box(box, _administrator(box))


@contextmanager
def without_the_module(_folder: Path, speed: float) -> Iterator[Box]:
    features = ("--no-module", "--application", f"--activities={STRANGE}")
    with portal("--role=box", *features, *_pace(speed)) as box:
        text = "\n".join(f'{name} = "{box.application[name]}"' for name in APPLICATION)
        yield Box(
            box,
            _administrator(box),
            weather=storm.over_a_box_without_the_module(speed),
            settings=f'kind = "rest"\n[target.application]\n{text}',
            habits={
                **dict.fromkeys(("run", "sync"), ("--full", "--accept-fidelity")),
                "resume": ("--full",),
            },
            prove=native.prove,
            compare=native.compare_box,
            edit=native.edit,
            book=native.book,
            in_turn=True,
            untaken=native.UNTAKEN,
            repair=partial(install_again, box),
        )


def install_again(box: Portal, config: Path, output: str) -> bool:
    """A renewal whose answer is lost, or whose process dies before it stores the answer, leaves no valid token: the
    product asks for new ones (settings/oauth/auto-renewal: each renewal returns a new one)."""
    if "invalid_grant" not in output:
        return False
    text, tokens = config.read_text(), box.install()
    for name in ("refresh_token", "access_token"):
        text = re.sub(rf'^{name} = ".*"$', f'{name} = "{tokens[name]}"', text, flags=re.MULTILINE)
    config.write_text(text)
    return True


@contextmanager
def served_by_php(folder: Path, speed: float) -> Iterator[Box]:
    with php_box(folder) as php, portal(php.url, *_pace(speed), module="tests.faulty_proxy") as door:
        # no record is written in one transaction with its key: the more ways there are to die
        php.tell("reset", {"apart": ALL})
        own = _records(php)

        def strike() -> None:
            php.kill()
            php.start()

        def strays() -> list[str]:
            known = {(stream, row["id"]) for stream in ALL for row in php.ask("dump", stream=stream)}
            return [f"{stream}: {number} is on the box, and no key" for stream, number in _records(php) - own - known]

        yield Box(door, str(php.ask("rows", stream="users")["1"]["EMAIL"]), strike=strike, strays=strays)


def _pace(speed: float) -> tuple[str, ...]:
    return f"--speed={speed}", f"--latency={0.003 * speed}"


def _administrator(box: Portal) -> str:
    return str(box.call("user.get", {"ID": 1})[0]["EMAIL"])


def _records(php: PhpBox) -> set[tuple[str, str]]:
    return {(stream, number) for stream in ALL for number in php.ask("rows", stream=stream)}


BOXES = {"sim": simulated, "php": served_by_php, "rest": without_the_module}
