"""Which of the five classes a source id is in. What fits none, or two, is said, and there is no certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec

from b24migrate.insight.certificate.facts import WHOLE_STREAM, Known
from b24migrate.insight.certificate.form import EXCLUDED, FAILED, IMPOSSIBLE, MIGRATED, VERIFIED, Entry
from b24migrate.messages import join, say
from b24migrate.model.errors import Halted, Unproven
from b24migrate.model.records import Fate, Link, Record, Status

AGAIN = say("certificate.again_store")
VERIFY = say("certificate.look")
UNDONE = (Status.NEW, Status.ERROR_RETRY)
LONGEST_REASON = 500  # characters
NO_CODE = "UNKNOWN"
MISSING = "MISSING_ON_TARGET"
MISSING_REASON = "It was imported, and verify did not find it on the target."
LOST_REASON = "The target had announced that it does not keep it, and verify did not find it there."


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
    name, content = known.stream.name, content_hash(record)
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
        return Entry(name, known.id, FAILED, content=content, code=MISSING, reason=MISSING_REASON)
    if "" in known.foreseen:
        return Entry(name, known.id, EXCLUDED, content=content, reason=LOST_REASON)
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
    )


def is_verified(known: Known, link: Link) -> bool:
    """Compared and equal (but for what was foreseen), with what is on the target now: nothing else was sent since."""
    return bool(link.digest) and link.digest in known.equal and not known.fates


def content_hash(record: Record) -> str:
    """The payload's hash where one is kept, the digest of a file's bytes, else that of the payload as it was staged."""
    if record.payload_hash:
        return record.payload_hash
    try:
        said = msgspec.json.decode(record.payload)
    except msgspec.DecodeError:  # a damaged row is what it is
        said = None
    digest = said.get("sha256") if isinstance(said, dict) and "location" in said else None
    return str(digest) if digest else hashlib.sha256(record.payload).hexdigest()


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
