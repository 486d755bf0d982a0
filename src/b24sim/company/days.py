"""Days of work on a portal, by a seed: all streams, one after the other."""

from collections.abc import Collection, Iterable
from random import Random

from b24sim.company import mutations_activities as activities
from b24sim.company import mutations_catalog as catalog
from b24sim.company import mutations_crm as crm
from b24sim.company import mutations_people as people
from b24sim.company import mutations_requisites as requisites
from b24sim.company import mutations_talk as talk
from b24sim.company import mutations_tasks as tasks
from b24sim.company.company import Company
from b24sim.company.mutations import TRAPS, Day, Habit, Report
from b24sim.company.mutations_recurring import change_schedules
from b24sim.company.plan import DAY

SHARE = 0.01
# What is named by others comes before them.
HABITS: tuple[Habit, ...] = (
    requisites.begin_day,
    *(people.change_departments, people.change_users, people.change_groups, people.change_members),
    *(crm.change_structure, crm.change_items, talk.change_templates, talk.change_chats, talk.change_messages),
    *(tasks.change_tasks, tasks.change_checklists, tasks.change_comments),
    *(talk.change_posts, talk.change_feed_comments),
    requisites.change_requisites,
    *(activities.change_activities, activities.change_calls, activities.change_timeline),
    change_schedules,
    catalog.change_catalog,
)


def mutate(
    company: Company,
    start: float,
    *,
    seed: int,
    days: int = 1,
    share: float = SHARE,
    owners: Iterable[int] = (1,),
    without: Collection[str] = (),
    day_s: float = DAY,
) -> Report:
    """So many days from `start` on. `without` names traps that do not happen; `owners` are those of webhooks, who stay
    in what they see unless it is hidden from them on purpose. With `day_s` 0 everything happens at once."""
    unknown = sorted(set(without) - TRAPS.keys())
    if unknown or days < 1 or not 0 <= share <= 1:
        raise ValueError(f"days from 1 on, a share from 0 to 1, without any of {', '.join(TRAPS)}")
    report = Report()
    for number in range(days):
        day = Day(
            company,
            Random(f"{seed}:{number}"),
            start + number * day_s,
            day_s,
            share,
            frozenset(owners),
            frozenset(without),
            report,
        )
        for habit in HABITS:
            habit(day)
    return report
