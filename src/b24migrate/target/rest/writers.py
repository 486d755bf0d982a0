"""Every stream that a box can take by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from b24migrate.target.rest import (
    chats,
    crm_stages,
    crm_structure,
    feed,
    feed_comments,
    groups,
    messages,
    people,
    task_talk,
    tasks,
    workflows,
)
from b24migrate.target.rest.crm_items import ITEMS
from b24migrate.target.rest.crm_within import of_clients
from b24migrate.target.rest.words import Writer

WRITERS: dict[str, Writer] = {
    writer.stream: writer
    for writer in (
        people.DEPARTMENTS,
        people.USERS,
        groups.GROUPS,
        groups.MEMBERS,
        chats.CHATS,
        messages.MESSAGES,
        crm_structure.TYPES,
        crm_structure.PIPELINES,
        crm_stages.STAGES,
        *(replace(one, inside=partial(of_clients, stream=one.stream)) for one in ITEMS),
        tasks.TASKS,
        task_talk.CHECKLISTS,
        task_talk.COMMENTS,
        feed.POSTS,
        feed_comments.COMMENTS,
        workflows.TEMPLATES,
    )
}
