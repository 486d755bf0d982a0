"""Every stream that a box can take by itself."""

from __future__ import annotations

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
        *ITEMS,
        tasks.TASKS,
        task_talk.CHECKLISTS,
        task_talk.COMMENTS,
        feed.POSTS,
        feed_comments.COMMENTS,
        workflows.TEMPLATES,
    )
}
