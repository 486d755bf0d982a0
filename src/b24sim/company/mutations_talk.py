"""Daily changes of chats, of the feed and of workflow templates."""

from bisect import bisect_right
from itertools import accumulate

from b24sim.company.changes import add_chat, delete_chat, update_chat
from b24sim.company.chats import CHANNEL, CLOSED, OPEN, OPEN_CHANNEL, PRIVATE, Chat
from b24sim.company.feed import PUBLISHED
from b24sim.company.feed_changes import (
    add_comment,
    add_post,
    delete_comment,
    delete_post,
    update_comment,
    update_post,
)
from b24sim.company.message_changes import add_message, delete_message, update_message
from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, HIDDEN, Day
from b24sim.company.workflows_changes import add_template, delete_template, update_template

GROUP_KINDS = (CLOSED, OPEN, CHANNEL, OPEN_CHANNEL)
LEAST_MEMBERS = 4
FRESH = 20  # so many messages at the end of a chat are edited most
FOR_GOOD = 3  # one deletion in so many


# ---------------------------------------------------------------- chats


def change_chats(day: Day) -> None:
    company = day.company
    for chat in day.some(_groups_chats(day)):
        _change_chat(day, chat)
    staff = day.staff()
    for _ in range(day.amount(len(_groups_chats(day)), CREATIONS) if len(staff) > 1 else 0):
        users = [*sorted(day.owners), *day.chance.sample(staff, min(3, len(staff)))]
        (number,) = add_chat(company, day.now(), {"fields": {"users": users, "name": f"Чат {day.word()}"}})
        day.report.note("chats", CREATED, number)
        _say(day, company.chats[number])
    for chat in day.some(_groups_chats(day), DELETIONS):
        for place in range(len(chat)):
            day.report.note("chat_messages", DELETED, f"{chat.id}:{chat.id_at(place)}")
        delete_chat(company, day.now(), {"id": chat.id})
        day.report.note("chats", DELETED, chat.id)


def _groups_chats(day: Day) -> list[Chat]:
    """Chats of several people that belong to nothing else."""
    chats = day.company.chats.values()
    return [chat for chat in chats if chat.kind in GROUP_KINDS and not chat.entity_type and not chat.script]


def _change_chat(day: Day, chat: Chat) -> None:
    company, now = day.company, day.now()
    free = [user for user in chat.members if user not in day.owners and user != chat.owner]
    others = [user for user in day.staff() if user not in chat.members]
    kinds = ["renamed", "chat_settings", "read"]
    kinds += ["left"] if len(chat.members) >= LEAST_MEMBERS and free else []
    kinds += ["joined"] if others else []
    kinds += ["participant_swapped"] if free and others else []
    kinds += (
        ["hidden"]
        if chat.kind == CLOSED and len(chat.members) >= LEAST_MEMBERS and chat.owner not in day.owners
        else []
    )
    change = day.kind(kinds)
    if change == "read":
        chat.touched = now
        company.chats_version += 1
        day.report.moved("chats", chat.id, "read by the owner of the webhook: date_update moves")
        return
    if change in ("renamed", "chat_settings"):
        fields = {"name": f"Чат {day.word()}"} if change == "renamed" else {"description": f"Описание {day.word()}"}
        update_chat(company, now, {"id": chat.id, "fields": fields})
    else:
        leaves = set(day.owners) if change == "hidden" else {day.one(free)} if change != "joined" else set()
        joins = [day.one(others)] if change in ("joined", "participant_swapped") else []
        members = [user for user in [*chat.members, *joins] if user not in leaves]
        managers = [user for user in chat.managers if user not in leaves]
        update_chat(company, now, {"id": chat.id, "fields": {"users": members, "manager_list": managers}})
    silent = change in ("chat_settings", "participant_swapped", "hidden")
    day.report.note("chats", HIDDEN if change == "hidden" else CHANGED, chat.id, change if silent else "")
    if change == "hidden":
        day.report.note("chats", CHANGED, chat.id)
    if not silent:
        _say(day, chat, system=True)


def _say(day: Day, chat: Chat, system: bool = False) -> None:
    """Messages of the portal itself have no author."""
    fields = {"text": f"Сообщение {day.word()}", "author_id": 0 if system else day.one(chat.members)}
    (number,) = add_message(day.company, day.now(), {"chat": chat.id, "fields": fields})
    day.report.note("chat_messages", CREATED, f"{chat.id}:{number}")


def change_messages(day: Day) -> None:
    kinds = (PRIVATE, *GROUP_KINDS)
    chats = [chat for chat in day.company.chats.values() if chat.kind in kinds and len(chat) and chat.members]
    ends = list(accumulate(map(len, chats)))
    total = ends[-1] if ends else 0
    for _ in range(day.amount(total, CREATIONS)):
        _say(day, _some_chat(day, chats, ends))
    for _ in range(day.amount(total)):
        _change_message(day, _some_chat(day, chats, ends))
    for _ in range(day.amount(total, DELETIONS)):
        _delete_message(day, _some_chat(day, chats, ends))


def _some_chat(day: Day, chats: list[Chat], ends: list[int]) -> Chat:
    """Long ones more often."""
    return chats[bisect_right(ends, day.chance.randrange(ends[-1]))]


def _place(day: Day, chat: Chat) -> int | None:
    """Mostly a late one; what the portal said itself, or somebody deleted, nobody changes."""
    if not len(chat):
        return None
    late = day.chance.random() < 0.5
    place = day.chance.randrange(max(0, len(chat) - FRESH), len(chat)) if late else day.chance.randrange(len(chat))
    row = day.company.correspondence.row(chat, place)
    return place if row["author_id"] and "IS_DELETED" not in (row["params"] or {}) else None


def _change_message(day: Day, chat: Chat) -> None:
    place = _place(day, chat)
    trap = day.kind(("message_edited", "message_edited", "reaction"))
    if place is None or not trap:
        return
    row = day.company.correspondence.row(chat, place)
    wish = {"chat": chat.id, "id": row["id"], "seen": trap == "message_edited" and day.chance.random() < 0.7}
    likes = {*((row["params"] or {}).get("LIKE") or ()), day.one(chat.members)}
    wish["fields"] = (
        {"text": f"Правка {day.word()}"}
        if trap == "message_edited"
        else {"params": dict(row["params"] or {}) | {"LIKE": sorted(likes)}}
    )
    if any(row[name] != value for name, value in wish["fields"].items()):
        touched = chat.touched
        update_message(day.company, day.now(), wish)
        chat.touched = touched if trap == "reaction" else chat.touched
        day.report.note("chat_messages", CHANGED, f"{chat.id}:{row['id']}", trap)


def _delete_message(day: Day, chat: Chat) -> None:
    place = _place(day, chat)
    trap = day.kind(("message_erased", *["message_deleted"] * (FOR_GOOD - 1)))
    if place is None or not trap:
        return
    number = chat.id_at(place)
    wish = {"chat": chat.id, "id": number, "for_good": trap == "message_erased"}
    delete_message(day.company, day.now(), wish)
    done = DELETED if trap == "message_erased" else CHANGED
    day.report.note("chat_messages", done, f"{chat.id}:{number}", trap)


# ---------------------------------------------------------------- feed


def change_posts(day: Day) -> None:
    company, posts = day.company, day.company.feed.posts
    codes = [company.access_codes(owner) for owner in sorted(day.owners)]
    for number in day.some([number for number, post in posts.items() if post.status == PUBLISHED]):
        post = posts[number]
        visible = any(post.rights & one for one in codes)
        others = [user for user in day.staff() if user != post.author]
        trap = day.kind(("post_edited", "post_edited", *(["hidden"] if visible and others else [])))
        if not trap or (trap == "hidden" and post.author in day.owners):
            continue
        fields = {"DETAIL_TEXT": f"Текст {day.word()}"} if trap != "hidden" else {"DEST": [f"U{day.one(others)}"]}
        update_post(company, day.now(), {"id": number, "fields": fields})
        day.report.note("feed_posts", CHANGED, number, trap if trap != "hidden" else "")
        if trap == "hidden":
            day.report.note("feed_posts", HIDDEN, number, trap)
    for _ in range(day.amount(len(posts), CREATIONS)):
        author = day.one([*sorted(day.owners), *day.staff()])
        wish = {"fields": {"DETAIL_TEXT": f"Пост {day.word()}", "AUTHOR_ID": author}}
        day.report.note("feed_posts", CREATED, add_post(company, day.now(), wish)[0])
    for number in day.some(list(posts), DELETIONS):
        for comment in company.feed_rows.comments_of_post(number):
            day.report.note("feed_comments", DELETED, _comment(day, comment))
        delete_post(company, day.now(), {"id": number})
        day.report.note("feed_posts", DELETED, number)


def change_feed_comments(day: Day) -> None:
    company, comments = day.company, day.company.feed_rows.comments
    open_ones = [
        number for number, post in company.feed.posts.items() if post.status == PUBLISHED and post.takes_comments
    ]
    for number in day.some(comments.ids) if day.wants("feed_comment_edited") else ():
        update_comment(company, day.now(), {"id": number, "fields": {"text": f"Правка {day.word()}"}})
        day.report.note("feed_comments", CHANGED, _comment(day, number), "feed_comment_edited")
    for _ in range(day.amount(len(comments), CREATIONS) if open_ones else 0):
        fields = {"author_id": day.one([*sorted(day.owners), *day.staff()]), "text": f"Ответ {day.word()}"}
        (number,) = add_comment(company, day.now(), {"post": day.one(open_ones), "fields": fields})
        day.report.note("feed_comments", CREATED, _comment(day, number))
    for number in day.some(comments.ids, DELETIONS) if day.wants("feed_comment_deleted") else ():
        key = _comment(day, number)
        delete_comment(company, day.now(), {"id": number})
        day.report.note("feed_comments", DELETED, key, "feed_comment_deleted")


def _comment(day: Day, number: int) -> str:
    row = day.company.feed_rows.comments.row(number)
    return f"{row['_post_id']}:{row['comment_id']}"


# ---------------------------------------------------------------- templates


def change_templates(day: Day) -> None:
    company, templates = day.company, day.company.workflows.templates
    for number in day.some(templates.ids):
        update_template(company, day.now(), {"id": number, "fields": {"NAME": f"Шаблон {day.word()}"}})
        day.report.note("workflow_templates", CHANGED, number)
    for _ in range(day.amount(len(templates), CREATIONS)):
        wish = {"fields": {"NAME": f"Шаблон {day.word()}"}}
        day.report.note("workflow_templates", CREATED, add_template(company, day.now(), wish)[0])
    for number in day.some(templates.ids, DELETIONS):
        delete_template(company, day.now(), {"id": number})
        day.report.note("workflow_templates", DELETED, number)
