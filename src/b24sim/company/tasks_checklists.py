"""Checklists of tasks: the roots are the lists themselves, their items go down two levels more."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from b24sim.company.attachments import Family, attachment_id
from b24sim.company.people import full_name
from b24sim.company.plan import DAY
from b24sim.company.tasks_crew import acquainted, created_at, crew_of, luck_of, task_id
from b24sim.table import Row

if TYPE_CHECKING:
    from b24sim.company.company import Company

MOST = 40
FIRST_ID = 400
ITEMS = ("Подписать у директора", "Отправить <скан> & оригинал", "Проверить 'суммы'", "Call Sarah 📞", "Закрыть счёт")


def item_id(place: int, number: int) -> int:
    return FIRST_ID + MOST * place + number


def size_of(company: "Company", place: int) -> int:
    """How many items, the lists themselves included; two tasks in three have none."""
    return 0 if place % 3 else 4 + luck_of(company, "checklist", place) % (MOST // 2)


def has_file(company: "Company", place: int, number: int) -> bool:
    in_list = 0 < number < size_of(company, place)
    return in_list and luck_of(company, "checklist file", MOST * place + number) % 9 == 0


def attachment_of(place: int, number: int) -> int:
    return attachment_id(Family.CHECKLIST, MOST * place + number)


def items_of(company: "Company", place: int) -> list[Row]:
    """Rows with times as numbers and attachments as ids, in order of id."""
    return list(_items(company, place))


def _items(company: "Company", place: int) -> Iterator[Row]:
    crew, task = crew_of(company, place), task_id(company, place)
    known, root, leaf_parent = acquainted(company, crew), 0, 0
    for number in range(size_of(company, place)):
        luck, itself = luck_of(company, "check", MOST * place + number), item_id(place, number)
        is_root = number in {0, 12}
        root = itself if is_root else root
        # Every fourth item opens a level below itself, for the two that follow it.
        parent = 0 if is_root else leaf_parent if number % 4 in {2, 3} and leaf_parent else root
        leaf_parent = itself if number % 4 == 1 else 0 if is_root else leaf_parent
        done = luck % 3 == 0
        member = known[luck % len(known)] if luck % 5 == 0 and not is_root else 0
        title = f"Чек-лист {1 if number == 0 else 2}" if is_root else f"{ITEMS[luck % len(ITEMS)]} {number}"
        yield {
            "ID": itself, "TASK_ID": task, "PARENT_ID": parent, "CREATED_BY": crew.creator,
            "TITLE": f"{title} {' '.join(full_name(company.people, member))}" if member else title,
            "SORT_INDEX": number,
            "IS_COMPLETE": done, "IS_IMPORTANT": luck % 11 == 0, "TOGGLED_BY": crew.responsible if done else 0,
            "TOGGLED_DATE": created_at(company, place) + DAY + number * 60 if done else None,
            "MEMBERS": {member: "A" if luck % 2 else "U"} if member else {},
            "ATTACHMENTS": [attachment_of(place, number)] if has_file(company, place, number) else [],
        }  # fmt: skip
