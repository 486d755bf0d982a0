"""The values of requests with their limits, and the possible errors, for OpenAPI."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import Depends, Header, Path, Query, Request, Security
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from b24migrate.entities import FILES, catalog
from b24migrate.messages import LANGUAGES, Words, preferred, words
from b24migrate.model.records import Fate
from b24migrate.model.streams import PHASES
from b24migrate.web.responses import Problem

LANGUAGE_COOKIE = "b24migrate_language"
ENTITIES = tuple(one.name for one in catalog().entities)
STREAMS = (*catalog().streams, FILES.name)
FATES = tuple(one.value for one in Fate if one is not Fate.MATCH)
LONGEST_ID = 500
LONGEST_TEXT = 200
LONGEST_CURSOR = 2000
Language = Literal["en", "ru"]


def one_of(*known: str) -> AfterValidator:
    def check(text: str) -> str:
        if text and text not in known:
            raise ValueError(f"is not one of: {', '.join(known)}")
        return text

    return AfterValidator(check)


def _refuse_number(value: object) -> object:
    if isinstance(value, str) and "T" not in value.upper():
        raise ValueError("is not a time such as 2026-03-01T12:30:00Z")
    return value


def _in_utc(value: datetime | None) -> datetime | None:
    """Without a zone it is UTC already. The first and the last hours of the calendar cannot be converted."""
    if value is None or value.tzinfo is None:
        return value and value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return value.replace(tzinfo=UTC)  # less than a day off, a thousand years from here


def _enum(*known: str, empty: bool = True) -> dict[str, Any]:
    return {"enum": [*([""] if empty else []), *known]}


def chosen_language(request: Request, wanted: str | None) -> str:
    """The language in the address, else the one chosen before, else the browser's."""
    cookie = request.cookies.get(LANGUAGE_COOKIE, "")
    for one in (wanted, cookie):
        if one in LANGUAGES:
            return one
    return preferred(request.headers.get("accept-language", ""))


def choose_words(
    request: Request,
    lang: Annotated[
        Language | None, Query(description="The language of messages; by default that of Accept-Language.")
    ] = None,
) -> Words:
    return words(chosen_language(request, lang))


def require_mark(
    _: Annotated[
        Literal["1"], Header(alias="X-B24migrate", description="Proves that no page of another site sent it.")
    ],
) -> None:
    """Checked earlier: this only documents it."""


# Checked earlier: this only documents it.
TOKEN = Security(HTTPBearer(auto_error=False, description="The dashboard's token."))


Speaks = Annotated[Words, Depends(choose_words)]
StreamQuery = Annotated[
    str,
    one_of(*STREAMS),
    Query(description="Only this record type.", json_schema_extra=_enum(*STREAMS)),
]
StreamPath = Annotated[
    str,
    one_of(*STREAMS),
    Path(description="The record type.", min_length=1, json_schema_extra=_enum(*STREAMS, empty=False)),
]
FateQuery = Annotated[
    str, one_of(*FATES), Query(description="Only differences of this kind.", json_schema_extra=_enum(*FATES))
]
IdPath = Annotated[str, Path(description="Its ID in the source.", min_length=1, max_length=LONGEST_ID)]
CodePath = Annotated[str, Path(description="An error code.", min_length=1, max_length=LONGEST_TEXT)]
After = Annotated[
    str, Query(description="The `next` of the previous answer; empty for the first page.", max_length=LONGEST_CURSOR)
]
Limit = Annotated[int, Query(description="The largest number of rows.", ge=1, le=500)]
Sought = Annotated[
    str, Query(description="An ID, an email address or a part of a title.", min_length=1, max_length=LONGEST_TEXT)
]
ChainsQuery = Annotated[
    bool,
    Query(description="Also the failed records that others wait for. Up to 2,000 records of each stream are read."),
]
Undecided = Annotated[bool, Query(description="Only conflicts that a user has to decide.")]
Since = Annotated[
    datetime | None,
    BeforeValidator(_refuse_number),
    AfterValidator(_in_utc),
    Query(description="Only later moments; empty: all of them."),
]

EntityName = Annotated[str, one_of(*ENTITIES), Field(json_schema_extra=_enum(*ENTITIES, empty=False), min_length=1)]
PhaseName = Annotated[str, one_of(*PHASES), Field(json_schema_extra=_enum(*PHASES, empty=False), min_length=1)]
Code = Annotated[str, StringConstraints(max_length=LONGEST_TEXT, pattern=r"^[A-Za-z0-9_.-]*$")]
ListHash = Annotated[str, StringConstraints(max_length=64, pattern=r"^[0-9a-f]*$")]


class Wish(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RunWish(Wish):
    """Empty values mean those of the configuration: all entities, all phases, its test limit."""

    entities: list[EntityName] = Field(default=[], max_length=len(ENTITIES))
    phases: list[PhaseName] = Field(default=[], max_length=len(PHASES))
    test_limit: int | None = Field(default=None, strict=True, ge=0, le=1_000_000_000, description="0: everything.")
    accept_fidelity: ListHash = Field(default="", description="Also accepts this list of `GET /fidelity`.")


class AcceptWish(Wish):
    """The list that the user saw. If it has changed since, nothing is accepted."""

    hash: ListHash = Field(description="As `GET /fidelity` returns it.", min_length=64)


class RetryWish(Wish):
    """Empty values mean everything that failed."""

    entities: list[EntityName] = Field(default=[], max_length=len(ENTITIES))
    code: Code = Field(default="", description="Only failures with this code.")


class ConflictName(Wish):
    stream: Annotated[str, one_of(*STREAMS), Field(json_schema_extra=_enum(*STREAMS, empty=False), min_length=1)]
    source_id: str = Field(min_length=1, max_length=LONGEST_ID)


class DecisionWish(Wish):
    """Which version of these records stays."""

    decision: Literal["source", "target"]
    records: list[ConflictName] = Field(min_length=1, max_length=500)


class DecidedTable(Wish):
    """A part of the table of `GET /conflicts/csv` with its first line and with decisions."""

    csv: str = Field(min_length=1, max_length=60_000)


class CutoverWish(Wish):
    """Freeze and live must be confirmed by the user."""

    step: Literal["rehearsal", "freeze", "finish", "live"]
    confirmed: bool = Field(default=False, strict=True)


class UndoWish(Wish):
    """This step and those after it."""

    step: Literal["rehearsal", "freeze", "finish"]


class SyncWish(Wish):
    report_only: bool = Field(default=False, strict=True, description="Lists what changed and imports nothing.")


class Nothing(Wish):
    """An empty object."""


class LoginWish(Wish):
    token: str = Field(max_length=1000)


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """By reference: the framework would build what checks an answer for each status of each route."""
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {
        status: {"description": MEANINGS[status], "content": {"application/json": {"schema": schema}}}
        for status in sorted(statuses)
    }


MEANINGS = {
    400: "The request cannot be read, or it has forwarded headers that no configured proxy has set.",
    401: "The dashboard's token is needed: `Authorization: Bearer TOKEN`, or the cookie of a login.",
    403: "A page of another site sent the request, or a change has no header `X-B24migrate: 1`.",
    404: "Not found.",
    408: "The body arrives too slowly.",
    409: "Not possible now: another action is running, or there is nothing to do.",
    412: "A prerequisite is not met.",
    413: "The body is larger than 64 KB.",
    414: "The address is longer than 32 KB.",
    415: "The body is not JSON.",
    421: "The Host header is not an accepted name.",
    422: "A value or the configuration is wrong.",
    429: "Too many wrong tokens.",
    500: "A bug; the log has the details under the reference.",
    503: "The store or a portal does not answer.",
}
ANY = (400, 401, 403, 408, 413, 414, 421, 422, 429, 500, 503)
# One that names the model, so that the document has it.
LOOK = refusals(*ANY) | {500: {"model": Problem, "description": MEANINGS[500]}}
# of a route whose answer is a table: its errors are JSON too
TABLE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
    **refusals(*ANY),
}
CHANGE = refusals(*ANY, 409, 412, 415)
