"""The source's truth: every record as far as the webhook's owner may see it, and what hangs on the records."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from tests.chaos.portals import Portal

Json = Any
Fields = dict[str, Json]
Rows = dict[str, Fields]
ME = "1"  # the owner of the source's webhook
# Chats that a rule leaves out: of tasks (they travel with them), open lines, talks with the assistant, notifications,
# and an unknown letter.
EXCLUDED_KINDS = frozenset({"X", "L", "A", "S", "G"})
LEAD, DEAL, CONTACT, COMPANY, QUOTE, INVOICE = 1, 2, 3, 4, 7, 31
NO_VALUES = ("E", "G", "F")  # types of properties that are links to other elements, and pictures
SALES = {"crm_leads": LEAD, "crm_quotes": QUOTE, "crm_invoices": INVOICE}
CRM = {"crm_deals": DEAL, "crm_contacts": CONTACT, "crm_companies": COMPANY, **SALES}
REQUISITES = (*("crm_requisite_presets", "crm_requisites", "crm_bank_details", "crm_addresses", "crm_requisite_links"),)
TIMELINE = ("crm_calls", "crm_activities", "crm_comments", "crm_notes", "crm_logs")
CATALOG = (
    *("crm_currencies", "crm_measures", "crm_vats", "crm_price_types", "crm_catalog_sections", "crm_product_props"),
    *("crm_products", "crm_prices"),
)
PLAIN = (
    *("departments", "users", "groups", "feed_posts", "workflow_templates"),
    *("crm_types", "crm_categories", "crm_stages", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems"),
    *("tasks", "task_checklists", "task_comments"),
    *SALES,
    *REQUISITES,
    "crm_recurring",
    *TIMELINE,
    *CATALOG,
)


class Attached(NamedTuple):
    """The file behind an attachment. Where its object may not be opened, the attachment itself is the file."""

    key: str
    object_id: str
    name: str
    size: int


@dataclass
class Source:
    rows: dict[str, Rows]
    forum: set[str]  # the task comments that the forum shows
    copied: set[str]  # and those of them that a chat shows once more
    disk: Rows  # files of chats
    custom: dict[str, list[Fields]]  # stream, or crm_spitems:<type> -> its custom fields
    ask: Callable[[str, Json], Json]
    url: str
    linked: dict[str, str] = field(default_factory=dict)  # users that the box has already: source id -> target id
    placeholder: str = ""
    templates: int = 0  # of recurring deals, which are no deals
    properties: int = 0  # of products, whose values mean nothing elsewhere
    # the target accepts CRM records in order of age only: no record waits for a parent in its own stream
    in_turn: bool = False
    _attached: dict[str, Attached] = field(default_factory=dict)
    _readable: dict[str, Json] = field(default_factory=dict)

    def __getitem__(self, stream: str) -> Rows:
        return self.rows[stream]

    @property
    def excluded_chats(self) -> set[str]:
        return {number for number, chat in self["chats"].items() if chat["message_type"] in EXCLUDED_KINDS}

    @cached_property
    def excluded_activities(self) -> set[str]:
        from tests.chaos.oracle.timeline import is_excluded  # which needs the source itself

        return {number for number, row in self["crm_activities"].items() if is_excluded(row)}

    @cached_property
    def type_ids(self) -> dict[str, str]:
        """entityTypeId -> the type's own id."""
        return {str(row["entityTypeId"]): number for number, row in self["crm_types"].items()}

    def attached(self, number: str) -> Attached:
        if number not in self._attached:
            answer = self.ask("disk.attachedObject.get", {"id": number})
            self._attached[number] = Attached(
                f"disk:{answer['OBJECT_ID']}", answer["OBJECT_ID"], answer["NAME"], int(answer["SIZE"])
            )
        return self._attached[number]

    def on_drive(self, number: str) -> Json:
        """The Drive's data of a file; None if the webhook's owner has no access."""
        if number not in self._readable:
            self._readable[number] = self.ask("disk.file.get", {"id": number})
        return self._readable[number]


def source_of(cloud: Portal, untaken: Collection[str] = ()) -> Source:
    """`untaken`: streams that the target does not take: what names their records names nothing."""

    def rows(stream: str, keep: Callable[[Json], bool] = lambda _: True) -> Rows:
        dump = () if stream in untaken else cloud.dump(stream, visible_to=ME)
        return {one["id"]: one["fields"] for one in dump if keep(one)}

    found = {stream: rows(stream) for stream in PLAIN}
    found["group_members"] = rows("group_members")  # the dismissed too, with the scope socialnetwork
    found["chats"] = rows("chats", lambda one: int(ME) in one["recent_for"])
    found["chat_messages"] = {
        key: row for key, row in rows("chat_messages").items() if key.partition(":")[0] in found["chats"]
    }
    # The portal shows the text of a comment to its author only.
    found["feed_comments"] = rows("feed_comments", lambda one: one["told"])
    for one in cloud.dump("tasks", visible_to=ME):
        found["tasks"][one["id"]] = {**one["fields"], "codes": one["codes"]}
    talk = cloud.dump("task_comments", visible_to=ME)
    forum = {one["id"] for one in talk if one["forum"] is not None}
    copied = {one["id"] for one in talk if one["id"] in forum and one["message"] is not None}
    url = cloud.webhook.partition("/rest/")[0]
    scheduled = {row["DEAL_ID"] for row in found["crm_recurring"].values()}
    rows_of_deals = found["crm_deals"].items()
    templates = [number for number, row in rows_of_deals if row["isRecurring"] == "Y" and number not in scheduled]
    for number in templates:
        del found["crm_deals"][number]
    linked = [key for key, row in found["crm_product_props"].items() if row["propertyType"] in NO_VALUES]
    for number in linked:
        del found["crm_product_props"][number]
    made = Source(found, forum, copied, rows("files"), _custom(cloud), cloud.ask, url, templates=len(templates))
    made.properties = len(linked)
    _leave_what_is_asked_for(made)
    return made


def _leave_what_is_asked_for(source: Source) -> None:
    """Data of a record that is not migrated is not requested."""
    from tests.chaos.oracle.timeline import asked  # which needs the source itself

    assert source.excluded_activities is not None  # counted before they go
    for stream in TIMELINE[1:]:
        source.rows[stream] = asked(source, stream)


def _custom(cloud: Portal) -> dict[str, list[Fields]]:
    """In one form: code, type, multiple, options (id -> value), and the one kind of CRM record it may name."""
    found: dict[str, list[Fields]] = {"users": [], "tasks": [], "crm_requisites": [], **{stream: [] for stream in CRM}}
    for stream, dump in (("users", "user_fields"), ("tasks", "task_fields")):
        for one in cloud.dump(dump):
            row = one["fields"]
            if row["XML_ID"] != row["FIELD_NAME"]:  # those of every portal have their own names as XML_ID
                found[stream].append(
                    _form(row["FIELD_NAME"], row["USER_TYPE_ID"], row["MULTIPLE"], row["SETTINGS"],
                          {str(option["ID"]): option["VALUE"] for option in row.get("LIST", [])})
                )  # fmt: skip
    owners = {f"CRM_{stream.removeprefix('crm_')[:-1].upper()}": stream for stream in CRM}
    owners["CRM_COMPANY"] = owners.pop("CRM_COMPANIE")
    owners["CRM_SMART_INVOICE"] = owners.pop("CRM_INVOICE")
    owners["CRM_REQUISITE"] = "crm_requisites"
    owners |= {f"CRM_{one['id']}": f"crm_spitems:{one['fields']['entityTypeId']}" for one in cloud.dump("crm_types")}
    for one in cloud.dump("crm_fields"):
        row = one["fields"]
        options = {option["id"]: option["value"] for option in row.get("enum", [])}
        form = _form(row["fieldName"], row["userTypeId"], row["multiple"], row["settings"], options)
        found.setdefault(owners[row["entityId"]], []).append(form)
    return found


def _form(code: str, kind: str, multiple: str, settings: Json, options: dict[str, str]) -> Fields:
    allowed = [name for name, yes in settings.items() if yes == "Y"] if kind == "crm" else []
    only = "CO" if allowed == ["COMPANY"] else ""
    return {"code": code, "type": kind, "multiple": multiple == "Y", "options": options, "only": only}
