"""Writes a certificate from the store alone. The file appears complete or not at all."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import urlsplit

import msgspec

from b24migrate import __version__
from b24migrate.engine import plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.cutover_state import read_cutover
from b24migrate.engine.phases.found import read_found
from b24migrate.engine.plan import Run
from b24migrate.engine.state import ENDED, PENDING, AllStates, EntityState
from b24migrate.insight.certificate import form
from b24migrate.insight.certificate.facts import WHOLE_STREAM, Known, read_known_ids, read_pages
from b24migrate.insight.certificate.form import (
    EXCLUDED,
    FAILED,
    IMPOSSIBLE,
    MIGRATED,
    VERIFIED,
    Entry,
    Head,
    Inventory,
    Made,
    PageLine,
    QuietProof,
    Sums,
    Tally,
)
from b24migrate.messages import join, say
from b24migrate.model.errors import Halted, Unproven
from b24migrate.model.records import Fate, Link, Record, Status, canonical
from b24migrate.model.streams import LATE, PHASES, Entity, Stream
from b24migrate.ports import INVENTORY
from b24migrate.private_files import replace_private

AGAIN = say("certificate.again_store")
VERIFY = say("certificate.look")
UNDONE = (Status.NEW, Status.ERROR_RETRY)
LONGEST_REASON = 500  # characters
NO_CODE = "UNKNOWN"
MISSING = "MISSING_ON_TARGET"
MISSING_REASON = "It was imported, and verify did not find it on the target."
DELETED_REASON = "It was deleted at the source and is not on the target."
LOST_REASON = "The target had announced that it does not keep it, and verify did not find it there."
NEEDED = ("get", "set", LATE, "verify")
GO_ON = say("certificate.go_on")
QUIET = say("cutover.order.not_finished_fix")


def make(context: RunContext, out: Path, *, clean: Callable[[str], str] = str) -> Made:
    """`clean` removes secrets from reasons. Raises Halted or Unproven before anything is written."""
    about = require_complete(context)
    with _open_output(out) as fresh, tempfile.TemporaryFile(dir=out.parent) as body:
        sums, foreseen = _body(context, about, body, out.parent, clean)
        if require_complete(context)._replace(inventories=about.inventories) != about:
            message = say("certificate.run_started")
            raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=say("certificate.after_run"))
        head = _head(context, about, sums, foreseen)
        if noise := form.find_noise(head):
            raise Unproven(say("certificate.problem", problem=noise), code="CERTIFICATE_NOT_CLOSED", hint=QUIET)
        chain = form.Chain()
        form.append(fresh, chain, head)
        body.seek(0)
        for line in body:
            form.append(fresh, chain, _read_back(line))
        root = form.seal(fresh, chain)
    return Made(head, root, chain.lines + 1)


def _read_back(line: bytes) -> Entry | PageLine:
    if line.startswith(b'{"page":'):
        return msgspec.json.decode(line, type=PageLine)
    return msgspec.json.decode(line, type=Entry)


@contextmanager
def _open_output(out: Path) -> Iterator[BinaryIO]:
    try:
        with replace_private(out, "wb") as file:
            yield file
    except OSError as error:
        message = say("certificate.unwritable", out=out, why=error.strerror or error)
        raise Halted(message, code="CERTIFICATE_NOT_WRITTEN", hint=say("certificate.other_place")) from None


def _body(
    context: RunContext, about: CompleteRun, body: BinaryIO, folder: Path, clean: Callable[[str], str]
) -> tuple[Sequence[Sums], int]:
    """One line for each id and each page, not yet chained; what they amount to is known only then: the sums, and the
    number of expected differences."""
    tallies = {stream.name: Tally() for stream in about.streams}
    statuses: Counter[tuple[str, Status]] = Counter()
    for known in read_known_ids(context, about.streams, folder):
        entry = classify(known, clean)
        if lacking := form.find_lacking(entry):
            raise Unproven(f"{entry.stream} {entry.id}: {lacking}.", code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)
        tallies[entry.stream].add(entry)
        statuses.update(_status(known))
        body.write(form.encode(entry))
    for stream, number, values in read_pages(context, about.streams, folder):
        line = PageLine(stream.name, int(number), str(values["ApiParamsHash"]), int(values["Retrieved"]))
        tallies[stream.name].pages += 1
        body.write(form.encode(line))
    for stream in about.streams:
        _require_counts(context, stream, statuses)
    sums = [_require_closed(name, tally, about) for name, tally in tallies.items()]
    return sums, sum(tally.foreseen for tally in tallies.values())


def _status(known: Known) -> list[tuple[str, Status]]:
    return [(known.stream.name, known.record.status)] if known.record is not None else []


def _require_counts(context: RunContext, stream: Stream, statuses: Counter[tuple[str, Status]]) -> None:
    """Compares with the counts of the store. If they differ, another process wrote to it."""
    for status, counted in context.store.counts(stream.table).items():
        if counted != statuses[stream.name, status]:
            there = statuses[stream.name, status]
            message = say("certificate.store_counted", stream=stream.name, counted=counted, status=status, there=there)
            raise Unproven(message, code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)


def _require_closed(name: str, tally: Tally, about: CompleteRun) -> Sums:
    sums = tally.sums(name, about.inventories.get(name))
    if problem := form.find_unclosed(sums, tally.pages):
        hint = say("certificate.again_read")
        raise Unproven(say("certificate.problem", problem=problem), code="CERTIFICATE_NOT_CLOSED", hint=hint)
    return sums


def _head(context: RunContext, about: CompleteRun, sums: Sequence[Sums], foreseen: int) -> Head:
    run, options = about.run, context.options
    return Head(
        form.FORMAT,
        __version__,
        run.id,
        run.finished,
        urlsplit(options.source_url).netloc,
        urlsplit(options.target_url).netloc,
        msgspec.json.decode(canonical(asdict(run.plan))),
        list(sums),
        foreseen,
        _quiet(context, run),
    )


def _quiet(context: RunContext, run: Run) -> QuietProof | None:
    """The proof that the source was quiet, if this run made it."""
    quiet = read_cutover(context.store).quiet
    if quiet is None or quiet.run != run.id:
        return None
    found = sum(one.total for one in read_found(context.store, run.id))
    return QuietProof(quiet.as_of, quiet.freeze, quiet.full_pass, quiet.began, quiet.deltas, found)


# ---------------------------------------------------------------- the class of a source ID
# A record that fits no class, or two, stops the certificate.


def classify(known: Known, clean: Callable[[str], str]) -> Entry:
    """Raises Halted when it waits to be imported, Unproven when it is in no class, or in two."""
    place = f"{known.stream.name} {known.id}"
    if known.id == WHOLE_STREAM:
        raise Unproven(
            say("certificate.whole", stream=known.stream.name, known=_whole(known)),
            code="CERTIFICATE_NOT_CLOSED",
            hint=VERIFY,
        )
    if known.record is not None and known.record.status in UNDONE:
        raise Halted(
            say("certificate.open_record", place=place, status=known.record.status),
            code="CERTIFICATE_INCOMPLETE",
            hint=say("certificate.go_on_errors"),
        )
    if len(known.aside) + (known.record is not None) > 1:
        raise Unproven(
            say("certificate.two_classes", place=place, known=_classes(known)),
            code="CERTIFICATE_NOT_CLOSED",
            hint=AGAIN,
        )
    if known.record is not None:
        return _entry(known, known.record, place, clean)
    if not known.aside:
        raise Unproven(say("certificate.unstaged", place=place), code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)
    (aside,) = known.aside
    name = EXCLUDED if aside.why == "excluded" else IMPOSSIBLE
    return Entry(known.stream.name, known.id, name, reason=clean_text(aside.reason, clean) or "no reason was given")


def _entry(known: Known, record: Record, place: str, clean: Callable[[str], str]) -> Entry:
    name, content, deleted = known.stream.name, content_hash(record), record.deleted_utc
    if record.status is Status.DELETED:
        return Entry(name, known.id, EXCLUDED, content=content, reason=DELETED_REASON, deleted=deleted)
    if record.status is Status.IMPORT_ERR:
        if not (record.last_error_code or record.last_error):
            raise Unproven(say("certificate.no_why", place=place), code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)
        code, reason = record.last_error_code or NO_CODE, clean_text(record.last_error or "", clean) or None
        return Entry(name, known.id, FAILED, content=content, code=code, reason=reason)
    link = known.link
    if link is None or not link.target_id:
        raise Unproven(say("certificate.unlinked", place=place), code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)
    if record.target_id is not None and record.target_id != link.target_id:
        message = say("certificate.two_ids", place=place, target_id=record.target_id, linked=link.target_id)
        raise Unproven(message, code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)
    if any(fate is Fate.MISSING for fate, _ in known.fates):
        return Entry(name, known.id, FAILED, content=content, code=MISSING, reason=MISSING_REASON, deleted=deleted)
    if "" in known.foreseen:
        return Entry(name, known.id, EXCLUDED, content=content, reason=LOST_REASON, deleted=deleted)
    found = ", ".join(f"{fate}: {field}" if field else fate for fate, field in known.fates)
    reason = f"verify found {found}"[:LONGEST_REASON] if found else None
    return Entry(
        name,
        known.id,
        VERIFIED if is_verified(known, link) else MIGRATED,
        target=link.target_id,
        content=content,
        wire=link.digest or None,
        origin=None if link.origin == "import" else link.origin,
        reason=reason,
        foreseen=tuple(known.foreseen),
        deleted=deleted,
    )


def is_verified(known: Known, link: Link) -> bool:
    """Compared and equal (but for expected differences), with what is on the target: nothing else was sent since."""
    return bool(link.digest) and link.digest in known.equal and not known.fates


def content_hash(record: Record) -> str:
    """The digest of a file's bytes, the payload's hash where one is kept, else that of the payload as it was staged."""
    if record.payload_hash and b'"location"' not in record.payload:
        return record.payload_hash
    try:
        payload = msgspec.json.decode(record.payload)
    except msgspec.DecodeError:  # a damaged row is what it is
        payload = None
    digest = payload.get("sha256") if isinstance(payload, dict) and "location" in payload else None
    return str(digest) if digest else record.payload_hash or hashlib.sha256(record.payload).hexdigest()


def clean_text(text: str, clean: Callable[[str], str]) -> str:
    return clean(" ".join(text.split()))[:LONGEST_REASON]


def _whole(known: Known) -> str:
    return join(
        (
            say("certificate.records_field", fate=str(fate), field=field)
            if field
            else say("certificate.records", fate=str(fate))
            for fate, field in known.fates
        ),
        ", ",
    )


def _classes(known: Known) -> str:
    staged = [say("certificate.staged", status=str(known.record.status))] if known.record is not None else []
    return join([*staged, *(one.why for one in known.aside)], ", ")


# ---------------------------------------------------------------- whether the run is complete


class CompleteRun(NamedTuple):
    run: Run
    states: Sequence[EntityState]
    streams: Sequence[Stream]  # of the entities, and the files last
    inventories: dict[str, Inventory]


def require_complete(context: RunContext) -> CompleteRun:
    """Raises Halted when something is not done yet, Unproven when what was done is not the whole."""
    run = plan.current(context.store)
    if run is None:
        message = say("certificate.nothing")
        raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=say("certificate.start"))
    if run.state != plan.ENDED:
        known = say("certificate.unfinished_why", id=run.id, why=run.message)
        message = known if run.message else say("certificate.unfinished", id=run.id)
        raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=GO_ON)
    states = AllStates(context.store)
    states.look()
    found = {entity.name: states.read(entity.name) for entity in context.entities}
    entities = [one for one in context.entities if one.name in run.plan.entities or found[one.name].pass_no]
    for entity in entities:
        _require_done(entity, found[entity.name])
    inventories = {stream.name: _inventory(context, stream) for entity in entities for stream in entity.streams}
    streams = [*(stream for entity in entities for stream in entity.streams), context.streams["files"]]
    return CompleteRun(run, [found[entity.name] for entity in entities], streams, inventories)


def _require_done(entity: Entity, state: EntityState) -> None:
    """A single step may skip the custom fields."""
    for phase in (*PHASES, LATE):
        now = state.phase(phase)
        if now.state in ENDED or (now.state == PENDING and phase not in NEEDED):
            continue
        task = entity.task("set" if phase == LATE else phase)
        known = say("certificate.undone_why", task=task, state=now.state, why=now.message)
        message = known if now.message else say("certificate.undone", task=task, state=now.state)
        raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=GO_ON)


def _inventory(context: RunContext, stream: Stream) -> Inventory:
    latest = [
        row.values for row in context.store.rows(INVENTORY, prefix=f"{stream.name}:") if row.values.get("IsLatest")
    ]
    if len(latest) != 1:
        message = say("certificate.inventories", stream=stream.name, count=len(latest))
        raise Unproven(message, code="CERTIFICATE_NOT_CLOSED", hint=say("certificate.run_again"))
    (row,) = latest
    if row.get("Limited"):
        message = say("certificate.limited", stream=stream.name)
        raise Unproven(message, code="CERTIFICATE_LIMITED", hint=say("certificate.unlimited"))
    reported = row.get("ReportedTotal")
    return Inventory(
        str(row["SnapshotUtc"]),
        str(row["SourceMethod"]),
        None if reported is None else int(reported),
        int(row["RetrievedTotal"]),
        int(row["PageCount"]),
    )
