"""Carries the bytes of files, each compared with the digest that was taken when it was fetched, on both sides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec

from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Json, Status, Table
from b24migrate.ports import Files
from b24migrate.ports.walk import Progress, walk_table
from b24migrate.stores.copy.model import Line, Side, Sum, size

WHAT = "bytes of files"
AT_ONCE = 8
CHUNK = 1 << 20
NAMED = 3  # examples in a note


class Fetched(NamedTuple):
    """A file that the source gave. Once it is on the target nobody needs its bytes."""

    key: str
    sha256: str
    needed: bool


def carry_files(origin: Side, to: Side, table: Table, teller: Progress) -> Line:
    total, wanted, found = size(origin.store, table), Sum(), Sum()
    wrong: list[str] = []
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="files") as pool:
        for some in fetched(origin, table):
            arrived = pool.map(lambda one: carry_one(origin.files, to.files, one), some)
            for one, sha256 in zip(some, arrived, strict=True):
                if sha256 is None and not one.needed:
                    continue
                wanted.add({"key": one.key, "sha256": one.sha256})
                if sha256 is not None:
                    found.add({"key": one.key, "sha256": sha256})
                wrong += [one.key] * (sha256 != one.sha256)
            teller.progress("Copying", WHAT, wanted.rows, total)
    if wanted.rows:
        teller.done("Copied", WHAT, found.rows)
    examples = say("copy.missing", address=origin.address, names=[*wrong[:NAMED], *["…"] * (len(wrong) > NAMED)])
    return Line(WHAT, found.rows, found.digest, wanted == found, examples if wrong else "")


def fetched(side: Side, table: Table) -> Iterator[list[Fetched]]:
    for stretch in walk_table(side.store, table):
        files = []
        for row in stretch:
            said: dict[str, Json] = msgspec.json.decode(row["Payload"])
            if said.get("sha256"):
                key = said.get("location") or row["RowKey"]
                files.append(Fetched(key, said["sha256"], row["Status"] != Status.IMPORT_OK))
        yield files


def carry_one(origin: Files, to: Files, one: Fetched) -> str | None:
    """The digest of what lies at the new place in the end; None when nothing does. What is there already stays."""
    if to.size(one.key) is not None and (sha256 := read_back(to, one.key)) == one.sha256:
        return sha256
    try:
        with origin.open(one.key) as content, to.writer(one.key) as out:
            digest = hashlib.sha256()
            while chunk := content.read(CHUNK):
                digest.update(chunk)
                out.write(chunk)
            if digest.hexdigest() != one.sha256:
                raise Permanent(say("copy.damaged", key=one.key), code="FILE_DAMAGED")
    except Permanent:
        return None
    return read_back(to, one.key)


def read_back(files: Files, key: str) -> str:
    digest = hashlib.sha256()
    with files.open(key) as content:
        while chunk := content.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
