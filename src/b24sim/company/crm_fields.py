"""Custom fields of the CRM: one of every kind for deals, contacts, companies and each smart process."""

from dataclasses import dataclass
from typing import Any

from b24sim.company import names
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SMART_INVOICE, SmartType
from b24sim.table import Row

ENTITY_OF = {DEAL: "CRM_DEAL", CONTACT: "CRM_CONTACT", COMPANY: "CRM_COMPANY", LEAD: "CRM_LEAD", QUOTE: "CRM_QUOTE",
             SMART_INVOICE: "CRM_SMART_INVOICE"}  # fmt: skip
# Whose fields they are, in the order of their ids; smart processes come between.
ORDER = {DEAL: 0, CONTACT: 1, COMPANY: 2, LEAD: 50, QUOTE: 51, SMART_INVOICE: 52}
FIELDS_APART = 40
# The purpose of each field; its code consists of its entity and its purpose.
TEXT, TEXTS, WHOLE, NUMBER, FLAG, DATE, MOMENT, CHOICE, CHOICES, FILE, FILES = range(11)
EMPLOYEE, EMPLOYEES, LINKS, LINK, MONEY, SITE, PLACE, ELEMENT, WORD = range(11, 20)
OPTIONS = ("Сайт", "Звонок & <письмо>", "Выставка 🎪", "Рекомендация")
GONE_OPTION = 9_999

KINDS: tuple[tuple[str, bool, Any, str, str], ...] = (
    ("string", False, {"SIZE": 20, "ROWS": 1, "REGEXP": "", "DEFAULT_VALUE": ""}, "Номер договора", "Contract no."),
    ("string", True, {"SIZE": 20, "ROWS": 1, "REGEXP": "", "DEFAULT_VALUE": ""}, "Теги", "Tags"),
    ("integer", False, {"SIZE": 20, "MIN_VALUE": 0, "MAX_VALUE": 0, "DEFAULT_VALUE": None}, "Этажей", "Floors"),
    ("double", False, {"PRECISION": 4, "SIZE": 20, "DEFAULT_VALUE": None}, "Площадь, м²", "Area"),
    ("boolean", False, {"DEFAULT_VALUE": 0, "DISPLAY": "CHECKBOX"}, "Срочно", "Urgent"),
    ("date", False, {"DEFAULT_VALUE": {"TYPE": "NONE", "VALUE": ""}}, "Дата замера", "Measured on"),
    ("datetime", False, {"DEFAULT_VALUE": {"TYPE": "NONE", "VALUE": ""}, "USE_SECOND": "Y"}, "Начало работ", "Starts"),
    ("enumeration", False, {"DISPLAY": "UI", "LIST_HEIGHT": 1, "SHOW_NO_VALUE": "Y"}, "Канал", "Channel"),
    ("enumeration", True, {"DISPLAY": "LIST", "LIST_HEIGHT": 5, "SHOW_NO_VALUE": "Y"}, "Интересы", "Interests"),
    ("file", False, {"SIZE": 20, "MAX_ALLOWED_SIZE": 0, "EXTENSIONS": []}, "Договор", "Contract"),
    ("file", True, {"SIZE": 20, "MAX_ALLOWED_SIZE": 0, "EXTENSIONS": []}, "Сканы", "Scans"),
    ("employee", False, [], "Куратор", "Curator"),
    ("employee", True, [], "Команда", "Team"),
    ("crm", True, {"DEAL": "Y", "CONTACT": "Y", "COMPANY": "Y", "LEAD": "N"}, "Связано", "Related"),
    ("crm", False, {"COMPANY": "Y", "DEAL": "N", "CONTACT": "N", "LEAD": "N"}, "Подрядчик", "Contractor"),
    ("money", False, {"DEFAULT_VALUE": ""}, "Бюджет", "Budget"),
    ("url", False, {"POPUP": "Y", "SIZE": 20, "DEFAULT_VALUE": ""}, "Сайт", "Site"),
    ("address", False, {"SHOW_MAP": "Y"}, "Адрес объекта", "Object address"),
    ("iblock_element", False, {"IBLOCK_ID": 7, "DISPLAY": "LIST"}, "Справочник", "Catalogue"),
    ("string", False, {"SIZE": 20, "ROWS": 1, "REGEXP": "", "DEFAULT_VALUE": ""}, "Кодовое слово", "Code word"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a list."""

    id: int
    value: str
    sort: int
    xml_id: str
    default: str = "N"


@dataclass(frozen=True, slots=True)
class Field:
    """One custom field; `purpose` says which of the kinds it is."""

    id: int
    entity: str
    code: str
    purpose: int
    options: tuple[tuple[int, str], ...] = ()

    @property
    def kind(self) -> str:
        return KINDS[self.purpose][0]

    @property
    def multiple(self) -> bool:
        return KINDS[self.purpose][1]

    @property
    def settings(self) -> Any:
        return KINDS[self.purpose][2]

    @property
    def labels(self) -> dict[str, str]:
        return names.labels(KINDS[self.purpose][3], KINDS[self.purpose][4])

    @property
    def sort(self) -> int:
        return 100 * (self.purpose + 1)

    @property
    def choices(self) -> list[Choice]:
        return [
            Choice(number, text, 10 * place, f"opt{number}") for place, (number, text) in enumerate(self.options, 1)
        ]

    @property
    def traits(self) -> Row:
        """The differences from an ordinary field, under the names of the older methods."""
        return {}


def fields_of(entity_type_id: int, smart: SmartType | None) -> list[Field]:
    """The fields of one type. Those of a smart process carry its own id, not its entityTypeId."""
    order = ORDER[entity_type_id] if smart is None else 3 + smart.place
    entity = ENTITY_OF[entity_type_id] if smart is None else f"CRM_{smart.id}"
    first = 300 + FIELDS_APART * order
    return [
        Field(first + purpose, entity, _code(entity_type_id, smart, purpose), purpose, _options(first, purpose))
        for purpose in range(len(KINDS))
    ]


def _code(entity_type_id: int, smart: SmartType | None, purpose: int) -> str:
    """Most codes are times of birth; a few were chosen by hand, with digits or without."""
    stem = "UF_CRM" if smart is None else f"UF_CRM_{smart.id}"
    stem += "_SMART_INVOICE" if entity_type_id == SMART_INVOICE else ""
    if purpose == WORD:
        return f"{stem}_CODE_WORD"
    if purpose == NUMBER:
        return f"{stem}_DIGIT10"
    return f"{stem}_{1_700_000_000 + 100 * entity_type_id + purpose}"


def _options(first: int, purpose: int) -> tuple[tuple[int, str], ...]:
    if KINDS[purpose][0] != "enumeration":
        return ()
    start = first * 2 + 10 * (purpose - CHOICE)
    return tuple((start + place, text) for place, text in enumerate(OPTIONS))


def camel_names(fields: list[Field]) -> dict[str, str]:
    """The lossy names of `crm.item.*`: where two codes would be one, the later keeps its own."""
    names: dict[str, str] = {}
    for field in fields:
        name = camel_name(field.code)
        names[field.code] = field.code if name in names.values() else name
    return names


def camel_name(code: str) -> str:
    """`UF_CRM_3_1747309727` is `ufCrm3_1747309727`, `UF_CRM_3_DIGIT10` is `ufCrm_3_DIGIT10`."""
    rest = code.removeprefix("UF_CRM_")
    head, _, tail = rest.partition("_")
    if head.isdigit() and tail.isdigit():
        return f"ufCrm{head}_{tail}"
    if any(letter.isdigit() for letter in rest):
        return f"ufCrm_{rest}"
    return "ufCrm" + "".join(word.capitalize() for word in rest.split("_"))


def legacy_row(field: Field, language: str) -> Row:
    """A row of `crm.<entity>.userfield.list`; labels only when a language was named."""
    row: Row = {
        "ID": str(field.id), "ENTITY_ID": field.entity, "FIELD_NAME": field.code, "USER_TYPE_ID": field.kind,
        "XML_ID": None, "SORT": str(field.sort), "MULTIPLE": _flag(field.multiple), "MANDATORY": "N",
        "SHOW_FILTER": "E", "SHOW_IN_LIST": "Y", "EDIT_IN_LIST": "Y", "IS_SEARCHABLE": "N", "SETTINGS": field.settings,
    } | field.traits  # fmt: skip
    if field.options:
        row["LIST"] = [
            {
                "ID": str(choice.id),
                "SORT": str(choice.sort),
                "VALUE": choice.value,
                "DEF": choice.default,
                "XML_ID": choice.xml_id,
            }
            for choice in field.choices
        ]
    if language:
        label = field.labels.get(language)  # null where the field has none in that language
        row |= dict.fromkeys(("EDIT_FORM_LABEL", "LIST_COLUMN_LABEL", "LIST_FILTER_LABEL"), label)
        row |= {"ERROR_MESSAGE": None, "HELP_MESSAGE": None}
    return row


def config_row(field: Field) -> Row:
    """A row of `userfieldconfig.list`: camel case, string ids, one language of the label and no options."""
    told: Row = {
        "languageId": {"ru": "ru"}, "editFormLabel": {"ru": field.labels["ru"]}, "listColumnLabel": None,
        "listFilterLabel": None, "errorMessage": None, "helpMessage": None,
    }  # fmt: skip
    return told | {
        "id": str(field.id), "entityId": field.entity, "fieldName": field.code, "userTypeId": field.kind, "xmlId": None,
        "sort": str(field.sort), "multiple": _flag(field.multiple), "mandatory": "N", "showFilter": "E",
        "showInList": "Y", "editInList": "Y", "isSearchable": "N", "settings": field.settings,
    } | {_camel(name): value for name, value in field.traits.items()}  # fmt: skip


def config_details(field: Field) -> Row:
    """The values that `userfieldconfig.get` adds."""
    labels = field.labels
    details: Row = {"languageId": {name: name for name in labels}, "editFormLabel": labels, "listColumnLabel": labels}
    details |= {
        "listFilterLabel": labels,
        "errorMessage": dict.fromkeys(labels, ""),
        "helpMessage": dict.fromkeys(labels, ""),
    }
    if field.options:
        details["enum"] = [
            {"id": str(choice.id), "userFieldId": str(field.id), "value": choice.value, "def": choice.default,
             "sort": str(choice.sort), "xmlId": choice.xml_id}
            for choice in field.choices
        ]  # fmt: skip
    return config_row(field) | details


def _camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)


def _flag(value: bool) -> str:
    return "Y" if value else "N"
