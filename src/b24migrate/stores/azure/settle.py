"""Settling: what became of records on the target, their links, and giving failed ones another chance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from b24migrate.messages import pack
from b24migrate.model.records import (
    Link,
    Settled,
    Status,
    Table,
    compare_losses,
    decode_losses,
    deleted_counter,
    encode_losses,
    order_key,
)
from b24migrate.ports import ID_MAP, Register, RegisterRow
from b24migrate.stores.azure.changes import ChangeMethods, Plan, without_repeats
from b24migrate.stores.azure.find import MOST, failed
from b24migrate.stores.azure.keys import row_key
from b24migrate.stores.azure.order import shape
from b24migrate.stores.azure.registers import RegisterMethods
from b24migrate.stores.azure.rows import SMALL, emptied, face_of, key_of, time_text, value_of
from b24migrate.stores.azure.shards import Face, Tally
from b24migrate.stores.azure.transactions import delete, merge

_ROW_KEY = attrgetter("row_key")
_NOTHING_MORE: Mapping[str, str] = {}
_NEVER_SENT = dict.fromkeys(("TargetId", "ImportedAtUtc", "Losses"), "")
_NO_ERROR = dict.fromkeys(("LastErrorCode", "LastError", "LastErrorMessage", "LastErrorAtUtc", "RetryAfterUtc"), "")


class SettleMethods(ChangeMethods, RegisterMethods):
    def settle(self, stream: str, table: Table, outcomes: Sequence[Settled], *, now: datetime) -> None:
        self.link(stream, [one.link for one in outcomes if one.link], now=now)
        at = time_text(now)

        def plan(outcome: Settled, old: Any) -> Plan[Settled]:
            return _settled(stream, outcome, old, at) if old else Plan(outcome)

        for part in without_repeats(outcomes, _ROW_KEY):
            known = self.finder.find(table, [one.row_key for one in part], SMALL)
            for _ in self._change(table, part, _ROW_KEY, plan, known):
                pass

    def renew(self, table: Table, *, code: str = "", row_keys: Sequence[str] | None = None) -> int:
        if row_keys is not None:
            wanted = list(dict.fromkeys(row_keys))
            return self._renew(table, list(self.finder.find(table, wanted, SMALL).values()), code)
        counts = self.tallies.read(table).counts()
        if not counts[Status.IMPORT_ERR] + counts[Status.ERROR_RETRY]:
            return 0
        condition = f"PartitionKey eq '{table.partition}' and {failed(code).condition}"
        return sum(self._renew(table, page.rows, code) for page in self.finder.pages(table, condition, SMALL, MOST))

    def _renew(self, table: Table, found: Sequence[Any], code: str) -> int:
        where = failed(code)

        def plan(key: str, old: Any) -> Plan[str]:
            return _renewed(key, old) if old and where.holds(old) else Plan(key)

        known = {key_of(one): one for one in found}
        done = self._change(table, list(known), str, plan, known)
        return sum(one.operation is not None for one in done)

    def take_back(self, stream: str, table: Table, row_keys: Sequence[str]) -> int:
        wanted = list(dict.fromkeys(row_keys))

        def plan(key: str, old: Any) -> Plan[str]:
            return _taken_back(stream, key, old) if old and _was_sent(old) else Plan(key)

        known = self.finder.find(table, wanted, SMALL)
        return sum(one.operation is not None for one in self._change(table, wanted, str, plan, known))

    def mark_deleted(self, table: Table, row_keys: Sequence[str], *, there: Collection[str], now: datetime) -> int:
        wanted, on_target, at = list(dict.fromkeys(row_keys)), frozenset(there), time_text(now)

        def plan(key: str, old: Any) -> Plan[str]:
            if not old or value_of(old, "DeletedUtc"):
                return Plan(key)
            before, after = face_of(old), Status.IMPORT_OK if key in on_target else Status.DELETED
            place = {"PartitionKey": old["PartitionKey"], "RowKey": old["RowKey"]}
            made = {**place, "DeletedUtc": at, "Status": after.value, "Attempts": 0, **_NO_ERROR}
            tally = Tally().leave(before).enter(Face(after, before.pulled)).count(deleted_counter(table), 1)
            return Plan(key, merge(made, old.metadata["etag"]), tally)

        known = self.finder.find(table, wanted, SMALL)
        return sum(one.operation is not None for one in self._change(table, wanted, str, plan, known))

    def lose(self, stream: str, table: Table, losses: Mapping[str, Mapping[str, int]]) -> None:
        def plan(key: str, old: Any) -> Plan[str]:
            return _lost(stream, key, old, losses[key]) if old else Plan(key)

        known = self.finder.find(table, list(losses), SMALL)
        for _ in self._change(table, list(losses), str, plan, known):
            pass

    def unlink(self, stream: str, source_ids: Collection[str]) -> None:
        """Only those that are there, until none is: a transaction fails as a whole when one of its rows is not."""
        while there := self.links(stream, source_ids):
            gone = [delete(ID_MAP.partition, row_key(f"{stream}:{one}")) for one in there]
            self._in_transactions(ID_MAP, gone)

    def link(self, stream: str, links: Sequence[Link], *, now: datetime) -> None:
        at = time_text(now)
        self.write(ID_MAP, [_link_row(stream, one, at) for one in links])

    def links(self, stream: str, source_ids: Collection[str]) -> dict[str, Link]:
        found = self.rows_of(ID_MAP, [f"{stream}:{one}" for one in source_ids])
        return {link.source_id: link for link in (_link(stream, row) for row in found.values())}

    def rows_of(self, register: Register, keys: Collection[str]) -> dict[str, RegisterRow]:
        alike: dict[str, list[str]] = {}
        for one in keys:
            alike.setdefault(shape(order_key(one)), []).append(row_key(one))
        table = Table(register.name, register.partition)
        found = (one for some in alike.values() for one in self.finder.some(table, some))
        return {row.key: row for row in (self._row(register, one) for one in found)}

    def all_links(self, stream: str) -> Iterator[Link]:
        for found in self._range(ID_MAP, f"{stream}:", None):
            yield _link(stream, self._row(ID_MAP, found))


def _link(stream: str, row: RegisterRow) -> Link:
    values = (row.values.get(name) or "" for name in ("TargetId", "Digest", "Origin", "Sent"))
    return Link(row.key.removeprefix(f"{stream}:"), *values)


def _link_row(stream: str, link: Link, at: str) -> RegisterRow:
    values = {"TargetId": link.target_id, "Digest": link.digest, "ImportedAtUtc": at, "Origin": link.origin}
    return RegisterRow(f"{stream}:{link.source_id}", {**values, "Sent": link.sent or None})


def _settled(stream: str, outcome: Settled, old: Any, at: str) -> Plan[Settled]:
    before = face_of(old)
    has_failed = bool(outcome.error_code or outcome.error)
    code = (outcome.error_code or "") if has_failed else None
    made = {
        "PartitionKey": old["PartitionKey"],
        "RowKey": old["RowKey"],
        "Status": outcome.status.value,
        "Attempts": outcome.attempts,
        "LastErrorCode": emptied(code),
        "LastError": emptied(outcome.error),
        "LastErrorMessage": emptied(pack(outcome.error)),
        "LastErrorAtUtc": at if has_failed else "",
        "RetryAfterUtc": _same_form(outcome.retry_after_utc),
    }
    if outcome.link:
        made["TargetId"] = outcome.link.target_id
    if outcome.status is Status.IMPORT_OK and not value_of(old, "ImportedAtUtc"):
        made["ImportedAtUtc"] = at
    tally = Tally().leave(before).enter(Face(outcome.status, before.pulled, code))
    tally.count(f"retries:{stream}", max(0, outcome.attempts - max(1, value_of(old, "Attempts"))))
    had = value_of(old, "Losses")
    if outcome.status is Status.IMPORT_OK and (had or outcome.losses):
        made["Losses"] = encode_losses(outcome.losses) or ""
        _count_losses(tally, stream, had, outcome.losses)
    return Plan(outcome, merge(made, old.metadata["etag"]), tally)


def _count_losses(tally: Tally, stream: str, had: str | None, now: Mapping[str, int]) -> None:
    for loss, more in compare_losses(decode_losses(had), now).items():
        tally.count(f"{loss}:{stream}", more)


def _lost(stream: str, key: str, old: Any, losses: Mapping[str, int]) -> Plan[str]:
    made = {"PartitionKey": old["PartitionKey"], "RowKey": old["RowKey"], "Losses": encode_losses(losses) or ""}
    tally = Tally()
    _count_losses(tally, stream, value_of(old, "Losses"), losses)
    return Plan(key, merge(made, old.metadata["etag"]), tally)


def _was_sent(old: Any) -> bool:
    return old["Status"] not in (Status.NEW, Status.DELETED) or any(value_of(old, name) for name in _NEVER_SENT)


def _taken_back(stream: str, key: str, old: Any) -> Plan[str]:
    plan = _renewed(key, old, _NEVER_SENT)
    tally = Tally(plan.tally)
    _count_losses(tally, stream, value_of(old, "Losses"), {})
    return plan._replace(tally=tally)


def _renewed(key: str, old: Any, more: Mapping[str, str] = _NOTHING_MORE) -> Plan[str]:
    before = face_of(old)
    place = {"PartitionKey": old["PartitionKey"], "RowKey": old["RowKey"]}
    after = Status.DELETED if value_of(old, "DeletedUtc") else Status.NEW
    made = {**place, "Status": after.value, "Attempts": 0, **_NO_ERROR, **more}
    tally = Tally().leave(before).enter(Face(after, before.pulled))
    return Plan(key, merge(made, old.metadata["etag"]), tally)


def _same_form(stamp: str | None) -> str:
    """A time from elsewhere, written as we write times."""
    return time_text(datetime.fromisoformat(stamp)) if stamp else ""
