"""The initial data of a box: an administrator, a company, the CRM's own dictionaries."""

from collections.abc import Iterable, Mapping

from b24sim.company.crm_ids import spread
from b24sim.company.requisites import STOCK

Furniture = Mapping[str, Mapping[str, object]]
"""Records by id."""

ADMINISTRATOR: Furniture = {
    "1": {
        "NAME": "Администратор",
        "LAST_NAME": "",
        "EMAIL": "admin@box.example",
        "ACTIVE": True,
        "UF_DEPARTMENT": ["1"],
    }
}
COMPANY: Furniture = {"1": {"NAME": "Моя компания", "PARENT": None, "SORT": 500}}
PRESETS: Furniture = {
    str(number): {"NAME": name, "COUNTRY_ID": country, "ACTIVE": True, "SORT": 500, "XML_ID": code}
    for number, (name, country, code, _) in zip(spread(len(STOCK)), STOCK, strict=True)
}
PIPELINES: Furniture = {"0": {"entityTypeId": "2", "name": "Общая", "sort": 100, "isDefault": True}}

DICTIONARIES: Mapping[str, Mapping[str, str]] = {
    "DEAL_STAGE": {
        "NEW": "Новая",
        "PREPARATION": "Подготовка документов",
        "PREPAYMENT_INVOICE": "Счёт на предоплату",
        "EXECUTING": "В работе",
        "FINAL_INVOICE": "Финальный счёт",
        "WON": "Сделка успешна",
        "LOSE": "Сделка провалена",
        "APOLOGY": "Анализ причины провала",
    },
    "STATUS": {
        "NEW": "Не обработан",
        "IN_PROCESS": "В работе",
        "CONVERTED": "Качественный лид",
        "JUNK": "Некачественный лид",
    },
    "SOURCE": {"CALL": "Звонок", "EMAIL": "Электронная почта", "WEB": "Веб-сайт", "OTHER": "Другое"},
    "CONTACT_TYPE": {"CLIENT": "Клиенты", "SUPPLIER": "Поставщики", "PARTNER": "Партнёры", "OTHER": "Другое"},
    "COMPANY_TYPE": {"CUSTOMER": "Клиент", "SUPPLIER": "Поставщик", "PARTNER": "Партнёр", "OTHER": "Другое"},
    "DEAL_TYPE": {"SALE": "Продажа", "SERVICES": "Услуги"},
    "QUOTE_STATUS": {"DRAFT": "Новое", "SENT": "Отправлено клиенту", "APPROVED": "Принято", "DECLAINED": "Отклонено"},
}
SEMANTICS = {"WON": "S", "CONVERTED": "S", "LOSE": "F", "APOLOGY": "F", "JUNK": "F", "APPROVED": "S", "DECLAINED": "F"}


def stages() -> Furniture:
    """The dictionaries as records with ids from 101."""
    entries = [(entity, code, name) for entity, names in DICTIONARIES.items() for code, name in names.items()]
    return {
        str(number): {
            "ENTITY_ID": entity,
            "STATUS_ID": code,
            "NAME": name,
            "SORT": number * 10,
            "SEMANTICS": SEMANTICS.get(code),
        }
        for number, (entity, code, name) in enumerate(entries, start=101)
    }


# What every box has of a catalogue: code, title and symbol of measures; name and rate of taxes; rates of currencies.
MEASURES = ((6, "Метр", "м"), (112, "Литр", "л"), (166, "Килограмм", "кг"), (796, "Штука", "шт"))
VATS = (("Без НДС", None), ("НДС 20%", 20))
CURRENCIES = (("RUB", 1), ("USD", 78.5), ("EUR", 91.25))


def catalog() -> Mapping[str, Furniture]:
    return {
        "crm_currencies": _numbered(
            {"CURRENCY": code, "AMOUNT": amount, "AMOUNT_CNT": 1, "BASE": code == "RUB"} for code, amount in CURRENCIES
        ),
        "crm_measures": _numbered(
            {"code": code, "measureTitle": title, "symbol": symbol, "isDefault": code == MEASURES[-1][0]}
            for code, title, symbol in MEASURES
        ),
        "crm_vats": _numbered({"name": name, "rate": rate, "active": True} for name, rate in VATS),
        "crm_price_types": _numbered([{"name": "BASE", "base": True, "xmlId": "BASE", "sort": 100}]),
    }


def _numbered(rows: Iterable[Mapping[str, object]]) -> Furniture:
    return {str(number): fields for number, fields in enumerate(rows, 1)}
