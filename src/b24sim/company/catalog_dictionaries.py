"""The dictionaries of a catalog: currencies, measures, taxes, price types, properties and their lists. A company and a
box share most of it, under other numbers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from b24sim.company.crm_structure import CURRENCIES
from b24sim.table import Row

PRODUCTS, OFFERS = 25, 27
SKU_PROPERTY = 97
PHOTOS: Mapping[int, int] = {PRODUCTS: 115, OFFERS: 117}
SIZES = ((451, "S"), (452, "M"), (453, "L"))
BORN = "2024-01-09T12:00:00+03:00"

CURRENCY_NAMES = {
    "RUB": ("Российский рубль", "Ruble", "# &#8381;"), "USD": ("Доллар США", "US Dollar", "$#"),
    "EUR": ("Евро", "Euro", "&euro;#"), "KZT": ("Тенге", "Tenge", "# тг."),
}  # fmt: skip
OF_A_BOX = ("RUB", "USD", "EUR")

MEASURES = (
    (1, 6, "Метр", "м", "m", "MTR"), (3, 112, "Литр", "л", "l", "LTR"), (5, 796, "Штука", "шт", "pc. 1", "PCE. NMB"),
    (7, 166, "Килограмм", "кг", "kg", "KGM"), (9, 778, "Упаковка", "упак", "", "NMP"),
)  # fmt: skip
VATS: tuple[tuple[int, str, float | None], ...] = (
    (1, "Без НДС", None),
    (3, "НДС 20%", 20),
    (5, "НДС 12,5% & <пени>", 12.5),
)
PRICE_TYPES = ((1, "BASE", "Y", "BASE"), (3, "Оптовая", "N", "wholesale"))

# Number, information block, code, type, user type, several values, name.
PROPERTIES = (
    (SKU_PROPERTY, OFFERS, "CML2_LINK", "E", "SKU", "N", "Элемент каталога"),
    (101, PRODUCTS, "BRAND", "L", None, "N", "Бренд"),
    (103, PRODUCTS, "COLORS", "L", None, "Y", "Цвета"),
    (105, PRODUCTS, None, "S", None, "N", "Артикул"),
    (107, PRODUCTS, "NET_WEIGHT", "N", None, "N", "Вес нетто"),
    (109, PRODUCTS, "MANAGER", "S", "employee", "N", "Ответственный"),
    (111, PRODUCTS, "SINCE", "S", "DateTime", "N", "Поступил"),
    (113, PRODUCTS, "NOTE", "S", "HTML", "N", "Примечание"),
    (PHOTOS[PRODUCTS], PRODUCTS, "MORE_PHOTO", "F", None, "Y", "Картинки"),
    (PHOTOS[OFFERS], OFFERS, "MORE_PHOTO", "F", None, "Y", "Картинки"),
    (119, PRODUCTS, "SIMILAR", "E", "EList", "Y", "Похожие"),
    (121, OFFERS, "SIZE", "L", None, "N", "Размер"),
    (123, OFFERS, "SHELF", "N", None, "N", "Полка"),
)
ENUMS = (
    *((431 + place, 101, name, f"brand{place}") for place, name in enumerate(("Север & Ко", "Acme <EU>", "Прочее"))),
    *((441 + place, 103, name, f"c{place}") for place, name in enumerate(("Чёрный", "Белый", "Синий", "Красный"))),
    *((number, 121, name, name) for number, name in SIZES),
)


class Named(NamedTuple):
    currencies: Sequence[Row] = ()
    measures: Sequence[Row] = ()
    vats: Sequence[Row] = ()
    price_types: Sequence[Row] = ()
    properties: Sequence[Row] = ()
    enums: Sequence[Row] = ()


def of_a_company(*, on: bool) -> Named:
    """Currencies every company has; the rest only with products."""
    currencies = [currency_row(place, *one) for place, one in enumerate(CURRENCIES, 1)]
    if not on:
        return Named(currencies)
    return Named(
        currencies,
        [measure_row(one[0], one[1:]) for one in MEASURES],
        [vat_row(*one) for one in VATS],
        [price_type_row(*one) for one in PRICE_TYPES],
        [property_row(one) for one in PROPERTIES],
        [enum_row(*one) for one in ENUMS],
    )


def of_a_box() -> Named:
    """The entries of every box, with numbers of its own."""
    currencies = [one for one in CURRENCIES if one[0] in OF_A_BOX]
    system = [one for one in PROPERTIES if one[2] in ("CML2_LINK", "MORE_PHOTO")]
    return Named(
        [currency_row(place, *one) for place, one in enumerate(currencies, 1)],
        [measure_row(one[0] + 1, one[1:]) for one in MEASURES[:4]],
        [vat_row(number + 1, name, rate) for number, name, rate in VATS[:2]],
        [price_type_row(2, *PRICE_TYPES[0][1:])],
        [property_row(one) for one in system],
    )


def currency_row(place: int, code: str, amount: str, count: str, base: str) -> Row:
    """A row of `crm.currency.list`, with what only other methods tell under `_LANG`."""
    russian, english, pattern = CURRENCY_NAMES.get(code, (code, code, f"# {code}"))
    return {
        "CURRENCY": code, "AMOUNT_CNT": count, "AMOUNT": amount, "SORT": str(100 * place), "BASE": base,
        "FULL_NAME": russian, "LID": "ru", "FORMAT_STRING": pattern,
        "DEC_POINT": ".", "THOUSANDS_SEP": None, "DECIMALS": "2", "DATE_UPDATE": BORN,
        "_LANG": {language: localization(name, pattern) for language, name in (("ru", russian), ("en", english))},
    }  # fmt: skip


def localization(name: str, pattern: str) -> Row:
    return {
        "FORMAT_STRING": pattern, "FULL_NAME": name, "DEC_POINT": ".", "THOUSANDS_SEP": None, "DECIMALS": "2",
        "THOUSANDS_VARIANT": "B", "HIDE_ZERO": "Y",
    }  # fmt: skip


def measure_row(number: int, measure: tuple[int, str, str, str, str]) -> Row:
    code, title, symbol, international, letters = measure
    return {
        "id": number, "code": code, "measureTitle": title, "symbol": symbol, "symbolIntl": international,
        "symbolLetterIntl": letters, "isDefault": "Y" if code == 796 else "N",
    }  # fmt: skip


def vat_row(number: int, name: str, rate: float | None) -> Row:
    return {"id": number, "name": name, "rate": rate, "active": "Y", "sort": 100 * number, "timestampX": BORN}


def price_type_row(number: int, name: str, base: str, xml_id: str) -> Row:
    return {
        "id": number, "name": name, "base": base, "sort": 100 * number, "xmlId": xml_id, "createdBy": 1,
        "modifiedBy": 1, "dateCreate": BORN, "timestampX": BORN,
    }  # fmt: skip


def property_row(known: tuple[int, int, str | None, str, str | None, str, str]) -> Row:
    number, iblock, code, kind, user_type, multiple, name = known
    return {
        "id": number, "iblockId": iblock, "name": name, "code": code, "propertyType": kind, "userType": user_type,
        "multiple": multiple, "active": "Y", "sort": 10 * number, "xmlId": None, "isRequired": "N",
        "listType": "L", "defaultValue": None, "rowCount": 1, "colCount": 30, "fileType": None, "multipleCnt": None,
        "linkIblockId": PRODUCTS if kind == "E" else None, "withDescription": None, "searchable": "N",
        "filtrable": "N", "hint": None, "userTypeSettings": None, "timestampX": BORN,
    }  # fmt: skip


def enum_row(number: int, owner: int, value: str, xml_id: str) -> Row:
    return {"id": number, "propertyId": owner, "value": value, "xmlId": xml_id, "def": "N", "sort": 500}
