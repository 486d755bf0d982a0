"""Maps the service's errors to ours, with messages for the operator. Addresses and keys are not included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted, MigrationError

# Of a conditional write in a table: something has changed.
CONFLICTS = ("EntityAlreadyExists", "UpdateConditionNotSatisfied", "ResourceNotFound", "EntityNotFound")
_FORBIDDEN = say("store.forbidden_fix")
_NOBODY = say("store.nobody_fix")


def _after(what: str) -> str:
    return say("store.saved_do", do=say(f"store.do.{what}"))


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Whatever the caller did not expect leaves as one of ours."""
    try:
        yield
    except AzureError as error:
        raise translate(error, place) from error


def translate(error: AzureError, place: str) -> MigrationError:
    status = error.status_code or 0 if isinstance(error, HttpResponseError) else 0
    code = error_code(error)
    if isinstance(error, ClientAuthenticationError) and not status:
        return BadConfiguration(say("store.nobody", place=place), code="STORE_FORBIDDEN", hint=_NOBODY)
    if isinstance(error, ClientAuthenticationError) or status in (401, 403):
        return BadConfiguration(
            say("store.forbidden", place=place, code=code or say("store.no_permission")),
            code="STORE_FORBIDDEN",
            hint=_FORBIDDEN,
        )
    if isinstance(error, ServiceRequestError | ServiceResponseError) or status == 0:
        return Halted(
            say("store.unreachable", place=place),
            code="STORE_UNREACHABLE",
            hint=_after("account"),
        )
    if code.endswith("BeingDeleted"):
        return Halted(
            say("store.being_deleted", place=place),
            code="STORE_BUSY",
            hint=_after("minute"),
        )
    if status in (429, 500, 502, 503, 504):
        return Halted(
            say("store.overloaded", place=place, code=code or status),
            code="STORE_BUSY",
            hint=_after("minutes"),
        )
    return Halted(
        say("store.refused", place=place, why=f"{status} {code}".strip()),
        code="STORE_REFUSED",
        hint=_after("tables"),
    )


def error_code(error: AzureError) -> str:
    """The service's error code, such as `EntityAlreadyExists`; the libraries wrap it in several ways."""
    code = getattr(error, "error_code", None)
    return str(getattr(code, "value", code) or "")
