"""The kinds of files, and how the link of each is requested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from b24migrate.entities.attachments import ATTACHED_FILES, ATTACHMENT, ask_attachment
from b24migrate.entities.catalog.reader import CATALOG_FILES
from b24migrate.entities.crm.reader import CRM_FILES
from b24migrate.model.records import Json
from b24migrate.model.source_records import FileLink, FileRef
from b24migrate.model.streams import FileKind, Mention
from b24migrate.model.values import file_name
from b24migrate.ports import Command, Source


def drive_links(source: Source, refs: Sequence[FileRef]) -> dict[str, str]:
    """`disk.file.get` returns the link of a Drive object. `im.v2.File.download` (files in chats) and attachments also
    return links and need no Drive rights. Links contain tokens and expire, so they are requested right before the
    download."""
    links: dict[str, str] = {}
    # Only participants of a chat get its files, so each webhook requests what the ones before could not get.
    for via in range(len(source.owners)):
        for way in WAYS:
            rest = [ref for ref in refs if ref.key not in links and way.suits(ref)]
            links |= _ask(source, via, rest, way)
    return links


class Way(NamedTuple):
    """One method that gives a file's link."""

    suits: Callable[[FileRef], bool]
    command: Callable[[FileRef], Command]
    field: str


WAYS = (
    Way(lambda _: True, lambda ref: Command("disk.file.get", {"id": ref.id}), "DOWNLOAD_URL"),
    Way(
        lambda ref: ref.place.startswith("chat"),
        lambda ref: Command("im.v2.File.download", {"dialogId": ref.place, "fileId": ref.id}),
        "downloadUrl",
    ),
    Way(
        lambda ref: ref.place.startswith(ATTACHMENT),
        lambda ref: ask_attachment(ref.place.removeprefix(ATTACHMENT)),
        "DOWNLOAD_URL",
    ),
)


def _ask(source: Source, via: int, refs: Sequence[FileRef], way: Way) -> dict[str, str]:
    found: dict[str, str] = {}
    if not refs:
        return found
    for ref, answer in zip(refs, source.batch([way.command(ref) for ref in refs], via=via), strict=True):
        answer.raise_if_unheard()
        if answer.result is not None:
            row: Json = msgspec.json.decode(answer.result)
            if isinstance(row, dict) and row.get(way.field):
                found[ref.key] = FileLink(str(row[way.field]), file_name(row.get("NAME")))
    return found


# ---------------------------------------------------------------- files in texts
# A page of the CRM shows a file only for the record that has it: an activity or a quote (kernel crm 24.1300,
# tools/crm_show_file.php and CCrmFileProxy::WriteDiskFileToResponse).

SHOW_FILE = r"/bitrix/tools/crm_show_file\.php\?fileId="
OF_RECORD = r"&(?:amp;)?ownerTypeId=[67]&(?:amp;)?ownerId=\d"


def shown_file(stream: str, number: int) -> Mention:
    """A link to a file of a record of the stream: both ids, together."""
    pattern = rf"{SHOW_FILE}(\d+)&(?:amp;)?ownerTypeId={number}&(?:amp;)?ownerId=(\d+)"
    return Mention(pattern, link=True, prefix="disk:", ids=("files", stream))


FILE_KINDS = (
    FileKind("disk", drive_links),
    FileKind("user"),
    FileKind("group"),
    FileKind("chat"),
    FileKind("call", best_effort=True),
    CRM_FILES,
    CATALOG_FILES,
    ATTACHED_FILES,
)
