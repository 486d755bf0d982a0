"""Everything a workflow may name: people, groups, departments, stages, fields, types, lists, other templates.

Most of it exists. Some was deleted since, and the templates still name it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from b24sim.company.crm_fields import CHOICE, fields_of
from b24sim.company.crm_ids import COMPANY, DEAL, SmartType
from b24sim.company.crm_structure import GONE_PIPELINE, STAGES, Category, categories, dictionary_of
from b24sim.company.people import People

GONE_FIELD = "UF_CRM_1600000000"
GONE_TEMPLATE = 99_991
GONE_GROUP = 99_992


@dataclass(frozen=True, slots=True)
class Names:
    staff: Sequence[int]
    stranger: int
    departments: Sequence[int]
    groups: Sequence[int]
    smart_types: Sequence[SmartType]
    pipelines: Sequence[Category]
    template: Callable[[int], int]
    iblock: int = 7
    gone_iblock: int = 404
    gone_type: int = 199

    def user(self, luck: int) -> int:
        return self.staff[luck % len(self.staff)]

    def users(self, luck: int) -> list[str]:
        """Recipients in all the spellings: people, roles, departments with and without those below, groups."""
        department = self.departments[luck % len(self.departments)]
        group = self.group(luck)
        return [
            *(f"user_{self.user(luck)}", "author", f"group_d{department}", f"group_dr{department}"),
            *(f"group_hr{self.departments[0]}", "group_g1", f"SG{group}_K", f"group_sg{group}_a"),
            *("{=Document:ASSIGNED_BY_ID}", "{=Variable:Approver}", f"user_{self.stranger}"),
        ]

    def group(self, luck: int) -> int:
        return self.groups[luck % len(self.groups)] if self.groups else GONE_GROUP

    def smart_type(self, place: int) -> int:
        return self.smart_types[place % len(self.smart_types)].entity_type_id if self.smart_types else self.gone_type

    def pipeline(self, entity_type_id: int, luck: int) -> tuple[int, str]:
        """A pipeline and one of its stages."""
        known = [category for category in self.pipelines if category.entity_type_id == entity_type_id]
        if not known:
            return GONE_PIPELINE, f"DT{entity_type_id}_{GONE_PIPELINE}:NEW"
        category = known[luck % len(known)]
        return category.id, dictionary_of(category)[1] + "NEW"

    def gone_stage(self) -> str:
        return f"C{GONE_PIPELINE}:{STAGES[0][0]}"

    def field(self, entity_type_id: int, purpose: int) -> str:
        smart = next((smart for smart in self.smart_types if smart.entity_type_id == entity_type_id), None)
        if smart is None and entity_type_id not in {DEAL, COMPANY}:
            return GONE_FIELD
        return fields_of(entity_type_id, smart)[purpose].code

    def option(self, entity_type_id: int) -> str:
        """An option of a list field, by its id."""
        smart = next((smart for smart in self.smart_types if smart.entity_type_id == entity_type_id), None)
        return str(fields_of(entity_type_id, smart)[CHOICE].options[0][0]) if smart or entity_type_id == DEAL else "1"


def names_of(
    people: People, groups: Sequence[int], types: tuple[SmartType, ...], template: Callable[[int], int]
) -> Names:
    stranger = people.ids[-1] + 900
    return Names(people.healthy, stranger, people.departments, groups, types, categories(types), template)
