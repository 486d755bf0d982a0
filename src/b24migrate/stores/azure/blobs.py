"""Large values of rows, as blobs named by their content: putting one twice is harmless, and none is ever changed."""

from __future__ import annotations

from azure.core.exceptions import ResourceNotFoundError

from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import translated
from b24migrate.stores.azure.properties import content_name

PAYLOADS = "payloads"


class Blobs:
    def __init__(self, account: Account) -> None:
        self._account = account

    def put(self, content: bytes) -> str:
        name = content_name(content)
        with translated(self._account.place):
            self._account.container(PAYLOADS).upload_blob(name, content, overwrite=True)
        return name

    def get(self, name: str) -> bytes:
        with translated(self._account.place):
            try:
                return self._account.container(PAYLOADS).download_blob(name).readall()
            except ResourceNotFoundError as error:
                raise Halted(
                    say("store.no_blob", name=name, place=self._account.place),
                    code="STORE_DAMAGED",
                    hint=say("store.no_blob_fix"),
                ) from error
