"""Faults in calls of both portals: about every fifth call, by seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.chaos.oracle.source import EXCLUDED_KINDS
from tests.chaos.portals import Portal

Rule = dict[str, Any]

# Whole requests, whatever they ask for.
WEATHER: dict[str, float] = {
    "500": 0.03,
    "502html": 0.025,
    "reset": 0.035,
    "timeout": 0.01,
    "truncated": 0.03,
    "query_limit": 0.02,
    "html200": 0.005,
    "lost": 0.04,
}
GROWING = (
    *("user.get", "sonet_group.get", "im.dialog.messages.get", "crm.item.list", "tasks.task.list", "log.blogpost.get"),
    *("bizproc.workflow.template.list", "task.checklistitem.getlist", "task.commentitem.getlist"),
    *("crm.activity.list", "crm.timeline.comment.list", "voximplant.statistic.get", "crm.requisite.list"),
    *("catalog.product.list", "catalog.section.list"),
)
WRITES = (
    *("*.add", "*.create", "*.addsubfolder", "*.uploadfile", "crm.item.batchImport", "*.commit"),
    *("*.update", "*.set", "*.setOwner"),
)
# The fields that users change in each record.
SOLD = {
    **dict.fromkeys(
        ("crm_companies", "crm_contacts", "crm_deals", "crm_leads", "crm_quotes", "crm_invoices"), "comments"
    ),
    "crm_spitems": "title",
    "crm_products": "name",
    "crm_requisites": "RQ_DIRECTOR",
    "crm_bank_details": "COMMENTS",
}
FOLLOWED = {
    "crm_activities": "DESCRIPTION",
    "crm_comments": "COMMENT",
    "crm_notes": "text",
    "crm_logs": "text",
    "crm_calls": "COMMENT",
}
ADDED = ("crm_calls", "crm_activities", "crm_comments", "crm_logs")
SLOW_S = 0.2  # of real time: less than a client waits


def over_the_cloud() -> list[Rule]:
    """Bad weather, a command now and then that fails inside a batch, and rows that appear while pages are read."""
    weather = [{"kind": kind, "probability": chance, "inner": False} for kind, chance in WEATHER.items()]
    inside = [{"kind": "500", "method": "im.*", "probability": 0.003}]
    growth = [{"kind": "insert", "method": method, "probability": 0.05, "count": 6} for method in GROWING]
    return [*weather, *inside, *growth]


def without_growth(rules: list[Rule]) -> list[Rule]:
    """Nothing appears but what is told."""
    return [rule for rule in rules if rule["kind"] != "insert"]


def over_the_box() -> list[Rule]:
    """Bad weather, and items that are refused for the moment."""
    weather = [{"kind": kind, "probability": chance} for kind, chance in WEATHER.items() if kind != "html200"]
    lost = [{"kind": "lost", "method": "import.*.batch", "probability": 0.08}]
    items = [{"method": "import.*.batch", "probability": 0.004, "item": {"code": "LOCKED", "retry": True}}]
    return [*weather, *lost, *items]


def over_a_box_without_the_module(speed: float) -> list[Rule]:
    """Fewer faults, since there are ten times as many calls; failing commands inside a batch; lost answers to writes,
    and slow writes, whose sender may be dead when they end."""
    weather = [
        {"kind": kind, "probability": chance / 2, "inner": False}
        for kind, chance in WEATHER.items()
        if kind != "html200"
    ]
    inside = [{"kind": "500", "probability": 0.001}]
    late = [{"kind": "slow", "method": one, "probability": 0.04, "seconds": SLOW_S * speed} for one in WRITES]
    lost = [{"kind": "lost", "method": one, "probability": 0.08} for one in WRITES]
    tokens = [{"kind": "lost", "method": "oauth.token", "probability": 0.2}]
    return [*tokens, *late, *weather, *inside, *lost]


def the_administrator_comments(cloud: Portal, chance: random.Random) -> None:
    """The portal shows the text of a comment to its author only, so the webhook's owner writes a few."""
    posts = [post["id"] for post in cloud.dump("feed_posts", visible_to="1")]
    for number in range(12):
        text = f"[USER={1 + number % 5}]Коллега[/USER], см. {chance.randrange(100)}" if number % 3 else "+1"
        wish = {"stream": "feed_comments", "op": "add", "post": int(chance.choice(posts)), "files": number % 3 // 2}
        cloud.mutate(**wish, fields={"text": text, "author_id": 1})


def people_keep_working(cloud: Portal, chance: random.Random) -> str:
    """Changes a record while the migration runs, and returns which one."""
    return chance.choice((_talk, _talk, _sell, _sell, _follow, _follow, _work, _post))(cloud, chance)


def _talk(cloud: Portal, chance: random.Random) -> str:
    left_out = {chat["id"] for chat in cloud.dump("chats") if chat["fields"]["message_type"] in EXCLUDED_KINDS}
    messages = cloud.dump("chat_messages", visible_to="1")
    chosen = chance.choice([one for one in messages if one["id"].partition(":")[0] not in left_out])
    chat, _, number = chosen["id"].partition(":")
    # The file of a message that is deleted after its upload stays on the box, so messages with files are only edited.
    op = chance.choice(
        ("update", "add") if "FILE_ID" in (chosen["fields"]["params"] or {}) else ("update", "delete", "add")
    )
    where = {"chat": int(chat)} if op == "add" else {"chat": int(chat), "id": int(number)}
    cloud.mutate(stream="chat_messages", op=op, **where, **({} if op == "delete" else {"fields": _words(chance)}))
    return op


def _sell(cloud: Portal, chance: random.Random) -> str:
    return _change(cloud, chance, SOLD)


def _follow(cloud: Portal, chance: random.Random) -> str:
    """Changes or adds calls, activities and comments of CRM records."""
    if chance.random() < 0.5:
        return _change(cloud, chance, FOLLOWED)
    stream = chance.choice(ADDED)
    cloud.mutate(stream=stream, op="add")
    return f"{stream} added"


def _change(cloud: Portal, chance: random.Random, texts: Mapping[str, str]) -> str:
    stream = chance.choice([*texts])
    if rows := cloud.dump(stream):
        text = _words(chance)["text"]
        cloud.mutate(stream=stream, op="update", id=chance.choice(rows)["id"], fields={texts[stream]: text})
    return f"{stream} changed"


def _work(cloud: Portal, chance: random.Random) -> str:
    # A comment that the portal shows twice would become two if it was changed in one place only.
    comment = chance.choice([one for one in cloud.dump("task_comments") if not (one["forum"] and one["message"])])
    task, text = int(comment["fields"]["task_id"]), _words(chance)["text"]
    wishes = (
        {"stream": "tasks", "op": "update", "id": task, "fields": {"TITLE": f"Иначе {chance.randrange(1000)}"}},
        {"stream": "task_checklists", "op": "add", "task": task},
        {"stream": "task_comments", "op": "add", "task": task},
        {
            "stream": "task_comments",
            "op": "update",
            "task": task,
            "id": comment["forum"],
            "fields": {"POST_MESSAGE": text},
        }
        if comment["forum"]
        else {
            "stream": "task_comments",
            "op": "update",
            "task": task,
            "id": comment["message"],
            "fields": {"text": text},
        },
    )
    cloud.mutate(**(wish := chance.choice(wishes)))
    return f"{wish['stream']} changed"


def _post(cloud: Portal, chance: random.Random) -> str:
    post = int(chance.choice(cloud.dump("feed_posts", visible_to="1"))["id"])
    wishes = (
        {"stream": "feed_posts", "op": "update", "id": post, "fields": {"DETAIL_TEXT": _words(chance)["text"]}},
        {"stream": "feed_posts", "op": "add"},
        {"stream": "feed_comments", "op": "add", "post": post},
    )
    cloud.mutate(**(wish := chance.choice(wishes)))
    return f"{wish['stream']} changed"


def _words(chance: random.Random) -> Rule:
    return {"text": f"Исправлено {chance.randrange(10_000)}: [USER=1]Шеф[/USER]"}
