"""The messages in the Storage Queues. They only show that there is something to do: the rows decide what."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import NamedTuple

from azure.core.exceptions import AzureError, HttpResponseError
from azure.storage.queue import QueueMessage

from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import translated
from b24migrate.stores.azure.limits import HIDDEN_S, MESSAGE_BYTES

WORK, DLQ = "work", "dlq"
AT_MOST = 32  # that one request gives
_FOREVER = -1
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CUT = "…"


class Message(NamedTuple):
    """A sent message. The receipt is valid until another client receives it."""

    id: str
    receipt: str

    def columns(self) -> dict[str, str]:
        return {"Message": self.id, "Receipt": self.receipt}


class Post:
    """One queue. Texts are sent without base64; the functions have the same setting (`messageEncoding`)."""

    def __init__(self, account: Account, name: str) -> None:
        self._place = account.place
        self._queue = account.queue(name)

    def send(self, content: str, *, hidden_s: float = 0) -> Message:
        with translated(self._place):
            sent = self._queue.send_message(content, visibility_timeout=_whole(hidden_s), time_to_live=_FOREVER)
        return Message(str(sent.id), str(sent.pop_receipt))

    def hide(self, message: Message, hidden_s: float, content: str | None = None) -> Message | None:
        """For so many seconds; None if another client received or deleted it meanwhile."""
        with translated(self._place):
            try:
                sent = self._queue.update_message(
                    message.id, message.receipt, content, visibility_timeout=_whole(hidden_s)
                )
            except HttpResponseError as error:
                if error.status_code not in (400, 404):  # 400: the receipt is not the last one
                    raise
                return None
        return Message(str(sent.id), str(sent.pop_receipt))

    def delete(self, message: Message | None) -> None:
        """If that is possible; one too many is harmless."""
        if message:
            with suppress(AzureError):
                self._queue.delete_message(message.id, message.receipt)

    def peek(self) -> list[QueueMessage]:
        with translated(self._place):
            return list(self._queue.peek_messages(AT_MOST))

    def receive(self, hidden_s: float) -> list[QueueMessage]:
        """The first ones; whatever is not deleted comes back."""
        with translated(self._place):
            pages = self._queue.receive_messages(
                messages_per_page=AT_MOST, max_messages=AT_MOST, visibility_timeout=_whole(hidden_s)
            )
            return list(pages)


def order(job_id: str) -> str:
    """A message in `work`."""
    return _fitting({"job": job_id}, "job")


def ordered(content: object) -> str | None:
    """The job that a message in `work` names; None if it is not our message."""
    try:
        values = json.loads(str(content))
    except ValueError:
        return None
    job_id = values.get("job") if isinstance(values, dict) else None
    return job_id if isinstance(job_id, str) else None


def dead_letter_text(job_id: str, scope: str, code: str, reason: str) -> str:
    """A message in `dlq`."""
    return _fitting({"job": job_id, "scope": scope, "code": code, "reason": reason}, "reason")


def _fitting(values: dict[str, str], longest: str) -> str:
    values = {**values, longest: values[longest][:MESSAGE_BYTES]}
    while _sent_bytes(written := _NOT_IN_XML.sub("�", json.dumps(values, ensure_ascii=False))) > MESSAGE_BYTES:
        values = {**values, longest: values[longest].rstrip(_CUT)[: len(values[longest]) * 3 // 4] + _CUT}
    return written


def _sent_bytes(content: str) -> int:
    """As it travels: inside XML."""
    return len(content.encode()) + 4 * content.count("&") + 3 * (content.count("<") + content.count(">"))


def _whole(seconds: float) -> int:
    """At least as long, as far as the service allows."""
    return int(min(HIDDEN_S, max(0.0, -(-seconds // 1))))
