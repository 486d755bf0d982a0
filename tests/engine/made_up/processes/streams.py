"""Workflows that are under way. An entity that the product does not have: this file is all there is to it."""

from __future__ import annotations

from b24migrate.model.fields import Field, Kind, Policy, texts, times
from b24migrate.model.readings import Listing, Offset
from b24migrate.model.records import Table
from b24migrate.model.streams import Entity, Stream

SELECT = ["ID", "MODULE_ID", "ENTITY", "DOCUMENT_ID", "STARTED", "STARTED_BY", "MODIFIED", "TEMPLATE_ID"]

processes = Stream(
    name="processes",
    table=Table("Processes", "processes"),
    read=(Listing("bizproc.workflow.instances", Offset(), params={"SELECT": SELECT, "ORDER": {"STARTED": "ASC"}}),),
    fields=(
        *texts("DOCUMENT_ID"),
        Field("TEMPLATE_ID", Kind.REF, to="workflow_templates", policy=Policy.REQUIRE),
        Field("STARTED_BY", Kind.REF, to="users", policy=Policy.PLACEHOLDER),
        *times("STARTED", "MODIFIED"),
    ),
    stamp="STARTED",
)

ENTITIES = (Entity(name="processes", wire="workflows", scopes=("bizproc",), streams=(processes,)),)
