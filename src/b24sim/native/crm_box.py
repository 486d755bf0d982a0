"""The CRM of a box: what every box has from the beginning, and types that hold only what was written."""

from collections.abc import Callable
from typing import Any

from b24sim.company import crm_structure as structure
from b24sim.company.company import Company
from b24sim.company.crm import Crm, Items
from b24sim.company.crm_fields import ENTITY_OF
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL
from b24sim.company.crm_schema import DATES, MANY, NUMBERS
from b24sim.company.crm_structure import Category, dictionary_of
from b24sim.company.crm_world import Times
from b24sim.imports import furniture
from b24sim.table import Row

FLAGS = {"opened", "closed", "export", "isNew", "isRecurring", "isReturnCustomer", "isRepeatedApproach", "isMyCompany",
         "isManualOpportunity", "hasPhone", "hasEmail", "hasImol"}  # fmt: skip
COLOURS = {"": "#39A8EF", "S": "#7BD500", "F": "#FF5752"}
MAIN_PIPELINE = 0


class BoxItems(Items):
    """Records of one type, all of them written by users."""

    def __init__(self, entity_type_id: int, entity: str, names: list[str], parents: Callable[[], list[int]] = list):
        super().__init__(entity_type_id, [], [], Times(0, f"box{entity_type_id}", 0))
        self.entity = entity
        self.names, self._parents = names, parents

    def ordinary(self, number: int) -> Row:
        """A record with nothing in it."""
        row: Row = {name: _blank(name) for name in self.names}
        row |= {f"parentId{parent}": None for parent in self._parents()}
        row |= {field.code: [] if field.multiple else "N" if field.kind == "boolean" else None for field in self.fields}
        return row | {"id": number, "entityTypeId": self.entity_type_id}

    def learn(self) -> None:
        """Fields have come or gone: records that are there already get them empty."""
        vars(self).pop("schema", None)
        for number in self.ids:
            blank = self.ordinary(number)
            known = {name: value for name, value in self.row(number).items() if name in blank or name.startswith("_")}
            self.put(number, blank | known)


def _blank(name: str) -> Any:
    if name in MANY or name == "fm":
        return []
    if name in FLAGS:
        return "N"
    if name in NUMBERS:
        return 0
    return None if name in DATES or not name.endswith("Work") else ""


_NAMES: dict[int, list[str]] = {}  # every box has the same; a record must be made to know them


def furnish(company: Company) -> None:
    """A box has a pipeline for deals and dictionaries of its own, and no custom field yet."""
    crm = company.crm
    crm.categories = [
        Category(MAIN_PIPELINE, DEAL, "Общая", 100, True),
        Category(0, CONTACT, "Контакты", 100, True),
        Category(0, COMPANY, "Компании", 100, True),
    ]
    crm.statuses = [_status(number, fields) for number, fields in furniture.stages().items()]
    for number in (DEAL, CONTACT, COMPANY):
        if number not in _NAMES:
            _NAMES[number] = [name for name in crm.items[number].ordinary(1) if not name.startswith("UF_")]
        crm.items[number] = BoxItems(number, ENTITY_OF[number], list(_NAMES[number]), _parents_of(crm, number))


def _parents_of(crm: Crm, number: int) -> Callable[[], list[int]]:
    """Smart processes that say they have such children."""
    return lambda: [smart.entity_type_id for smart in crm.smart_types if number in children_of(crm, smart.id)]


def children_of(crm: Crm, smart: int) -> list[int]:
    relations = crm.own_relations.get(smart, {}).get("relations", {})
    return [relation["entityTypeId"] for relation in relations.get("child", [])]


def items_of(crm: Crm, entity: str) -> BoxItems | None:
    """The type whose custom fields are kept under that name: `CRM_DEAL`, `CRM_301`."""
    for items in crm.items.values():
        if isinstance(items, BoxItems) and items.entity == entity:
            return items
    return None


def _status(number: str, fields: Any) -> Row:
    stage = fields["ENTITY_ID"] in {"DEAL_STAGE", "STATUS"}
    meaning = str(fields["SEMANTICS"] or "")
    row = status_row(number, fields["ENTITY_ID"], fields["STATUS_ID"], name=fields["NAME"], sort=fields["SORT"])
    return row | (_coloured(COLOURS[meaning], meaning) if stage else {})


def status_row(number: object, entity: str, code: str, *, name: str, sort: object, system: bool = True) -> Row:
    return {
        "ID": str(number), "ENTITY_ID": entity, "STATUS_ID": code, "NAME": name, "NAME_INIT": name if system else "",
        "SORT": str(sort), "SYSTEM": "Y" if system else "N", "CATEGORY_ID": None, "COLOR": None, "SEMANTICS": None,
    }  # fmt: skip


def _coloured(colour: str, meaning: str) -> Row:
    extra = {"SEMANTICS": structure.MEANINGS.get(meaning, "process"), "COLOR": colour}
    return {"COLOR": colour, "SEMANTICS": meaning or None, "EXTRA": extra}


def stage_row(category: Category, number: object, code: str, *, name: str, meaning: str, colour: str, sort: int) -> Row:
    """A stage of a pipeline; the prefix is added where it is not there yet."""
    entity, prefix = dictionary_of(category)
    full = code if code.startswith(prefix) else prefix + code
    row = status_row(number, entity, full, name=name, sort=sort, system=False)
    return row | {"CATEGORY_ID": str(category.id) if category.id else None} | _coloured(colour, meaning)
