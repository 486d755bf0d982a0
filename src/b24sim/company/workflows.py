"""Workflow templates: their document types and start. Their activities are generated on request."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property

from b24sim.company.chance import chance
from b24sim.company.crm_ids import SmartType
from b24sim.company.people import People
from b24sim.company.plan import ANCHOR, DAY, Plan
from b24sim.company.workflows_names import Names, names_of
from b24sim.company.workflows_trees import constants, parameters, tree, variables, with_code
from b24sim.table import Row, Table

# From this value on a template belongs to robots, which no REST method tells of.
ROBOTS = 8
_SMART = "Bitrix\\Crm\\Integration\\BizProc\\Document\\Dynamic"
_LISTS = "Bitrix\\Lists\\BizprocDocumentLists"
_DISK = "Bitrix\\Disk\\BizProcDocument"
TITLES = ("Согласование", "Оплата счёта", "Отпуск <год>", 'Заявка "Срочно" & быстро', "Onboarding 🚀", "Закупка")


class Workflows:
    """All templates of a company, decided from the seed, and the few workflows that run."""

    def __init__(self, people: People, groups: Iterable[int], smart_types: Iterable[SmartType]):
        self.people = people
        self.names = names_of(people, tuple(groups), tuple(smart_types), self.id_at)
        self.templates = Table(map(self.id_at, range(template_count(people.plan))), self._row)

    @cached_property
    def code_places(self) -> dict[int, int]:
        """Which templates run code, and in which way: the last ones of those that the list shows."""
        plan = self.people.plan
        shown = [place for place in range(template_count(plan)) if not _is_robot(place)]
        return {place: way for way, place in enumerate(reversed(shown)) if way < plan.templates_with_code}

    def id_at(self, place: int) -> int:
        return 5 + 7 * place + chance(self.people.plan.seed, "template id", place) % 3

    @cached_property
    def instances(self) -> list[Row]:
        return [self._instance(place) for place in range(min(5, template_count(self.people.plan)))]

    def _row(self, number: int) -> Row:
        """A row of `bizproc.workflow.template.list` with every field."""
        place = (number - 5) // 7
        luck = chance(self.people.plan.seed, "template", place)
        module, entity, document = _document(self.names, place)
        return {
            "ID": str(number), "MODULE_ID": module, "ENTITY": entity, "DOCUMENT_TYPE": document,
            "AUTO_EXECUTE": str(ROBOTS) if _is_robot(place) else str(place % 4),
            "NAME": f"{TITLES[place % len(TITLES)]} №{place}",
            "DESCRIPTION": "" if luck % 2 else "Описание\r\n<b>&</b>",
            "TEMPLATE": [self._tree(place, luck)], "PARAMETERS": parameters(self.names, place),
            "VARIABLES": variables(self.names, place), "CONSTANTS": constants(self.names, place),
            "MODIFIED": self.people.moments.iso(ANCHOR - luck % (400 * DAY)), "IS_MODIFIED": "Y" if luck % 3 else "N",
            "USER_ID": str(self.names.stranger if place % 11 == 7 else self.names.user(luck)),
            "SYSTEM_CODE": "rest_app_3" if place % 13 == 6 else "",
        }  # fmt: skip

    def _tree(self, place: int, luck: int) -> Row:
        made = tree(self.names, place, luck)
        return with_code(made, self.code_places[place], luck) if place in self.code_places else made

    def _instance(self, place: int) -> Row:
        """A workflow under way; its times come in two offsets."""
        luck = chance(self.people.plan.seed, "instance", place)
        row = self._row(self.id_at(place))
        started = ANCHOR - luck % (20 * DAY)
        return {
            "ID": f"{luck & 0xFFFFFFFFFFFFFF:014x}.{luck % 10**8:08d}",
            "MODIFIED": self.people.moments.iso(started + 60),
            "OWNED_UNTIL": None, "MODULE_ID": row["MODULE_ID"], "ENTITY": row["ENTITY"],
            "DOCUMENT_ID": f"{row['DOCUMENT_TYPE']}_{1 + luck % 9}",
            "STARTED": datetime.fromtimestamp(int(started), UTC).isoformat(),
            "STARTED_BY": str(self.names.user(luck)), "TEMPLATE_ID": row["ID"],
        }  # fmt: skip


def _is_robot(place: int) -> bool:
    return place % 9 == 8


def template_count(plan: Plan) -> int:
    """Companies have dozens of templates, not thousands."""
    if plan.templates is not None:
        return plan.templates
    return 0 if plan.box else min(200, 12 + plan.users // 10)


def _document(names: Names, place: int) -> tuple[str, str, str]:
    smart, gone = f"DYNAMIC_{names.smart_type(place // 10)}", f"DYNAMIC_{names.gone_type}"
    documents = (
        ("crm", "CCrmDocumentDeal", "DEAL"),
        ("crm", _SMART, smart),
        ("crm", "CCrmDocumentCompany", "COMPANY"),
        ("lists", _LISTS, f"iblock_{names.iblock}"),
        ("crm", "CCrmDocumentContact", "CONTACT"),
        ("disk", _DISK, "STORAGE_1357"),
        ("crm", "CCrmDocumentDeal", "DEAL"),
        ("crm", _SMART, gone),
        ("lists", "BizprocDocument", f"iblock_{names.gone_iblock}"),
        ("crm", "CCrmDocumentLead", "LEAD"),
    )
    return documents[place % len(documents)]
