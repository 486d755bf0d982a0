"""Codes of files: on the way from the source, in the store, on the way to the target."""

from __future__ import annotations

from b24migrate.error_pages.page import RETRY, Again, Chapter, Page

CHAPTER = Chapter(
    "Files",
    "What keeps a file from being moved. The record it belongs to goes without it, unless it needs it.",
    (
        Page(
            "DOWNLOAD_FAILED",
            "The file did not come",
            Again.TRIES,
            "The source did not give the file.",
            f"Check that it opens on the portal, {RETRY}",
        ),
        Page(
            "NO_DOWNLOAD_LINK",
            "No link to the file",
            Again.TRIES,
            "The source gives no link to the file: it was deleted there, or the webhook lacks the scope `disk`.",
            f"Tick `disk` in the webhook's settings, {RETRY}",
        ),
        Page(
            "HTML_INSTEAD_OF_FILE",
            "A web page instead of the file",
            Again.TRIES,
            "A web page, mostly that of the login, came in place of the file.",
            f"Check that the webhook's owner may open the file on the portal, {RETRY}",
        ),
        Page(
            "HTTP_403",
            "The file is forbidden",
            Again.TRIES,
            "The link to the file, or the web server, forbids it.",
            f"Check that the webhook's owner may open it on the portal, {RETRY}",
        ),
        Page(
            "HTTP_404",
            "The file is gone from the source",
            Again.TRIES,
            "There is nothing behind the link: the file was deleted on the source.",
            f"Look whether it opens on the portal; if it does, {RETRY}",
        ),
        Page(
            "INSECURE_LINK",
            "The link to the file is not secure",
            Again.ASIDE,
            "The link to the file begins with http, so everybody on the way could read it.",
            f"Let the portal use https, or set source.allow_http, {RETRY}",
        ),
        Page(
            "FOREIGN_LINK",
            "The link leads to another host",
            Again.ASIDE,
            "The link to the file leads to a host that does not belong to the portal, to an address in a private"
            " network, or to no valid address. It is not followed.",
            f"If the portal keeps its files there, add the host to source.file_hosts, {RETRY}",
        ),
        Page(
            "TOO_MANY_REDIRECTS",
            "The link leads in circles",
            Again.TRIES,
            "The link to the file leads from one address to the next without an end.",
            f"Check that it opens on the portal, {RETRY}",
        ),
        Page(
            "WRONG_LENGTH",
            "The file has another length",
            Again.TRIES,
            "Fewer or more bytes came than the portal says the file has.",
            f"Check that it opens on the portal, {RETRY}",
        ),
        Page(
            "FILE_MISSING",
            "The file is not in the store",
            Again.ASIDE,
            "The file could not be had from the source, or was fetched once and is gone from the store.",
            f"See the failed files in `b24migrate errors`; run `get` for the entity again, {RETRY}",
        ),
        Page(
            "FILE_CHANGED",
            "The file was written twice at once",
            Again.TRIES,
            "Two workers wrote the same file into the store at once.",
            "Nothing to do; if it stays, `b24migrate retry`.",
        ),
        Page(
            "FILE_REPLACED",
            "The rest of the file does not match its beginning",
            Again.TRIES,
            "The file was replaced on the source during the download, or the server did not return the rest of it. It"
            " is downloaded again from the start.",
            "Nothing to do. If the error stays, run `b24migrate retry`.",
        ),
        Page(
            "FILE_DAMAGED",
            "The file in the store is damaged",
            Again.ASIDE,
            "A file in the store is not what was fetched: its digest differs.",
            "Check the disk; run `get` for the entity again and repeat the copy.",
        ),
        Page(
            "FILE_NOT_FOUND",
            "The file did not reach the target",
            Again.ASIDE,
            "A file of the record did not reach the target.",
            f"See the failed files in `b24migrate errors`, mend them, {RETRY}",
        ),
        Page(
            "UPLOAD_FAILED",
            "The target did not take the file",
            Again.TRIES,
            "The target did not take the file.",
            f"Check the box's disk space and its limits for uploads, {RETRY}",
        ),
        Page(
            "UPLOAD_STALLED",
            "The upload gets stuck",
            Again.TRIES,
            "The target stops taking the file at the same byte each time.",
            f"Check the box's disk space, update its import module, {RETRY}",
        ),
    ),
)
