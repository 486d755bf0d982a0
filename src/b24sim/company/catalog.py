"""The product catalogue of a company: its two information blocks, sections, properties, products, offers and prices.

Products and offers count their ids together, and every tenth id is missing: such an element was deleted. A company
without products has no catalogue, only currencies.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from b24sim.company import catalog_dictionaries as dictionaries
from b24sim.company.chance import chance
from b24sim.company.crm_ids import STEP
from b24sim.company.crm_products import php_number
from b24sim.company.files import File, KeptFile, picture
from b24sim.company.people import People
from b24sim.company.plan import ANCHOR, DAY
from b24sim.table import Row, Table

PRODUCTS, OFFERS = 25, 27
SKU_PROPERTY = dictionaries.SKU_PROPERTY
SIMPLE, PARENT, OFFER, SERVICE = 1, 3, 4, 7
FIRST = 9_600  # product rows of deals name such ids
OFFERS_OF_A_PARENT = 2
PICTURES = ("PREVIEW_PICTURE", "DETAIL_PICTURE", "MORE_PHOTO")
NAMES = ("Смартфон <чёрный>", "Кабель «витая пара»", "Монтаж & наладка", "Доставка", "Кресло 'Офис'", "Лампа 💡")
SECTIONS = ("Электроника", "Кабели & провода", "Услуги", "Мебель <офис>", "Свет")
SIZES = dictionaries.SIZES
BASE, WHOLESALE = 1, 3


@dataclass(frozen=True, slots=True)
class Element:
    """A product or an offer."""

    id: int
    place: int
    type: int
    parent: int = 0

    @property
    def iblock(self) -> int:
        return OFFERS if self.type == OFFER else PRODUCTS


@dataclass(slots=True)
class Uploaded:
    """A picture that a user sent to the portal."""

    file: KeptFile
    type: str
    product: int


class Catalog:
    """Tables by the names of the methods that list them. `products` has a table for each information block."""

    def __init__(self, people: People):
        plan = people.plan
        self.seed, self.moments = plan.seed, people.moments
        self._authors = people.healthy or [1]
        count = 0 if plan.box else plan.products
        self.open = plan.box or count > 0
        self.elements = {element.id: element for element in elements(count)}
        self.section_ids = range(41, 41 + 2 * max(3, count // 8), 2) if count else range(0)
        self.sections = Table(self.section_ids, self._section)
        self.products = {
            iblock: Table([one.id for one in self.elements.values() if one.iblock == iblock], self._element)
            for iblock in (PRODUCTS, OFFERS)
        }
        named = dictionaries.of_a_box() if plan.box else dictionaries.of_a_company(on=count > 0)
        self.properties = _table(named.properties)
        self.enums = _table(named.enums)
        self.measures = _table(named.measures)
        self.vats = _table(named.vats)
        self.price_types = _table(named.price_types)
        self.currencies = {str(row["CURRENCY"]): row for row in named.currencies}
        self.prices = Table(range(1, 1 + len(self._priced)), self._price)
        self.uploads: dict[int, Uploaded] = {}
        self.portal_url = ""

    @property
    def catalogs(self) -> list[Row]:
        if not self.open:
            return []
        shared: Row = {"iblockTypeId": 0, "lid": "s1", "subscription": "N", "vatId": None}
        return [
            {"id": PRODUCTS, "iblockId": PRODUCTS, "name": "Товарный каталог CRM", "productIblockId": None,
             "skuPropertyId": None, **shared},
            {"id": OFFERS, "iblockId": OFFERS, "name": "Товарный каталог CRM (предложения)",
             "productIblockId": PRODUCTS, "skuPropertyId": SKU_PROPERTY, **shared},
        ]  # fmt: skip

    def iblock_of(self, number: int) -> int:
        """The information block of an element; 0 if the element does not exist."""
        return next((iblock for iblock, table in self.products.items() if number in table), 0)

    def next_element(self) -> int:
        return max(FIRST, *(table.next_id() for table in self.products.values()))

    def settle(self, portal_url: str) -> None:
        self.portal_url = portal_url
        for table in self.products.values():
            table.forget_encodings()

    # ------------------------------------------------------------ pictures

    def pictures(self, number: int) -> list[tuple[int, str]]:
        """The files of an element, each with its type, in the order in which they are shown."""
        iblock = self.iblock_of(number)
        row = self.products[iblock].row(number) if iblock else {}
        found = [(row.get("previewPicture"), PICTURES[0]), (row.get("detailPicture"), PICTURES[1])]
        found += (
            [(one["value"], PICTURES[2]) for one in row.get(f"property{dictionaries.PHOTOS[iblock]}") or ()]
            if row
            else []
        )
        return [(int(shown["id"]), kind) for shown, kind in found if shown]

    def file(self, number: int) -> File | None:
        """A picture that some element still has."""
        if number in self.uploads:
            return self.uploads[number].file
        owner = number // 10
        if all(known != number for known, _ in self.pictures(owner)):
            return None
        data = picture(f"catalog:{number}")
        return KeptFile(number, f"photo {number}.png", len(data), data)

    def shown(self, number: int, file: int, name: str) -> Row:
        """A picture in an answer: links of an older kind, which want a session or a webhook in front."""
        asked = f"fields%5BfieldName%5D={name}&fields%5BfileId%5D={file}&fields%5BproductId%5D={number}"
        link = f"/rest/catalog.product.download?{asked}"
        return {"id": str(file), "url": link, "urlMachine": link}

    # ------------------------------------------------------------ rows

    def _section(self, number: int) -> Row:
        place = self.section_ids.index(number)
        parent = None if place % 5 == 0 else self.section_ids[(place - 1) // 2]
        return {
            "id": number, "iblockId": PRODUCTS, "iblockSectionId": parent, "active": "N" if place == 3 else "Y",
            "name": f"{SECTIONS[place % len(SECTIONS)]}{f' {place}' if place >= len(SECTIONS) else ''}",
            "code": f"section-{place}" if place % 2 else None, "xmlId": f"S{number}", "sort": 100 * (place + 1),
            "description": f"Раздел <b>{place}</b>" if place % 3 == 1 else None,
            "descriptionType": "html" if place % 3 == 1 else "text",
        }  # fmt: skip

    def _element(self, number: int) -> Row:
        element = self.elements[number]
        luck = chance(self.seed, "catalog", number)
        born = ANCHOR - (800 - element.place % 700) * DAY - luck % DAY
        offer, service = element.type == OFFER, element.type == SERVICE
        sections = self.section_ids
        author = self._authors[luck % len(self._authors)]
        row: Row = {
            "id": number, "iblockId": element.iblock, "name": self._name(element), "type": element.type,
            "active": "N" if element.place % 13 == 7 else "Y", "available": "Y", "bundle": "N",
            "barcodeMulti": "N", "canBuyZero": "Y", "code": f"goods-{number}" if element.place % 4 else None,
            "xmlId": str(number) if element.place % 2 else f"1c-{luck % 100_000}", "sort": 500,
            "createdBy": author, "modifiedBy": self._authors[(luck >> 7) % len(self._authors)],
            "dateCreate": self.moments.iso(born), "timestampX": self.moments.iso(born + luck % (90 * DAY)),
            "dateActiveFrom": None, "dateActiveTo": None,
            "iblockSectionId": None if offer or element.place % 6 == 5 else sections[luck % len(sections)],
            "previewText": f"Коротко о {number}" if element.place % 3 == 0 else None, "previewTextType": "text",
            "detailText": f"<p>Подробно: &laquo;{number}&raquo;</p>" if element.place % 5 == 1 else None,
            "detailTextType": "html" if element.place % 5 == 1 else "text",
            "previewPicture": self.shown(number, 10 * number + 1, "previewPicture") if element.place % 4 == 0 else None,
            "detailPicture": self.shown(number, 10 * number + 2, "detailPicture") if element.place % 8 == 0 else None,
            "measure": None if service else (1, 5, 7, 9)[luck % 4], "vatId": (None, 1, 3, 5)[luck % 4],
            "vatIncluded": "Y" if luck % 2 else "N", "weight": None if service else luck % 5_000,
            "width": None if service else luck % 300, "height": None if service else 12.5, "length": None,
            "purchasingPrice": None if luck % 3 else (luck % 90_000) / 100,
            "purchasingCurrency": None if luck % 3 else "RUB", "quantity": None if service else luck % 40,
            "quantityReserved": 0, "quantityTrace": "N", "subscribe": "Y", "recurSchemeLength": None,
            "recurSchemeType": "D", "trialPriceId": None, "withoutOrder": "N",
        }  # fmt: skip
        return row | (self._of_offer(element, luck) if offer else self._of_product(element, luck))

    def _name(self, element: Element) -> str:
        if element.type == OFFER:
            return f"Вариант {element.place} ({SIZES[element.place % len(SIZES)][1]})"
        return f"{NAMES[element.place % len(NAMES)]} №{element.place}"

    def _of_product(self, element: Element, luck: int) -> Row:
        number = element.id
        return {
            "property101": _value(number, 1, 431 + luck % 3) if luck % 5 else None,
            "property103": [_value(number, 2 + k, 441 + (luck + k) % 4) for k in range(luck % 3)] or None,
            "property105": _value(number, 5, f"АРТ-{luck % 10_000}") if element.place % 2 else None,
            "property107": _value(number, 6, (luck % 1_000) / 8) if element.place % 3 == 1 else None,
            "property109": _value(number, 7, self._authors[luck % len(self._authors)]) if luck % 4 == 1 else None,
            "property111": _value(number, 8, self.moments.iso(ANCHOR - luck % (300 * DAY))) if luck % 4 == 2 else None,
            "property113": _value(number, 9, {"text": "Примечание <br>", "type": "HTML"}) if luck % 7 == 3 else None,
            "property115": [
                {"value": self.shown(number, 10 * number + 3 + k, "property115"), "valueId": str(number * 16 + 10 + k)}
                for k in range(luck % 3)
            ] or None,
            "property119": [_value(number, 13, FIRST + 1)] if luck % 6 == 5 else None,
        }  # fmt: skip

    def _of_offer(self, element: Element, luck: int) -> Row:
        number = element.id
        return {
            "parentId": _value(number, 1, element.parent), f"property{SKU_PROPERTY}": _value(number, 1, element.parent),
            "property117": None, "property121": _value(number, 2, SIZES[element.place % len(SIZES)][0]),
            "property123": _value(number, 3, luck % 50) if luck % 2 else None,
        }  # fmt: skip

    @cached_property
    def _priced(self) -> list[tuple[int, int, int]]:
        """Element, price type and range: a parent has no price of its own."""
        found: list[tuple[int, int, int]] = []
        for element in self.elements.values():
            if element.type == PARENT:
                continue
            found.append((element.id, BASE, 0))
            if element.place % 3 == 0:
                found += [(element.id, WHOLESALE, k) for k in ((1, 2) if element.place == 3 else (0,))]
        return found

    def _price(self, number: int) -> Row:
        product, group, range_no = self._priced[number - 1]
        luck = chance(self.seed, "price", number)
        price = (luck % 9_000_000) / 100
        return {
            "id": number, "productId": product, "catalogGroupId": group, "price": php_number(price),
            "priceScale": price, "currency": "RUB" if group == BASE else "USD", "extraId": None,
            "quantityFrom": {0: None, 1: None, 2: 11}[range_no], "quantityTo": {0: None, 1: 10, 2: None}[range_no],
            "timestampX": self.moments.iso(ANCHOR - luck % (200 * DAY)),
        }  # fmt: skip


@dataclass
class _Ids:
    last: int = FIRST - 1
    found: list[Element] = field(default_factory=list)

    def next(self) -> int:
        self.last += 1 if (self.last + 1) % STEP else 2
        return self.last


def elements(count: int) -> Sequence[Element]:
    """So many products: simple ones, services, and parents, each with its offers behind it."""
    ids = _Ids()
    for place in range(count):
        kind = PARENT if place % 5 == 2 else SERVICE if place % 6 == 3 else SIMPLE
        number = ids.next()
        ids.found.append(Element(number, place, kind))
        if kind == PARENT:
            ids.found += [Element(ids.next(), place + k, OFFER, number) for k in range(OFFERS_OF_A_PARENT)]
    return ids.found


def _table(rows: Sequence[Row]) -> Table:
    table = Table([], lambda _number: {})
    for row in rows:
        table.put(int(row["id"]), dict(row))
    return table


def _value(number: int, place: int, value: object) -> Row:
    return {"value": str(value) if isinstance(value, int) else value, "valueId": str(number * 16 + place)}
