"""The CRM of a company: its records by type, made when they are looked at, and what they are built of."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any

from b24sim.company import crm_structure as structure
from b24sim.company.crm_clients import company, company_variant, contact, contact_variant
from b24sim.company.crm_deals import deal, deal_variant
from b24sim.company.crm_fields import Field, fields_of
from b24sim.company.crm_files import crm_file, owner_of
from b24sim.company.crm_ids import (
    COMPANY,
    CONTACT,
    DEAL,
    LEAD,
    QUOTE,
    SMART_INVOICE,
    CrmIds,
    SmartType,
    crm_ids,
)
from b24sim.company.crm_invoices import invoice, invoice_variant
from b24sim.company.crm_leads import lead, lead_variant
from b24sim.company.crm_products import product_rows
from b24sim.company.crm_quotes import FILE_BASE, quote, quote_variant
from b24sim.company.crm_schema import Schema
from b24sim.company.crm_smart import smart_item, smart_variant
from b24sim.company.crm_values import Shared
from b24sim.company.crm_world import FileId, Made, Times, World, place_of, world_of
from b24sim.company.files import File, file_of
from b24sim.company.people import People
from b24sim.phpjson import decode
from b24sim.table import Row, Table

Make = Callable[[int], Made]
MakeVariant = Callable[[list[Field], int], Row]


class Items(Table):
    """Records of one type. None is kept: half a million of them would fill the memory, and they are made fast."""

    def __init__(self, entity_type_id: int, ids: Sequence[int], fields: list[Field], times: Times):
        super().__init__(ids, self._whole, keep=0)
        self.entity_type_id = entity_type_id
        self.fields = fields
        self.times = times
        self._shared: Shared | None = None
        self._make_one: Make = lambda _number: Made(b"{}", 0)
        self._make_variant: MakeVariant = lambda _fields, _variant: {}
        self._order: dict[str, tuple[int, array[float], list[int]]] = {}
        self.recycled: dict[int, Row] = {}  # the recycle bin, which no method shows
        self.refused: set[int] = set()  # records hidden even from administrators
        self._gone_options: set[tuple[str, int]] = set()
        self._grown_fields: list[Field] = []

    def made_by(self, make: Make, variant: MakeVariant) -> "Items":
        self._make_one, self._make_variant = make, variant
        return self

    @cached_property
    def schema(self) -> Schema:
        """The fields of records of this type, even without any record."""
        return Schema(self.entity_type_id, self.ordinary(1), self.fields)

    @property
    def shared(self) -> Shared:
        if self._shared is None:
            self._shared = Shared(partial(self._variant, list(self.grown_fields)))
        return self._shared

    def _variant(self, fields: list[Field], variant: int) -> Row:
        row = self._make_variant(fields, variant)
        return row | self._emptied(row)

    @property
    def grown_fields(self) -> list[Field]:
        """The custom fields as they were when the records were grown."""
        return self._grown_fields or self.fields

    def drop_option(self, field: Field, option: int) -> list[int]:
        """Deletes an option of a list with its values; records do not change. Returns the IDs that lose a value."""
        had = [number for number in self if option in _several(self.row(number).get(field.code))]
        self._grown_fields = list(self.grown_fields)
        place = next(place for place, one in enumerate(self.fields) if one.id == field.id)
        self.fields[place] = replace(field, options=tuple(one for one in field.options if one[0] != option))
        self._gone_options.add((field.code, option))
        self._shared = None
        for number, row in self._own.items():
            self._own[number] = row | self._emptied(row)
        self.forget_encodings()
        self.version += 1
        return had

    def _emptied(self, row: Row) -> Row:
        empty: Row = {}
        for code, option in self._gone_options:
            value = empty.get(code, row.get(code))
            if option in _several(value):
                empty[code] = [one for one in value if one != option] if isinstance(value, list) else None
        return empty

    def settle(self) -> None:
        """Comments hold links to the portal, so the variants are written again at a new address."""
        self._shared = None
        self.forget_encodings()

    def plain(self, number: int) -> bytes | None:
        """The record as JSON under the fields' own names; None where it takes more than joining two pieces."""
        if number in self._own:
            return None
        made = self._make_one(number)
        if made.special:
            return None
        return b"".join((made.own[:-1], b",", self.shared.encoded(made.variant), b"}"))

    def since(self, name: str, bound: float) -> list[int]:
        """Ids of the records whose `createdTime` or `updatedTime` is not before the bound, in ascending order."""
        version, moments, ids = self._order.get(name, (-1, array("d"), []))
        if version != self.version:
            pairs = sorted((self._moment(number, name), number) for number in self.ids)
            moments, ids = array("d", (moment for moment, _ in pairs)), [number for _, number in pairs]
            self._order[name] = (self.version, moments, ids)
        return sorted(ids[bisect_left(moments, bound) :])

    def _moment(self, number: int, name: str) -> float:
        own = self._own.get(number)
        if own is not None:
            return datetime.fromisoformat(str(own[name])).timestamp() if own.get(name) else 0.0
        place = place_of(number)
        luck = self.times.luck(place)
        return (self.times.updated if name == "updatedTime" else self.times.created)(place, luck)

    def ordinary(self, number: int) -> Row:
        """A record under that number, whether it is there or not, with nothing out of the ordinary."""
        made = self._make_one(number)
        return {**decode(made.own), **self.shared.row(made.variant)}

    def _whole(self, number: int) -> Row:
        made = self._make_one(number)
        return {**decode(made.own), **self.shared.row(made.variant), **(made.special or {})}


class Crm:
    """All data of a portal's CRM. The IDs are the initial ones."""

    def __init__(self, people: People):
        self.ids: CrmIds = crm_ids(people.plan)
        self.company_ids, self.contact_ids, self.deal_ids = (
            self.ids.company_ids,
            self.ids.contact_ids,
            self.ids.deal_ids,
        )
        self.smart_types, self.smart_item_ids = self.ids.smart_types, self.ids.smart_item_ids
        self.world: World = world_of(people, self.ids)
        # What was written into fields, and what was said about types, after the beginning.
        self.own_files: dict[int, File] = {}
        self.own_relations: dict[int, Row] = {}
        on = not people.plan.box
        self.categories = structure.categories(self.smart_types) if on else []
        self.types = Table(
            [smart.id for smart in self.smart_types],
            lambda number: structure.type_row(self._smart(number), people.moments),
        )
        self.statuses = structure.statuses(self.categories)
        self.items: dict[int, Items] = {DEAL: self._deals(), CONTACT: self._contacts(), COMPANY: self._companies()}
        self.items |= {smart.entity_type_id: self._smart_items(smart) for smart in self.smart_types}
        more = {LEAD: self._leads, QUOTE: self._quotes, SMART_INVOICE: self._invoices}
        self.items |= {number: make() for number, make in more.items() if self.ids.item_ids(number)}
        self.statuses += structure.quote_stages(len(self.statuses)) if self.ids.quote_ids else []

    def item_ids(self, entity_type_id: int) -> Sequence[int]:
        return self.ids.item_ids(entity_type_id)

    def settle(self, portal_url: str) -> None:
        self.world.portal_url = portal_url
        for items in self.items.values():
            items.settle()

    def smart(self, entity_type_id: int) -> SmartType | None:
        return next((smart for smart in self.smart_types if smart.entity_type_id == entity_type_id), None)

    def product_rows(self, entity_type_id: int, owner: int) -> list[Row]:
        items = self.items.get(entity_type_id)
        smart = self.smart(entity_type_id)
        if items is None or owner not in items or entity_type_id in {CONTACT, COMPANY}:
            return []
        own = items.changed(owner).get("_productRows")
        if own is not None:
            return list(own)
        if smart is not None and not structure.has(smart, "isLinkWithProductsEnabled"):
            return []
        place = place_of(owner)
        return product_rows(entity_type_id, owner, place, items.times.luck(place))

    def file(self, number: int) -> File | None:
        """A file that some record still has."""
        if number in self.own_files:
            return self.own_files[number]
        entity_type_id, owner = owner_of(number, self.smart_types)
        items = self.items.get(entity_type_id)
        if items is None or owner not in items or number not in files_in(items.row(owner)):
            return None
        return crm_file(self.world.seed, number)

    def drive_file(self, number: int) -> File | None:
        """A file on the Drive that some record names."""
        quotes = self.items.get(QUOTE)
        owner = number - FILE_BASE
        if quotes is None or owner not in quotes or number not in quotes.row(owner).get("storageElementIds", ()):
            return None
        return file_of(self.world.seed, number, owner)

    def names_of(self, smart: SmartType) -> list[str]:
        """The fields that items of such a smart process have, but for custom ones and parents."""
        names = self._smart_items(smart).ordinary(1)
        return [name for name in names if not name.startswith(("UF_", "parentId"))]

    def relations(self, smart: SmartType) -> Row:
        """The fields that only `crm.type.get` returns."""
        return self.own_relations.get(smart.id) or structure.relations(smart, self.smart_types)

    def _leads(self) -> Items:
        items = self._table(LEAD, self.ids.lead_ids)
        return items.made_by(
            lambda number: lead(self.world, items.times, items.grown_fields, number),
            lambda fields, variant: lead_variant(self.world, fields, variant),
        )

    def _quotes(self) -> Items:
        items = self._table(QUOTE, self.ids.quote_ids)
        return items.made_by(
            lambda number: quote(self.world, items.times, items.grown_fields, number),
            lambda fields, variant: quote_variant(self.world, fields, variant),
        )

    def _invoices(self) -> Items:
        items = self._table(SMART_INVOICE, self.ids.invoice_ids)
        return items.made_by(
            lambda number: invoice(self.world, items.times, items.grown_fields, number),
            lambda fields, variant: invoice_variant(self.world, fields, variant),
        )

    def _deals(self) -> Items:
        items = self._table(DEAL, self.deal_ids)
        return items.made_by(
            lambda number: deal(self.world, items.times, items.grown_fields, number),
            lambda fields, variant: deal_variant(self.world, fields, variant),
        )

    def _contacts(self) -> Items:
        items = self._table(CONTACT, self.contact_ids)
        return items.made_by(
            lambda number: contact(self.world, items.times, items.grown_fields, number),
            lambda fields, variant: contact_variant(self.world, fields, variant),
        )

    def _companies(self) -> Items:
        items = self._table(COMPANY, self.company_ids)
        return items.made_by(
            lambda number: company(self.world, items.times, items.grown_fields, number),
            lambda fields, variant: company_variant(self.world, fields, variant),
        )

    def _smart_items(self, smart: SmartType) -> Items:
        items = self._table(smart.entity_type_id, self.smart_item_ids, smart)
        return items.made_by(
            lambda number: smart_item(self.world, items.times, items.grown_fields, smart, number),
            lambda fields, variant: smart_variant(self.world, fields, smart, variant),
        )

    def _table(self, entity_type_id: int, ids: Sequence[int], smart: SmartType | None = None) -> Items:
        times = Times(self.world.seed, f"crm{entity_type_id}", len(ids))
        return Items(entity_type_id, ids, fields_of(entity_type_id, smart), times)

    def _smart(self, number: int) -> SmartType:
        return next(smart for smart in self.smart_types if smart.id == number)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def files_in(row: Row) -> list[int]:
    values = [item for value in row.values() for item in (value if isinstance(value, list) else [value])]
    return [value for value in values if isinstance(value, FileId)]
