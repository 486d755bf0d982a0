"""Codes of the certificate."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

CHAPTER = Chapter(
    "The certificate",
    "Why there is none, or why one does not hold. Nothing was written.",
    (
        Page(
            "CERTIFICATE_INCOMPLETE",
            "The run is not at its end",
            Again.STOPS,
            "The run is not at its end: a phase is not done, or a record waits to be imported.",
            "Run `b24migrate run` to its end. `b24migrate status` says how far it is, `b24migrate errors` what is in"
            " the way.",
        ),
        Page(
            "CERTIFICATE_LIMITED",
            "It was only a try-out",
            Again.STOPS,
            "Only the first few records of each kind were read: it was a try-out.",
            "Run `b24migrate run` without --test-limit and without run.test_limit, then make the certificate.",
        ),
        Page(
            "CERTIFICATE_NOT_CLOSED",
            "The sums do not close",
            Again.STOPS,
            "What the source reported, what was retrieved and what became of it do not add up. The message names the"
            " stream, or the record. Records came or went on the source while it was read, were deleted on the source"
            " or the box since, or the store was changed by another hand.",
            "Run `b24migrate run` again: the source is read and counted anew. What verify misses on the box must be"
            " looked at there. When it says the same once more, begin with an empty store: the box knows every record"
            " by its key, so nothing is imported twice.",
        ),
        Page(
            "CERTIFICATE_NOT_WRITTEN",
            "The certificate cannot be written",
            Again.STOPS,
            "The file cannot be written where it should be.",
            "Choose another place with --out, or make room.",
        ),
        Page(
            "CERTIFICATE_UNREADABLE",
            "The certificate cannot be read",
            Again.STOPS,
            "The file to be checked is not there or cannot be read.",
            "Check the path.",
        ),
        Page(
            "NOT_A_CERTIFICATE",
            "Not a certificate",
            Again.STOPS,
            "The file is something else, or a certificate of another version of the program.",
            "Give the file that `b24migrate certificate` wrote. One of another version is checked by that version.",
        ),
        Page(
            "CERTIFICATE_BROKEN",
            "The certificate was changed",
            Again.STOPS,
            "The file is not as it was written: something was changed, added, removed or swapped, or its sums do not"
            " close.",
            "Ask whoever made it for the file as it was, and compare its root hash with the one that you were told.",
        ),
        Page(
            "MISSING_ON_TARGET",
            "Gone from the box",
            Again.ASIDE,
            "Stands in a certificate: the record was imported, and verify did not find it on the box.",
            "Somebody deleted it there after the import. Look into the box's recycle bin, then verify again.",
        ),
    ),
)
