"""Ways of reading that several entities share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from b24migrate.messages import join, say
from b24migrate.model.answers import id_of, open_entry, open_list, row_in
from b24migrate.model.errors import NO_SUCH_METHOD, Forbidden, MigrationError, Permanent
from b24migrate.model.records import REFUSED, Args, Json, Row
from b24migrate.model.source_records import Fetch, Known, SourceRecord
from b24migrate.ports import Command, Source

IDS_AT_ONCE = 50  # in one filter: as many as a page holds
GONE_CODES = frozenset({"NOT_FOUND", "ERROR_NOT_FOUND"})
NOTHING = frozenset({b"null", b"false", b"[]", b"{}", b'""'})  # answers that say that there is nothing


def fetch_one_by_one(
    method: str,
    params: Callable[[str], Args],
    *,
    items: tuple[str, ...] = (),
    id_field: str = "ID",
    select: str = "",
) -> Fetch:
    """Fetches by id with one command each: a filter by one id is understood by every version of every method. With
    `select`, the parameter in which custom fields must be named, or they do not come."""

    def fetch(source: Source, wanted: Sequence[SourceRecord], known: Known) -> dict[str, Row]:
        asked = [params(one.id) for one in wanted]
        if select:
            custom = known.custom()
            asked = [{**args, select: [*args.get(select, ()), *custom]} for args in asked]
        commands = [Command(method, args) for args in asked]
        found: dict[str, Row] = {}
        for one, answer in zip(wanted, source.batch(commands), strict=True):
            for raw in open_list(answer.require(), items, method).items:
                if same_id(raw, id_field, one.id):
                    found[one.id] = Row(one.id, bytes(raw))
        return found

    return fetch


def fetch_objects(method: str, params: Callable[[str], Args], *, inside: str = "", id_field: str = "ID") -> Fetch:
    """Fetches by id with a method that answers with the record itself, and with an error where it is gone."""

    def fetch(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
        found: dict[str, Row] = {}
        commands = [Command(method, params(one.id)) for one in wanted]
        for one, answer in zip(wanted, source.batch(commands), strict=True):
            if answer.error is not None:
                if not is_not_found(answer.error):
                    raise answer.error
                continue
            known = open_entry(answer.result, inside, method) if inside else row_in(answer.result, method)
            raw = msgspec.Raw(msgspec.json.encode(known))
            if same_id(raw, id_field, one.id):
                found[one.id] = Row(one.id, bytes(raw))
        return found

    return fetch


def is_not_found(error: Exception | None) -> bool:
    """Older methods of the CRM have no code for it, nor for a refusal: the text tells them apart
    (api-reference/crm/timeline/comments/crm-timeline-comment-get.md)."""
    if not isinstance(error, Permanent):
        return False
    return error.code in GONE_CODES or (error.code == "EMPTY" and "not found" in str(error).lower())


def fetch_together(
    method: str,
    params: Callable[[Json], Args],
    *,
    items: tuple[str, ...] = (),
    id_field: str = "ID",
    select: str = "",
) -> Fetch:
    """Fetches by id with one command for as many as a page holds: `params` gets a list of them. A portal that does not
    understand a list shows none of them, one, or others: then those that are not found are fetched one by one. One
    that shows two of them and nothing else has understood it, and the others are not there."""
    one_by_one = fetch_one_by_one(method, params, items=items, id_field=id_field, select=select)

    def fetch(source: Source, wanted: Sequence[SourceRecord], known: Known) -> dict[str, Row]:
        ids = [one.id for one in wanted]
        groups = [ids[at : at + IDS_AT_ONCE] for at in range(0, len(ids), IDS_AT_ONCE)] if len(ids) > 1 else []
        custom = known.custom() if select and groups else ()
        more = {select: [*params("").get(select, ()), *custom]} if select else {}
        found: dict[str, Row] = {}
        answered: set[str] = set()
        answers = source.batch([Command(method, {**params(group), **more}) for group in groups])
        for group, answer in zip(groups, answers, strict=True):
            rows = [(id_of(raw, id_field, method), raw) for raw in open_list(answer.require(), items, method).items]
            shown = {source_id: Row(source_id, bytes(raw)) for source_id, raw in rows}
            if len(shown) > 1 and shown.keys() <= set(group):
                answered.update(group)
            found |= shown
        found = {one: found[one] for one in ids if one in found}
        left = [one for one in wanted if one.id not in found and one.id not in answered]
        return found | one_by_one(source, left, known) if left else found

    return fetch


def fetch_either(modern: Fetch, older: Fetch) -> Fetch:
    """By the older method where a portal lacks the other."""

    def fetch(source: Source, wanted: Sequence[SourceRecord], known: Known) -> dict[str, Row]:
        try:
            return modern(source, wanted, known)
        except Permanent as error:
            if error.code != NO_SUCH_METHOD:
                raise
        return older(source, wanted, known)

    return fetch


def is_link(value: Json) -> bool:
    """Pictures are addresses, absolute or from the portal's root; an empty text if there is none."""
    return isinstance(value, str) and value.startswith(("http://", "https://", "/"))


def same_id(raw: msgspec.Raw, field: str, source_id: str) -> bool:
    """`A:B` joins two fields."""
    try:
        row: Json = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(row, dict) and ":".join(str(row.get(name, "")) for name in field.split(":")) == source_id


def mark_unread(row: Row, what: str, error: Exception) -> Row:
    """The row without the part that could not be read. A note reports it, and the next run reads it again. Raises
    GateUnmet if the method is refused for all rows."""
    if isinstance(error, Forbidden):
        raise error.gate
    before = (row.extras or {}).get(REFUSED)
    why = error.sentence if isinstance(error, MigrationError) else str(error)
    note = say("note.unread", what=what, why=why)
    return row._replace(extras={**(row.extras or {}), REFUSED: join((before, note)) if before else note})
