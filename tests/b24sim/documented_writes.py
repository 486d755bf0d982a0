"""Every writing method of a box once, in an order in which each finds what it needs."""

import base64
import json
import zlib
from collections import defaultdict
from typing import Any

from tests.b24sim.client import call, send

from b24sim import Running
from b24sim.company.catalog import OFFERS, PRODUCTS

CONTENT = base64.b64encode(b"bytes").decode()
ROOT = (
    'a:4:{s:4:"Type";s:26:"SequentialWorkflowActivity";s:4:"Name";s:8:"Template";'
    's:10:"Properties";a:0:{}s:8:"Children";a:0:{}}'
)
TEMPLATE = (
    f'a:6:{{s:7:"VERSION";i:2;s:8:"TEMPLATE";a:1:{{i:0;{ROOT}}}s:10:"PARAMETERS";a:0:{{}}s:9:"VARIABLES";a:0:{{}}'
    's:9:"CONSTANTS";a:0:{}s:15:"DOCUMENT_FIELDS";a:0:{}}'
)

PICTURE = {"fileData": ["a.png", CONTENT]}
GOODS = {
    "code": None, "xmlId": "1243", "previewPicture": PICTURE, "detailPicture": PICTURE, "weight": 100, "width": 100,
    "height": 100, "length": 100, "measure": 6, "vatId": 2, "purchasingPrice": 1000, "purchasingCurrency": "EUR",
    "dateActiveFrom": "2024-05-28T10:00:00+03:00", "dateActiveTo": "2024-05-29T10:00:00+03:00",
}  # fmt: skip


class Writer:
    """Calls, and keeps what was answered."""

    def __init__(self, box: Running):
        self.box = box
        self.answers: dict[str, list[Any]] = defaultdict(list)

    def do(self, method: str, params: Any = None) -> Any:
        return self._kept(method, call(self.box, method, params).json)

    def as_application(self, method: str, params: Any) -> Any:
        keys = self.box.portal.application
        assert keys is not None
        body = json.dumps({"auth": keys.access_token} | params).encode()
        return self._kept(
            method, send(f"{self.box.url}/rest/{method}", body, {"Content-Type": "application/json"}).json
        )

    def _kept(self, method: str, answer: Any) -> Any:
        assert "error" not in answer, (method, answer)
        del answer["time"]
        self.answers[method].append(answer)
        return answer["result"]


def write_everything(writer: Writer) -> None:
    families = (_people, _groups, _drive_and_chats, _feed, _tasks, _structure, _records, _fields, _templates)
    for family in (*families, _currencies, _dictionaries, _properties, _products, _requisites):
        family(writer)


def _people(writer: Writer) -> None:
    do = writer.do
    number = do("user.add", {"EMAIL": "a@company.example", "UF_DEPARTMENT": [1], "NAME": "A"})
    do("user.update", {"ID": number, "NAME": "B"})
    do("department.add", {"NAME": "Sales", "PARENT": 1})
    department = do("department.get", {"NAME": "Sales"})[0]["ID"]
    do("department.update", {"ID": department, "NAME": "Trade"})
    do("department.delete", {"ID": department})


def _groups(writer: Writer) -> None:
    do = writer.do
    group = do("sonet_group.create", {"NAME": "Team"})
    do("sonet_group.update", {"GROUP_ID": group, "NAME": "Crew"})
    do("sonet_group_subject.get")
    member = {"GROUP_ID": group, "USER_ID": [2]}
    do("sonet_group.user.add", member)
    do("sonet_group.user.update", member | {"ROLE": "E"})
    do("sonet_group.user.delete", member)
    do("sonet_group.user.add", member)
    do("sonet_group.setowner", {"GROUP_ID": group, "USER_ID": 2})
    do("sonet_group.delete", {"GROUP_ID": group})


def _drive_and_chats(writer: Writer) -> None:
    do = writer.do
    storage = do("disk.storage.getlist", {"filter": {"ENTITY_TYPE": "user"}})[0]
    do("disk.storage.get", {"id": storage["ID"]})
    folder = do("disk.folder.addsubfolder", {"id": storage["ROOT_OBJECT_ID"], "data": {"NAME": "Moved"}})["ID"]
    file = _uploaded(writer, folder)
    do("disk.folder.get", {"id": folder})
    do("disk.folder.getchildren", {"id": folder})
    do("disk.storage.getchildren", {"id": storage["ID"]})
    do("disk.folder.sharetouser", {"id": folder, "userId": 2, "taskName": "disk_access_read"})
    other = do("disk.folder.addsubfolder", {"id": folder, "data": {"NAME": "Further"}})["ID"]
    do("disk.file.copyto", {"id": file, "targetFolderId": other})
    do("disk.file.delete", {"id": do("disk.folder.getchildren", {"id": other})[0]["ID"]})
    do("disk.file.moveto", {"id": file, "targetFolderId": other})
    do("disk.file.delete", {"id": file})
    chat = do("im.chat.add", {"TITLE": "Talk", "USERS": [2]})
    dialog = {"DIALOG_ID": f"chat{chat}"}
    answer = do("im.message.add", dialog | {"MESSAGE": "hi"})
    do("im.message.update", {"MESSAGE_ID": answer, "MESSAGE": "ho"})
    do("im.message.like", {"MESSAGE_ID": answer, "ACTION": "plus"})
    do("im.message.delete", {"MESSAGE_ID": answer})
    shown = _uploaded(writer, do("im.disk.folder.get", {"CHAT_ID": chat})["ID"])
    do("im.disk.file.commit", {"CHAT_ID": chat, "UPLOAD_ID": shown})
    do("im.v2.File.upload", {"dialogId": f"chat{chat}", "fields": {"name": "b.txt", "content": CONTENT}})
    do("im.chat.updatetitle", {"CHAT_ID": chat, "TITLE": "Chat"})
    do("im.chat.updatecolor", {"CHAT_ID": chat, "COLOR": "MINT"})
    do("im.chat.updateavatar", {"CHAT_ID": chat, "AVATAR": CONTENT})
    do("im.chat.user.delete", {"CHAT_ID": chat, "USER_ID": 2})
    do("im.chat.user.add", {"CHAT_ID": chat, "USERS": [2]})
    do("im.chat.setmanager", {"CHAT_ID": chat, "USER_ID": 2, "IS_MANAGER": "Y"})
    do("im.chat.setowner", {"CHAT_ID": chat, "USER_ID": 2})
    do("im.chat.leave", {"CHAT_ID": chat})


def _uploaded(writer: Writer, folder: Any) -> Any:
    body = {"id": folder, "data": {"NAME": "a.txt"}, "fileContent": ["a.txt", CONTENT]}
    return writer.do("disk.folder.uploadfile", body)["ID"]


def _feed(writer: Writer) -> None:
    do = writer.do
    post = do("log.blogpost.add", {"POST_MESSAGE": "Text", "DEST": ["U1"]})
    do("log.blogpost.update", {"POST_ID": post, "POST_MESSAGE": "Other"})
    do("log.blogpost.share", {"POST_ID": post, "DEST": ["UA"]})
    comment = do("log.blogcomment.add", {"POST_ID": post, "TEXT": "+1"})
    do("log.blogcomment.delete", {"COMMENT_ID": comment})
    do("log.blogpost.delete", {"POST_ID": post})


def _tasks(writer: Writer) -> None:
    do = writer.do
    task = int(do("tasks.task.add", {"fields": {"TITLE": "x", "RESPONSIBLE_ID": 1}})["task"]["id"])
    do("tasks.task.update", {"taskId": task, "fields": {"TITLE": "y"}})
    item = do("task.checklistitem.add", {"TASKID": task, "FIELDS": {"TITLE": "List"}})
    of_item = {"TASKID": task, "ITEMID": item}
    do("task.checklistitem.get", of_item)
    do("task.checklistitem.update", of_item | {"FIELDS": {"TITLE": "Other"}})
    do("task.checklistitem.complete", of_item)
    do("task.checklistitem.renew", of_item)
    do("task.checklistitem.delete", of_item)
    answer = do("task.commentitem.add", {"TASKID": task, "FIELDS": {"POST_MESSAGE": "said"}})
    do("task.commentitem.update", {"TASKID": task, "ITEMID": answer, "FIELDS": {"POST_MESSAGE": "else"}})
    do("task.commentitem.delete", {"TASKID": task, "ITEMID": answer})
    root = do("disk.storage.getlist", {"filter": {"ENTITY_TYPE": "user"}})[0]["ROOT_OBJECT_ID"]
    do("tasks.task.files.attach", {"taskId": task, "fileId": _uploaded(writer, root)})
    do("tasks.task.delete", {"taskId": task})
    field = {"USER_TYPE_ID": "string", "FIELD_NAME": "REVIEW", "EDIT_FORM_LABEL": {"ru": "Проверка"}}
    number = do("task.item.userfield.add", {"PARAMS": field})
    do("task.item.userfield.update", {"ID": number, "DATA": {"EDIT_FORM_LABEL": {"ru": "Итог"}}})
    do("task.item.userfield.delete", {"ID": number})


def _structure(writer: Writer) -> None:
    do = writer.do
    pipeline = do("crm.category.add", {"entityTypeId": 2, "fields": {"name": "Wholesale"}})["category"]["id"]
    of_deals = {"entityTypeId": 2, "id": pipeline}
    do("crm.category.get", of_deals)
    do("crm.category.update", of_deals | {"fields": {"name": "Retail"}})
    do("crm.category.delete", of_deals)
    entry = {"ENTITY_ID": "SOURCE", "STATUS_ID": "PARTNER", "NAME": "Partner", "SORT": 70}
    status = do("crm.status.add", {"fields": entry})
    do("crm.status.get", {"id": status})
    do("crm.status.update", {"id": status, "fields": {"NAME": "Ally"}})
    do("crm.status.delete", {"id": status})
    do("crm.status.add", {"fields": {**entry, "ENTITY_ID": "QUOTE_STATUS"}})
    smart = do("crm.type.add", {"fields": {"title": "Repairs"}})["type"]["id"]
    do("crm.type.update", {"id": smart, "fields": {"title": "Service"}})
    do("crm.type.delete", {"id": smart})


def _records(writer: Writer) -> None:
    do = writer.do
    deal = do("crm.item.add", {"entityTypeId": 2, "fields": {"title": "x"}})["item"]["id"]
    do("crm.item.update", {"entityTypeId": 2, "id": deal, "fields": {"title": "y"}})
    row = {"productName": "Free text", "price": 110, "quantity": 2}
    do("crm.item.productrow.set", {"ownerType": "D", "ownerId": deal, "productRows": [row]})
    do("crm.item.delete", {"entityTypeId": 2, "id": deal})
    do("crm.item.import", {"entityTypeId": 4, "fields": {"title": "A"}})
    do("crm.item.batchImport", {"entityTypeId": 4, "data": [{"title": "B"}, {"title": ""}]})


def _fields(writer: Writer) -> None:
    do = writer.do
    field = {"FIELD_NAME": "NOTE", "USER_TYPE_ID": "string", "EDIT_FORM_LABEL": "Note"}
    for prefix in ("crm.deal", "crm.contact", "crm.company", "user"):
        number = do(f"{prefix}.userfield.add", {"fields": field})
        do(f"{prefix}.userfield.update", {"id": number, "fields": {"SORT": 50}})
        do(f"{prefix}.userfield.delete", {"id": number})
    listed = {
        "entityId": "CRM_DEAL",
        "fieldName": "UF_CRM_KIND",
        "userTypeId": "enumeration",
        "enum": [{"value": "One"}],
    }
    made = do("userfieldconfig.add", {"moduleId": "crm", "field": listed})["field"]["id"]
    do("userfieldconfig.update", {"moduleId": "crm", "id": made, "field": {"editFormLabel": {"ru": "Вид"}}})
    do("userfieldconfig.delete", {"moduleId": "crm", "id": made})


def _templates(writer: Writer) -> None:
    method = "bizproc.workflow.template"
    packed = ["template.bpt", base64.b64encode(zlib.compress(TEMPLATE.encode())).decode()]
    wish = {"DOCUMENT_TYPE": ["crm", "CCrmDocumentDeal", "DEAL"], "NAME": "Approve", "TEMPLATE_DATA": packed}
    number = writer.as_application(f"{method}.add", wish)
    writer.as_application(f"{method}.update", {"ID": number, "FIELDS": {"NAME": "Other"}})
    writer.as_application(f"{method}.delete", {"ID": number})


def _currencies(writer: Writer) -> None:
    do = writer.do
    do("crm.currency.add", {"fields": {"CURRENCY": "CNY", "AMOUNT_CNT": 1, "AMOUNT": 12.2251}})
    do("crm.currency.update", {"id": "CNY", "fields": {"SORT": 200}})
    do("crm.currency.delete", {"id": "CNY"})


def _dictionaries(writer: Writer) -> None:
    made = {
        "measure": {
            "code": 715,
            "measureTitle": "Pair",
            "symbol": "PAIR",
            "symbolIntl": "pr; 2",
            "symbolLetterIntl": "NPR",
        },
        "vat": {"name": "Tax 13%", "rate": 13, "sort": 10},
        "priceType": {"name": "Wholesale price", "sort": 10, "xmlId": "wholesale"},
        "section": {"iblockId": PRODUCTS, "name": "Toys", "code": "toys", "description": "For children", "xmlId": "x"},
    }
    for name, fields in made.items():
        number = writer.do(f"catalog.{name}.add", {"fields": fields})[name]["id"]
        writer.do(f"catalog.{name}.update", {"id": number, "fields": fields | {"sort": 20}})
        writer.do(f"catalog.{name}.delete", {"id": number})


def _properties(writer: Writer) -> None:
    do = writer.do
    fields = {"iblockId": PRODUCTS, "name": "Category", "code": "CATEGORY", "propertyType": "L"}
    number = do("catalog.productProperty.add", {"fields": fields})["productProperty"]["id"]
    do("catalog.productProperty.update", {"id": number, "fields": {"name": "Kind"}})
    value = {"propertyId": number, "value": "Average", "xmlId": "M"}
    option = do("catalog.productPropertyEnum.add", {"fields": value})["productPropertyEnum"]["id"]
    do("catalog.productPropertyEnum.update", {"id": option, "fields": {"sort": 100}})
    do("catalog.productPropertyEnum.delete", {"id": option})
    do("catalog.productProperty.delete", {"id": number})


def _products(writer: Writer) -> None:
    do = writer.do
    made: dict[str, int] = {}
    for name, key in (
        ("product.sku", "sku"),
        ("product.offer", "offer"),
        ("product", "element"),
        ("product.service", "service"),
    ):
        fields = {"iblockId": OFFERS if key == "offer" else PRODUCTS, "name": "Goods", **GOODS}
        parent = {"parentId": made["sku"]} if key == "offer" else {}
        made[key] = do(f"catalog.{name}.add", {"fields": fields | parent})[key]["id"]
        do(f"catalog.{name}.update", {"id": made[key], "fields": {"sort": 10}})
    price = {"productId": made["element"], "catalogGroupId": 2, "price": 100.5, "currency": "USD"}
    number = do("catalog.price.add", {"fields": price})["price"]["id"]
    do("catalog.price.update", {"id": number, "fields": price | {"price": 120.75}})
    do("catalog.price.delete", {"id": number})
    for name, key in (
        ("product.offer", "offer"),
        ("product.sku", "sku"),
        ("product", "element"),
        ("product.service", "service"),
    ):
        do(f"catalog.{name}.delete", {"id": made[key]})


def _requisites(writer: Writer) -> None:
    do = writer.do
    company = do("crm.item.import", {"entityTypeId": 4, "fields": {"title": "Client"}})["item"]["id"]
    deal = do("crm.item.add", {"entityTypeId": 2, "fields": {"title": "x", "companyId": company}})["item"]["id"]
    template = {"ENTITY_TYPE_ID": 8, "COUNTRY_ID": 1, "NAME": "Branch"}
    preset = do("crm.requisite.preset.add", {"fields": template})
    do("crm.requisite.preset.update", {"id": preset, "fields": {"NAME": "Office"}})
    of_preset = {"preset": {"ID": preset}}
    field = do("crm.requisite.preset.field.add", of_preset | {"fields": {"FIELD_NAME": "RQ_INN", "SORT": 10}})
    do("crm.requisite.preset.field.update", of_preset | {"id": field, "fields": {"SORT": 20}})
    do("crm.requisite.preset.field.delete", of_preset | {"id": field})
    owner = {"ENTITY_TYPE_ID": 4, "ENTITY_ID": company}
    number = do("crm.requisite.add", {"fields": owner | {"PRESET_ID": preset, "NAME": "A", "RQ_INN": "77"}})
    do("crm.requisite.update", {"id": number, "fields": {"RQ_INN": "78"}})
    account = do("crm.requisite.bankdetail.add", {"fields": {"ENTITY_ID": number, "NAME": "Bank"}})
    do("crm.requisite.bankdetail.update", {"id": account, "fields": {"RQ_BIK": "04"}})
    place = {"TYPE_ID": 1, "ENTITY_TYPE_ID": 8, "ENTITY_ID": number}
    do("crm.address.add", {"fields": place | {"CITY": "Kazan"}})
    do("crm.address.update", {"fields": place | {"CITY": "Perm"}})
    chosen = {"REQUISITE_ID": number, "BANK_DETAIL_ID": account, "MC_REQUISITE_ID": 0, "MC_BANK_DETAIL_ID": 0}
    do("crm.requisite.link.register", {"fields": {"ENTITY_TYPE_ID": 2, "ENTITY_ID": deal} | chosen})
    do("crm.requisite.link.unregister", {"entityTypeId": 2, "entityId": deal})
    do("crm.address.delete", {"fields": place})
    do("crm.requisite.bankdetail.delete", {"id": account})
    do("crm.requisite.delete", {"id": number})
    do("crm.requisite.preset.delete", {"id": preset})
    wish = {"FIELD_NAME": "NOTE", "USER_TYPE_ID": "string", "EDIT_FORM_LABEL": "Note"}
    made = do("crm.requisite.userfield.add", {"fields": wish})
    do("crm.requisite.userfield.update", {"id": made, "fields": {"SORT": 50}})
    do("crm.requisite.userfield.delete", {"id": made})
