"""Processes that stage and settle until they die at any moment: `python -m tests.stores.killed_writer URL DEATHS`.

The first one survives: it starts the others, a few at a time, and prints the operations that they reported: `staged
FIRST COUNT` or `linked ID ...`. Its life is counted in requests to the store: it may end before a request, or before
its answer.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from requests import Session
from tests.stores.queue_worker import SystemTime
from tests.stores.samples import EVERYTHING, GROUPS, NOON, TABLES, at, failed, imported, retried, row

from b24migrate.model.records import Settled
from b24migrate.stores import azure, open_store

IMPORTED = azure  # once, not by each of those who die
AT_ONCE = 3
IDS = 900
LIFE = (1, 30)  # requests
OUTCOMES: list[Callable[[int], Settled]] = [imported, failed, lambda number: retried(number, at(60))]


def die_after(requests: int, *, answered: bool) -> None:
    left, send = count(requests, -1), Session.send

    def last(session: Session, *args: Any, **more: Any) -> Any:
        mine = next(left)
        if mine <= 0 and not answered:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = send(session, *args, **more)
        if mine <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Session.send = last  # type: ignore[method-assign, assignment]


def live(url: str, seed: int, tell: int) -> None:
    def say(*words: object) -> None:
        os.write(tell, f"{' '.join(map(str, words))}\n".encode())

    chance = random.Random(seed)
    die_after(LIFE[1] if seed == 0 else chance.randint(*LIFE), answered=bool(seed % 2))
    store = open_store(url, TABLES, SystemTime()).store
    while True:
        first, size = chance.randrange(IDS), chance.choice([5, 60, 250])
        page = [row(number, chance.choice("ab"), natural=f"n{number}") for number in range(first, first + size)]
        store.stage(GROUPS, page, run="r", pass_no=chance.choice([1, 2]))
        say("staged", first, size)
        chosen = chance.sample(range(first, first + size), min(size, 120))
        outcomes = [chance.choice(OUTCOMES)(number) for number in chosen]
        store.settle("groups", GROUPS, outcomes, now=NOON)
        say("linked", *(one.row_key for one in outcomes if one.link))
        if chance.random() < 0.3:
            store.renew(GROUPS, row_keys=[str(number) for number in chosen[:20]])
        store.pending(GROUPS, EVERYTHING, 50, now=NOON)


def main(url: str, deaths: int) -> None:
    tell = os.memfd_create("told", 0)  # written to by all, each line at once
    for first in range(0, deaths, AT_ONCE):
        children = []
        for seed in range(first, min(first + AT_ONCE, deaths)):
            child = os.fork()
            if not child:
                live(url, seed, tell)
            children.append(child)
        for child in children:
            _, status = os.waitpid(child, 0)
            assert os.WTERMSIG(status) == signal.SIGKILL, status
    os.lseek(tell, 0, os.SEEK_SET)
    sys.stdout.write(os.fdopen(tell).read())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
