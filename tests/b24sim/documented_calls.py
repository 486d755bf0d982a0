"""One call or more of every method that a cloud portal serves, so that its answers can be compared with the pages."""

from collections.abc import Callable, Iterable
from typing import Any

from b24sim import Portal
from b24sim.company.catalog import PRODUCTS
from b24sim.company.chats import PRIVATE, TASK
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE
from b24sim.methods.timeline import NAMES

Params = dict[str, Any]
Calls = Callable[[Portal], Iterable[Params]]

LISTED = [
    "ID", "TITLE", "DESCRIPTION", "STATUS", "DEADLINE", "CREATED_DATE", "RESPONSIBLE_ID", "ACCOMPLICES", "AUDITORS",
    "TAGS", "COUNTERS", "PRIORITY", "MARK",
]  # fmt: skip
WISHES = ("WITH_TIMER_INFO", "WITH_RESULT_INFO", "WITH_PARSED_DESCRIPTION")
SHOWN = [
    "ID",
    "TITLE",
    "DESCRIPTION",
    "CREATED_BY",
    "RESPONSIBLE_ID",
    "DEADLINE",
    "UF_CRM_TASK",
    "UF_TASK_WEBDAV_FILES",
]
INSTANCE = [
    "ID", "MODIFIED", "OWNED_UNTIL", "MODULE_ID", "ENTITY", "DOCUMENT_ID", "STARTED", "STARTED_BY", "TEMPLATE_ID",
]  # fmt: skip
OF_DEALS = [
    "ID", "TITLE", "TYPE_ID", "CATEGORY_ID", "STAGE_ID", "OPPORTUNITY", "IS_MANUAL_OPPORTUNITY", "ASSIGNED_BY_ID",
    "DATE_CREATE",
]  # fmt: skip
OF_CONTACTS = ["ID", "NAME", "LAST_NAME", "EMAIL", "EXPORT", "ASSIGNED_BY_ID", "DATE_CREATE"]
OF_LEADS = [
    "id", "title", "lastName", "name", "stageId", "sourceId", "assignedById", "opportunity", "isManualOpportunity",
]  # fmt: skip
OF_QUOTES = ["ID", "TITLE", "STATUS_ID", "OPPORTUNITY", "CURRENCY_ID", "ASSIGNED_BY_ID"]
OF_LEADS_OLDER = [
    "ID", "TITLE", "HONORIFIC", "NAME", "SECOND_NAME", "LAST_NAME", "COMPANY_TITLE", "COMPANY_ID", "CONTACT_ID",
    "IS_RETURN_CUSTOMER", "BIRTHDATE", "SOURCE_ID", "SOURCE_DESCRIPTION", "STATUS_ID", "STATUS_DESCRIPTION", "POST",
    "COMMENTS", "CURRENCY_ID", "OPPORTUNITY", "IS_MANUAL_OPPORTUNITY", "HAS_PHONE", "HAS_EMAIL", "HAS_IMOL",
    "ASSIGNED_BY_ID", "CREATED_BY_ID", "MODIFY_BY_ID", "DATE_CREATE", "DATE_MODIFY", "DATE_CLOSED",
    "STATUS_SEMANTIC_ID", "OPENED", "ORIGINATOR_ID", "ORIGIN_ID", "MOVED_BY_ID", "MOVED_TIME", "UTM_SOURCE",
    "UTM_MEDIUM", "UTM_CAMPAIGN", "UTM_CONTENT", "UTM_TERM", "LAST_ACTIVITY_BY", "LAST_ACTIVITY_TIME",
]  # fmt: skip


def _once(**params: Any) -> Calls:
    return lambda _portal: [params]


def _each(name: str, ids: Callable[[Portal], Iterable[Any]], **more: Any) -> Calls:
    return lambda portal: [{name: number} | more for number in ids(portal)]


def _groups(portal: Portal) -> list[int]:
    return list(portal.company.groups.ids)


def _chats(portal: Portal) -> list[int]:
    company = portal.company
    return [number for number, chat in company.chats.items() if company.readable(chat, 1)][:60]


def _dialogs(portal: Portal) -> list[str]:
    return [f"chat{number}" for number in _chats(portal)]


def _tasks(portal: Portal) -> list[int]:
    return portal.company.tasks.table.ids[:40]


def _task_chat(portal: Portal) -> list[Params]:
    tasks = portal.company.tasks
    with_chat = [number for number in tasks.table.ids if tasks.chat_of(number)]
    return [{"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": str(number)} for number in with_chat[:1]]


def _smart_types(portal: Portal) -> list[int]:
    return [smart.entity_type_id for smart in portal.company.crm.smart_types]


def _records_of(entity_type_id: int) -> Calls:
    def calls(portal: Portal) -> Iterable[Params]:
        crm = portal.company.crm
        ids = crm.items[entity_type_id].ids[:20]
        return [{"entityTypeId": entity_type_id, "id": number} for number in ids]

    return calls


def _records(entity_type_id: int) -> Calls:
    return _each("ID", lambda portal: portal.company.crm.items[entity_type_id].ids[:20])


def _deals_with_products(portal: Portal) -> list[Params]:
    crm = portal.company.crm
    deals = [number for number in crm.items[DEAL].ids if crm.product_rows(DEAL, number)][:10]
    return [{"filter": {"=ownerType": "D", "=ownerId": number}} for number in deals]


def _products_with_pictures(portal: Portal) -> list[int]:
    catalog = portal.company.catalog
    return [number for number in catalog.products[PRODUCTS] if catalog.pictures(number)][:5]


def _user_fields(portal: Portal) -> list[Params]:
    fields = [field for items in portal.company.crm.items.values() for field in items.fields]
    return [{"moduleId": "crm", "id": field.id} for field in fields]


def _attachments(portal: Portal) -> list[int]:
    """Of posts that the administrator sees."""
    company = portal.company
    posts = company.feed.seen_with(company.access_codes(1))
    return [number for post in posts for number in company.feed_rows.posts.row(post.id).get("FILES", [])][:20]


def _files_in_chats(portal: Portal) -> list[Params]:
    company = portal.company
    rows = [
        (chat, company.correspondence.row(chat, place)["params"])
        for chat in map(company.chats.__getitem__, _chats(portal))
        for place in range(len(chat))
        if chat.kind != TASK
    ]
    files = [(chat, file) for chat, params in rows if isinstance(params, dict) for file in params.get("FILE_ID", ())]
    return [{"dialogId": chat.dialog_id, "fileId": file} for chat, file in files if chat.kind != PRIVATE][:20]


def _owners(portal: Portal) -> list[tuple[int, int]]:
    timeline = portal.company.timeline
    return [owner for number in timeline.comments for owner in timeline.owners(number) if owner[0] in NAMES][:20]


def _comments(portal: Portal) -> Iterable[Params]:
    return [{"filter": {"ENTITY_TYPE": NAMES[kind], "ENTITY_ID": number}} for kind, number in _owners(portal)]


def _notes(portal: Portal) -> Iterable[Params]:
    timeline, activities = portal.company.timeline, portal.company.activities
    noted = [number for number in activities.activities if timeline.note(2, number) and activities.bindings(number)][:5]
    bound = [(number, *activities.bindings(number)[0]) for number in noted]
    return [{"ownerTypeId": kind, "ownerId": one, "itemType": 2, "itemId": number} for number, kind, one in bound]


def _entries(portal: Portal) -> Iterable[Params]:
    return [{"entityTypeId": kind, "entityId": number} for kind, number in _owners(portal)]


CALLS: dict[str, Calls] = {
    "crm.deal.recurring.list": _once(order={"ID": "ASC"}),
    "crm.requisite.preset.list": _once(order={"ID": "ASC"}),
    "crm.requisite.preset.field.list": lambda portal: [
        {"preset": {"ID": number}} for number in portal.company.requisites.presets
    ],
    "crm.requisite.list": _once(order={"ID": "ASC"}),
    "crm.requisite.bankdetail.list": _once(order={"ID": "ASC"}),
    "crm.requisite.userfield.list": lambda _portal: [{}, {"filter": {"LANG": "ru"}}],
    "crm.requisite.link.list": _once(order={"ENTITY_ID": "ASC"}),
    "crm.address.list": _once(order={"ENTITY_ID": "ASC"}),
    "crm.activity.list": _once(select=["*", "COMMUNICATIONS", "FILES"]),
    "crm.activity.get": _each(
        "id", lambda portal: [one for one in portal.company.activities.activities.ids[:20] if one % 20 != 16]
    ),
    "crm.activity.binding.list": _each("activityId", lambda portal: portal.company.activities.activities.ids[:20]),
    "crm.timeline.comment.list": _comments,
    "crm.timeline.comment.get": _each("id", lambda portal: portal.company.timeline.comments.ids[:20]),
    "crm.timeline.bindings.list": lambda portal: [
        {"filter": {"OWNER_ID": number}} for number in portal.company.timeline.comments.ids[:20]
    ],
    "crm.timeline.note.get": _notes,
    "crm.timeline.logmessage.list": _entries,
    "crm.timeline.logmessage.get": _each("id", lambda portal: portal.company.timeline.entries.ids[:5]),
    "voximplant.statistic.get": _once(SORT="ID", ORDER="ASC"),
    "profile": _once(),
    "user.admin": _once(),
    "scope": _once(),
    "methods": _once(),
    "method.get": _once(name="user.get"),
    "app.info": _once(),
    "server.time": _once(),
    "feature.get": _once(CODE="rest_auth_connector"),
    "im.revision.get": _once(),
    "user.get": _once(ADMIN_MODE=True),
    "user.search": _once(FIND="а"),
    "user.current": _once(),
    "user.fields": _once(),
    "user.userfield.list": lambda _portal: [{}, {"FILTER": {"LANG": "ru"}}],
    "department.get": _once(),
    "sonet_group.get": _once(IS_ADMIN="Y"),
    "sonet_group.user.get": _each("ID", _groups),
    "sonet_group.user.groups": _once(),
    "socialnetwork.api.workgroup.list": _once(
        select=["ID", "NAME", "TYPE", "AVATAR"], params={"mode": "mobile", "shouldSelectDialogId": "Y"}
    ),
    "socialnetwork.api.workgroup.get": lambda portal: [
        {"params": {"groupId": number, "select": ["DEPARTMENTS", "TAGS"]}} for number in _groups(portal)
    ],
    "im.recent.list": lambda _portal: [{}, {"SKIP_DIALOG": "Y"}],
    "im.recent.get": _once(),
    "im.dialog.get": _each("DIALOG_ID", _dialogs),
    "im.chat.get": _task_chat,
    "im.chat.user.list": _each("CHAT_ID", _chats),
    "im.dialog.users.list": _each("DIALOG_ID", _dialogs),
    "im.user.get": _each("ID", lambda portal: portal.company.users.ids),
    "im.user.list.get": lambda portal: [{"ID": portal.company.users.ids, "RESULT_TYPE": "array"}],
    "im.search.chat.list": _once(FIND="ро"),
    "im.dialog.messages.get": _each("DIALOG_ID", _dialogs, LAST_ID=0, LIMIT=50),
    "im.dialog.messages.search": _each("CHAT_ID", _chats),
    "im.v2.File.download": _files_in_chats,
    "disk.attachedObject.get": _each("id", _attachments),
    "disk.file.get": lambda portal: [{"id": params["fileId"]} for params in _files_in_chats(portal)],
    "log.blogpost.get": _once(),
    "log.blogpost.getusers.important": _each("POST_ID", lambda portal: portal.company.feed.posts),
    "log.blogcomment.user.get": _each("USER_ID", lambda portal: portal.company.users.ids),
    "tasks.task.list": _once(select=LISTED, params=dict.fromkeys(WISHES, True)),
    "tasks.task.get": _each("taskId", _tasks, select=SHOWN),
    "tasks.task.getFields": _once(),
    "task.item.list": _once(),
    "task.items.getlist": _once(),
    "task.item.getdata": _each("TASKID", _tasks),
    "task.item.gettags": _each("TASKID", _tasks),
    "task.checklistitem.getlist": _each("TASKID", _tasks),
    "task.commentitem.getlist": _each("TASKID", _tasks),
    "task.elapseditem.getlist": _each("TASKID", _tasks),
    "task.item.userfield.getlist": _once(),
    "task.item.userfield.get": lambda portal: [{"ID": row["ID"]} for row in portal.company.tasks.user_fields],
    "bizproc.workflow.template.list": _once(SELECT=["ID", "NAME", "USER_ID", "SYSTEM_CODE"]),
    "bizproc.workflow.instances": _once(SELECT=INSTANCE),
    "crm.item.list": _once(entityTypeId=LEAD, select=OF_LEADS),
    "crm.item.get": _records_of(LEAD),
    "crm.item.get (deal)": _records_of(DEAL),
    "crm.item.fields": lambda portal: [{"entityTypeId": number} for number in _smart_types(portal)],
    "crm.type.list": _once(),
    "crm.type.get": _each("id", lambda portal: portal.company.crm.types.ids),
    "crm.type.getByEntityTypeId": lambda portal: [
        {"entityTypeId": smart.entity_type_id} for smart in portal.company.crm.smart_types
    ],
    "crm.category.list": lambda portal: [{"entityTypeId": number} for number in (DEAL, *_smart_types(portal))],
    "crm.status.list": _once(),
    "crm.status.entity.types": _once(),
    "crm.currency.list": _once(),
    "crm.currency.get": _each("ID", lambda portal: portal.company.catalog.currencies),
    "crm.currency.base.get": _once(),
    "crm.currency.localizations.get": _each("ID", lambda portal: portal.company.catalog.currencies),
    "catalog.catalog.list": _once(),
    "catalog.section.list": _once(filter={"iblockId": PRODUCTS}, select=["id", "name", "sort"]),
    "catalog.productProperty.list": _once(select=["iblockId", "id", "name", "propertyType"]),
    "catalog.productPropertyEnum.list": _once(),
    "catalog.product.list": _once(select=["id", "iblockId", "*"], filter={"iblockId": PRODUCTS}),
    "catalog.productImage.list": _each("productId", _products_with_pictures),
    "catalog.price.list": _once(select=["id", "productId", "catalogGroupId", "price", "currency"]),
    "catalog.priceType.list": _once(select=["id", "name", "xmlId"]),
    "catalog.measure.list": _once(select=["id", "code", "symbolIntl"]),
    "catalog.vat.list": _once(select=["id", "name", "rate"], filter={">rate": 0}),
    "crm.enum.ownertype": _once(),
    "crm.settings.mode.get": _once(),
    "crm.item.productrow.list": _deals_with_products,
    "crm.deal.productrows.get": _records(DEAL),
    "crm.deal.list": _once(SELECT=OF_DEALS),
    "crm.contact.list": _once(SELECT=OF_CONTACTS),
    "crm.company.list": _once(SELECT=["TITLE", "ASSIGNED_BY_ID", "PHONE"]),
    "crm.deal.get": _records(DEAL),
    "crm.contact.get": _records(CONTACT),
    "crm.company.get": _records(COMPANY),
    "crm.contact.company.items.get": _records(CONTACT),
    "crm.deal.contact.items.get": _records(DEAL),
    "crm.deal.userfield.list": _once(FILTER={"LANG": "ru"}),
    "crm.lead.contact.items.get": _records(LEAD),
    "crm.lead.list": _once(SELECT=OF_LEADS_OLDER),
    "crm.lead.productrows.get": _records(LEAD),
    "crm.lead.userfield.list": _once(FILTER={"LANG": "ru"}),
    "crm.quote.contact.items.get": _records(QUOTE),
    "crm.quote.list": _once(SELECT=OF_QUOTES),
    "crm.quote.productrows.get": _records(QUOTE),
    "crm.quote.userfield.list": _once(FILTER={"LANG": "ru"}),
    "crm.contact.userfield.list": _once(FILTER={"LANG": "ru"}),
    "crm.company.userfield.list": _once(FILTER={"LANG": "ru"}),
    "userfieldconfig.list": _once(moduleId="crm"),
    "userfieldconfig.get": _user_fields,
}
