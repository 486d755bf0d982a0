"""Tells a refused file from a source that refuses all files: it downloads a file again that came before."""

from __future__ import annotations

from contextlib import suppress
from typing import BinaryIO, cast

import msgspec

from b24migrate.errors import GateUnmet, MigrationError, Permanent
from b24migrate.phases.work import Work
from b24migrate.records import Span, children_span
from b24migrate.streams import FileRef

# A link that a portal gave a moment ago and that answers so: the file is closed, or every file is.
REFUSALS = frozenset({"HTTP_401", "HTTP_403", "ACCESS_DENIED", "insufficient_scope"})
REFUSALS |= {"INVALID_CREDENTIALS", "NO_AUTH_FOUND", "expired_token", "authorization_error", "user_access_error"}
LOOKED_AT = 100
LARGEST = 10_000_000  # bytes that a proof is worth


class Nowhere:
    def write(self, chunk: bytes) -> int:
        return len(chunk)


def remember(work: Work, ref: FileRef, size: int) -> None:
    """The smallest of each kind that came."""
    with suppress(Permanent):
        work.source.call("profile", {})  # a webhook that is refused as a whole says so
    known = work.came.get(ref.kind)
    if known is None or size < int(known.size or 0):
        work.came[ref.kind] = ref._replace(size=size)


def stop_if_lost(work: Work, ref: FileRef, error: MigrationError) -> None:
    """Raises GateUnmet when the source refuses a file that it gave before; then the refusal is not about one file."""
    if error.code not in REFUSALS:
        return
    with suppress(Permanent):
        work.source.call("profile", {})  # a webhook that is refused as a whole says so
    known = work.came.get(ref.kind) or _earlier(work, children_span(ref.kind))
    known = known or next(iter(work.came.values()), None) or _earlier(work, Span())
    if known is not None and known.key != ref.key and _is_refused(work, known):
        text = f"the source refuses all files ({error.code}), even those that it returned before."
        hint = (
            "Check the portal's plan, the webhook's scope `disk` and the rights of its owner."
            " Then run the same command again: progress is saved."
        )
        raise GateUnmet("auth.cloud", text, code="ACCESS_LOST", hint=hint)


def _earlier(work: Work, span: Span) -> FileRef | None:
    """Of those that an earlier run fetched."""
    records = work.store.records(work.streams["files"].table, span, LOOKED_AT)
    staged = [msgspec.json.decode(one.payload) for one in records]
    came = [one for one in staged if one.get("sha256") and int(one.get("size") or 0) <= LARGEST]
    refs = [FileRef(**{name: one[name] for name in FileRef._fields if name in one}) for one in came]
    return min(refs, key=lambda one: int(one.size or 0), default=None)


def _is_refused(work: Work, known: FileRef) -> bool:
    links = work.file_kinds[known.kind].links
    url = links(work.source, [known]).get(known.key, "") if links else known.url
    if not url:
        return False
    try:
        work.source.download(url, cast(BinaryIO, Nowhere()), limit=LARGEST)
    except Permanent as error:
        return error.code in REFUSALS
    return False
