"""Sorts more than fits into memory: stretches are sorted, laid aside in files, and merged."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO

import msgspec

from b24migrate.messages import pack, plain, unpack
from b24migrate.model.records import Json

AT_ONCE = 20_000

Place = tuple[int, str]  # of an id: its stream's, and its own within it
Fact = tuple[Place, str, str, Json]  # where, of what kind, the id, what is known
by_place: Callable[[Fact], Place] = itemgetter(0)


def in_order(facts: Iterable[Fact], folder: Path) -> Iterator[Fact]:
    rest = iter(facts)
    with ExitStack() as stack:
        laid_aside: list[Iterator[Fact]] = []
        while some := sorted(islice(rest, AT_ONCE), key=by_place):
            if len(some) < AT_ONCE and not laid_aside:
                yield from some
                return
            file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            file.writelines(msgspec.json.encode((*one, pack(one[3])), enc_hook=plain) + b"\n" for one in some)
            file.seek(0)
            laid_aside.append(_read(file))
        yield from heapq.merge(*laid_aside, key=by_place)


def _read(file: BinaryIO) -> Iterator[Fact]:
    for line in file:
        *fact, packed = msgspec.json.decode(line, type=tuple[Place, str, str, Json, str | None])
        place, kind, key, known = fact
        yield place, kind, key, unpack(known, packed)
