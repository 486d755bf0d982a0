"""Tells a refused file from a source that refuses all files: it downloads some files again that came before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO, cast

import msgspec

from b24migrate.engine.phases.context import RunContext
from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet, MigrationError, Permanent
from b24migrate.model.records import Span, children_span
from b24migrate.model.source_records import FileRef

# A link that a portal gave a moment ago and that answers so: the file is closed, or every file is.
REFUSALS = frozenset({"HTTP_401", "HTTP_403", "ACCESS_DENIED", "insufficient_scope"})
REFUSALS |= {"INVALID_CREDENTIALS", "NO_AUTH_FOUND", "expired_token", "authorization_error", "user_access_error"}
LOOKED_AT = 100
LARGEST = 10_000_000  # bytes that a proof is worth
WITNESSES = 3
FEWEST = 2  # one alone may have been closed since


class DiscardingFile:
    def write(self, chunk: bytes) -> int:
        return len(chunk)


def remember_downloaded(context: RunContext, ref: FileRef, size: int) -> None:
    """The smallest of each kind that came."""
    known = context.memory.downloaded.get(ref.kind, ())
    if len(known) < WITNESSES or size < int(known[-1].size or 0):
        context.memory.downloaded[ref.kind] = _smallest([*known, ref._replace(size=size)])


def stop_if_access_lost(context: RunContext, ref: FileRef, error: MigrationError) -> None:
    """Raises GateUnmet when the source refuses files that it gave before; then the refusal is not about one file. For
    a kind without links of its own a refusal proves nothing: object storage also answers 403 for a removed file."""
    if error.code not in REFUSALS:
        return
    with suppress(Permanent):
        context.source.call("profile", {})  # a webhook that is refused as a whole raises it
    if context.file_kinds[ref.kind].links is None:
        return
    known = [one for one in _downloaded_before(context, ref.kind) if one.key != ref.key][:WITNESSES]
    if len(known) >= FEWEST and all(_is_refused(context, one) for one in known):
        text = say("gate.files_refused", code=error.code)
        hint = say("gate.files_refused_fix")
        raise GateUnmet("auth.cloud", text, code="ACCESS_LOST", hint=hint)


def _downloaded_before(context: RunContext, kind: str) -> list[FileRef]:
    """Files that came, in this run or before: of the same kind first."""
    renewed = [one.name for one in context.file_kinds.values() if one.links]
    found: dict[str, FileRef] = {}
    for name in sorted(renewed, key=lambda name: name != kind):
        for one in (
            *context.memory.downloaded.get(name, ()),
            *_downloaded_in_earlier_runs(context, children_span(name)),
        ):
            found.setdefault(one.key, one)
        if len(found) > WITNESSES:
            break
    return list(found.values())


def _downloaded_in_earlier_runs(context: RunContext, span: Span) -> Sequence[FileRef]:
    """Of those that an earlier run fetched."""
    records = context.store.records(context.streams["files"].table, span, LOOKED_AT)
    staged: list[dict[str, Any]] = []
    for one in records:
        with suppress(msgspec.DecodeError):
            staged.append(msgspec.json.decode(one.payload, type=dict[str, Any]))
    # A file that came has the size that was counted here.
    came = [one for one in staged if one.get("sha256") and int(one.get("size") or 0) <= LARGEST]
    return _smallest([FileRef(**{name: one[name] for name in FileRef._fields if name in one}) for one in came])


def _smallest(refs: Sequence[FileRef]) -> Sequence[FileRef]:
    """Small ones, of different places where there are: one place may be closed."""
    small = sorted(refs, key=lambda one: int(one.size or 0))
    first = {one.place: one.key for one in reversed(small)}
    apart = sorted(small, key=lambda one: first[one.place] != one.key)
    return tuple(sorted(apart[:WITNESSES], key=lambda one: int(one.size or 0)))


def _is_refused(context: RunContext, known: FileRef) -> bool:
    links = context.file_kinds[known.kind].links
    url = links(context.source, [known]).get(known.key, "") if links else known.url
    if not url:
        return False
    try:
        context.source.download(url, cast(BinaryIO, DiscardingFile()), limit=LARGEST)
    except Permanent as error:
        return error.code in REFUSALS
    return False
