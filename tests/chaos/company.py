"""One company's way through the storm, from its first call to the proof."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests import azurite
from tests.chaos import kills, storm
from tests.chaos.boxes import BOXES, Box
from tests.chaos.kills import KILLS_PER_PAUSE, Migration, Tally, run_and_kill
from tests.chaos.oracle import Json, Source, failures, source_of
from tests.chaos.oracle.files import foreign, lost
from tests.chaos.portals import Portal, portal
from tests.chaos.proof import Proof, digest
from tests.chaos.store_reader import AzuritePeek, Cell, Peek, SqlitePeek

LONGEST = 20_000
EXISTING = "7"  # the source user that the box has already
PLACEHOLDER = "1"  # the box's administrator stands in for bots
CONFIG = """
[source]
webhook = "{cloud}"
requests_per_second = 0
operating_seconds = 0
[target]
webhook = "{box}"
{kind}
[store]
url = "{store}"
[run]
workers = {hands}
user_coverage = 0.8
{more}
[mapping]
placeholder_user = "{placeholder}"
[entities.users]
batch = 12
[entities.groups]
batch = 5
[entities.chats]
batch = 6
batch_messages = 30
[entities.crm_companies]
batch = 10
[entities.crm_contacts]
batch = 15
[entities.crm_deals]
batch = 15
[entities.tasks]
batch = 8
batch_checklists = 30
batch_comments = 30
[entities.feed]
batch = 8
"""


@dataclass(frozen=True, slots=True)
class Size:
    users: int = 25
    groups: int = 6
    chats: int = 12
    messages: int = 300
    files: int = 15
    companies: int = 25
    contacts: int = 50
    deals: int = 60
    leads: int = 20
    quotes: int = 12
    invoices: int = 10
    smart_items: int = 20
    requisites: int = 20
    calls: int = 8
    crm_activities: int = 40
    crm_comments: int = 20
    log_entries: int = 8
    recurring: int = 3
    products: int = 20
    tasks: int = 40
    posts: int = 30
    templates: int = 10


def options_of(size: Size) -> list[str]:
    """Of the portal that has this company."""
    sizes = [f"--{name.replace('_', '-')}={getattr(size, name)}" for name in Size.__slots__]
    return [*sizes, "--departments=8", "--bad-users=3", "--code-templates=4", "--bots=1", "--crm-notes", "--limits=off"]


# By a box's own methods everything takes ten times as many calls.
SIZES = {
    "rest": Size(
        users=16, groups=3, chats=5, messages=40, files=4, companies=6, contacts=8, deals=34, leads=4, quotes=3, invoices=3,
        smart_items=5, requisites=8,
        tasks=8, posts=8, templates=8, calls=3, crm_activities=8, crm_comments=4, log_entries=3,
        recurring=1, products=6,
    )
}  # fmt: skip


class Ground(NamedTuple):
    """The store of a migration, the number of its processes, and the speed of their clocks."""

    url: str
    peek: Peek
    helpers: int  # beside the one that runs the plan
    hands: int  # of each process
    speed: float


@contextmanager
def on_sqlite(folder: Path) -> Iterator[Ground]:
    yield Ground("sqlite:///b24migrate.db", SqlitePeek(folder / "b24migrate.db"), helpers=0, hands=3, speed=40.0)


@contextmanager
def on_azurite(_folder: Path) -> Iterator[Ground]:
    """Three processes on one store. Every question costs a few milliseconds there, so the clocks run slower."""
    with azurite.running():
        url = azurite.url()
        with AzuritePeek.at(url) as peek:
            yield Ground(url, peek, helpers=2, hands=2, speed=10.0)


GROUNDS = {"sqlite": on_sqlite, "azurite": on_azurite}


@dataclass(slots=True)
class Report:
    seed: int
    tally: Tally
    proof: Proof
    seen: dict[str, Json]  # counts of each portal during the faults
    people: int
    repaired: int
    exits: list[int]
    repairs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return "\n".join(
            [
                f"seed {self.seed}: {'proven' if not self.proof.differences else 'NOT PROVEN'} in {self.seconds:.0f} s",
                f"  {self.tally.kills} kills: {self.tally}; the box was killed {len(self.tally.box_killed)} times",
                f"  {self.tally.pauses} pauses, of which {self.tally.exits[kills.PAUSED]} ended a run by themselves",
                f"  it ended by itself: {dict(self.tally.exits)}; then clean runs with exit codes {self.exits}",
                *(self._weather(side) for side in self.seen),
                f"  {self.repairs} repairs by hand",
                f"  people did {self.people} things meanwhile; {self.repaired} records tried again",
                f"  on the box, each created once: {self.proof.records}; updated {self.proof.updated} times",
                f"  rightly not on the box: {self.proof.failed}",
                *(f"  DIFFERENCE {one}" for one in self.proof.differences[:40]),
            ]
        )

    def _weather(self, side: str) -> str:
        faults = self.seen[side]["faults"]
        return f"  {side}: {sum(faults.values())} faults in {self.seen[side]['http_requests']} requests: {faults}"


def survive(
    seed: int,
    kills: int,
    size: Size,
    *,
    seconds: float,
    ground: str = "sqlite",
    target: str = "sim",
    keep: Path | None = None,
    slower: float = 1.0,
    kills_per_pause: int = KILLS_PER_PAUSE,
    aims: Sequence[Cell] = (),
) -> Report:
    """Raises TimeoutError or RuntimeError when the migration does not come to its end. `keep`: where what is left of
    one that is not proven goes."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="b24chaos-") as place, GROUNDS[ground](Path(place)) as usual:
        under = usual._replace(speed=usual.speed / slower)
        speed = under.speed
        with (
            portal("--seed", str(seed), *options_of(size), f"--speed={speed}", f"--latency={0.006 * speed}") as cloud,
            BOXES[target](Path(place), speed) as box,
        ):
            tally = Tally(kills, random.Random(seed), kills_per_pause, aims, box.untaken)
            report = _survive(seed, (Path(place), under), (cloud, box), tally, started + seconds)
            if keep and report.proof.differences:
                keep_rest(keep / f"{target}-{seed}", Path(place), box)
    report.seconds = time.monotonic() - started
    return report


def keep_rest(folder: Path, place: Path, box: Box) -> None:
    with suppress(shutil.Error):  # files of a box that goes on come and go
        shutil.copytree(place, folder, dirs_exist_ok=True)
    (folder / "box.json").write_text(json.dumps(box.book(box.portal), ensure_ascii=False))


def _survive(
    seed: int, place: tuple[Path, Ground], portals: tuple[Portal, Box], tally: Tally, deadline: float
) -> Report:
    chance = random.Random(seed)
    _, under = place
    cloud, target = portals
    box = target.portal
    migration, source = prepare(place, portals, chance)
    cloud.faults(storm.over_the_cloud(), seed)
    box.faults(target.weather, seed)
    worked: list[str] = []

    def meanwhile() -> None:
        if chance.random() < 0.4:
            worked.append(storm.people_keep_working(cloud, chance))

    run_and_kill(
        migration,
        tally,
        chance,
        meanwhile=meanwhile,
        deadline=deadline,
        helpers=under.helpers,
        strike_box=target.strike,
    )
    stats = {"cloud": cloud.look("stats"), "box": box.look("stats")}
    cloud.faults([])
    box.faults([])
    repaired, exits = _settle(migration, rightly_failed(source()))
    proof = target.prove(source(), box, migration, status(migration))
    proof.differences += target.strays()
    if (files := migration.files_failed()) != rightly_lost(source()):
        proof.differences.append(f"files: {files} failed, of which {rightly_lost(source())} cannot be fetched")
    exits.append(_nothing_more(migration, target, proof))
    return Report(seed, tally, proof, stats, len(worked), repaired, exits, migration.repairs)


def prepare(
    place: tuple[Path, Ground], portals: tuple[Portal, Box], chance: random.Random, more: str = ""
) -> tuple[Migration, Callable[[], Source]]:
    """A migration before its start, and the current state of the source. `more`: settings of runs."""
    folder, under = place
    cloud, target = portals
    linked = _known_to_both(cloud, target)
    _shorten(cloud)
    storm.the_administrator_comments(cloud, chance)
    config = folder / "b24migrate.toml"
    ends = {"cloud": cloud.webhook, "box": target.portal.webhook, "kind": target.settings}
    config.write_text(CONFIG.format(**ends, placeholder=PLACEHOLDER, store=under.url, hands=under.hands, more=more))
    migration = Migration(folder, config, under.speed, under.peek, habits=target.habits, repair=target.repair)
    return migration, partial(_source, cloud, linked, target)


def _known_to_both(cloud: Portal, box: Box) -> dict[str, str]:
    """One person has an account on the box before anything is moved."""
    cloud.mutate(stream="users", op="update", id=int(EXISTING), fields={"EMAIL": box.admin_email.upper()})
    return {EXISTING: PLACEHOLDER}


def _shorten(cloud: Portal) -> None:
    """One deal has two million characters, more than a call can send in the short time limit here."""
    for deal in cloud.dump("crm_deals"):
        text = deal["fields"]["comments"] or ""
        if len(text) > LONGEST:
            cloud.mutate(stream="crm_deals", op="update", id=deal["id"], fields={"comments": text[:LONGEST]})


def _settle(migration: Migration, rightly: int) -> tuple[int, list[int]]:
    """The faults end. `run` and `retry` read later records and retry failed ones, as an operator would."""
    exits = [migration.finish("run")]
    before = failed(status(migration)) + migration.files_failed()
    if before > rightly:
        exits += [migration.finish("retry"), migration.finish("run")]
    return max(0, before - rightly), exits


def failed(output: Json) -> int:
    entities = output["entities"].values()
    return sum(int(one["import_err"]) for about in entities for one in about["streams"].values())


def rightly_failed(source: Source) -> int:
    return sum(len(found - source.linked.keys()) for found in failures(source).values()) + rightly_lost(source)


def rightly_lost(source: Source) -> int:
    """Files that cannot be downloaded."""
    return len(lost(source)) + len(foreign(source))


def status(migration: Migration) -> Json:
    return json.loads(migration.output("status", "--json"))


def _source(cloud: Portal, linked: dict[str, str], target: Box) -> Source:
    source: Source = source_of(cloud, target.untaken)
    source.linked, source.placeholder, source.in_turn = linked, PLACEHOLDER, target.in_turn
    return source


def _nothing_more(migration: Migration, target: Box, proof: Proof) -> int:
    """One run more changes nothing on the box: not a record, not a count of creations or updates."""
    before = target.book(target.portal)
    code = migration.finish("run")
    if digest(before) != digest(target.book(target.portal)):
        proof.differences.append("a further run changed the box")
    if code not in kills.FINISHED:
        proof.differences.append(f"a further run ended with exit code {code}: {migration.last_words()}")
    return code
