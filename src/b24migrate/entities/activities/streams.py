"""Calls with their recordings, and activities: letters, meetings, calls, to-dos, filled forms."""

from __future__ import annotations

from b24migrate.entities.activities.providers import UNKNOWN
from b24migrate.entities.activities.reader import (
    attachments,
    candidates,
    communications,
    emails,
    files_of_activity,
    find_compressed,
    leave_out,
    map_or_nothing,
    owner_of_call,
    owners_of,
    place,
    provider_type,
    recording,
    recording_keys,
    resolve_communication,
    resolve_settings,
    settings,
    time_or_nothing,
    with_bindings,
)
from b24migrate.entities.codes import ACTIVITY, OWNER_STREAMS
from b24migrate.entities.files import shown_file
from b24migrate.entities.owners import resolve_first, resolve_owner
from b24migrate.entities.readers import fetch_together
from b24migrate.entities.unseen import UNSEEN_COUNTED, UNSEEN_VERSIONS
from b24migrate.entities.user_refs import person
from b24migrate.messages import say
from b24migrate.model.fields import Field, Kind, Policy, flags, texts, times, wholes
from b24migrate.model.readings import Changes, Enrichment, Keyset, Listing
from b24migrate.model.records import Table
from b24migrate.model.streams import ChangeRules, Entity, Stream, Written
from b24migrate.model.values import text

CALLS, ACTIVITIES = "voximplant.statistic.get", "crm.activity.list"
SOME = 1_250  # activities whose bindings are requested at a time, without skipped ones: the last request is seldom full

# `SORT` and `ORDER` are both needed, and nothing can be selected.
crm_calls = Stream(
    name="crm_calls",
    table=Table("CrmCalls", "crm_calls"),
    read=(
        Listing(
            CALLS,
            Keyset("FILTER", "ID", {"SORT": "ID", "ORDER": "ASC"}, {"SORT": "ID", "ORDER": "DESC"}),
            changes=Changes("CALL_START_DATE", {"SORT": "CALL_START_DATE", "ORDER": "DESC"}, {}),
        ),
    ),
    fields=(
        *texts("CALL_ID"),
        *wholes("CALL_TYPE"),
        person("PORTAL_USER_ID", Policy.PLACEHOLDER),
        *texts("PHONE_NUMBER"),
        *wholes("CALL_DURATION"),
        *times("CALL_START_DATE"),
        *texts("CALL_FAILED_CODE"),
        Field("owner", Kind.CODED, take=owner_of_call, code=resolve_owner, names=OWNER_STREAMS),
        Field("RECORD_FILE", Kind.FILE, take=recording_keys),
        Field("CRM_ACTIVITY_ID", Kind.REF, to="crm_activities", late=True),
        *texts("PORTAL_NUMBER", "CALL_FAILED_REASON", "CALL_CATEGORY", "COST_CURRENCY", "COMMENT", beyond=True),
        Field("COST", Kind.NUMBER, beyond=True),
        Field("CALL_VOTE", Kind.WHOLE, beyond=True),
        Field("RECORD_DURATION", Kind.WHOLE, beyond=True),
    ),
    stamp="CALL_START_DATE",
    written=(Written("PORTAL_USER_ID", "CALL_START_DATE"),),
    files=recording,
    fetch=fetch_together(CALLS, lambda ids: {"FILTER": {"ID": ids}, "SORT": "ID", "ORDER": "ASC"}),
    title=("PHONE_NUMBER",),
    untaken=say("reason.only_module_calls"),
    unseen=(say("delta.unseen.calls"), UNSEEN_COUNTED),
)

# Files and communications come only when they are named, files under either name, and the mark of incoming ones only
# after the ID (api-reference/crm/timeline/activities/activity-base/crm-activity-list.md).
SELECT = ("*", "ID", "COMMUNICATIONS", "FILES", "STORAGE_ELEMENT_IDS", "IS_INCOMING_CHANNEL")
crm_activities = Stream(
    name="crm_activities",
    table=Table("CrmActivities", "crm_activities"),
    read=(
        Listing(
            ACTIVITIES,
            Keyset("filter", "ID", {"order": {"ID": "ASC"}}, {"order": {"ID": "DESC"}}),
            params={"select": [*SELECT]},
            enrich=Enrichment(with_bindings, "crm", at_once=lambda _: SOME),
            changes=Changes("LAST_UPDATED", {"order": {"LAST_UPDATED": "DESC"}}, {"select": ["ID", "LAST_UPDATED"]}),
        ),
    ),
    batch=100,
    fields=(
        Field(
            "OWNER",
            Kind.CODED,
            take=candidates,
            code=resolve_first,
            names=OWNER_STREAMS,
            policy=Policy.REQUIRE,
        ),
        # What a deleted record shared with others belongs to these (kernel crm 24.1300, CCrmActivity::DeleteByOwner).
        Field("BINDINGS", Kind.CODED, take=owners_of, code=resolve_owner, names=OWNER_STREAMS, undated=True),
        Field("COMMUNICATIONS", Kind.CODED, take=communications, code=resolve_communication, names=OWNER_STREAMS),
        *wholes("TYPE_ID"),
        *texts("PROVIDER_ID"),
        Field("PROVIDER_TYPE_ID", take=provider_type),
        *texts("SUBJECT"),
        Field("DESCRIPTION", Kind.RICH),
        *wholes("DESCRIPTION_TYPE"),
        *times("CREATED", "LAST_UPDATED"),
        Field("START_TIME", Kind.TIME, take=time_or_nothing("START_TIME")),
        Field("END_TIME", Kind.TIME, take=time_or_nothing("END_TIME")),
        Field("DEADLINE", Kind.TIME, take=time_or_nothing("DEADLINE")),
        *flags("COMPLETED"),
        *wholes("STATUS"),
        person("RESPONSIBLE_ID", Policy.PLACEHOLDER),
        person("AUTHOR_ID", Policy.PLACEHOLDER),
        person("EDITOR_ID"),
        *wholes("PRIORITY", "DIRECTION"),
        Field("LOCATION", take=place),
        Field("SETTINGS", Kind.CODED, take=settings, code=resolve_settings, names=("users", *OWNER_STREAMS)),
        Field("PROVIDER_PARAMS", Kind.AS_IS, take=map_or_nothing("PROVIDER_PARAMS")),
        Field("FILES", Kind.FILES, take=attachments),
        *texts("ORIGINATOR_ID"),
        # `VI_<CALL_ID>`, by which a card finds its call: as it is, and the calls come first.
        Field("ORIGIN_ID", Kind.CODED, code=lambda _seen, value, _resolve: text(value), names=("crm_calls",)),
        *flags("IS_INCOMING_CHANNEL"),
    ),
    stamp="CREATED",
    changes=ChangeRules(noted_in=frozenset({"LAST_UPDATED", "EDITOR_ID"})),
    written=(Written("AUTHOR_ID", "CREATED"), Written("EDITOR_ID", "LAST_UPDATED")),
    files=files_of_activity,
    exclude=leave_out,
    unsure=UNKNOWN,
    fetch=fetch_together(ACTIVITIES, lambda ids: {"filter": {"ID": ids}, "order": {"ID": "ASC"}, "select": [*SELECT]}),
    covered=("OWNER",),
    title=("SUBJECT",),
    untaken=say("reason.only_module_activities"),
    emails=emails,
    mentions=(shown_file("crm_activities", ACTIVITY),),
    unseen=(say("delta.unseen.bindings"), UNSEEN_VERSIONS, UNSEEN_COUNTED),
)

ENTITIES = (
    # Recordings are most of the bytes of a CRM, so calls are an entity of their own, which may be switched off.
    Entity(
        name="crm_calls",
        wire="crm",
        scopes=("telephony",),
        needs_admin=True,
        streams=(crm_calls,),
        optional=True,
        comes_with=("crm_activities",),
        probes={CALLS: {"FILTER": {"<ID": 1}, "SORT": "ID", "ORDER": "ASC", "start": -1}},
        optional_scopes={"disk": say("loss.recordings")},
    ),
    Entity(
        name="crm_activities",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        streams=(crm_activities,),
        optional=True,
        probes={ACTIVITIES: {"filter": {"<ID": 1}, "select": ["ID"], "start": -1}},
        optional_scopes={"disk": say("loss.activity_files")},
        unreadable=find_compressed,
        unreadable_by="crm_activities",
    ),
)
