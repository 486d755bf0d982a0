"""Companies, contacts, deals and items of smart processes, as `crm.item.batchImport` takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby

from b24migrate.bitrix.faults import code_error
from b24migrate.entities.crm import (
    rest_close_dates,
    rest_custom_fields,
    rest_field_codes,
    rest_fields,
    rest_late,
    rest_rules,
)
from b24migrate.entities.crm.rest_contents import client_records
from b24migrate.entities.crm.rest_field_codes import WISH, decode_names, encode_names
from b24migrate.entities.crm.rest_times import floor_now, keep_floor, raise_times
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest.box import Box, in_chunks, new_id, rows_at
from b24migrate.targets.rest.fields import FieldMethods, older_methods
from b24migrate.targets.rest.writer import STAMP, CreateResult, Known, Writer

FIRST_SMART_TYPE = 128


def add_relations(box: Box, number: str, items: Sequence[Item]) -> None:
    """Makes the relations that these records need and the box does not have yet."""
    named = {name for item in items for name, value in item.fields.items() if value and _is_parent(name)}
    for parent in sorted(name.removeprefix("parentId") for name in named):
        box.kept(f"{parent} above {number}", lambda parent=parent: _relate(box, parent, number), 3600.0)  # type: ignore[misc]


def _is_parent(name: str) -> bool:
    return name.startswith("parentId") and name.removeprefix("parentId").isdecimal()


def _relate(box: Box, parent: str, child: str) -> bool:
    """One of the two is a smart process, which returns and accepts its relations."""
    smart, side, other = (child, "parent", parent) if int(child) >= FIRST_SMART_TYPE else (parent, "child", child)
    about = _type(box, smart)
    relations = about.get("relations") or {"parent": [], "child": []}
    if any(str(one.get("entityTypeId")) == other for one in rows_at(relations, side)):
        return True
    wanted = {name: [_encode_flags(one) for one in rows_at(relations, name)] for name in ("parent", "child")}
    wanted[side].append({"entityTypeId": other, "isChildrenListEnabled": "true"})
    box.call("crm.type.update", {"id": about["id"], "fields": {"relations": wanted}})
    return True


def _type(box: Box, number: str) -> Mapping[str, Json]:
    """With its relations, which the list does not contain."""
    for row in box.pages("crm.type.list", {"filter": {"entityTypeId": number}}, "types"):
        if str(row["entityTypeId"]) == number:
            about: Mapping[str, Json] = box.question("crm.type.get", {"id": row["id"]})["type"]
            return about
    raise Permanent(say("target.no_smart_process", number=number), code="TYPE_NOT_FOUND")


def _encode_flags(one: Args) -> Args:
    """Inside relations flags are the words true and false."""
    return {
        "entityTypeId": one["entityTypeId"],
        "isChildrenListEnabled": str(one.get("isChildrenListEnabled") == "Y").lower(),
    }


AT_ONCE = 20
IN_ORDER = {"order": {"sort": "ASC", "id": "ASC"}}
NEEDS = ("crm.item.list", "crm.item.fields", "crm.item.batchImport", "crm.item.update", "crm.item.productrow.set")
NOT_VALID = "CRM_FIELD_ERROR_VALUE_NOT_VALID"  # also of a time before that of the newest record


class Kind:
    """A kind of CRM record: a number that every portal has, or of a smart process the item's own."""

    def __init__(self, stream: str, number: str = "", rows: str = "", *, numbered_from: int = 1) -> None:
        self.stream = stream
        self.number = number
        self._rows = rows
        self._first_pipeline = numbered_from  # below it there is no pipeline, only the value for none

    def type_number(self, item: Item) -> str:
        return self.number or str(item.fields["entityTypeId"])

    def rows_of(self, number: str) -> str:
        """How product rows call their owner; empty if the type has no product rows."""
        return self._rows if self.number else f"T{int(number):x}"

    def stamp(self, key: str) -> Args:
        return {"originatorId": STAMP, "originId": key} if self.number else {"xmlId": key}

    # ------------------------------------------------------------ creating

    def create(self, box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
        for number, some in groupby(items, self.type_number):
            for few in in_chunks(some, AT_ONCE):
                yield from self._imported(box, number, few)

    def _imported(self, box: Box, number: str, items: Sequence[Item]) -> Iterator[CreateResult]:
        add_relations(box, number, items)
        floor = floor_now(box, number)
        keep_floor(box, number, floor)
        while items:
            made = self._call(box, number, items, floor)
            refused = {one.key for one in made if one.error is not None and one.error.code == NOT_VALID}
            newest = floor_now(box, number) if refused else floor
            if newest <= self._raise_floor(items, made, floor):
                refused = set()  # nothing was made in between: they are refused for what they are
            yield from (one for one in made if one.key not in refused)
            items, floor = [item for item in items if item.key in refused], newest

    def _call(self, box: Box, number: str, items: Sequence[Item], floor: datetime) -> list[CreateResult]:
        data, times = [], {}
        for item in items:
            times[item.key], floor = raise_times(item.fields, floor)
            fields = encode_names(box, number, rest_fields.encode_fields(box, self.stream, item.fields))
            data.append(
                {**fields, **rest_fields.old_multifields(item.fields), **times[item.key], **self.stamp(item.key)}
            )
        rest_late.note_raised(box, self.stream, number, items, times)
        said = box.call("crm.item.batchImport", {"entityTypeId": number, **WISH, "data": data})
        return [self._decode_result(item, answer) for item, answer in zip(items, rows_at(said, "items"), strict=True)]

    @staticmethod
    def _raise_floor(items: Sequence[Item], made: Sequence[CreateResult], floor: datetime) -> datetime:
        """The latest time among our own records: nothing may be older."""
        for item, one in zip(items, made, strict=True):
            floor = floor if one.error is not None else raise_times(item.fields, floor).floor
        return floor

    @staticmethod
    def _decode_result(item: Item, answer: Args) -> CreateResult:
        if isinstance(answer.get("item"), Mapping):
            return CreateResult(item.key, new_id(answer["item"]["id"], "crm.item.batchImport"))
        text = str(answer.get("error_description") or "")
        return CreateResult(
            item.key, error=code_error(str(answer.get("error") or "EMPTY"), "crm.item.batchImport", text=text)
        )

    def find(self, box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
        found: dict[str, str] = {}
        name = "originId" if self.number else "xmlId"
        for number in {str(trace) for trace in begun.values()}:
            for keys in in_chunks(key for key, trace in begun.items() if str(trace) == number):
                own = {"originatorId": STAMP} if self.number else {}
                asked = {"entityTypeId": number, "select": ["id", name], "filter": {**own, f"@{name}": keys}}
                rows = rows_at(box.question("crm.item.list", asked), "items")
                found |= {str(row[name]): str(row["id"]) for row in rows if row.get(name) in keys}
        return found

    # ------------------------------------------------------------ completing and changing

    def finish(self, box: Box, known: Known, item: Item) -> None:
        """Product rows: the owner counts as changed by them, which no method takes back. So does one whose close date
        is put right."""
        if item.fields.get("productRows"):
            self._set_rows(box, known, item)
        if (box.close_dates or item.fields.get("productRows")) and rest_close_dates.is_final(box, item.fields):
            number = self.type_number(item)
            if rest_close_dates.overwrites_date(box, number, known.target_id, item.fields):
                rest_close_dates.close(box, number, known.target_id, item.fields)

    def _set_rows(self, box: Box, known: Known, item: Item) -> None:
        rows = [rest_fields.product_row(row) for row in item.fields["productRows"]]
        owner = {"ownerType": self.rows_of(self.type_number(item)), "ownerId": known.target_id}
        box.call("crm.item.productrow.set", {**owner, "productRows": rows})

    def update(self, box: Box, known: Known, item: Item) -> None:
        """Product rows are left alone where they are the same: setting them changes the sum as well."""
        number = self.type_number(item)
        add_relations(box, number, [item])
        there = self._rows_of(box, {"": known}).get(known.target_id, {})
        fields = encode_names(box, number, rest_fields.encode_fields(box, self.stream, item.fields))
        fields |= {**self.stamp(item.key), **rest_fields.changed_multifields(item.fields, there)}
        if rest_fields.adds_up(item.fields):
            fields.pop("opportunity", None)
        moves = bool(fields.get("stageId")) and fields["stageId"] != there.get("stageId")
        rest_late.note_update(box, self.stream, number, item, there, moves=moves)
        if moves:
            rest_close_dates.note_move(box, self.stream, item.key, item.fields)
        box.call("crm.item.update", {"entityTypeId": number, "id": known.target_id, **WISH, "fields": fields})
        if moves and rest_close_dates.is_final(box, item.fields):
            rest_close_dates.close(box, number, known.target_id, item.fields)
        rest_close_dates.forget_move(box, self.stream, item.key, item.fields)
        if "productRows" in item.fields and self.rows_of(number):
            (told,) = self._products(box, [known])
            if told != item.fields["productRows"]:
                self._set_rows(box, known, item)

    # ------------------------------------------------------------ reading

    def read(self, box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
        rows = self._rows_of(box, wanted)
        there = {key: one for key, one in wanted.items() if one.target_id in rows}
        told = {key: self._decode(box, rows[one.target_id]) for key, one in there.items()}
        products = self._products(box, list(there.values()))
        return {
            key: {**told[key], "productRows": mine} if self.rows_of(str(one.trace)) else told[key]
            for (key, one), mine in zip(there.items(), products, strict=True)
        }

    def _decode(self, box: Box, row: Args) -> Args:
        told = rest_fields.decode_fields(box, self.stream, row)
        return told if int(told.get("categoryId") or 0) >= self._first_pipeline else {**told, "categoryId": None}

    def _rows_of(self, box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
        """Multifields are returned only with `*`."""
        found: dict[str, Args] = {}
        for number in {str(one.trace) for one in wanted.values()}:
            ids = [one.target_id for one in wanted.values() if str(one.trace) == number]
            asked = {"entityTypeId": number, **WISH, "select": ["*", "UF_*"], "filter": {"@id": ids}}
            asked["order"] = {"id": "ASC"}
            rows = box.pages("crm.item.list", asked, "items")
            found |= {str(row["id"]): decode_names(box, number, row) for row in rows}
        return found

    def _products(self, box: Box, wanted: Sequence[Known]) -> list[list[Args]]:
        kinds = [self.rows_of(str(one.trace)) for one in wanted]
        asked = [
            Command("crm.item.productrow.list", {"filter": {"=ownerType": kind, "=ownerId": one.target_id}, **IN_ORDER})
            for one, kind in zip(wanted, kinds, strict=True)
            if kind
        ]
        said = iter(box.lists(asked, "productRows"))
        return [[rest_fields.decode_product(row) for row in next(said)] if kind else [] for kind in kinds]

    def delete(self, box: Box, known: Known) -> None:
        box.call("crm.item.delete", {"entityTypeId": known.trace, "id": known.target_id})


def writer(kind: Kind, custom_fields: FieldMethods) -> Writer:
    return Writer(
        stream=kind.stream,
        entity="crm",
        needs=NEEDS,
        create=kind.create,
        trace=kind.type_number,
        find=kind.find,
        finish=kind.finish,
        update=kind.update,
        read=kind.read,
        own=lambda box, key, fields: rest_close_dates.set_by_box(box, kind.stream, key, fields),
        delete=kind.delete,
        restless=frozenset({"updatedTime", "updatedBy", "lastActivityTime", "lastActivityBy", "lastCommunicationTime"}),
        serial=True,
        rules=rest_rules.rules_of(kind.stream, kind.number),
        inside=partial(client_records, stream=kind.stream),
        custom_fields=custom_fields,
    )


WRITERS = (
    writer(Kind("crm_companies", "4"), older_methods("crm.company.userfield", rest_field_codes.forget)),
    writer(Kind("crm_contacts", "3"), older_methods("crm.contact.userfield", rest_field_codes.forget)),
    writer(Kind("crm_deals", "2", "D", numbered_from=0), older_methods("crm.deal.userfield", rest_field_codes.forget)),
    writer(Kind("crm_spitems"), rest_custom_fields.METHODS),
)
