"""Workflow templates, with the ids of other records that are buried in their trees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from b24migrate.entities.codes import (
    COMPANY,
    CONTACT,
    DEAL,
    FIRST_SMART_TYPE,
    SMART_INVOICE,
    STAGE_CODES,
    crm_code,
    stage_dictionary,
    type_id,
)
from b24migrate.entities.codes import recipient as person_or_group
from b24migrate.entities.readers import fetch_one_by_one
from b24migrate.messages import say
from b24migrate.model.activities import OUTGOING, find_forbidden, find_watched
from b24migrate.model.fidelity import Draft, Keeping, Rule
from b24migrate.model.fields import (
    ABSENT,
    Around,
    Field,
    Kind,
    Policy,
    Resolve,
    TreeRules,
    Unresolved,
    texts,
    times,
    wholes,
)
from b24migrate.model.readings import Keyset, Listing
from b24migrate.model.records import Json, Table
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import ChangeRules, Entity, ForbiddenParts, Stream, Written

SELECT = [
    "ID",
    "MODULE_ID",
    "ENTITY",
    "DOCUMENT_TYPE",
    "AUTO_EXECUTE",
    "NAME",
    "DESCRIPTION",
    "TEMPLATE",
    "PARAMETERS",
    "VARIABLES",
    "CONSTANTS",
    "MODIFIED",
    "IS_MODIFIED",
    "USER_ID",
    "SYSTEM_CODE",
]
BY_ID = Keyset("FILTER", "ID", {"ORDER": {"ID": "ASC"}}, {"ORDER": {"ID": "DESC"}})
DYNAMIC = re.compile(r"DYNAMIC_(\d+)")


# ---------------------------------------------------------------- codes inside texts

Rewrite = Callable[[re.Match[str], Resolve], str]


def _user(found: re.Match[str], resolve: Resolve) -> str:
    return f"user_{resolve('users', found[1])}"


def _department(found: re.Match[str], resolve: Resolve) -> str:
    return f"group_{found[1]}{resolve('departments', found[2])}"


def _group(found: re.Match[str], resolve: Resolve) -> str:
    return f"group_sg{resolve('groups', found[1])}"


def _deal_stage(found: re.Match[str], resolve: Resolve) -> str:
    return resolve(STAGE_CODES, f"{stage_dictionary(DEAL, found[1])}:{found[0]}")


def _smart_stage(found: re.Match[str], resolve: Resolve) -> str:
    return resolve(STAGE_CODES, f"{stage_dictionary(int(found[1]), found[2])}:{found[0]}")


def _smart_type(found: re.Match[str], resolve: Resolve) -> str:
    return f"{found[1]}{type_id(int(found[2]), resolve)}"


def _field(found: re.Match[str], resolve: Resolve) -> str:
    code = resolve.field(found[0])
    if code is None:
        raise Unresolved("", found[0], say("place.field", code=found[0]))
    return code


def _foreign(found: re.Match[str], _: Resolve) -> str:
    raise Unresolved("", found[0], say("place.not_migrated", what=found[0]))


WITHIN: tuple[tuple[re.Pattern[str], Rewrite], ...] = (
    (re.compile(r"(?<![A-Za-z0-9])user_(\d+)(?!\w)"), _user),
    (re.compile(r"(?<![A-Za-z0-9])group_(hrr?|dr?)(\d+)(?!\w)"), _department),
    (re.compile(r"(?<![A-Za-z0-9])group_sg(\d+)"), _group),
    (re.compile(r"(?<![A-Za-z0-9_])C(\d+):[A-Z0-9_]+"), _deal_stage),
    (re.compile(r"(?<![A-Za-z0-9_])DT(\d+)_(\d+):[A-Z0-9_]+"), _smart_stage),
    (re.compile(r"(?<![A-Za-z0-9_])(DYNAMIC_|PARENT_ID_)(\d+)(?!\w)"), _smart_type),
    (re.compile(r"(?<![A-Za-z0-9_])UF_[A-Z0-9_]*[A-Z0-9]"), _field),
    (re.compile(r"(?<![A-Za-z0-9_])(?:iblock|STORAGE)_\d+(?!\w)"), _foreign),
)
# fields of a task that every portal has
OF_EVERY_PORTAL = frozenset({"UF_CRM_TASK", "UF_TASK_WEBDAV_FILES", "UF_MAIL_MESSAGE", "UF_DEPARTMENT"})
# Too short to be searched inside a text: these must be the whole text.
CRM_CODE = re.compile(r"(?:D|CO?|L|Q|SI|T[0-9a-f]{2,})_\d+")
RIGHT = re.compile(r"(?:U|SG|DR|D)\d+(?:_[A-Z])?")
WORTH = re.compile(r"\d|UF_")  # every code has one of these; most texts of a template have neither


def rewrite_codes(record: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """Every code in a text. One that is not on the target stays, and its place is listed."""
    if not isinstance(value, str) or not WORTH.search(value):
        return value
    try:
        if CRM_CODE.fullmatch(value):
            return crm_code(value, resolve)
        if RIGHT.fullmatch(value):
            return person_or_group(record, value, resolve)
    except Unresolved as missing:
        resolve.missed(missing.what)
        return value
    for pattern, rewrite in WITHIN:
        value = pattern.sub(partial(_rewrite_or_keep, rewrite, resolve), value)
    return value


def _rewrite_or_keep(rewrite: Rewrite, resolve: Resolve, found: re.Match[str]) -> str:
    if found[0] in OF_EVERY_PORTAL:
        return found[0]
    try:
        return rewrite(found, resolve)
    except Unresolved as missing:
        resolve.missed(missing.what)
        return found[0]


# ---------------------------------------------------------------- ids under keys

OWNERS = {
    "templateid": "workflow_templates",
    "workflowtemplateid": "workflow_templates",
    "userid": "users",
    "groupid": "groups",
    "departmentid": "departments",
    "responsibleid": "users",
    "assignedbyid": "users",
    "createdby": "users",
    "modifiedby": "users",
    "companyid": "crm_companies",
    "contactid": "crm_contacts",
    "dealid": "crm_deals",
}
TYPE_KEYS = ("entitytypeid", "dynamictypeid")
PIPELINE_KEY = "categoryid"
TYPE_MADE = "DynamicTypeId"
DYNAMIC_MAP = "Dynamic"
LEAD, QUOTE = 1, 7
DOCUMENTS = {"LEAD": LEAD, "DEAL": DEAL, "CONTACT": CONTACT, "COMPANY": COMPANY, "QUOTE": QUOTE}
DOCUMENTS["SMART_INVOICE"] = SMART_INVOICE
MAKER = re.compile(r"CreateCrm(Lead|Deal|Contact|Company)DocumentActivity")
LIST_KEYS = ("iblockid",)


def owner_of(record: SourceRecord, around: Around, name: str, source_id: str) -> tuple[str, str] | None:
    """Whose id is under a key; None where it is a number like any other."""
    key = name.replace("_", "").lower()
    if key.endswith(TYPE_KEYS):
        return ("crm_types", source_id) if int(source_id) >= FIRST_SMART_TYPE else None
    if key.endswith(PIPELINE_KEY):
        return "crm_categories", f"{pipelines_of(record, around)}:{source_id}"
    if key.endswith(LIST_KEYS):
        return "lists", source_id
    stream = next((stream for ending, stream in OWNERS.items() if key.endswith(ending)), None)
    return None if stream is None else (stream, source_id)


def type_key(name: str, key: str) -> tuple[str, str] | None:
    """`DynamicEntitiesFields: {"128": ...}`: a key that is the number of a smart process."""
    return ("crm_types", key) if is_smart_type(name, key) else None


def is_smart_type(name: str, key: str) -> bool:
    return DYNAMIC_MAP in name and key.isdecimal() and int(key) >= FIRST_SMART_TYPE


def pipelines_of(record: SourceRecord, around: Around) -> int:
    """The CRM type that a pipeline is of: where records without pipelines name one, it is one of deals."""
    return made_by(around) or smart_document(record) or DEAL


def kind_of(record: SourceRecord, around: Around) -> int:
    """The CRM type of the records that an activity makes, or else of those that its template is for."""
    return made_by(around) or smart_document(record) or DOCUMENTS.get(str(document_type(record)), DEAL)


def made_by(around: Around) -> int | None:
    above = ["", *(name for name, _ in around)]
    for outer, (name, part) in reversed(list(zip(above, around, strict=False))):
        if is_smart_type(outer, name):
            return int(name)
        if str(part.get(TYPE_MADE)).isdecimal():
            return int(part[TYPE_MADE]) or None
        if maker := MAKER.fullmatch(str(part.get("Type"))):
            return DOCUMENTS[maker[1].upper()]
    return None


def document_type(record: SourceRecord) -> Json:
    """The documents show the type alone; the kernel puts module, class and type in its place
    (CBPWorkflowTemplateResult::fetch)."""
    value = record.payload.get("DOCUMENT_TYPE", ABSENT)
    return value[-1] if isinstance(value, list) and value else value


def smart_document(record: SourceRecord) -> int | None:
    smart = DYNAMIC.search(str(document_type(record)))
    return int(smart[1]) if smart else None


# ---------------------------------------------------------------- entries of dictionaries under keys

ENTRY = re.compile(r"[A-Z0-9_]+")
STAGE_KEYS = ("stageid", "statusid", "targetstatus")
# Without a prefix a stage is one of the default pipeline. Smart processes have none without: theirs are never found.
STAGES_OF = {LEAD: "STATUS", QUOTE: "QUOTE_STATUS", SMART_INVOICE: "SMART_INVOICE_STAGE"}
TYPES_OF = {DEAL: "DEAL_TYPE", CONTACT: "CONTACT_TYPE", COMPANY: "COMPANY_TYPE"}
DICTIONARIES = {"SOURCE_ID": "SOURCE", "INDUSTRY": "INDUSTRY", "EMPLOYEES": "EMPLOYEES", "HONORIFIC": "HONORIFIC"}


def entry(record: SourceRecord, around: Around, name: str, text: str, resolve: Resolve) -> str | None:
    """The target's code of a dictionary entry; None if the text is not an entry."""
    dictionary = dictionary_under(record, around, name)
    if dictionary is None:
        return None
    try:
        return resolve(STAGE_CODES, f"{dictionary}:{text}")
    except Unresolved as missing:
        if not ENTRY.fullmatch(text):
            return None
        resolve.missed(missing.what)
        return text


def dictionary_under(record: SourceRecord, around: Around, name: str) -> str | None:
    if name == "TYPE_ID":
        return TYPES_OF.get(kind_of(record, around))
    if not name.replace("_", "").lower().endswith(STAGE_KEYS):
        return DICTIONARIES.get(name)
    kind = kind_of(record, around)
    return f"DYNAMIC_{kind}_STAGE" if kind >= FIRST_SMART_TYPE else STAGES_OF.get(kind, stage_dictionary(DEAL, None))


# ---------------------------------------------------------------- conditions, and unknown activities

NAME = re.compile(r"[A-Z][A-Z0-9_]*")
OPERATOR = re.compile(r"[!=<>a-z_]+")  # else it is a list of three codes
PARTS = 3  # the field, how it is compared, and with what; whether all conditions or any of them must be met


def condition(row: Sequence[Json]) -> tuple[int, str] | None:
    """`["CATEGORY_ID", "=", "9", "0"]`: what a field is compared with is an id of the field's kind."""
    if len(row) < PARTS or not all(isinstance(part, str) for part in row[:2]):
        return None
    return (2, row[0]) if NAME.fullmatch(row[0]) and OPERATOR.fullmatch(row[1]) else None


def doubts(tree: Json) -> Iterator[tuple[str, str]]:
    """Activities that a person must look at. Of an application: it is not known what their properties mean, nor whether
    the box has the application. Those that are not standard come only where the configuration names them."""
    for place, kind in find_watched(tree):
        if kind.lower() == OUTGOING:
            yield place, say("place.outgoing", name=kind)
        else:
            yield place, say("place.install", name=kind)
    for part in find_forbidden({"TEMPLATE": tree}):
        yield part.place.removeprefix("TEMPLATE/"), say("place.code", name=part.name)


# ---------------------------------------------------------------- the stream


def switched_off(record: SourceRecord, fields: dict[str, Json], resolved: bool) -> None:
    """A template with unresolved IDs, or one that runs code of the source, must not start automatically."""
    if not resolved or find_forbidden(record.payload):
        fields["AUTO_EXECUTE"] = 0


OFF = say("reason.workflow_code")


def rules(allowed: frozenset[str]) -> Sequence[Rule]:
    return [Rule("workflow_templates", "AUTO_EXECUTE", Keeping.LOST, OFF, has_code)] if allowed else ()


def has_code(draft: Draft) -> bool:
    return bool(find_forbidden(draft))


NAMED = ("groups", "crm_types", "crm_categories", "crm_stages", "crm_deals", "crm_contacts", "crm_companies")


def tree(name: str, doubts: Callable[[Json], Iterable[tuple[str, str]]] = lambda _: ()) -> Field:
    return Field(
        name,
        Kind.TREE,
        code=rewrite_codes,
        tree=TreeRules(under=owner_of, entry=entry, key=type_key, filed=condition, doubts=doubts),
        names=NAMED,
    )


workflow_templates = Stream(
    name="workflow_templates",
    table=Table("WorkflowTemplates", "workflow_templates"),
    # Without SELECT only ids come. Robots are templates too, and are shown by no method.
    read=(Listing("bizproc.workflow.template.list", BY_ID, params={"SELECT": SELECT}),),
    batch=20,
    fields=(
        *texts("MODULE_ID", "ENTITY"),
        replace(tree("DOCUMENT_TYPE"), take=document_type),
        *texts("NAME", "DESCRIPTION"),
        *texts("SYSTEM_CODE", beyond=True),
        *wholes("AUTO_EXECUTE"),
        Field("USER_ID", Kind.REF, to="users", policy=Policy.DROP),
        *times("MODIFIED"),
        tree("TEMPLATE", doubts),
        tree("PARAMETERS"),
        tree("VARIABLES"),
        tree("CONSTANTS"),
    ),
    stamp="MODIFIED",
    # USER_ID is who created or changed it (api-reference/bizproc/template/bizproc-workflow-template-list.md).
    written=(Written("USER_ID", "MODIFIED"),),
    changes=ChangeRules(noted_in=frozenset({"MODIFIED"})),
    at_last=switched_off,
    forbidden=ForbiddenParts(find=lambda record: find_forbidden(record.payload), rules=rules),
    fetch=fetch_one_by_one(
        "bizproc.workflow.template.list", lambda source_id: {"SELECT": SELECT, "FILTER": {"ID": source_id}}
    ),
)

ENTITIES = (
    Entity(
        name="workflows",
        wire="workflows",
        scopes=("bizproc",),
        needs_admin=True,
        streams=(workflow_templates,),
    ),
)
