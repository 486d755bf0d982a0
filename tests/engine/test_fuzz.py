"""A smoke of `make fuzz`: some seeds, in which every way of changing an answer occurs."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.mutations import BODIES, KINDS, Call, Mutator

ROOT = Path(__file__).parents[2]


def test_portals_whose_answers_make_no_sense_stop_no_migration() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--seeds", "3", "--each", "--verbose"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"in {len(KINDS)} of {len(KINDS)} ways" in done.stdout
    assert done.stdout.rstrip().endswith("failed: none")


def test_the_same_seed_does_the_same() -> None:
    answer = b'{"result":[{"ID":"1","NAME":"A"},{"ID":"2","NAME":"B"}],"total":2,"time":{"start":1}}'

    def changes(seed: int) -> list[tuple[str, bytes]]:
        mutator = Mutator(seed, 1.0)
        return [(mutator.wire(file=False), *mutator.body("user.get", answer, {})[1:]) for _ in range(40)]

    assert changes(7) == changes(7)
    assert changes(7) != changes(8)


@pytest.mark.parametrize("kind", BODIES)
def test_every_way_changes_an_answer_that_it_fits(kind: str) -> None:
    answer = {
        "result": [{"ID": "1", "NAME": "A", "title": "x"}, {"ID": "2", "NAME": "B", "title": "y"}],
        "total": 2,
        "next": 50,
        "time": {"start": 1.0},
    }
    before = str(answer)
    chance = random.Random(3)
    raw = BODIES[kind](chance, Call("crm.item.list", answer, "result", answer, "total", "next"), answer)
    assert raw is not None
    assert raw or str(answer) != before
