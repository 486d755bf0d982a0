"""Codes of records and of parts of the work: from the import module of the box, and our own."""

from __future__ import annotations

from b24migrate.error_pages.page import RETRY, Again, Chapter, Page

CHAPTER = Chapter(
    "Records",
    "What keeps a single record, a custom field or a part of the work from being moved. The rest goes on.",
    (
        Page(
            "VALIDATION",
            "A value cannot be imported",
            Again.ASIDE,
            "A field has a value that cannot be imported, or one that must be filled is empty. The message names it.",
            f"Mend the record on the source, run `get` for its entity, {RETRY}",
        ),
        Page(
            "DUPLICATE_EMAIL",
            "The e-mail belongs to somebody else",
            Again.ASIDE,
            "A user's e-mail belongs to another user already, on the source or on the box.",
            "Give one of them another e-mail on the source, or link them by hand: `b24migrate users export FILE`, fill"
            f" in target_id, `b24migrate users load FILE`; {RETRY}",
        ),
        Page(
            "ACTIVITY_NOT_ALLOWED",
            "The template may run code",
            Again.ASIDE,
            "The workflow template has an activity that runs PHP code, or one that is not a standard activity of"
            " Bitrix24. Such templates are not imported.",
            "Run `b24migrate report` and read the code in activities.csv. To import a template anyway, add each of its"
            " activities to `run.allow_activities`; with the import module, allow them on the box too (docs/box.md);"
            f" {RETRY}",
        ),
        Page(
            "OWNER_NOT_FOUND",
            "The owner is not on the target",
            Again.ASIDE,
            "The owner of the record is not on the target: that user was not imported.",
            f"Mend the owner first, or set mapping.placeholder_user; {RETRY}",
        ),
        Page(
            "USER_NOT_FOUND",
            "A user is not on the target",
            Again.ASIDE,
            "A user that the record refers to is not on the target.",
            f"Mend that user first, {RETRY}",
        ),
        Page(
            "CHAT_NOT_FOUND",
            "The chat is not on the target",
            Again.ASIDE,
            "Its chat is not on the target.",
            f"Mend the chat first, {RETRY}",
        ),
        Page(
            "PARENT_NOT_FOUND",
            "What it belongs to is not on the target",
            Again.ASIDE,
            "What it belongs to (a group, a task, a post …) is not on the target.",
            f"Mend that first, {RETRY}",
        ),
        Page(
            "REFERENCE_MISSING",
            "It refers to something that is not there",
            Again.ASIDE,
            "It refers to a record that failed, was left out or does not exist.",
            f"Mend that record first, or choose another policy for the field in [mapping.policy]; {RETRY}",
        ),
        Page(
            "TYPE_NOT_FOUND",
            "The smart process is not on the target",
            Again.ASIDE,
            "Its smart process is not on the target.",
            f"Run `b24migrate run --entity crm_structure` first, {RETRY}",
        ),
        Page(
            "STAGE_NOT_FOUND",
            "The stage or pipeline is not on the target",
            Again.ASIDE,
            "Its stage or pipeline is not on the target.",
            f"Run `b24migrate run --entity crm_structure` first, {RETRY}",
        ),
        Page(
            "TOO_LARGE",
            "Too large for the target",
            Again.ASIDE,
            "The record or file is larger than the target takes.",
            "Free disk space on the box and raise its upload limits. If `run.largest_file_mb` is set, raise it too,"
            f" {RETRY}",
        ),
        Page(
            "LOCKED",
            "The target was busy with it",
            Again.TRIES,
            "The target was busy with the record each time it was sent.",
            "When the box has less to do, run `b24migrate retry`.",
        ),
        Page(
            "INTERNAL",
            "The target failed inside",
            Again.TRIES,
            "The target failed inside, or gave no reason.",
            f"Look into the log of the box, mend what it says, {RETRY}",
        ),
        Page(
            "TYPE_MISMATCH",
            "A custom field of another type",
            Again.ASIDE,
            "The box has a custom field of this code, but of another type.",
            "Give the field another target code: `b24migrate custom-fields export FILE`, edit, `custom-fields load"
            " FILE`; then run the entity's custom-fields again.",
        ),
        Page(
            "TYPE_UNSUPPORTED",
            "A type of custom field that the box does not know",
            Again.ASIDE,
            "The box does not know this type of custom field.",
            "Install the module that the type comes from on the box, or leave the field out: `b24migrate custom-fields"
            " export FILE`, edit, `custom-fields load FILE`.",
        ),
        Page(
            "CODE_TAKEN",
            "Two custom fields want the same code",
            Again.ASIDE,
            "Two custom fields would get the same code on the target.",
            "Give one of them another target code: `b24migrate custom-fields export FILE`, edit, `custom-fields load"
            " FILE`.",
        ),
        Page(
            "NO_CUSTOM_FIELDS",
            "No custom fields here",
            Again.ASIDE,
            "The entity has no custom fields of its own.",
            "Nothing to do: name an entity that has some, such as users or crm_deals.",
        ),
        Page(
            "ID_TOO_LONG",
            "An id that is too long",
            Again.ASIDE,
            "The id of the record is longer than any store keeps.",
            "Please report it with the name of the stream; no portal is known to have such ids.",
        ),
        Page(
            "ODD_VALUE",
            "A value of the wrong type",
            Again.ASIDE,
            "The portal gives a field in a type that it never has, such as an object where a number belongs. The"
            " message names the field.",
            f"Look at the record on the source, run `get` for its entity, {RETRY}",
        ),
        Page(
            "BROKEN_ROW",
            "A damaged record in the store",
            Again.ASIDE,
            "The record in the store is damaged: it is no JSON any more.",
            f"Run `get` for its entity, which reads the record again, {RETRY}",
        ),
        Page(
            "UNEXPECTED",
            "A bug in b24migrate",
            Again.TRIES,
            "The program met something that nobody had thought of. The message names the file with the details; it"
            " contains no secrets.",
            "Report the bug with that file. After an upgrade run `b24migrate retry`.",
        ),
        Page(
            "POISON",
            "The worker vanished three times",
            Again.ASIDE,
            "A part of the work was given out three times, and each time the worker vanished without a word: killed,"
            " out of memory or out of time.",
            f"Look at what the workers last logged, give them more memory or fewer workers, {RETRY}",
        ),
        Page(
            "NOT_A_JOB",
            "A foreign message on the queue",
            Again.ASIDE,
            "A message on the queue of the store is no work of ours.",
            "Let no other program use this queue; the message is kept among the dead letters.",
        ),
        Page(
            "UNKNOWN",
            "An error without a page of its own",
            Again.ASIDE,
            "A code that this list does not have, or none at all: the message is all that is known.",
            f"Read the message, mend the record on the source or the target, {RETRY}",
        ),
    ),
)
