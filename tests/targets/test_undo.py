"""Undo of a whole migration by the box's own methods, and the way back."""

from __future__ import annotations

from collections import Counter, deque
from pathlib import Path

from tests.targets.everything import Move, moving

from b24migrate.engine import undo
from b24migrate.ports import NATIVE

# No method deletes them, or nobody asks for it. The first pipeline of a kind goes with nothing.
STAY = {"users", "departments", "categories", "fields", "folders", "files"}


def rehearse(move: Move) -> dict[str, tuple[int, int]]:
    with move.app() as app:
        dry_run = undo.DryRun(app.context, undo.find_scope(app.context, ()))
        deque(dry_run.walk(), maxlen=0)
        return {name: (one.deleted, one.kept) for name, one in dry_run.tallies.items()}


def take(move: Move, *entities: str, run: str = "") -> dict[str, undo.Tally]:
    with move.app() as app:
        scope = undo.find_scope(app.context, entities, run)
        dry_run = undo.DryRun(app.context, scope)
        deque(dry_run.walk(), maxlen=0)
        taking = undo.Undo(app.context, scope, dry_run)
        taking.take()
        return dict(taking.tallies)


def alive(move: Move) -> Counter[str]:
    entries = move.world.box.portal.native.entries.values()
    return Counter(one.kind for one in entries if not one.deleted and one.kind not in STAY)


def test_what_can_be_deleted_is_gone_and_comes_back_once(tmp_path: Path) -> None:
    entities = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "feed")
    with moving(tmp_path, *entities, companies=4, contacts=5, deals=6, posts=5, chats=0, messages=0) as move:
        assert move.run().exit_code == 0
        before, deals = alive(move), len(move.world.records("CrmDeals"))
        rehearsed = rehearse(move)
        tallies = take(move)
        assert rehearsed["departments"] == (tallies["departments"].deleted, tallies["departments"].kept)
        assert alive(move) == Counter()
        assert (tallies["crm_deals"].deleted, tallies["feed_posts"].kept) == (deals, 0)
        assert (tallies["users"].deleted, tallies["users"].kept) == (0, 12)
        assert tallies["departments"].kept > 0
        assert move.run().exit_code == 0
        assert alive(move) == before
        assert move.unforeseen == []


SALES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")


def named_companies(move: Move) -> set[str]:
    """By the payloads of everything that was read."""
    found = move.world.sql("SELECT json_extract(Payload, '$.companyId') FROM CrmDeals")
    found += move.world.sql("SELECT value FROM CrmContacts, json_each(CrmContacts.Payload, '$.companyIds')")
    found += move.world.sql("SELECT json_extract(Payload, '$.companyId') FROM CrmContacts")
    return {str(one) for (one,) in found if one}


def test_only_an_entity_keeps_what_others_refer_to_and_what_somebody_changed_is_kept_with_what_it_needs(
    tmp_path: Path,
) -> None:
    """The box itself would delete a company under its deals, and they would be without it for ever."""
    with moving(tmp_path, *SALES, companies=12, contacts=5, deals=6) as move:
        assert move.run().exit_code == 0
        companies = {row["RowKey"] for row in move.world.table("CrmCompanies", "RowKey")}
        needed = named_companies(move) & companies
        assert needed
        assert needed != companies
        tallies = take(move, "crm_companies")
        tally = tallies["crm_companies"]
        assert (tally.kept, tally.deleted) == (len(needed), len(companies) - len(needed))
        assert [why.reason for why in tally.reasons] == ["other records that stay depend on it"]
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        rows = move.world.sql(
            "SELECT RowKey, TargetId, json_extract(Payload, '$.companyId') FROM CrmDeals"
            " WHERE json_extract(Payload, '$.companyId') IN (SELECT RowKey FROM CrmCompanies)"
        )
        deal, target_id, company = rows[0]
        with move.app() as app:
            box = app.context.target._box  # type: ignore[attr-defined]
            box.call("crm.item.update", {"entityTypeId": 2, "id": target_id, "fields": {"title": "Ours now"}})
        tallies = take(move)
        statuses = {row["RowKey"]: row["Status"] for row in move.world.table("CrmCompanies", "RowKey", "Status")}
        assert (tallies["crm_deals"].kept, move.world.records("CrmDeals")[deal]["Status"]) == (1, "IMPORT_OK")
        assert statuses[str(company)] == "IMPORT_OK"
        assert set(statuses.values()) == {"NEW", "IMPORT_OK"}


def test_what_nobody_has_seen_since_it_was_made_is_kept_until_it_is_sent_again(tmp_path: Path) -> None:
    """Somebody may have changed it, and nobody could tell."""
    with moving(tmp_path, "users", "crm_structure", "crm_companies") as move:
        assert move.run().exit_code == 0
        with move.app() as app:
            some = app.context.store.some_rows(NATIVE, "crm_companies:", "", 1)
            app.context.store.write(NATIVE, [row._replace(values={**row.values, "Print": ""}) for row in some])
        tally = take(move)["crm_companies"]
        assert tally.kept == 1
        assert "unknown whether" in tally.reasons[0].reason
