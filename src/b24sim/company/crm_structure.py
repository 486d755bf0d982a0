"""The structure of a CRM: smart processes, pipelines, stages, dictionaries and currencies."""

from dataclasses import dataclass

from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, SMART_INVOICE, SmartType
from b24sim.company.plan import ANCHOR, DAY
from b24sim.moments import Moments
from b24sim.table import Row

# A pipeline that deals are still in although nobody can list it, and one that only administrators see.
GONE_PIPELINE, SECRET_PIPELINE = 5, 12
DEAL_PIPELINES = ((0, "Продажи (основная)"), (9, "Опт & розница"), (SECRET_PIPELINE, "Сервис «24»"))
TYPE_TITLES = ("Закупки", "Ремонты <офис>", "Склад 📦", "Договоры", "Заявки 'HR'", "Объекты")
INVOICE_PIPELINE = 3

# Code, name, meaning, colour. The third has a name that every box knows under another code.
STAGES = (
    ("NEW", "Новая", "", "#39A8EF"), ("PREPARATION", "Подготовка", "", "#2FC6F6"),
    ("UC_7Q1ZP4", "Финальный счёт", "", "#55D0E0"), ("EXECUTING", "В <работе> & далее", "", "#47E4C2"),
    ("WON", "Сделка успешна", "S", "#7BD500"), ("LOSE", "Сделка провалена", "F", "#FF5752"),
    ("APOLOGY", "Анализ причины провала", "F", "#FF5752"),
)  # fmt: skip
SMART_STAGES = (
    ("NEW", "Начало", "", "#22B9FF"), ("PREPARATION", "Подготовка", "", "#88B9FF"),
    ("CLIENT", "Согласование", "", "#10E5FC"), ("SUCCESS", "Успех", "S", "#00FF00"), ("FAIL", "Провал", "F", "#FF0000"),
)  # fmt: skip
DICTIONARIES: dict[str, tuple[tuple[str, str], ...]] = {
    "STATUS": (("NEW", "Не обработан"), ("IN_PROCESS", "В работе"), ("CONVERTED", "Качественный"), ("JUNK", "Брак")),
    "SOURCE": (("CALL", "Звонок"), ("WEB", "Веб-сайт"), ("UC_PARTNER", "Партнёр «Север»"), ("OTHER", "Другое")),
    "CONTACT_TYPE": (("CLIENT", "Клиенты"), ("SUPPLIER", "Поставщики"), ("UC_VIP", "VIP <3")),
    "COMPANY_TYPE": (("CUSTOMER", "Клиент"), ("SUPPLIER", "Поставщик"), ("COMPETITOR", "Конкурент")),
    "DEAL_TYPE": (("SALE", "Продажа"), ("SERVICE", "Сервисное обслуживание"), ("UC_LEASE", "Аренда")),
    "INDUSTRY": (("IT", "Информационные технологии"), ("BUILD", "Строительство")),
    "EMPLOYEES": (("EMPLOYEES_1", "менее 50"), ("EMPLOYEES_2", "50-250")),
    "HONORIFIC": (("HNR_RU_1", "Г-н"), ("HNR_RU_2", "Г-жа")),
}  # fmt: skip
# Only of portals that have quotes (crm/quote/crm-quote-fields.md).
QUOTE_STAGES = (
    ("DRAFT", "Новое", "", "#39A8EF"), ("SENT", "Отправлено клиенту", "", "#2FC6F6"),
    ("UC_QUOTE1", "На доработке <мы>", "", "#55D0E0"), ("APPROVED", "Принято", "S", "#7BD500"),
    ("DECLAINED", "Отклонено", "F", "#FF5752"),
)  # fmt: skip
CURRENCIES = (("RUB", "1.0000", "1", "Y"), ("USD", "78.5000", "1", "N"), ("EUR", "91.2500", "1", "N"),
              ("KZT", "15.1200", "100", "N"))  # fmt: skip
MEANINGS = {"": "process", "S": "success", "F": "failure"}
SWITCHES = (
    "isCategoriesEnabled", "isStagesEnabled", "isBeginCloseDatesEnabled", "isClientEnabled", "isUseInUserfieldEnabled",
    "isLinkWithProductsEnabled", "isMycompanyEnabled", "isDocumentsEnabled", "isSourceEnabled", "isObserversEnabled",
    "isRecyclebinEnabled", "isAutomationEnabled", "isBizProcEnabled", "isSetOpenPermissions", "isPaymentsEnabled",
    "isCountersEnabled",
)  # fmt: skip
# The features that a smart process of each sort lacks; the first one has all.
SWITCHED_OFF = (
    ("isPaymentsEnabled", "isCountersEnabled"),
    ("isCategoriesEnabled", "isLinkWithProductsEnabled", "isPaymentsEnabled"),
    ("isCategoriesEnabled", "isStagesEnabled", "isClientEnabled", "isObserversEnabled", "isSourceEnabled"),
)


@dataclass(frozen=True, slots=True)
class Category:
    """A pipeline. Ids of deals' pipelines and of smart processes' pipelines are counted apart, so they meet."""

    id: int
    entity_type_id: int
    name: str
    sort: int
    default: bool


def has(smart: SmartType, switch: str) -> bool:
    return switch not in SWITCHED_OFF[smart.place % len(SWITCHED_OFF)]


def type_row(smart: SmartType, moments: Moments) -> Row:
    """A row of `crm.type.list`."""
    born = moments.iso(ANCHOR - (900 - 20 * smart.place) * DAY)
    row: Row = {
        "id": smart.id, "title": f"{TYPE_TITLES[smart.place % len(TYPE_TITLES)]}{_again(smart.place)}",
        "code": "BX_CODE" if smart.place % 4 == 1 else "", "createdBy": 1, "entityTypeId": smart.entity_type_id,
        "customSectionId": None,
    }  # fmt: skip
    row |= {switch: "Y" if has(smart, switch) else "N" for switch in SWITCHES}
    return row | {"createdTime": born, "updatedTime": born, "updatedBy": 1}


def parents_of(smart: SmartType, types: tuple[SmartType, ...]) -> tuple[int, ...]:
    """Items hang on deals, on items of the smart process before, and, in the second, on one another."""
    parents = [DEAL] if smart.place % 3 != 2 else []
    if smart.place:
        parents.append(types[smart.place - 1].entity_type_id)
    if smart.place % 3 == 1:
        parents.append(smart.entity_type_id)
    return tuple(parents)


def relations(smart: SmartType, types: tuple[SmartType, ...]) -> Row:
    """The fields that only `crm.type.get` returns."""
    clients = (CONTACT, COMPANY) if has(smart, "isClientEnabled") else ()
    parents = [(number, "Y") for number in clients] + [(number, "N") for number in parents_of(smart, types)]
    children = [other.entity_type_id for other in types if smart.entity_type_id in parents_of(other, types)]
    return {
        "relations": {
            "parent": [{"entityTypeId": n, "isChildrenListEnabled": "Y", "isPredefined": own} for n, own in parents],
            "child": [{"entityTypeId": n, "isChildrenListEnabled": "Y", "isPredefined": "N"} for n in children],
        },
        "linkedUserFields": {
            "CALENDAR_EVENT|UF_CRM_CAL_EVENT": "N",
            "TASKS_TASK|UF_CRM_TASK": "Y",
            "TASKS_TASK_TEMPLATE|UF_CRM_TASK": "N",
        },
        "customSections": [],
    }


def categories(types: tuple[SmartType, ...]) -> list[Category]:
    found = [Category(number, DEAL, name, 100 + 100 * place, number == 0)
             for place, (number, name) in enumerate(DEAL_PIPELINES)]  # fmt: skip
    found += [Category(0, CONTACT, "Контакты", 100, True), Category(0, COMPANY, "Компании", 100, True)]
    found.append(Category(INVOICE_PIPELINE, SMART_INVOICE, "Общая", 500, True))
    for smart in types:
        first = 7 + 4 * smart.place
        found.append(Category(first, smart.entity_type_id, "Общая", 500, True))
        if has(smart, "isCategoriesEnabled"):
            found.append(Category(first + 2, smart.entity_type_id, "Срочные & <VIP>", 600, False))
    return found


def category_row(category: Category) -> Row:
    row: Row = {"id": category.id, "name": category.name, "sort": category.sort,
                "entityTypeId": category.entity_type_id, "isDefault": "Y" if category.default else "N"}  # fmt: skip
    if category.entity_type_id == DEAL:
        return row if category.default else row | {"originId": "", "originatorId": ""}
    return row | {"isSystem": "N", "code": ""}


def dictionary_of(category: Category) -> tuple[str, str]:
    """The name of a pipeline's stages, and the prefix they carry."""
    if category.entity_type_id == DEAL:
        return ("DEAL_STAGE", "") if category.default else (f"DEAL_STAGE_{category.id}", f"C{category.id}:")
    prefix = f"DT{category.entity_type_id}_{category.id}:"
    if category.entity_type_id == SMART_INVOICE:
        return f"SMART_INVOICE_STAGE_{category.id}", prefix
    return f"DYNAMIC_{category.entity_type_id}_STAGE_{category.id}", prefix


def statuses(all_categories: list[Category]) -> list[Row]:
    """The rows of `crm.status.list`."""
    rows: list[Row] = []
    for entity, entries in DICTIONARIES.items():
        for place, (code, name) in enumerate(entries, 1):
            rows.append(_status(len(rows), entity, code, name, place))
    for category in all_categories:
        if category.entity_type_id in {CONTACT, COMPANY}:
            continue
        entity, prefix = dictionary_of(category)
        stages = STAGES if category.entity_type_id == DEAL else SMART_STAGES
        for place, (code, name, meaning, colour) in enumerate(stages, 1):
            row = _status(len(rows), entity, prefix + code, name, place)
            extra = {"SEMANTICS": "apology" if code == "APOLOGY" else MEANINGS[meaning], "COLOR": colour}
            row |= {"CATEGORY_ID": str(category.id) if category.id else None, "COLOR": colour,
                    "SEMANTICS": meaning or None, "EXTRA": extra}  # fmt: skip
            rows.append(row)
    return rows


def quote_stages(before: int) -> list[Row]:
    """They come after all others, whose ids they leave alone."""
    rows: list[Row] = []
    for place, (code, name, meaning, colour) in enumerate(QUOTE_STAGES, 1):
        extra = {"SEMANTICS": MEANINGS[meaning], "COLOR": colour}
        row = _status(before + len(rows), "QUOTE_STATUS", code, name, place)
        rows.append(row | {"COLOR": colour, "SEMANTICS": meaning or None, "EXTRA": extra})
    return rows


def _status(before: int, entity: str, code: str, name: str, place: int) -> Row:
    return {
        "ID": str(101 + 2 * before), "ENTITY_ID": entity, "STATUS_ID": code, "NAME": name,
        "NAME_INIT": name if place == 1 else "", "SORT": str(10 * place), "SYSTEM": "Y" if place == 1 else "N",
        "CATEGORY_ID": None, "COLOR": None, "SEMANTICS": None,
    }  # fmt: skip


def _again(place: int) -> str:
    turn = place // len(TYPE_TITLES)
    return f" {turn + 1}" if turn else ""
