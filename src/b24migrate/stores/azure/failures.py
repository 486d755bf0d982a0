"""What the service's errors mean to the operator, and which of ours they become. Addresses and keys stay inside."""

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

from b24migrate.errors import BadConfiguration, Halted, MigrationError

# Of a conditional write in a table: something is not as it was.
CONFLICTS = ("EntityAlreadyExists", "UpdateConditionNotSatisfied", "ResourceNotFound", "EntityNotFound")
_AGAIN = "Nothing is lost: {}, then run the same command again."
_FORBIDDEN = (
    "Check the key in AZURE_STORAGE_CONNECTION_STRING, or give the identity the roles Storage Table Data Contributor,"
    " Storage Queue Data Contributor and Storage Blob Data Contributor; and check the account's network rules."
)
_NOBODY = "Log in (az login), give the machine a managed identity, or use azure:// with a connection string."


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
        return BadConfiguration(f"There is no identity to open {place} with.", code="STORE_FORBIDDEN", hint=_NOBODY)
    if isinstance(error, ClientAuthenticationError) or status in (401, 403):
        return BadConfiguration(
            f"The store {place} refuses us: {code or 'no permission'}.", code="STORE_FORBIDDEN", hint=_FORBIDDEN
        )
    if isinstance(error, ServiceRequestError | ServiceResponseError) or status == 0:
        return Halted(
            f"The store {place} cannot be reached.",
            code="STORE_UNREACHABLE",
            hint=_AGAIN.format("check the account's name, the network and that Azurite runs where it is meant"),
        )
    if code.endswith("BeingDeleted"):
        return Halted(
            f"What was deleted in the store {place} is not gone yet.",
            code="STORE_BUSY",
            hint=_AGAIN.format("wait a minute"),
        )
    if status in (429, 500, 502, 503, 504):
        return Halted(
            f"The store {place} is overloaded or out of order ({code or status}).",
            code="STORE_BUSY",
            hint=_AGAIN.format("wait a few minutes"),
        )
    return Halted(
        f"The store {place} refuses what it was asked ({status} {code}).".replace(" )", ")"),
        code="STORE_REFUSED",
        hint=_AGAIN.format("check that nobody deleted or changed its tables"),
    )


def error_code(error: AzureError) -> str:
    """What the service calls it, such as `EntityAlreadyExists`; the libraries wrap it in several ways."""
    said = getattr(error, "error_code", None)
    return str(getattr(said, "value", said) or "")
