"""Which activities of workflow templates are standard, and which would run code that the source wrote.

A template is a tree of activities. The kernel loads the class behind an activity by its `Type`, whatever the case
(bizproc, `CBPRuntime::includeActivityFile`), and evaluates the properties of two of them as PHP: `CodeActivity` and the
condition `codecondition`. A system import and an update skip the check that only administrators save those
(`CBPWorkflowTemplateLoader::parseFields`). So what is not on this list is not sent.

Expressions such as `{{=round({=Document:OPPORTUNITY})}}` are harmless: `CBPCalc` knows a fixed list of functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from b24migrate.model.records import Json

# The folders in `install/activities/bitrix` of the modules of a box, without those that evaluate PHP (codeactivity,
# codecondition) and without controllerremoteiblockactivity, which writes to other sites. The import module of the box
# has the same list (box-module, lib/Contract/Activities.php).
_NAMES = (
    # bizproc
    """absenceactivity approveactivity calendaractivity createdocumentactivity delayactivity deletedocumentactivity
    emptyblockactivity eventdrivenactivity fixresultactivity foreachactivity forumreviewactivity getuseractivity
    getuserinfoactivity handleexternaleventactivity ifelseactivity ifelsebranchactivity listenactivity
    lockdocumentactivity logactivity mailactivity mathoperationactivity parallelactivity publishdocumentactivity
    randomstringactivity requestinformationactivity requestinformationoptionalactivity reviewactivity
    robotdelayactivity savehistoryactivity sequenceactivity sequentialworkflowactivity setfieldactivity
    setglobalvariableactivity setpermissionsactivity setstateactivity setstatetitleactivity setvariableactivity
    socnetlogactivity socnetmessageactivity startscriptactivity startworkflowactivity stateactivity
    statefinalizationactivity stateinitializationactivity statemachineworkflowactivity terminateactivity
    unlockdocumentactivity unpublishdocumentactivity waitworkdayactivity webhookactivity whileactivity"""
    # crm
    """ createcrmcompanydocumentactivity createcrmcontactdocumentactivity createcrmdealdocumentactivity
    createcrmleaddocumentactivity crmaddproductrow crmchangedealcategoryactivity crmchangedynamiccategoryactivity
    crmchangerelationsactivity crmchangerequisiteactivity crmchangeresponsibleactivity crmchangestatusactivity
    crmcompletetaskactivity crmcontrolnotifyactivity crmconvertdocumentactivity crmcopydealactivity
    crmcopydynamicactivity crmcopymoveproductrow crmcreateadsactivityfb crmcreateadsactivityga crmcreateadsactivityvk
    crmcreateadsactivityya crmcreatecallactivity crmcreatedynamicactivity crmcreateleadcontactactivity
    crmcreatemeetingactivity crmcreaterequestactivity crmcreatereturnleadactivity crmcreatetodoactivity
    crmdealstagelistenactivity crmdeletedynamicactivity crmeventaddactivity crmexcludeactivity
    crmgenerateentitydocumentactivity crmgenerateqr crmgetdataentityactivity crmgetdynamicinfoactivity
    crmgetpaymentinfoactivity crmgetpaymenturlactivity crmgetproductrowactivity crmgetrelationsinfoactivity
    crmgetrequisitesinfoactivity crmgotochat crmgotochatwhatsapp crmleadstatuslistenactivity crmorderpayactivity
    crmremoveproductrow crmresourcebooking crmresourcebookingcancel crmsendemailactivity crmsendsmsactivity
    crmsendwhatsappmessageactivity crmsetcompanyfield crmsetcontactfield crmsetobserverfield crmsetorderallowdelivery
    crmsetordercanceled crmsetorderdeducted crmsetorderpaid crmsetshipmentfield crmsetshipmentstatus
    crmtimelinecommentadd crmupdatedynamicactivity crmwaitactivity"""
    # calendar, disk, im, imopenlines, lists, rpa, sign, socialnetwork, tasks, voximplant
    """ calendar2activity createlistsdocumentactivity createworkgroup diskaddfolderactivity diskcopymoveactivity
    diskdetailactivity diskremoveactivity diskuploadactivity diskuploadversionactivity getlistsdocumentactivity
    imaddmembertogroupchatactivity imaddmessagetogroupchatactivity imcreategroupchatactivity immessageactivity
    imnotifyactivity imopenlinesmessageactivity rpaapproveactivity rpachangestageactivity rpamoveactivity
    rparequestactivity rpareviewactivity signdocumentactivity socnetblogpostactivity task2activity
    taskschangeresponsibleactivity taskschangestageactivity taskschangestatusactivity tasksdeletetaskactivity
    tasksgetdocumentactivity tasksupdatetaskactivity updatelistsdocumentactivity voximplantcallactivity"""
)
STANDARD = frozenset(_NAMES.split())
# It runs no code, but sends records to an address that the source chose: such a template stays off until a person has
# looked at the address.
OUTGOING = "webhookactivity"
# Of an application: the kernel finds it by a number in its table of applications, or not at all.
OF_AN_APPLICATION = re.compile(r"rest_[0-9a-z]+", re.IGNORECASE | re.ASCII)
# Every property of these may name a condition: the kernel tries to load a class of that name.
BRANCHES = frozenset({"ifelsebranchactivity", "whileactivity"})
CONDITIONS = frozenset({"fieldcondition", "mixedcondition", "propertyvariablecondition", "truecondition"})
PLAIN = frozenset({"title", "condition", "editorcomment"})
# Both evaluate PHP: they are searched everywhere, also where the kernel does not look for activities today.
EVALUATED = frozenset({"codeactivity", "codecondition"})
NAMELESS = "(no type)"
UNREADABLE = "(unreadable)"
PARTS = ("TEMPLATE", "PARAMETERS", "VARIABLES", "CONSTANTS")
MOST = 100  # of one template; more only if they have other names
MOST_NAMES = 1_000
LONGEST_NAME = 100
LONGEST_PLACE = 1_000
LONGEST_CODE = 30_000


class Part(NamedTuple):
    """A part of a template that is not standard."""

    place: str
    name: str  # of the activity or the condition, as the template spells it
    code: str  # the code it would run, or its properties


def find_forbidden(fields: Mapping[str, Json]) -> list[Part]:
    """All parts of a template that are not on the list; behind the first hundred only those with another name, and
    without their code. Every name is there: a hundred parts that are allowed must not hide one that is not."""
    found: list[Part] = []
    names: set[str] = set()
    for part in _parts(fields):
        if len(found) < MOST:
            found.append(Part(part.place, part.name, _shorten(part.code)))
        elif part.name not in names:
            found.append(Part(part.place, part.name, ""))
        names.add(part.name)
        if len(names) > MOST_NAMES:
            found.append(Part(part.place, UNREADABLE, ""))
            break
    return found


def activity_names(parts: Iterable[Part]) -> list[str]:
    return list(dict.fromkeys(part.name for part in parts))


def is_allowed(name: str, allowed: frozenset[str]) -> bool:
    """By its own name. A part without a name cannot be allowed."""
    return name not in (NAMELESS, UNREADABLE) and name.lower() in allowed


def find_watched(tree: Json) -> Iterator[tuple[str, str]]:
    """Activities that are sent, but that a person must check before the template may start: place, type."""
    left = [(tree, "")]
    while left:
        one, at = left.pop()
        if isinstance(one, dict):
            kind = one.get("Type")
            if isinstance(kind, str) and "Properties" in one and _is_watched(kind):
                yield at, kind
        left += reversed([(part, _place_below(at, name)) for name, part in _branches(one)])


def _is_watched(kind: str) -> bool:
    return kind.lower() == OUTGOING or OF_AN_APPLICATION.fullmatch(kind) is not None


class _Found(NamedTuple):
    """A part as it is in the template: its code may be long."""

    place: str
    name: str
    code: Json


def _parts(fields: Mapping[str, Json]) -> Iterator[_Found]:
    """Without recursion: the depth of the source is not known."""
    # what it is, where it stands, and whether the kernel takes its members for activities, or itself for one
    left: list[tuple[Json, str, str]] = [
        (fields[name], name, "list" if name == PARTS[0] else "") for name in reversed(PARTS) if name in fields
    ]
    while left:
        one, place, role = left.pop()
        if role and not isinstance(one, (dict, list)):
            if role == "activity" or one not in (None, "", 0):
                yield _Found(place, UNREADABLE, one)
        elif role == "list":
            left += reversed([(part, _place_below(place, name), "activity") for name, part in _entries(one)])
        elif isinstance(one, dict) and (role or {"Type", "Properties"} <= one.keys()):
            yield from _activity(one, place)
            # Keys differ in case for the kernel: `children` is a property like any other.
            roles = {"Children": "list"}
            left += reversed(
                [
                    (part, _place_below(place, name), roles.get(name, ""))
                    for name, part in one.items()
                    if name in roles or isinstance(part, (dict, list))
                ]
            )
        else:
            if role:
                yield _Found(place, UNREADABLE, one)
            yield from _find_evaluated(one, place)
            left += reversed([(part, _place_below(place, name), "") for name, part in _branches(one)])


def _activity(one: Mapping[str, Json], place: str) -> Iterator[_Found]:
    kind, properties = one.get("Type"), one.get("Properties")
    # The kernel loads nothing whose name has other letters: `K`, the sign of kelvin, is `k` in lower case.
    usual = isinstance(kind, str) and kind.isascii()
    known = usual and (str(kind).lower() in STANDARD or OF_AN_APPLICATION.fullmatch(str(kind)))
    if not known:
        yield _Found(place, str(kind)[:LONGEST_NAME] if kind else NAMELESS, _code(properties))
    elif str(kind).lower() in BRANCHES and isinstance(properties, dict):
        for name, value in properties.items():
            # `codecondition` is found like everywhere else
            if name.lower() not in CONDITIONS | PLAIN and _plain(name) not in EVALUATED:
                yield _Found(f"{place}/Properties/{name[:LONGEST_NAME]}", name[:LONGEST_NAME], value)


def _find_evaluated(one: Json, place: str) -> Iterator[_Found]:
    for name, part in one.items() if isinstance(one, dict) else ():
        if _plain(name) in EVALUATED:
            yield _Found(_place_below(place, name), name[:LONGEST_NAME], part)
        elif name.lower() == "type" and isinstance(part, str) and _plain(part) in EVALUATED:
            yield _Found(place, part[:LONGEST_NAME], _code(one))


def _plain(name: str) -> str:
    """As the kernel looks for the file, without what PHP takes off at the ends."""
    return name.strip(" \t\n\r\0\x0b").lower().removeprefix("cbp")


def _entries(one: Json) -> Iterator[tuple[str, Json]]:
    """PHP sends a list with gaps as a map."""
    if isinstance(one, dict):
        yield from one.items()
    elif isinstance(one, list):
        yield from ((str(number), part) for number, part in enumerate(one))


def _branches(one: Json) -> Iterator[tuple[str, Json]]:
    """The entries that have entries of their own."""
    return ((name, part) for name, part in _entries(one) if isinstance(part, (dict, list)))


def _place_below(place: str, name: str) -> str:
    return (f"{place}/{name[:LONGEST_NAME]}" if place else name)[:LONGEST_PLACE]


def _code(properties: Json) -> Json:
    code = properties.get("ExecuteCode") if isinstance(properties, dict) else None
    return code if isinstance(code, str) and code else properties


def _shorten(value: Json) -> str:
    if isinstance(value, str):
        return value[:LONGEST_CODE]
    try:
        return json.dumps(value, ensure_ascii=False)[:LONGEST_CODE]
    except (ValueError, RecursionError, TypeError):
        return UNREADABLE
