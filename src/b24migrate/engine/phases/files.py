"""Files: fetched from the source into the file store during get, uploaded to the target during set."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Generic, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

from b24migrate.engine.phases import file_access, lanes
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.compose import BROKEN_ROW
from b24migrate.engine.phases.context import ATTEMPTS, DELAYS_S, Follow, RunContext
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.errors import MigrationError, Permanent, Transient
from b24migrate.model.events import FileMoved
from b24migrate.model.records import Job, Json, Link, Record, Settled, Span, Staged, Status
from b24migrate.model.source_records import FileLink, FileRef
from b24migrate.ports import Download, Part

T = TypeVar("T")
_ROW = msgspec.json.Decoder(dict[str, Any])

AT_ONCE = 20
AT_STAKE = 64 << 20  # bytes that were moved and would be moved again, were the process killed now
CHUNK = 1 << 20
LANE = 100
FETCHED = 1  # the pass in which a file is staged once more, when it is here
FETCH_DELAYS_S = (1.0, 2.0, 4.0)  # between the tries of a download


@dataclass(slots=True)
class FileJob:
    """A file's row: where it comes from, and once fetched what it is."""

    record: Record
    ref: FileRef
    entity: str
    stream: str  # the first that met it
    sha256: str = ""

    @classmethod
    def of(cls, record: Record) -> FileJob:
        """Raises msgspec.DecodeError for a damaged row. Links, names and sizes are values of the portal."""
        row: dict[str, Json] = _ROW.decode(record.payload)
        ref = FileRef(**{name: row[name] for name in FileRef._fields if name in row})
        ref = ref._replace(
            url=ref.url if isinstance(ref.url, str) else "",
            name=ref.name if isinstance(ref.name, str) else "",
            size=parse_size(ref.size),
        )
        return cls(record, ref, str(row["entity"]), str(row["stream"]), str(row.get("sha256") or ""))

    @property
    def fetched(self) -> bool:
        return bool(self.sha256)

    def staged(self, size: int, sha256: str, name: str) -> Staged:
        by = {"entity": self.entity, "stream": self.stream}
        payload = {**self.ref._asdict(), **by, "size": size, "sha256": sha256, "name": name}
        return Staged(self.record.row_key, msgspec.json.encode({**payload, "location": self.record.row_key}))


def parse_size(value: Json) -> int | None:
    """The number of bytes, if the portal returns one."""
    try:
        found = values.whole(value)
    except values.OddValue:
        return None
    return found if found is not None and found >= 0 else None


class KeptAtEnd(Generic[T]):
    """Writes the results of several files at once, because each write to a remote store takes time."""

    def __init__(self, keep: Callable[[Sequence[T]], None]) -> None:
        self._keep = keep
        self._some: list[T] = []
        self._bytes = 0

    def add(self, one: T, size: int) -> None:
        self._some.append(one)
        self._bytes += size
        if self._bytes > AT_STAKE:
            self.write()

    def write(self) -> None:
        some, self._some, self._bytes = self._some, [], 0
        if some:
            self._keep(some)


@contextmanager
def keep_at_end(keep: Callable[[Sequence[T]], None]) -> Iterator[KeptAtEnd[T]]:
    """However the block ends, what was done in it is kept."""
    gathered = KeptAtEnd(keep)
    try:
        yield gathered
    finally:
        gathered.write()


NOT_FOUND = "HTTP_404"
# a retry changes nothing here; for other errors a new link may help
HOPELESS = frozenset({"TOO_LARGE", "INSECURE_LINK", "FOREIGN_LINK"})


def fetch(context: RunContext, job: Job) -> Follow:
    """Downloads the next few files of a lane."""
    held, last = _next_files(context, job, fetched=False)
    if last is None:
        return lanes.finish_round(context, job, lambda lane: _retries_due(context, job, lane, fetched=False))
    urls = _find_links(context, held)
    with keep_at_end(partial(_keep_fetched, context)) as fetched:
        for place, one in enumerate(held):
            if place and context.time_is_up():
                return lanes.next_round_job(job, held[place - 1].record, moved=True)
            if not _fetch_one(context, one, urls.get(one.ref.key, ""), fetched):
                return (
                    lanes.repeat_lane(job)
                    if not place
                    else lanes.next_round_job(job, held[place - 1].record, moved=True)
                )
    return lanes.next_round_job(job, last, moved=bool(held))


def upload(context: RunContext, job: Job) -> Follow:
    """Uploads the next few fetched files of a lane; each resumes where it stopped."""
    held, last = _next_files(context, job, fetched=True)
    if last is None:
        return lanes.finish_round(context, job, lambda lane: _retries_due(context, job, lane, fetched=True))
    with keep_at_end(partial(_keep_uploaded, context)) as uploaded:
        for place, one in enumerate(held):
            if place and context.time_is_up():
                return lanes.next_round_job(job, held[place - 1].record, moved=True)
            try:
                whole = _upload(context, one, uploaded)
            except Transient:
                if not place:
                    raise
                # Those before it arrived, so this is no outage yet: growing pauses start again.
                return lanes.next_round_job(job, held[place - 1].record, moved=True)
            if not whole:
                return lanes.repeat_lane(job)
    return lanes.next_round_job(job, last, moved=bool(held))


def move_files(context: RunContext, keys: Collection[str]) -> datetime | None:
    """Moves the files that are not on the target yet, whichever job found them: that job may run after the records that
    name them. Two jobs that move one file at the same time get the same file. Returns when to try again if some are
    still being moved, else None."""
    held = _unfinished(context, keys)
    strange = [one for one in held if not one.fetched and _is_due(context, one)]
    urls = _find_links(context, strange)
    with keep_at_end(partial(_keep_fetched, context)) as fetched:
        for place, one in enumerate(strange):
            if (place and context.time_is_up()) or not _fetch_one(context, one, urls.get(one.ref.key, ""), fetched):
                return context.clock.now()
    here = [one for one in (_unfinished(context, keys) if strange else held) if one.fetched and _is_due(context, one)]
    with keep_at_end(partial(_keep_uploaded, context)) as uploaded:
        for place, one in enumerate(here):
            if (place and context.time_is_up()) or not _upload(context, one, uploaded):
                return context.clock.now()
    left = [one.record.retry_after_utc for one in (_unfinished(context, keys) if held else [])]
    return min((datetime.fromisoformat(due) for due in left if due), default=None)


def _unfinished(context: RunContext, keys: Collection[str]) -> list[FileJob]:
    records = context.store.get(context.streams["files"].table, sorted(keys)) if keys else {}
    return _decode_files(context, [one for one in records.values() if one.status in (Status.NEW, Status.ERROR_RETRY)])


def _decode_files(context: RunContext, records: Sequence[Record]) -> list[FileJob]:
    """Files whose row in the store is damaged count as failed."""
    held: list[FileJob] = []
    for record in records:
        try:
            held.append(FileJob.of(record))
        except (msgspec.DecodeError, KeyError, TypeError):
            files = context.streams["files"]
            settled = Settled(record.row_key, Status.IMPORT_ERR, record.attempts, *BROKEN_ROW)
            context.store.settle(files.name, files.table, [settled], now=context.clock.now())
    return held


def _is_due(context: RunContext, one: FileJob) -> bool:
    due = one.record.retry_after_utc
    return due is None or datetime.fromisoformat(due) <= context.clock.now()


def _next_files(context: RunContext, job: Job, *, fetched: bool) -> tuple[list[FileJob], Record | None]:
    """Of the pending files the entity's own, and the last that was looked at."""
    table = context.streams["files"].table
    span: Span = lanes.rest_of_lane(job)
    records = context.store.pending(table, span, AT_ONCE, now=context.clock.now())
    return _files_of_entity(context, records, job, fetched=fetched), records[-1] if records else None


def _retries_due(context: RunContext, job: Job, lane: Span, *, fetched: bool) -> list[Record]:
    """Those that failed in this round and whose time came before its end."""
    records = context.store.pending(context.streams["files"].table, lane, LANE, now=context.clock.now())
    mine = _files_of_entity(context, [one for one in records if one.status is Status.ERROR_RETRY], job, fetched=fetched)
    return [one.record for one in mine]


def _files_of_entity(context: RunContext, records: Sequence[Record], job: Job, *, fetched: bool) -> list[FileJob]:
    return [
        one for one in _decode_files(context, records) if one.entity == job.args["entity"] and one.fetched == fetched
    ]


def _find_links(context: RunContext, held: Sequence[FileJob]) -> dict[str, str]:
    """The link of each file in the source, by its key."""
    urls: dict[str, str] = {}
    for kind in sorted({one.ref.kind for one in held}):
        urls |= _find_links_of_kind(context, kind, [one for one in held if one.ref.kind == kind])
    return urls


def _find_links_of_kind(context: RunContext, kind: str, held: Sequence[FileJob]) -> dict[str, str]:
    """All at once; after an unexpected answer one by one, so that one file takes no other with it."""
    links = context.file_kinds[kind].links
    if links is None:
        return {one.ref.key: one.ref.url for one in held}
    try:
        found = links(context.source, [one.ref for one in held])
        return {key: url for key, url in found.items() if isinstance(url, str)}
    except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
        unexpected(context, bug, held[0].entity, f"files {', '.join(one.ref.key for one in held[:3])}")
    if len(held) == 1:
        return {}
    return {key: url for one in held for key, url in _find_links_of_kind(context, kind, [one]).items()}


def _fetch_one(context: RunContext, one: FileJob, url: str, fetched: KeptAtEnd[Staged]) -> bool:
    """False if time was up before the whole file was here: the next job continues after the bytes that arrived."""
    try:
        received = _download(context, one, url)
    except Exception as bug:  # noqa: BLE001 (whatever it is, it must not stop the other files)
        error = _classify(context, one, bug)
        if not is_own_error(error):
            raise error from None
        file_access.stop_if_access_lost(context, one.ref, error)
        _fail(context, one, error, "DOWNLOAD_FAILED", FETCH_DELAYS_S)
        return True
    if received is None:
        return False
    size, sha256, named = received
    file_access.remember_downloaded(context, one.ref, size)
    told = url.name if isinstance(url, FileLink) else ""
    name = one.ref.name or told or named or file_name(url, one.ref)
    fetched.add(one.staged(size, sha256, name), size)
    context.tell(FileMoved(one.entity, one.ref.key, "fetched", size))
    return True


def _keep_fetched(context: RunContext, staged: Sequence[Staged]) -> None:
    """As a pass of its own: so the store counts each once, however often it is fetched."""
    context.store.stage(context.streams["files"].table, staged, run=context.run, pass_no=FETCHED)


def _keep_uploaded(context: RunContext, settled: Sequence[Settled]) -> None:
    files = context.streams["files"]
    context.store.settle(files.name, files.table, settled, now=context.clock.now())


def _download(context: RunContext, one: FileJob, url: str) -> Download | None:
    limit = context.largest_file()
    if not url:
        raise Transient(say("file.no_link"), code="NO_DOWNLOAD_LINK", own=True)
    if one.ref.size is not None and one.ref.size > limit:
        raise Permanent(say("file.over_limit", size=one.ref.size, limit=limit), code="TOO_LARGE")
    with context.files.part(one.ref.key, one.ref.size) as part:
        received = _receive(context, one.ref.kind, url, part, limit)
        if received is None:
            return None
        size, sha256, _ = received
        if one.ref.size is not None and one.ref.size != size:
            part.begin("")
            raise Transient(say("file.came", size=size, expected=one.ref.size), code="WRONG_LENGTH", own=True)
        part.publish()
    return received._replace(sha256=sha256 or _read_back(context, one.ref.key))


def _receive(context: RunContext, kind: str, url: str, part: Part, limit: int) -> Download | None:
    otherwise = context.file_kinds[kind].otherwise
    before = part.sure
    try:
        try:
            return context.source.resume(url, part, limit=limit, enough=context.time_is_up)
        except Permanent as error:
            if otherwise is None or error.code != NOT_FOUND:
                raise
            return context.source.resume(otherwise(url), part, limit=limit, enough=context.time_is_up)
    except Transient as error:
        # A connection that breaks again and again still brings a large file, a part each time.
        error.spent = part.sure <= before
        raise


def _read_back(context: RunContext, key: str) -> str:
    """The digest of a file that arrived in several parts, computed from the stored bytes."""
    digest = hashlib.sha256()
    with context.files.open(key) as content:
        while chunk := content.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _classify(context: RunContext, one: FileJob, bug: Exception) -> Transient | Permanent:
    """Raises what stops more than this file: a limit, a full disk."""
    if isinstance(bug, Transient | Permanent):
        return bug
    return unexpected(context, bug, one.entity, f"file {one.ref.key}")


def is_own_error(error: Transient | Permanent) -> bool:
    """Otherwise it is the portal's trouble, not this file's: the job waits, no try is used."""
    return isinstance(error, Permanent) or error.own


def _fail(context: RunContext, one: FileJob, error: MigrationError, code: str, delays_s: Sequence[float]) -> None:
    """To be tried again, or given up: what refers to the file then goes without it."""
    spent = not isinstance(error, Transient) or error.spent
    attempts = one.record.attempts + spent
    hopeless = isinstance(error, Permanent) and (one.fetched or error.code in HOPELESS)
    final = hopeless or (spent and attempts >= ATTEMPTS)
    status = Status.IMPORT_ERR if final else Status.ERROR_RETRY
    due = None if final else values.utc_text(context.clock.now() + timedelta(seconds=delays_s[max(0, attempts - 1)]))
    code = error.code or code
    settled = Settled(one.record.row_key, status, attempts, code, error.message, due)
    files = context.streams["files"]
    context.store.settle(files.name, files.table, [settled], now=context.clock.now())
    if final:
        if not one.fetched:
            context.store.add({f"download_failed:{one.stream}": 1})
        named = say("note.file_failed", file=one.ref.key, name=one.ref.name, why=error.message)
        nameless = say("note.file_nameless", file=one.ref.key, why=error.message)
        context.note(one.entity, named if one.ref.name else nameless)
    context.tell(FileMoved(one.entity, one.ref.key, "failed", 0, code, error.message))


def _upload(context: RunContext, one: FileJob, uploaded: KeptAtEnd[Settled]) -> bool:
    """False when time was up before the whole file was there: the next time it goes on behind what has arrived."""
    files = context.streams["files"]
    size = one.ref.size or 0
    try:
        with context.files.open(one.ref.key) as content:
            key = files.key_of(one.ref.key)
            if one.record.revision:  # other bytes than the target has under that key
                key = f"{key}:{one.record.revision}"
            name = one.ref.name or one.ref.id
            target_id = context.target.put_file(key, name, size, one.sha256, content, enough=context.time_is_up)
    except Exception as bug:  # noqa: BLE001 (whatever it is, it must not stop the other files)
        error = _classify(context, one, bug)
        if not is_own_error(error):
            raise error from None
        _fail(context, one, error, "UPLOAD_FAILED", DELAYS_S[1:])
        return True
    if target_id is None:
        return False
    link = Link(one.record.row_key, target_id, one.sha256)
    uploaded.add(Settled(one.record.row_key, Status.IMPORT_OK, one.record.attempts + 1, link=link), size)
    context.tell(FileMoved(one.entity, one.ref.key, "uploaded", size))
    return True


def file_name(url: str, ref: FileRef) -> str:
    """The name in the link if it has an extension, so that the target can detect the type."""
    try:
        name = PurePosixPath(unquote(urlsplit(url).path)).name
    except ValueError:  # no web address: then the file came some other way
        name = ""
    guess, _ = mimetypes.guess_type(name)
    return name if guess else f"{ref.kind}-{ref.id}"
