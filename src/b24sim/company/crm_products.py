"""Product rows of deals and of items of smart processes: discounts, taxes, fractions of a metre."""

from b24sim.company.crm_ids import letters
from b24sim.table import Row

NAMES = ("iPhone 14 <чёрный>", "Кабель, м", "Монтаж & наладка", "Доставка «до двери»")
DISCOUNTS = (0, 10, 12.5, 0)
TAXES = (20, 10, 0, None)
MEASURES = ((796, "шт"), (6, "м"))
LONG_PLACE, LONG = 23, 60  # one record has more rows than a page


def rows_in(place: int, luck: int) -> int:
    return LONG if place == LONG_PLACE else luck % 4 if luck % 3 == 0 else 0


def php_number(value: float) -> float:
    """PHP writes a whole number without a fraction."""
    return int(value) if value == int(value) else value


def line(luck: int, number: int) -> tuple[float, float]:
    """Final price of a unit, and how many."""
    mixed = luck >> (number % 24)
    return php_number((mixed % 9_000_000) / 100), php_number((mixed % 40 + 1) / 4)


def worth(place: int, luck: int) -> float:
    lines = (line(luck, number) for number in range(rows_in(place, luck)))
    return php_number(round(sum(price * quantity for price, quantity in lines), 2))


def product_rows(entity_type_id: int, owner: int, place: int, luck: int) -> list[Row]:
    return [_row(entity_type_id, owner, luck, number) for number in range(rows_in(place, luck))]


def _row(entity_type_id: int, owner: int, luck: int, number: int) -> Row:
    price, quantity = line(luck, number)
    discount, tax = DISCOUNTS[(luck + number) % 4], TAXES[(luck + number) % 3 if number else luck % 4]
    exclusive = price / (1 + (tax or 0) / 100)
    netto = exclusive / (1 - discount / 100)
    code, measure = MEASURES[number % 2]
    return {
        "id": (entity_type_id * 1_000_000 + owner) * 64 + number, "ownerId": owner,
        "ownerType": letters(entity_type_id),
        # Half of the rows are free text: no product of the catalogue is behind them.
        "productId": 0 if number % 2 else 9_600 + luck % 40, "productName": NAMES[(luck + number) % 4],
        "price": price, "priceAccount": price, "priceExclusive": php_number(round(exclusive, 8)),
        "priceNetto": php_number(round(netto, 8)),
        "priceBrutto": php_number(round(price / (1 - discount / 100), 8)), "quantity": quantity, "discountTypeId": 2,
        "discountRate": discount, "discountSum": php_number(round(netto - exclusive, 8)), "taxRate": tax,
        "taxIncluded": "Y" if luck % 2 else "N", "taxName": f"НДС {tax}%" if tax else "", "customized": "Y",
        "measureCode": code, "measureName": measure, "sort": 10 * (number + 1), "xmlId": "", "type": 4, "storeId": None,
    }  # fmt: skip
