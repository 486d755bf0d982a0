"""Company details, bank details, addresses and links, as the box's own methods take them, and what they do not keep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from b24migrate.entities.requisites.streams import (
    ADDRESS_KEY,
    ADDRESSES,
    BANK_DETAILS,
    LINK_KEY,
    LINKS,
    REQUISITE,
    REQUISITES,
)
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.fidelity import Draft, Keeping, Rule
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, in_chunks
from b24migrate.targets.rest.deletion import keys_with_prefix, stamped_key
from b24migrate.targets.rest.fields import bare_file, decode_custom, encode_custom, older_methods
from b24migrate.targets.rest.values import Column
from b24migrate.targets.rest.writer import TODAY, Content, CreateResult, Known, Writer, create_one_by_one, stamp_key

STAMPED = "ORIGINATOR_ID"  # the mark of our records
DETAIL = re.compile(r"RQ_\w+")
AUTHOR = say("reason.rest_requisite_author")
WHY_STAMPED = say("reason.rest_stamp")
STARTED = say("reason.rest_requisite_started")
BANKED, ADDRESSED = say("keep.bank_details"), say("keep.addresses")

COMMON = (
    Column("ENTITY_ID", "ENTITY_ID"),
    Column("NAME", "NAME", values.text),
    Column("ACTIVE", "ACTIVE", values.yes_or_no, values.flag),
    Column("SORT", "SORT", back=values.whole),
    *values.columns(((name, name) for name in ("XML_ID", "CODE")), values.unchanged, values.text),
)
# Shown, and set by the box itself.
SHOWN = (
    *values.columns(((name, name) for name in ("DATE_CREATE", "DATE_MODIFY")), values.unchanged, values.utc),
    *values.columns(((name, name) for name in ("CREATED_BY_ID", "MODIFY_BY_ID")), values.unchanged, values.optional_id),
    Column(STAMPED, STAMPED),
)
OF_REQUISITE = (
    *COMMON,
    Column("ENTITY_TYPE_ID", "ENTITY_TYPE_ID", back=values.whole),
    Column("PRESET_ID", "PRESET_ID", back=values.optional_id),
    Column("ADDRESS_ONLY", "ADDRESS_ONLY", values.yes_or_no, values.flag),
)
OF_BANK_DETAIL = (*COMMON, Column("COUNTRY_ID", "COUNTRY_ID", back=values.whole), Column("COMMENTS", "COMMENTS"))


class Details:
    """Records with an id, a stamp and fields of any country."""

    def __init__(self, stream: str, method: str, columns: Sequence[Column]) -> None:
        self.stream = stream
        self.listing = method
        self.prefix = method.removesuffix(".list")
        self.columns = columns

    def encode(self, box: Box, item: Item) -> Args:
        custom = {name: value for name, value in item.fields.items() if name.startswith("UF_")}
        details = {name: value or "" for name, value in item.fields.items() if DETAIL.fullmatch(name)}
        known = values.encode_columns(self.columns, item.fields)
        return {**known, **details, **encode_custom(box, self.stream, custom, bare_file), STAMPED: stamp_key(item.key)}

    def create(self, box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
        make = create_one_by_one(f"{self.prefix}.add", lambda item: {"fields": self.encode(box, item)})
        return make(box, items)

    def find(self, box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
        found: dict[str, str] = {}
        for keys in in_chunks(begun):
            stamps = {stamp_key(key): key for key in keys}
            asked = {"filter": {f"@{STAMPED}": list(stamps)}, "select": ["ID", STAMPED], "order": {"ID": "ASC"}}
            rows = box.pages(self.listing, asked)
            found |= {stamps[str(row[STAMPED])]: str(row["ID"]) for row in rows if str(row.get(STAMPED)) in stamps}
        return found

    def update(self, box: Box, known: Known, item: Item) -> None:
        box.call(f"{self.prefix}.update", {"id": known.target_id, "fields": self.encode(box, item)})

    def read(self, box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
        asked = {"filter": {"@ID": [one.target_id for one in wanted.values()]}, "order": {"ID": "ASC"}}
        rows = {str(row["ID"]): row for row in box.pages(self.listing, asked)}
        there = {key: rows[one.target_id] for key, one in wanted.items() if one.target_id in rows}
        return {key: self.decode(box, row) for key, row in there.items()}

    def decode(self, box: Box, row: Args) -> Args:
        custom = {name: value for name, value in row.items() if name.startswith("UF_")}
        details = {name: values.text(value) for name, value in row.items() if DETAIL.fullmatch(name)}
        return {
            **values.decode_columns((*self.columns, *SHOWN), row),
            **details,
            **decode_custom(box, self.stream, custom),
        }

    def delete(self, box: Box, known: Known) -> None:
        box.call(f"{self.prefix}.delete", {"id": known.target_id})


def requisite_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """The box deletes bank details and addresses with their company details."""
    keys = {one.target_id: key for key, one in wanted.items()}
    asked = {"filter": {"@ENTITY_ID": list(keys)}, "select": ["ID", "ENTITY_ID", STAMPED], "order": {"ID": "ASC"}}
    for row in box.pages(BANK_DETAILS, asked):
        if str(row["ENTITY_ID"]) in keys and not stamped_key(box, "crm_bank_details", row.get(STAMPED), str(row["ID"])):
            yield Content(keys[str(row["ENTITY_ID"])], BANKED)
    ours = keys_with_prefix(box, "crm_addresses")
    asked = {"filter": {"ENTITY_TYPE_ID": REQUISITE, "@ENTITY_ID": list(keys)}, "order": order_by(ADDRESS_KEY)}
    for row in box.pages(ADDRESSES, asked):
        if str(row["ENTITY_ID"]) in keys and key_of(ADDRESS_KEY, row) not in ours:
            yield Content(keys[str(row["ENTITY_ID"])], ADDRESSED)


REQUISITE_DETAILS = Details("crm_requisites", REQUISITES, OF_REQUISITE)
BANK = Details("crm_bank_details", BANK_DETAILS, OF_BANK_DETAIL)


# ---------------------------------------------------------------- what has no id of its own


def order_by(key: Sequence[str]) -> Args:
    return dict.fromkeys(key, "ASC")


def key_of(key: Sequence[str], row: Args) -> str:
    return ":".join(str(row[name]) for name in key)


def owner_filter(key: Sequence[str], target_id: str) -> Args:
    return dict(zip(key, target_id.split(":"), strict=True))


def rows_by_key(box: Box, method: str, key: Sequence[str], ids: Sequence[str]) -> dict[str, Args]:
    """Individually, because there is no other filter."""
    commands = [Command(method, {"filter": owner_filter(key, one), "order": order_by(key)}) for one in ids]
    rows = (row for listed in box.lists(commands) for row in listed)
    found = {key_of(key, row): row for row in rows}
    return {one: found[one] for one in ids if one in found}


def find_by_key(box: Box, method: str, key: Sequence[str], begun: Mapping[str, Json]) -> dict[str, str]:
    ids = {name: str(trace) for name, trace in begun.items()}
    there = rows_by_key(box, method, key, list(ids.values()))
    return {name: one for name, one in ids.items() if one in there}


ADDRESS_LINES = (*("ADDRESS_1", "ADDRESS_2", "CITY", "POSTAL_CODE", "REGION", "PROVINCE", "COUNTRY", "COUNTRY_CODE"),)
OF_ADDRESS = (
    *values.columns(((name, name) for name in ADDRESS_KEY), values.unchanged, values.whole),
    *values.columns(((name, name) for name in ADDRESS_LINES), lambda value: value or "", values.text),
)
# The box sets them by the owner (crm-address-list.md).
ANCHOR = (
    Column("ANCHOR_TYPE_ID", "ANCHOR_TYPE_ID", back=values.whole),
    Column("ANCHOR_ID", "ANCHOR_ID", back=values.optional_id),
)


def add_addresses(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    yield from write_each(box, "crm.address.add", ADDRESS_KEY, OF_ADDRESS, items)


def write_each(
    box: Box, method: str, key: Sequence[str], columns: Sequence[Column], items: Sequence[Item]
) -> Iterator[CreateResult]:
    for item in items:
        try:
            done = box.call(method, {"fields": values.encode_columns(columns, item.fields)})
        except Permanent as error:
            yield CreateResult(item.key, error=error)
            continue
        refused = None if done else Permanent(say("target.not_written", method=method), code="EMPTY")
        yield CreateResult(item.key, "" if refused else key_of(key, item.fields), error=refused)


def read_addresses(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    rows = rows_by_key(box, ADDRESSES, ADDRESS_KEY, [one.target_id for one in wanted.values()])
    there = {key: rows[one.target_id] for key, one in wanted.items() if one.target_id in rows}
    return {
        key: {**values.decode_columns((*OF_ADDRESS, *ANCHOR), row), "ENTITY_ID": str(row["ENTITY_ID"])}
        for key, row in there.items()
    }


def update_address(box: Box, known: Known, item: Item) -> None:
    fields = values.encode_columns(OF_ADDRESS, item.fields)
    box.call("crm.address.update", {"fields": {**fields, **owner_filter(ADDRESS_KEY, known.target_id)}})


NONE = 0  # chosen is nothing
CHOSEN = ("REQUISITE_ID", "BANK_DETAIL_ID", "MC_REQUISITE_ID", "MC_BANK_DETAIL_ID")
OF_LINK = (
    *values.columns(((name, name) for name in LINK_KEY), values.unchanged, values.whole),
    *values.columns(((name, name) for name in CHOSEN), lambda value: value or NONE, values.optional_id),
)


def register_links(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """A link that is there is replaced, so a lost answer needs no looking for."""
    yield from write_each(box, "crm.requisite.link.register", LINK_KEY, OF_LINK, items)


def read_links(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    rows = rows_by_key(box, LINKS, LINK_KEY, [one.target_id for one in wanted.values()])
    there = {key: rows[one.target_id] for key, one in wanted.items() if one.target_id in rows}
    return {
        key: {**values.decode_columns(OF_LINK, row), "ENTITY_ID": str(row["ENTITY_ID"])} for key, row in there.items()
    }


def update_link(box: Box, known: Known, item: Item) -> None:
    """All that is chosen has to be named."""
    fields = {**dict.fromkeys(CHOSEN, NONE), **values.encode_columns(OF_LINK, item.fields)}
    box.call("crm.requisite.link.register", {"fields": {**fields, **owner_filter(LINK_KEY, known.target_id)}})


def unregister(box: Box, known: Known) -> None:
    number, _, target_id = known.target_id.partition(":")
    box.call("crm.requisite.link.unregister", {"entityTypeId": number, "entityId": target_id})


def is_present(name: str, draft: Draft) -> bool:
    """Whether the source has the field, even if it is empty."""
    return name in draft


def detail_rules(stream: str) -> Sequence[Rule]:
    return [
        *(Rule(stream, name, Keeping.LOST, TODAY) for name in ("DATE_CREATE", "DATE_MODIFY")),
        *(Rule(stream, name, Keeping.LOST, AUTHOR) for name in ("CREATED_BY_ID", "MODIFY_BY_ID")),
        Rule(stream, "ORIGINATOR_ID", Keeping.TRANSFORMED, WHY_STAMPED, partial(is_present, "ORIGINATOR_ID")),
        Rule(stream, "", Keeping.TRANSFORMED, STARTED),
    ]


def writer_of(details: Details) -> Writer:
    return Writer(
        stream=details.stream,
        entity="crm",
        needs=(details.listing, f"{details.prefix}.add", f"{details.prefix}.update"),
        create=details.create,
        find=details.find,
        update=details.update,
        read=details.read,
        delete=details.delete,
        inside=requisite_contents if details is REQUISITE_DETAILS else None,
        restless=frozenset({"DATE_MODIFY", "MODIFY_BY_ID"}),
        rules=lambda _: detail_rules(details.stream),
        custom_fields=older_methods("crm.requisite.userfield") if details is REQUISITE_DETAILS else None,
    )


WRITERS = (
    writer_of(REQUISITE_DETAILS),
    writer_of(BANK),
    Writer(
        stream="crm_addresses",
        entity="crm",
        needs=(ADDRESSES, "crm.address.add", "crm.address.update"),
        create=add_addresses,
        trace=lambda item: key_of(ADDRESS_KEY, item.fields),
        find=lambda box, begun: find_by_key(box, ADDRESSES, ADDRESS_KEY, begun),
        update=update_address,
        read=read_addresses,
        delete=lambda box, known: box.call(
            "crm.address.delete", {"fields": owner_filter(ADDRESS_KEY, known.target_id)}
        ),
    ),
    Writer(
        stream="crm_requisite_links",
        entity="crm",
        needs=(LINKS, "crm.requisite.link.register"),
        create=register_links,
        find=lambda _box, _begun: {},
        update=update_link,
        read=read_links,
        delete=unregister,
    ),
)
