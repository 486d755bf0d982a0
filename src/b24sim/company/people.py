"""Users, their custom fields, and the department tree."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from b24sim.company import names
from b24sim.company.chance import chance
from b24sim.company.plan import ANCHOR, DAY, Plan
from b24sim.moments import Moments
from b24sim.table import Row

ADMIN = 1
# Low ids have no gaps, so that webhook owners are easy to name on a command line.
FIRST_WITHOUT_GAPS = 20
BRANCHES = 3
NO_EMAIL, NO_NAME, SAME_EMAIL = range(3)

UF_STRING = "UF_USR_1700000000001"
UF_LIST = "UF_USR_1724228142162"
UF_DATE = "UF_USR_1724228142170"
UF_EMPLOYEE = "UF_USR_1724228142171"
UF_FLAG = "UF_USR_1724228142172"
UF_NUMBER = "UF_USR_1724228142173"
LIST_OPTIONS = ((26, "Junior"), (27, "Middle"), (28, "Senior <lead>"), (29, "Стажёр"))


@dataclass(slots=True)
class People:
    """The users, decided once; rows are generated from them on demand."""

    plan: Plan
    moments: Moments
    ids: list[int]
    departments: list[int]
    bad: dict[int, int]
    # Users that others refer to: those that cannot be imported stay out of groups and chats.
    healthy: list[int]


def people(plan: Plan, moments: Moments) -> People:
    ids = _spread(plan.users, plan.seed, "users")
    bad = {number: place % 3 for place, number in enumerate(reversed(ids[1:])) if place < plan.unimportable}
    healthy = [number for number in ids if number not in bad]
    return People(plan, moments, ids, _department_ids(plan), bad, healthy)


def _spread(count: int, seed: int, kind: str) -> list[int]:
    ids: list[int] = []
    last = 0
    for place in range(count):
        last += 1 if place < FIRST_WITHOUT_GAPS else 1 + chance(seed, kind, place) % 3
        ids.append(last)
    return ids


def _department_ids(plan: Plan) -> list[int]:
    """The first is the root; some parents get higher ids than their children."""
    ids = [1, *range(4, 4 + 3 * max(0, plan.departments - 1), 3)]
    for place in range(1, len(ids), 4):
        child = BRANCHES * place + 1
        if child < len(ids):
            ids[place], ids[child] = ids[child], ids[place]
    return ids[: plan.departments]


def is_active(people: People, number: int) -> bool:
    return number <= FIRST_WITHOUT_GAPS // 2 or chance(people.plan.seed, "active", number) % 12 != 0


def is_extranet(people: People, number: int) -> bool:
    return number > FIRST_WITHOUT_GAPS // 2 and chance(people.plan.seed, "extranet", number) % 25 == 0


def email_of(people: People, number: int) -> str:
    fate = people.bad.get(number)
    if fate == NO_EMAIL:
        return ""
    if fate == SAME_EMAIL:
        return email_of(people, people.ids[0]).upper()
    domain = "box.example" if people.plan.box else "company.example"
    return f"user{number}.{chance(people.plan.seed, 'mail', number) % 97}@{domain}"


def department_of(people: People, number: int) -> list[int]:
    luck = chance(people.plan.seed, "department", number)
    if is_extranet(people, number) or (not is_active(people, number) and luck % 3 == 0):
        return []
    first = people.departments[luck % len(people.departments)]
    second = people.departments[(luck >> 20) % len(people.departments)]
    return [first, second] if luck % 11 == 0 and first != second else [first]


def full_name(people: People, number: int) -> tuple[str, str]:
    luck = chance(people.plan.seed, "name", number)
    given = (names.MALE if luck % 2 else names.FEMALE)[(luck >> 8) % 12]
    surname = names.SURNAMES[(luck >> 16) % len(names.SURNAMES)]
    ends = "" if luck % 2 or not surname.endswith(("в", "н")) else "а"
    return ("" if people.bad.get(number) == NO_NAME else given), surname + ends


def user_row(people: People, number: int, portal_url: str) -> Row:
    """A row of `user.get`: columns that are NULL are left out, as the portal does."""
    luck = chance(people.plan.seed, "user", number)
    moments = people.moments
    given, surname = full_name(people, number)
    registered = ANCHOR - (200 + luck % 1500) * DAY
    changed = ANCHOR - (luck >> 12) % (90 * DAY)
    row: Row = {
        "ID": str(number),
        "XML_ID": f"ext-{number}" if luck % 5 == 0 else "",
        "ACTIVE": is_active(people, number),
        "NAME": given,
        "LAST_NAME": surname,
        "SECOND_NAME": names.PATRONYMICS[(luck >> 5) % 5],
        "EMAIL": email_of(people, number),
        "LAST_LOGIN": "" if luck % 9 == 0 else moments.iso(changed),
        "DATE_REGISTER": moments.day(datetime.fromtimestamp(registered, UTC).date()),
        "TIME_ZONE": "Asia/Yekaterinburg" if luck % 13 == 0 else "",
        "IS_ONLINE": "N",
        "TIMESTAMP_X": {},
        "LAST_ACTIVITY_DATE": {},
        "PERSONAL_GENDER": ("F", "M", "")[2 if luck % 17 == 0 else luck % 2],
        "PERSONAL_PROFESSION": "",
        "PERSONAL_WWW": "",
        "PERSONAL_BIRTHDAY": _birthday(people, luck),
        "PERSONAL_MOBILE": f"+7 900 {luck % 10**7:07d}",
        "PERSONAL_PHONE": "",
        "PERSONAL_CITY": names.CITIES[(luck >> 9) % len(names.CITIES)],
        "PERSONAL_STREET": f"ул. Ленина, {luck % 200}",
        "PERSONAL_ZIP": f"{100000 + luck % 90000}",
        "PERSONAL_COUNTRY": "1",
        "PERSONAL_NOTES": "",
        "WORK_PHONE": f"8 (495) {luck % 1000:03d}-00-{luck % 89 + 10}",
        "WORK_COMPANY": "ООО «Пример & Ко»",
        "WORK_POSITION": names.POSITIONS[(luck >> 3) % len(names.POSITIONS)],
        "WORK_DEPARTMENT": "",
        "WORK_CITY": "",
        "UF_EMPLOYMENT_DATE": "" if luck % 3 else moments.day(datetime.fromtimestamp(registered, UTC).date()),
        "UF_DEPARTMENT": department_of(people, number),
        "UF_INTERESTS": "лыжи, 'шахматы', C++",
        "UF_SKILLS": "",
        "UF_SKYPE": "",
        "UF_PHONE_INNER": str(100 + number),
        "USER_TYPE": "extranet" if is_extranet(people, number) else "employee",
        "_TIMESTAMP_X": changed,
        "_LAST_ACTIVITY_DATE": changed,
        "_EXTERNAL_AUTH_ID": "socservices" if luck % 4 == 0 else "",
    }
    if luck % 4 == 1:
        row["PERSONAL_PHOTO"] = f"{portal_url}/upload/main/{number}/photo.png"
    if luck % 6 == 0:
        del row["PERSONAL_STREET"], row["SECOND_NAME"]
    row.update(_custom_values(people, number, luck))
    return row


def _birthday(people: People, luck: int) -> str:
    if luck % 8 == 0:
        return ""
    return people.moments.day((datetime(1960, 1, 1, tzinfo=UTC) + timedelta(days=(luck >> 4) % 15000)).date())


def _custom_values(people: People, number: int, luck: int) -> Row:
    if luck % 3 == 0:
        return {}
    hired = (datetime(2015, 1, 1, tzinfo=UTC) + timedelta(days=luck % 3000)).date()
    return {
        UF_STRING: f"Табель №{number} <b>&</b>",
        UF_LIST: [26 + luck % 4, 26 + (luck + 1) % 4] if luck % 2 else [26 + luck % 4],
        UF_DATE: people.moments.day(hired),
        UF_EMPLOYEE: str(people.ids[0]),
        UF_FLAG: "1" if luck % 2 else "0",
        UF_NUMBER: f"{luck % 1000}.5",
    }


def department_row(people: People, place: int) -> Row:
    """A row of `department.get` by its place in the tree order; the root has no PARENT."""
    number = people.departments[place]
    title = names.DEPARTMENTS[(place - 1) % len(names.DEPARTMENTS)]
    row: Row = {
        "ID": str(number),
        "NAME": "ООО «Пример»" if place == 0 else f"{title} {place}",
        "SORT": 100 * (place % 6 + 1),
    }
    if place:
        row["PARENT"] = str(people.departments[(place - 1) // BRANCHES])
    heads = [user for user in people.healthy[:200] if is_active(people, user) and not is_extranet(people, user)]
    if place % 4 != 3 and heads:
        row["UF_HEAD"] = str(heads[chance(people.plan.seed, "head", place) % len(heads)])
    return row


def user_fields() -> list[dict[str, Any]]:
    """The rows of `user.userfield.list`."""
    options = [
        {"ID": str(number), "SORT": str(place * 10), "VALUE": value, "DEF": "N", "XML_ID": f"opt{number}"}
        for place, (number, value) in enumerate(LIST_OPTIONS)
    ]
    kinds: tuple[tuple[str, str, str, Any, str, str], ...] = (
        (UF_STRING, "string", "N", {"SIZE": 20, "ROWS": 1, "REGEXP": "", "DEFAULT_VALUE": ""}, "Номер", "Staff no."),
        (UF_LIST, "enumeration", "Y", {"DISPLAY": "UI", "LIST_HEIGHT": 1, "SHOW_NO_VALUE": "Y"}, "Уровень", "Level"),
        (UF_DATE, "date", "N", {"DEFAULT_VALUE": {"TYPE": "NONE", "VALUE": ""}}, "Дата приёма", "Hired"),
        (UF_EMPLOYEE, "employee", "N", [], "Наставник", "Mentor"),
        (UF_FLAG, "boolean", "N", {"DEFAULT_VALUE": 0, "DISPLAY": "CHECKBOX"}, "Удалённо", "Remote"),
        (UF_NUMBER, "double", "N", {"PRECISION": 4, "SIZE": 20}, "Ставка", "Rate"),
    )  # fmt: skip
    rows = []
    for place, (code, kind, multiple, settings, russian, english) in enumerate(kinds):
        row: dict[str, Any] = {
            "ID": str(176 + place), "ENTITY_ID": "USER", "FIELD_NAME": code, "USER_TYPE_ID": kind, "XML_ID": None,
            "SORT": str(100 * (place + 1)), "MULTIPLE": multiple, "MANDATORY": "N", "SHOW_FILTER": "E",
            "SHOW_IN_LIST": "Y", "EDIT_IN_LIST": "Y", "IS_SEARCHABLE": "N", "SETTINGS": settings,
            "_LABELS": names.labels(russian, english),
        }  # fmt: skip
        if kind == "enumeration":
            row["LIST"] = options
        rows.append(row)
    return rows
