"""Files: each into a folder of its own below `b24migrate`, named after its key, so that it is found again."""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from b24migrate.messages import say
from b24migrate.model.errors import Permanent, Transient
from b24migrate.model.records import Args
from b24migrate.targets.rest.box import INSIDE_BYTES, Box, rows_at
from b24migrate.targets.rest.journal import Journal, JournalEntry, State
from b24migrate.targets.rest.uploads import post_file

STREAM = "files"
FOLDER = "b24migrate"
BY_NUMBER = ("disk", "attached")  # the kinds of files that lie on the source's Drive, too
# what a stream needs whose records have files
NEEDS = ("disk.storage.getlist", "disk.folder.getchildren", "disk.folder.addsubfolder", "disk.folder.uploadfile")
AT_ONCE_BYTES = 4 * 1024 * 1024  # base64 in a call costs a third more, and memory on the box


class Upload(NamedTuple):
    key: str
    name: str
    size: int
    sha256: str


def most_bytes(key: str, of_the_box: int) -> int:
    """What is shown by its number on the Drive may be as large as the box allows; a copy is sent of anything else."""
    _, _, kind, *_ = (*key.split(":"), "", "")
    return of_the_box if kind in BY_NUMBER else min(INSIDE_BYTES, of_the_box)


def put_file(box: Box, journal: Journal, upload: Upload, content: BinaryIO) -> str:
    known = journal.find(STREAM, [upload.key]).get(upload.key)
    if known and known.state is State.DONE:
        return known.target_id
    place = find_folder(box, upload.key)
    found = find_upload(box, place, upload) if known else ""
    if known and not found:
        box.under_way.refuse({upload.key: known.begun})
    if not known:
        begun = box.under_way.signature()
        journal.write(STREAM, [JournalEntry(upload.key, State.BEGUN, digest=upload.sha256, begun=begun)])
    try:
        target_id = found or upload_file(box, place, upload, content)
    except Transient as lost:
        box.under_way.gave_up([upload.key], lost)
        raise
    stands = journal.first(STREAM, JournalEntry(upload.key, State.DONE, target_id, upload.sha256)).target_id
    if stands != target_id:  # another was faster; who has the same copy may have deleted it, too
        with suppress(Permanent):
            box.call("disk.file.delete", {"id": target_id})
    return stands


def find_upload(box: Box, place: str, upload: Upload) -> str:
    """What an upload left behind whose answer got lost."""
    rows = box.pages("disk.folder.getchildren", {"id": place, "order": {"ID": "ASC"}})
    sizes = ((str(row["ID"]), int(row.get("SIZE") or 0)) for row in rows if row.get("TYPE") == "file")
    return next((target_id for target_id, size in sizes if size == upload.size), "")


def upload_file(box: Box, place: str, upload: Upload, content: BinaryIO) -> str:
    if upload.size > AT_ONCE_BYTES:
        told = box.question("disk.folder.uploadfile", {"id": place, "generateUniqueName": True})
        name = upload.name or "file"
        return str(post_file(box.portal, str(told["uploadUrl"]), str(told["field"]), name, content)["ID"])
    content.seek(0)
    encoded = base64.b64encode(content.read()).decode()
    name = upload.name or "file"
    asked = {"id": place, "data": {"NAME": name}, "fileContent": [name, encoded], "generateUniqueName": True}
    return str(box.call("disk.folder.uploadfile", asked)["ID"])


# ---------------------------------------------------------------- folders


def find_folder(box: Box, key: str) -> str:
    return subfolder(box, files_folder(box), hashlib.sha256(key.encode()).hexdigest()[:16])


def files_folder(box: Box) -> str:
    return box.kept("folder of files", lambda: subfolder(box, _drive(box), FOLDER), 3600.0)


def _drive(box: Box) -> str:
    """That of the webhook's owner: on the company's everybody could read what was said among few."""
    asked = {"filter": {"ENTITY_TYPE": "user", "ENTITY_ID": box.owner}, "order": {"ID": "ASC"}}
    rows = box.pages("disk.storage.getlist", asked)
    own = (row for row in rows if row.get("ENTITY_TYPE") == "user" and str(row.get("ENTITY_ID")) == box.owner)
    found = next(own, None)
    if found is None:
        raise Permanent(say("target.no_drive"), code="FILE_NOT_FOUND")
    return str(found["ROOT_OBJECT_ID"])


def subfolder(box: Box, parent: str, name: str) -> str:
    """The one that is there, or a new one: two of one name are refused, so that this may be repeated."""
    return _find_by_name(box, parent, name) or _add_folder(box, parent, name)


def _add_folder(box: Box, parent: str, name: str) -> str:
    made: Args
    try:
        made = box.call("disk.folder.addsubfolder", {"id": parent, "data": {"NAME": name}})
    except Permanent:
        found = _find_by_name(box, parent, name)
        if not found:
            raise
        return found
    return str(made["ID"])


def _find_by_name(box: Box, parent: str, name: str) -> str:
    rows = rows_at(box.question("disk.folder.getchildren", {"id": parent, "filter": {"NAME": name}}))
    found = (str(row["ID"]) for row in rows if row.get("TYPE") == "folder" and row.get("NAME") == name)
    return next(found, "")
