"""Codes of the store: where everything is kept on the way."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page


def _again(first: str) -> str:
    return f"Nothing is lost: {first}, then run the same command again."


CHAPTER = Chapter(
    "The store",
    "The file or the Azure account where everything is kept on the way. Nothing that was kept is lost by these.",
    (
        Page(
            "STORE_URL",
            "Not the address of a store",
            Again.STOPS,
            "store.url is not the address of a store.",
            "Write sqlite:///b24migrate.db, azure://ACCOUNT, or azure:// with AZURE_STORAGE_CONNECTION_STRING set.",
        ),
        Page(
            "STORE_MISSING",
            "There is no store",
            Again.STOPS,
            "There is no store at this address.",
            "Check the address. A store is made by the first `b24migrate run`.",
        ),
        Page(
            "STORE_FOREIGN",
            "Not a store of ours",
            Again.STOPS,
            "The file is no store of ours.",
            "Set store.url to a new file, or to the store of an earlier run.",
        ),
        Page(
            "STORE_VERSION",
            "A store of another version",
            Again.STOPS,
            "Another version of this program made the store.",
            "Use the program that made it, or set store.url to a new place.",
        ),
        Page(
            "STORE_FULL", "The disk is full", Again.STOPS, "The disk with the store is full.", _again("free some space")
        ),
        Page(
            "STORE_IO",
            "The disk does not work",
            Again.STOPS,
            "The disk does not read or write.",
            _again("check the disk and its space"),
        ),
        Page(
            "STORE_MEMORY", "Not enough memory", Again.STOPS, "There is not enough memory.", _again("free some memory")
        ),
        Page(
            "STORE_LOCKED",
            "Another program holds the store",
            Again.STOPS,
            "Another program held the store for too long.",
            _again("close whatever holds it (a database browser, a backup)"),
        ),
        Page(
            "STORE_READ_ONLY",
            "The store is read-only",
            Again.STOPS,
            "The file, its folder or the disk is read-only.",
            _again("allow writing to the file and its folder"),
        ),
        Page(
            "STORE_DAMAGED",
            "The store is damaged",
            Again.STOPS,
            "The store is damaged: a part of it is missing or cannot be read.",
            "Put back a copy of it, or set store.url to a new place and run again: what is imported is not imported"
            " twice.",
        ),
        Page(
            "STORE_UNREACHABLE",
            "The store cannot be reached",
            Again.STOPS,
            "The store cannot be opened or reached.",
            _again("check its folder, or the account's name and the network"),
        ),
        Page(
            "STORE_FORBIDDEN",
            "The storage account refuses us",
            Again.STOPS,
            "The storage account refuses us, or there is no identity to open it with.",
            "Check the key in AZURE_STORAGE_CONNECTION_STRING, or log in (az login) with an identity that has the roles"
            " Storage Table, Queue and Blob Data Contributor; and check the account's network rules.",
        ),
        Page(
            "STORE_BUSY",
            "The storage account is overloaded",
            Again.STOPS,
            "The storage account is overloaded, or too many workers change the same things at once.",
            _again("wait a few minutes, or use fewer workers"),
        ),
        Page(
            "STORE_REFUSED",
            "The storage account refuses the request",
            Again.STOPS,
            "The storage account refuses what it was asked.",
            _again("check that nobody deleted or changed its tables"),
        ),
        Page(
            "COPY_NOT_EMPTY",
            "The place for the copy is not empty",
            Again.STOPS,
            "The store to copy to holds something else already.",
            "Copy to a new place: another file, or another prefix as in azure://ACCOUNT/PREFIX.",
        ),
        Page(
            "COPY_OTHER",
            "A copy of another store is there",
            Again.STOPS,
            "The store to copy to holds a copy of another store.",
            "Copy to a new place: another file, or another prefix as in azure://ACCOUNT/PREFIX.",
        ),
        Page(
            "COPY_HALF",
            "The copy is not finished",
            Again.STOPS,
            "The store is a copy that was not finished.",
            "Finish it: run the `b24migrate store copy` that began it once more.",
        ),
        Page(
            "COPY_DONE",
            "The copy is complete",
            Again.STOPS,
            "The copy is complete already.",
            "Work goes on there: set store.url to it. For one more copy name a new place.",
        ),
        Page(
            "COPY_BUSY",
            "Somebody works on the store",
            Again.STOPS,
            "Somebody works on the store that is to be copied.",
            "End the workers first (Ctrl-C), then run the same command again. Jobs of a killed process come free by"
            " themselves after some minutes.",
        ),
        Page(
            "COPY_SAME",
            "Both are the same store",
            Again.STOPS,
            "Both addresses name the same store.",
            "Name another place to copy it to.",
        ),
    ),
)
