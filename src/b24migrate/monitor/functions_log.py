"""The log of the functions: lines of JSON through `logging`, which the host sends on to Application Insights."""

from __future__ import annotations

import io
import json
import logging
import traceback
from collections.abc import Callable
from typing import TextIO, cast

from b24migrate.monitor.bug_file import bug_id
from b24migrate.monitor.logs import mask_email

LOGGER = logging.getLogger("b24migrate")


class _Lines(io.TextIOBase):
    def write(self, text: str) -> int:
        for line in filter(None, text.splitlines()):
            level = logging.getLevelNamesMapping()[str(json.loads(line)["level"]).upper()]
            LOGGER.log(level, "%s", line)
        return len(text)


def log_stream() -> TextIO:
    """Where an observer writes its lines to."""
    LOGGER.setLevel(logging.INFO)
    return cast("TextIO", _Lines())


def quiet_libraries() -> None:
    """The libraries for Azure tell every request, and the host of the functions would keep all of it: the address of a
    table row contains its key, and a migration makes millions of them."""
    logging.getLogger("azure").setLevel(logging.WARNING)


def log_line(level: int, message: str, **more: object) -> None:
    """One line beside the events: what this host did with what it was given."""
    LOGGER.log(level, "%s", json.dumps({"msg": mask_email(message), **more}, ensure_ascii=False))


def log_bug(bug: BaseException, redact: Callable[[str], str], **more: object) -> None:
    """The whole of it, without secrets."""
    details = mask_email(redact("".join(traceback.format_exception(bug))))
    LOGGER.error("%s", json.dumps({"msg": f"a bug: {type(bug).__name__}", "details": details, **more}))


def log_bugs(redact: Callable[[str], str]) -> Callable[[BaseException, str], str]:
    """Keeps the details of bugs in jobs in the log, under a reference."""

    def keep(bug: BaseException, about: str) -> str:
        reference = bug_id(bug)
        log_bug(bug, redact, reference=reference, job=mask_email(redact(about)))
        return f"the log, reference {reference}"

    return keep
