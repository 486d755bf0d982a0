"""Undo of a whole migration by the box's own methods, and the way back."""

from __future__ import annotations

from collections import Counter, deque
from pathlib import Path

from tests.rest.everything import Move, moving

from b24migrate.pipeline import undo

# No method deletes them, or nobody asks for it. The first pipeline of a kind goes with nothing.
STAY = {"users", "departments", "categories", "fields", "folders", "files"}


def take(move: Move) -> dict[str, undo.Tally]:
    with move.app() as app:
        scope = undo.scope_of(app.work, (), "")
        told = undo.Rehearsal(app.work, scope)
        deque(told.walk(), maxlen=0)
        taking = undo.Taking(app.work, scope, told)
        taking.take()
        return dict(taking.tallies)


def alive(move: Move) -> Counter[str]:
    entries = move.world.box.portal.native.entries.values()
    return Counter(one.kind for one in entries if not one.deleted and one.kind not in STAY)


def test_what_can_be_deleted_is_gone_and_comes_back_once(tmp_path: Path) -> None:
    entities = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "feed")
    with moving(tmp_path, *entities) as move:
        assert move.run().exit_code == 0
        before = alive(move)
        tallies = take(move)
        assert alive(move) == Counter()
        assert (tallies["crm_deals"].deleted, tallies["feed_posts"].kept) == (30, 0)
        assert (tallies["users"].deleted, tallies["users"].kept) == (0, 12)
        assert tallies["departments"].kept > 0
        assert move.run().exit_code == 0
        assert alive(move) == before
        assert move.unforeseen == []
