"""Companies, contacts, deals and items of smart processes, as `crm.item.batchImport` takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from b24migrate.bitrix.faults import of_code
from b24migrate.ports import Command
from b24migrate.records import Args, Item, Json
from b24migrate.target.rest import crm_close_dates, crm_late, crm_rows, rules_crm
from b24migrate.target.rest.box import Box, by_the_dozen, inside
from b24migrate.target.rest.crm_names import WISH, as_called, as_coded
from b24migrate.target.rest.crm_relations import related
from b24migrate.target.rest.crm_times import floor_now, keep_floor, raised
from b24migrate.target.rest.words import STAMP, Known, Made, Writer

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
        self._first_pipeline = numbered_from  # below it there is no pipeline, only the way to say so

    def of(self, item: Item) -> str:
        return self.number or str(item.fields["entityTypeId"])

    def rows_of(self, number: str) -> str:
        """How product rows call their owner; empty where there are none."""
        return self._rows if self.number else f"T{int(number):x}"

    def stamp(self, key: str) -> Args:
        return {"originatorId": STAMP, "originId": key} if self.number else {"xmlId": key}

    # ------------------------------------------------------------ creating

    def create(self, box: Box, items: Sequence[Item]) -> Iterator[Made]:
        for number, some in groupby(items, self.of):
            for few in by_the_dozen(some, AT_ONCE):
                yield from self._imported(box, number, few)

    def _imported(self, box: Box, number: str, items: Sequence[Item]) -> Iterator[Made]:
        related(box, number, items)
        floor = floor_now(box, number)
        keep_floor(box, number, floor)
        while items:
            made = self._call(box, number, items, floor)
            refused = {one.key for one in made if one.error is not None and one.error.code == NOT_VALID}
            newest = floor_now(box, number) if refused else floor
            if newest <= self._reached(items, made, floor):
                refused = set()  # nobody made anything in between: they are refused for what they are
            yield from (one for one in made if one.key not in refused)
            items, floor = [item for item in items if item.key in refused], newest

    def _call(self, box: Box, number: str, items: Sequence[Item], floor: datetime) -> list[Made]:
        data, times = [], {}
        for item in items:
            times[item.key], floor = raised(item.fields, floor)
            fields = as_called(box, number, crm_rows.sent(box, self.stream, item.fields))
            data.append({**fields, **crm_rows.old_multifields(item.fields), **times[item.key], **self.stamp(item.key)})
        crm_late.note(box, self.stream, number, items, times)
        said = box.call("crm.item.batchImport", {"entityTypeId": number, **WISH, "data": data})
        return [self._made(item, answer) for item, answer in zip(items, inside(said, "items"), strict=True)]

    @staticmethod
    def _reached(items: Sequence[Item], made: Sequence[Made], floor: datetime) -> datetime:
        """Of what we have made ourselves, the time that nothing may be older than."""
        for item, one in zip(items, made, strict=True):
            floor = floor if one.error is not None else raised(item.fields, floor).floor
        return floor

    @staticmethod
    def _made(item: Item, answer: Args) -> Made:
        if isinstance(answer.get("item"), Mapping):
            return Made(item.key, str(answer["item"]["id"]))
        text = str(answer.get("error_description") or "")
        return Made(item.key, error=of_code(str(answer.get("error") or "EMPTY"), "crm.item.batchImport", text=text))

    def find(self, box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
        found: dict[str, str] = {}
        name = "originId" if self.number else "xmlId"
        for number in {str(trace) for trace in begun.values()}:
            for keys in by_the_dozen(key for key, trace in begun.items() if str(trace) == number):
                own = {"originatorId": STAMP} if self.number else {}
                asked = {"entityTypeId": number, "select": ["id", name], "filter": {**own, f"@{name}": keys}}
                rows = inside(box.question("crm.item.list", asked), "items")
                found |= {str(row[name]): str(row["id"]) for row in rows if row.get(name) in keys}
        return found

    # ------------------------------------------------------------ completing and changing

    def finish(self, box: Box, known: Known, item: Item) -> None:
        """Product rows: the owner counts as changed by them, which no method takes back. So does one whose close date
        is put right."""
        if item.fields.get("productRows"):
            self._set_rows(box, known, item)
        if (box.close_dates or item.fields.get("productRows")) and crm_close_dates.closes(box, item.fields):
            number = self.of(item)
            if crm_close_dates.overwrites(box, number, known.target_id, item.fields):
                crm_close_dates.close(box, number, known.target_id, item.fields)

    def _set_rows(self, box: Box, known: Known, item: Item) -> None:
        rows = [crm_rows.product_row(row) for row in item.fields["productRows"]]
        owner = {"ownerType": self.rows_of(self.of(item)), "ownerId": known.target_id}
        box.call("crm.item.productrow.set", {**owner, "productRows": rows})

    def update(self, box: Box, known: Known, item: Item) -> None:
        """Product rows are left alone where they are the same: setting them changes the sum as well."""
        number = self.of(item)
        related(box, number, [item])
        there = self._rows_of(box, {"": known}).get(known.target_id, {})
        fields = as_called(box, number, crm_rows.sent(box, self.stream, item.fields))
        fields |= {**self.stamp(item.key), **crm_rows.changed_multifields(item.fields, there)}
        if crm_rows.adds_up(item.fields):
            fields.pop("opportunity", None)
        moves = bool(fields.get("stageId")) and fields["stageId"] != there.get("stageId")
        crm_late.note_update(box, self.stream, number, item, there, moves=moves)
        box.call("crm.item.update", {"entityTypeId": number, "id": known.target_id, **WISH, "fields": fields})
        if moves and crm_close_dates.closes(box, item.fields):
            crm_close_dates.close(box, number, known.target_id, item.fields)
        if "productRows" in item.fields and self.rows_of(number):
            (told,) = self._products(box, [known])
            if told != item.fields["productRows"]:
                self._set_rows(box, known, item)

    # ------------------------------------------------------------ reading

    def read(self, box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
        rows = self._rows_of(box, wanted)
        there = {key: one for key, one in wanted.items() if one.target_id in rows}
        told = {key: self._told(box, rows[one.target_id]) for key, one in there.items()}
        products = self._products(box, list(there.values()))
        return {
            key: {**told[key], "productRows": mine} if self.rows_of(str(one.trace)) else told[key]
            for (key, one), mine in zip(there.items(), products, strict=True)
        }

    def _told(self, box: Box, row: Args) -> Args:
        told = crm_rows.told(box, self.stream, row)
        return told if int(told.get("categoryId") or 0) >= self._first_pipeline else {**told, "categoryId": None}

    def _rows_of(self, box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
        """Multifields come only when everything is asked for."""
        found: dict[str, Args] = {}
        for number in {str(one.trace) for one in wanted.values()}:
            ids = [one.target_id for one in wanted.values() if str(one.trace) == number]
            asked = {"entityTypeId": number, **WISH, "select": ["*", "UF_*"], "filter": {"@id": ids}}
            asked["order"] = {"id": "ASC"}
            rows = box.pages("crm.item.list", asked, "items")
            found |= {str(row["id"]): as_coded(box, number, row) for row in rows}
        return found

    def _products(self, box: Box, wanted: Sequence[Known]) -> list[list[Args]]:
        kinds = [self.rows_of(str(one.trace)) for one in wanted]
        asked = [
            Command("crm.item.productrow.list", {"filter": {"=ownerType": kind, "=ownerId": one.target_id}, **IN_ORDER})
            for one, kind in zip(wanted, kinds, strict=True)
            if kind
        ]
        said = iter(box.lists(asked, "productRows"))
        return [[crm_rows.told_product(row) for row in next(said)] if kind else [] for kind in kinds]

    def delete(self, box: Box, known: Known) -> None:
        box.call("crm.item.delete", {"entityTypeId": known.trace, "id": known.target_id})


def writer(kind: Kind) -> Writer:
    return Writer(
        stream=kind.stream,
        entity="crm",
        needs=NEEDS,
        create=kind.create,
        trace=kind.of,
        find=kind.find,
        finish=kind.finish,
        update=kind.update,
        read=kind.read,
        delete=kind.delete,
        restless=frozenset({"updatedTime", "updatedBy", "lastActivityTime", "lastActivityBy", "lastCommunicationTime"}),
        serial=True,
        rules=rules_crm.rules_of(kind.stream, kind.number),
    )


ITEMS = tuple(
    map(
        writer,
        (
            Kind("crm_companies", "4"),
            Kind("crm_contacts", "3"),
            Kind("crm_deals", "2", "D", numbered_from=0),
            Kind("crm_spitems"),
        ),
    )
)
