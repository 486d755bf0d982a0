"""Calls that a box takes from an application only. Where there is none the webhook calls, and the box says no."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from b24migrate.bitrix.batch import Batcher
from b24migrate.model.records import Args, Json
from b24migrate.targets.rest.box import Box


def call_as_application(box: Box, method: str, params: Args) -> Json:
    """One call, a write or a question."""
    if box.application is None:
        return box.call(method, params)
    told = box.application.call(method, params).result
    return msgspec.json.decode(told if isinstance(told, Raw) else b"null")


def ask_as_application(box: Box, method: str, params: Args) -> Json:
    """A call that changes nothing, so that it is repeated at once when its answer got lost."""
    return Batcher(box.portal).patiently(call_as_application, box, method, params)
