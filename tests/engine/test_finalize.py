"""What the target has to do when everything has arrived: once for each run, after the last import, before verify."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from tests.engine.world import World

from b24migrate.engine.run import ERROR
from b24migrate.model.errors import Halted, Permanent, Transient
from b24migrate.model.streams import PHASES
from b24migrate.ports import TargetRecord
from b24migrate.targets.module import ImportTarget


@dataclass
class Box:
    """A target that has something to do at the end, in some stretches, and what it was asked, in order."""

    stretches: int = 3
    fails: list[Exception] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def finalize(self, after: str, run: str) -> str | None:
        assert run
        if self.fails:
            raise self.fails.pop(0)
        self.asked.append(f"finalize {after}".strip())
        at = int(after or 0) + 1
        return str(at) if at < self.stretches else None

    @property
    def finalized(self) -> list[str]:
        return [one for one in self.asked if one.startswith("finalize")]


WHOLE = ["finalize", "finalize 1", "finalize 2"]


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Box:
    made = Box()
    send, read = ImportTarget.send, ImportTarget.read

    def sent(target: ImportTarget, wire: str, stream: str, items: object, *, run: str) -> object:
        made.asked.append("send")
        return send(target, wire, stream, items, run=run)  # type: ignore[arg-type]

    def looked_at(target: ImportTarget, wire: str, stream: str, keys: list[str]) -> dict[str, TargetRecord]:
        made.asked.append("read")
        return read(target, wire, stream, keys)

    monkeypatch.setattr(ImportTarget, "send", sent)
    monkeypatch.setattr(ImportTarget, "read", looked_at)
    monkeypatch.setattr(ImportTarget, "finalize", lambda _, after, *, run: made.finalize(after, run))
    return made


def test_a_target_that_knows_nothing_of_it_has_nothing_to_do(small: World) -> None:
    assert small.run().exit_code == 0


def test_it_is_done_once_after_everything_was_sent_and_before_anything_is_compared(small: World, box: Box) -> None:
    assert small.run().exit_code == 0
    assert box.finalized == WHOLE
    first, last = box.asked.index("finalize"), box.asked.index("finalize 2")
    assert "send" not in box.asked[first:]
    assert "read" in box.asked[last:]
    assert "read" not in box.asked[first:last]


def test_every_run_that_imports_does_it_and_one_that_only_looks_does_not(small: World, box: Box) -> None:
    small.run(phases=PHASES[:-1])
    assert box.finalized == WHOLE
    small.run(phases=("verify",))
    small.run(phases=("get",))
    assert box.finalized == WHOLE
    small.run()
    assert box.finalized == WHOLE * 2


def test_one_that_was_interrupted_in_it_goes_on_with_it(small: World, box: Box) -> None:
    box.fails = [Halted("Killed.")]
    with pytest.raises(Halted):
        small.run()
    assert box.finalized == []
    assert small.run().exit_code == 0
    assert box.finalized == WHOLE


def test_a_stretch_that_failed_is_done_again(small: World, box: Box) -> None:
    box.fails = [Transient("It stumbled.", own=True)]
    assert small.run().exit_code == 0
    assert box.finalized == WHOLE


def test_a_target_that_refuses_it_is_told_of_and_holds_up_nothing_else(small: World, box: Box) -> None:
    box.fails = [Permanent("No.", code="INTERNAL")]
    ended = small.run()
    assert (ended.exit_code, "users-finalize failed" in ended.message) == (ERROR, True)
    assert small.entity("groups").verified
    assert small.run().exit_code == 0


@pytest.mark.parametrize("method", ["im.recent.list", "sonet_group.get"])
def test_it_is_done_once_also_where_an_entity_is_stuck(small: World, box: Box, method: str) -> None:
    small.strike_cloud({"method": method, "kind": "500"})
    assert small.run().exit_code == ERROR
    assert box.finalized == WHOLE
