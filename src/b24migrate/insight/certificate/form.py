"""The lines of a certificate and how they are connected. `docs/certificate.md` describes the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, NamedTuple

import msgspec

from b24migrate.messages import say
from b24migrate.model.records import Json, canonical

FORMAT = "b24migrate/1"
BEGINNING = b'{"certificate":"'  # of every certificate: keys are sorted, and the head has none before it
AFTER_DIGITS = 12
LONGEST_LINE = 1 << 20

VERIFIED, MIGRATED, EXCLUDED, IMPOSSIBLE, FAILED = "verified", "migrated", "excluded", "impossible", "failed"
CLASSES = (VERIFIED, MIGRATED, FAILED, EXCLUDED, IMPOSSIBLE)
RETRIEVED = (VERIFIED, MIGRATED, FAILED, EXCLUDED)  # unreadable records were not retrieved


class Inventory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The row of the latest full pass over a stream."""

    snapshot: str
    method: str
    reported: int | None
    retrieved: int
    pages: int


class Sums(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`reported` is null where the source gives no total. `deleted`: at the source, after they were read. Files have no
    inventory: they are met inside records."""

    stream: str
    reported: int | None
    retrieved: int
    verified: int
    migrated: int
    failed: int
    excluded: int
    impossible: int
    inventory: Inventory | None
    deleted: int = 0


class QuietProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The run of this certificate was a delta run that found nothing, after people and machines had left the source at
    `freeze`. `as_of` is the time of the source before its first request; what a delta run does not see was last read at
    `full_pass`."""

    as_of: str
    freeze: str
    full_pass: str
    began: str
    deltas: int
    found: int


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`foreseen`: the number of expected differences; the lines of their ids name them."""

    certificate: str
    version: str
    run: str
    made_at: str
    source: str
    target: str
    plan: dict[str, Json]
    streams: list[Sums]
    foreseen: int = 0
    quiet: QuietProof | None = None


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename={"class_": "class"}):
    """One source ID. `after`: the first characters of the SHA-256 of everything before this line."""

    stream: str
    id: str
    class_: str
    after: str = ""
    target: str | None = None
    content: str | None = None
    wire: str | None = None
    origin: str | None = None
    code: str | None = None
    reason: str | None = None
    foreseen: tuple[str, ...] = ()  # its fields that differ as the target had announced
    deleted: str | None = None  # when it was found to be deleted at the source


class PageLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    stream: str
    page: int
    params: str
    retrieved: int
    after: str = ""


class Root(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    root: str
    lines: int
    after: str = ""


class Made(NamedTuple):
    """A certificate that was written, or checked and holds."""

    head: Head
    root: str
    lines: int


@dataclass(slots=True)
class Tally:
    """How many ids of one stream are in each class."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    pages: int = 0
    foreseen: int = 0
    deleted: int = 0

    def add(self, entry: Entry) -> None:
        self.counts[entry.class_] += 1
        self.foreseen += len(entry.foreseen)
        self.deleted += entry.deleted is not None

    def sums(self, stream: str, inventory: Inventory | None) -> Sums:
        retrieved = inventory.retrieved + self.deleted if inventory else self.retrieved
        reported = inventory.reported if inventory else None
        return Sums(stream, reported, retrieved, **self.counts, inventory=inventory, deleted=self.deleted)

    @property
    def retrieved(self) -> int:
        return sum(self.counts[name] for name in RETRIEVED)


def find_unclosed(sums: Sums, pages: int) -> str:
    """Which sum of a stream does not close, in words; nothing when all do."""
    accounted = sums.verified + sums.migrated + sums.failed + sums.excluded
    classes = say(
        "certificate.sum",
        migrated=sums.verified + sums.migrated,
        failed=sums.failed,
        excluded=sums.excluded,
        accounted=accounted,
    )
    shown = sums.retrieved - sums.deleted
    if sums.reported is not None and sums.reported != shown:
        return say("certificate.drift", stream=sums.stream, reported=sums.reported, retrieved=shown)
    if sums.retrieved != accounted:
        return say("certificate.classes", stream=sums.stream, retrieved=sums.retrieved, classes=classes)
    if sums.inventory is not None and sums.inventory.pages != pages:
        return say("certificate.pages", stream=sums.stream, pages=sums.inventory.pages, logged=pages)
    return ""


def find_noise(head: Head) -> str:
    """The contradiction to the proof that the source was quiet, as a sentence; empty if the proof is valid or none is
    stated."""
    quiet = head.quiet
    if quiet is None:
        return ""
    if quiet.found or not head.plan.get("delta"):
        return say("certificate.not_quiet", found=quiet.found)
    try:
        as_of, freeze, full_pass, began, made_at = map(
            datetime.fromisoformat, (quiet.as_of, quiet.freeze, quiet.full_pass, quiet.began, head.made_at)
        )
        counted = {one.stream: datetime.fromisoformat(one.inventory.snapshot) for one in head.streams if one.inventory}
        if as_of < freeze or as_of < full_pass:
            return say("certificate.before_freeze", as_of=quiet.as_of, freeze=quiet.freeze)
        others = [stream for stream, snapshot in counted.items() if not began <= snapshot <= made_at]
    except (ValueError, TypeError) as error:
        return say("certificate.odd_line", error=str(error))
    return say("certificate.other_pass", streams=others) if others else ""


def find_lacking(entry: Entry) -> str:
    """The first required value of the class that this ID lacks; empty if it has all."""
    if entry.class_ not in CLASSES:
        return say("certificate.no_class", name=entry.class_)
    needed: Mapping[str, tuple[str, ...]] = {
        VERIFIED: ("target", "content", "wire"),
        MIGRATED: ("target", "content"),
        FAILED: ("code",),
        EXCLUDED: ("reason",),
        IMPOSSIBLE: ("reason",),
    }
    missing = [name for name in needed[entry.class_] if not getattr(entry, name)]
    return say("certificate.lacking", name=entry.class_, missing=missing[0]) if missing else ""


class Chain:
    """The lines of a certificate one after another; each has a hash of those before it."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.lines = 0

    @property
    def root(self) -> str:
        return self._hash.hexdigest()

    @property
    def after(self) -> str:
        return self.root[:AFTER_DIGITS] if self.lines else ""

    def add(self, line: bytes) -> None:
        self._hash.update(line)
        self.lines += 1


def encode(line: Json) -> bytes:
    return canonical(line) + b"\n"


def append(out: BinaryIO, chain: Chain, line: Head | Entry | PageLine) -> None:
    chained = line if isinstance(line, Head) else msgspec.structs.replace(line, after=chain.after)
    made = encode(chained)
    out.write(made)
    chain.add(made)


def seal(out: BinaryIO, chain: Chain) -> str:
    """The last line. Returns the root hash: the SHA-256 of everything before it."""
    out.write(encode(Root(chain.root, chain.lines, chain.after)))
    return chain.root
