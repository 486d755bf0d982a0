"""What a box has before anything is imported: an administrator, a company, the CRM's own dictionaries."""

from collections.abc import Mapping

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
}
SEMANTICS = {"WON": "S", "CONVERTED": "S", "LOSE": "F", "APOLOGY": "F", "JUNK": "F"}


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
