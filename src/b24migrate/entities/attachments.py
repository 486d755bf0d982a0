"""Attachments: what a record calls its file is not the file. Each is resolved to the Drive object behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from b24migrate.entities.readers import NOTHING
from b24migrate.model.answers import row_in, unexpected_answer
from b24migrate.model.errors import Permanent, Transient
from b24migrate.model.records import Json, Row
from b24migrate.model.source_records import FileRef, Known, SourceRecord
from b24migrate.model.streams import FileKind
from b24migrate.model.values import OddValue, file_name, whole
from b24migrate.ports import Answer, Command, Source

# the ids of a record's attachments, as the payload has them
AttachmentIds = Callable[[Mapping[str, Json]], Iterable[str]]


def resolve_attachments(ids_of: AttachmentIds) -> Callable[[Source, Sequence[Row]], list[Row]]:
    """Adds to each row which file is behind each of its attachments."""

    def enrich(source: Source, rows: Sequence[Row]) -> list[Row]:
        return resolve_rows(source, rows, ids_of)

    return enrich


def resolve_attachments_again(
    ids_of: AttachmentIds, stream: str
) -> Callable[[Source, Sequence[Row], Known], list[Row]]:
    """The same, for records of a stream that may be staged."""

    def enrich(source: Source, rows: Sequence[Row], known: Known) -> list[Row]:
        return resolve_rows(source, rows, ids_of, before=known_files(known, stream, rows))

    return enrich


def known_files(known: Known, stream: str, rows: Sequence[Row]) -> dict[str, Json]:
    """By attachment the files that these records are known to have."""
    staged = known.lookup(stream, [row.source_id for row in rows])
    return {name: file for one in staged.values() for name, file in (one.extras.get("attached") or {}).items()}


def resolve_rows(
    source: Source,
    rows: Sequence[Row],
    ids_of: AttachmentIds,
    via: int = 0,
    before: Mapping[str, Json] = {},
) -> list[Row]:
    """Attachments with a known object are not requested again, because the object never changes."""
    wanted = {row.source_id: list(ids_of(msgspec.json.decode(row.payload))) for row in rows}
    ids = sorted({one for mine in wanted.values() for one in mine}, key=int)
    if not ids:
        return list(rows)
    kept = {one: before[one] for one in ids if str(before.get(one, {}).get("key", "")).startswith("disk:")}
    left = [one for one in ids if one not in kept]
    known = {**kept, **(find_files(source, left, via) if left else {})}
    return [
        row._replace(extras={**(row.extras or {}), "attached": {one: known[one] for one in wanted[row.source_id]}})
        if wanted[row.source_id]
        else row
        for row in rows
    ]


def find_files(source: Source, ids: Sequence[str], via: int) -> dict[str, Json]:
    """Attachment id -> the key, name and size of its file."""
    rows = map(decode_answer, source.batch([ask_attachment(one) for one in ids], via=via))
    return {one: describe_file(one, row) for one, row in zip(ids, rows, strict=True)}


def ask_attachment(attachment: str) -> Command:
    return Command("disk.attachedObject.get", {"id": attachment})


def describe_file(attachment: str, row: Json) -> Json:
    """By its Drive object: the attachment has its name and size too (disk/attached-object/disk-attached-object-get).
    Whether the object may be read shows when its link is asked for; the attachment's own link serves as well."""
    row = row or {}
    key = f"disk:{row['OBJECT_ID']}" if row.get("OBJECT_ID") else f"attached:{attachment}"
    return {"key": key, "name": file_name(row.get("NAME")), "size": parse_size(row)}


def parse_size(row: Mapping[str, Json]) -> int | None:
    try:
        return whole(row.get("SIZE"))
    except OddValue:
        return None


def decode_answer(answer: Answer) -> Json:
    """None if it is refused; a limit or an outage is raised."""
    answer.raise_if_unheard()
    if isinstance(answer.error, Permanent | Transient) or answer.result is None:
        return None
    if bytes(answer.result) in NOTHING:
        return None
    row = row_in(answer.result, "disk.attachedObject.get")
    named = isinstance(row.get("ID"), str | int) and isinstance(row.get("NAME", ""), str)
    if not named or not isinstance(row.get("OBJECT_ID", 0), str | int):
        raise unexpected_answer("disk.attachedObject.get", ("ID",))  # taken for a file, it would go without its name
    return row


def attachment_links(source: Source, refs: Sequence[FileRef]) -> dict[str, str]:
    """The attachment's own address, through whichever webhook may see it."""
    found: dict[str, str] = {}
    for via in range(len(source.owners)):
        rest = [ref for ref in refs if ref.key not in found]
        for ref, answer in zip(rest, source.batch([ask_attachment(ref.id) for ref in rest], via=via), strict=True):
            row = decode_answer(answer)
            if row and row.get("DOWNLOAD_URL"):
                found[ref.key] = str(row["DOWNLOAD_URL"])
    return found


ATTACHED_FILES = FileKind("attached", attachment_links)


def refs_of(record: SourceRecord) -> Iterator[FileRef]:
    """The files behind a record's attachments."""
    for attachment, one in (record.extras.get("attached") or {}).items():
        kind, _, file_id = str(one["key"]).partition(":")
        place = f"{ATTACHMENT}{attachment}" if kind == "disk" else ""
        yield FileRef(kind, file_id, name=one["name"], size=one["size"], place=place)


ATTACHMENT = "attachment "  # of a file's place: its object may not be readable, though the attachment is


def drive_refs(listed: Json) -> list[FileRef]:
    """Attachments that contain their Drive object: a map by id, or nothing in one of PHP's spellings."""
    members = listed.values() if isinstance(listed, dict) else ()
    return [
        FileRef(
            "disk",
            str(one["FILE_ID"]),
            name=file_name(one.get("NAME")),
            size=parse_size(one),
            place=f"{ATTACHMENT}{one.get('ATTACHMENT_ID')}",
        )
        for one in members
        if isinstance(one, dict) and one.get("FILE_ID")
    ]
