"""The writing methods that a box has without any module: each with the limits it is documented with."""

from b24sim.context import Method
from b24sim.native import (
    catalog,
    catalog_products,
    chats,
    checklists,
    crm_currencies,
    crm_fields,
    crm_items,
    crm_products,
    crm_structure,
    crm_types,
    departments,
    disk,
    disk_rights,
    feed,
    feed_comments,
    group_members,
    groups,
    im_import,
    messages,
    requisites,
    task_comments,
    task_fields,
    tasks,
    user_fields,
    users,
    workflow_templates,
)

PEOPLE = (users, departments, user_fields)
CRM = (crm_structure, crm_types, crm_fields, crm_items, crm_products, crm_currencies, requisites)
CATALOG = (catalog, catalog_products)
TASKS = (tasks, checklists, task_comments, task_fields)
TALK = (groups, group_members, chats, messages, im_import, feed, feed_comments, disk, disk_rights)
WORKFLOWS = (workflow_templates,)


def native_methods() -> list[Method]:
    return [method for room in (*PEOPLE, *CRM, *CATALOG, *TASKS, *TALK, *WORKFLOWS) for method in room.METHODS]
