"""Daily changes of departments, users, groups and their members."""

from b24sim.company.changes import (
    add_department,
    add_group,
    add_member,
    add_user,
    delete_department,
    delete_group,
    delete_member,
    delete_user,
    update_department,
    update_group,
    update_user,
)
from b24sim.company.groups import MEMBER, MODERATOR, OWNER
from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, Day
from b24sim.table import Row

MOST_TASKS = 5_000  # to look through for those of a group
INVITED = "_INVITED"  # a user who never came: the only kind that a portal lets delete


def change_departments(day: Day) -> None:
    company = day.company
    for number in day.some(company.departments.ids):
        fields = day.one(({"NAME": f"Отдел {day.word()}"}, {"SORT": day.chance.randrange(1000)}))
        update_department(company, day.now(), {"id": number, "fields": fields})
        day.report.note("departments", CHANGED, number, "undated_stream")
    for parent in day.some(company.departments.ids, CREATIONS):
        wish = {"fields": {"NAME": f"Отдел {day.word()}", "PARENT": str(parent)}}
        day.report.note("departments", CREATED, add_department(company, day.now(), wish)[0], "undated_stream")
    rows = [company.departments.row(number) for number in company.departments]
    used = {int(row.get("PARENT") or 0) for row in rows}
    used |= {number for user in company.users for number in company.users.row(user)["UF_DEPARTMENT"]}
    addressed = {code for post in company.feed.posts.values() for code in post.dest}
    empty = [number for number in company.departments if number not in used and f"DR{number}" not in addressed]
    for number in day.some([number for number in empty if number != 1], DELETIONS):
        delete_department(company, day.now(), {"id": number})
        day.report.note("departments", DELETED, number)


def change_users(day: Day) -> None:
    company = day.company
    for number in day.some(day.staff()):
        kind = day.kind(("profile", "profile", "dismissed", "department_moved", "login"))
        if kind == "login":
            at = day.now()
            login = {"LAST_LOGIN": company.moments.iso(at), "IS_ONLINE": "Y", "_LAST_ACTIVITY_DATE": at}
            update_user(company, at, {"id": number, "fields": login, "undated": True})
            day.report.moved("users", number, "signed in: TIMESTAMP_X does not move")
            continue
        fields: Row = {"WORK_POSITION": f"Должность {day.word()}", "WORK_PHONE": f"+7 495 {day.word()}"}
        if kind == "dismissed":
            fields = {"ACTIVE": False}
        elif kind == "department_moved":
            fields = {"UF_DEPARTMENT": [day.one(company.departments.ids)]}
        if all(company.users.row(number).get(name) == value for name, value in fields.items()):
            continue
        undated = kind == "department_moved"
        update_user(company, day.now(), {"id": number, "fields": fields, "undated": undated})
        day.report.note("users", CHANGED, number, kind if undated else "")
    for _ in range(day.amount(len(company.users), CREATIONS)):
        now = day.now()
        fields = {"LAST_NAME": f"Новикова {day.word()}", "LAST_LOGIN": "", "DATE_REGISTER": company.moments.iso(now)}
        number = add_user(company, now, {"fields": fields | {INVITED: True}})[0]
        day.report.note("users", CREATED, number)
    invited = [number for number in company.users if company.users.row(number).get(INVITED)]
    named = {user for group in company.groups_by_id.values() for user in group.roles}
    named |= {user for chat in company.chats.values() for user in chat.members}
    for number in day.some([number for number in invited if number not in named], 1.0):
        delete_user(company, day.now(), {"id": number})
        day.report.note("users", DELETED, number)


def change_groups(day: Day) -> None:
    company = day.company
    for number in day.some(company.groups.ids):
        if day.kind(("group_settings", "group_settings", "activity")) == "activity":
            update_group(
                company, day.now(), {"id": number, "fields": {"DATE_ACTIVITY": company.moments.iso(day.now())}}
            )
            day.report.moved("groups", number, "DATE_ACTIVITY moves with whatever happens in the group")
            continue
        fields = day.one(({"NAME": f"Группа {day.word()}"}, {"DESCRIPTION": f"Описание {day.word()}"}))
        update_group(company, day.now(), {"id": number, "fields": fields})
        day.report.note("groups", CHANGED, number, "group_settings")
    staff = day.staff()
    for _ in range(day.amount(len(company.groups), CREATIONS) if staff else 0):
        fields = {"NAME": f"Группа {day.word()}", "OWNER_ID": str(day.one(staff))}
        number = add_group(company, day.now(), {"fields": fields})[0]
        day.report.note("groups", CREATED, number)
        day.report.note("group_members", CREATED, f"{number}:{fields['OWNER_ID']}", "member")
    for number in day.some(_deletable(day), DELETIONS):
        for user in company.groups_by_id[number].roles:
            day.report.note("group_members", DELETED, f"{number}:{user}")
        delete_group(company, day.now(), {"id": number})
        day.report.note("groups", DELETED, number)


def _deletable(day: Day) -> list[int]:
    """Groups that neither a chat nor a post nor a task names: they would go or be hidden with it."""
    company, table = day.company, day.company.tasks.table
    named = {code for post in company.feed.posts.values() for code in post.dest}
    if len(table) > MOST_TASKS:
        return []
    tasks = {str(table.row(number)["GROUP_ID"]) for number in table}
    known = company.groups_by_id.values()
    return [one.id for one in known if not one.chat and f"SG{one.id}" not in named and str(one.id) not in tasks]


def change_members(day: Day) -> None:
    company = day.company
    places = [
        (group, user) for group in company.groups_by_id.values() for user in group.roles if user not in day.owners
    ]
    for group, user in day.some([place for place in places if place[0].roles[place[1]] != OWNER]):
        role = MODERATOR if group.roles[user] == MEMBER else MEMBER
        add_member(company, day.now(), {"group": group.id, "user": user, "fields": {"ROLE": role}})
        day.report.note("group_members", CHANGED, f"{group.id}:{user}", "member")
    for group, user in day.some([place for place in places if place[0].roles[place[1]] != OWNER], CREATIONS):
        others = [one for one in day.staff() if one not in group.roles]
        # Some only leave, some only join, some change places, which no count shows.
        leaves, joins = day.one(((True, False), (False, True), (False, True), (True, True)))
        if leaves:
            delete_member(company, day.now(), {"group": group.id, "user": user})
            day.report.note("group_members", DELETED, f"{group.id}:{user}", "member")
        if joins and others:
            new = day.one(others)
            add_member(company, day.now(), {"group": group.id, "user": new})
            day.report.note("group_members", CREATED, f"{group.id}:{new}", "member")
