"""Codes of a portal that refuses a question which it understood."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

_OURS = "This is a defect of the migrator: please report it with the method's name."
_RECORD = "The record is set aside. Look at it on the portal, then run `b24migrate retry`."


def _aside(code: str, title: str, cause: str, fix: str = _RECORD) -> Page:
    return Page(code, title, Again.ASIDE, cause, fix)


CHAPTER = Chapter(
    "Refusals of a portal",
    "The portal understood the question and does not give what was asked for.",
    (
        _aside(
            "ERROR_CORE", "A rule of the portal forbids it", "A rule of the portal forbids it. The message says which."
        ),
        _aside("ERROR_ARGUMENT", "An argument is missing or wrong", "An argument is missing or wrong."),
        _aside("ERROR_NOT_FOUND", "Not found on the portal", "The portal does not find it."),
        _aside("NOT_FOUND", "Not found on the portal", "The portal does not find it."),
        _aside(
            "ERROR_METHOD_NOT_FOUND",
            "The portal does not know the method",
            "The portal does not know the method.",
            "The portal is older than the method, or the webhook's address is incomplete.",
        ),
        _aside("EMPTY", "An error without a code", "The portal answered with an error that has no code."),
        _aside(
            "WRONG_ENCODING",
            "A broken text on the portal",
            "The portal could not write its answer as JSON: a text in it is broken.",
        ),
        _aside(
            "ENTITY_TYPE_NOT_SUPPORTED",
            "A kind of CRM record that is not supported",
            "The kind of CRM record is not supported.",
        ),
        _aside(
            "SONET_CONTROLLER_WORKGROUP_NOT_FOUND",
            "The group is not there",
            "The group is not there, or may not be seen.",
        ),
        _aside(
            "SONET_CONTROLLER_LIVEFEED_BLOGPOST_ADD_ERROR",
            "The box does not take the post",
            "The box does not take the post: mostly one of its recipients is missing there.",
            "Import users and groups first, then run `b24migrate retry`.",
        ),
        _aside("ERROR_IMAGE_ID", "The image cannot be used", "The image cannot be used."),
        Page(
            "STRANGE_RESULT",
            "A list that makes no sense",
            Again.TRIES,
            "The portal's list of records is not where it should be, or a record has no id.",
            "Please report it with the method's name and the portal's version.",
        ),
        Page(
            "KEYSET_IGNORED",
            "The portal ignores the filter by id",
            Again.TRIES,
            "The portal does not keep to the filter by id, so that records could be lost unseen.",
            "This portal's version of the method cannot be paged by id: please report it with the version.",
        ),
        _aside("ERROR_MANIFEST_IS_NOT_AVAILABLE", "No manifest", "The manifest is not available.", _OURS),
        _aside("ERROR_BATCH_LENGTH_EXCEEDED", "Too many commands in a batch", "A batch has too many commands.", _OURS),
        _aside(
            "ERROR_BATCH_METHOD_NOT_ALLOWED", "Not allowed in a batch", "The method cannot be called in a batch.", _OURS
        ),
        _aside("DIALOG_ID_EMPTY", "No id of a chat", "The id of a chat was not given.", _OURS),
        _aside("CHAT_ID_EMPTY", "No id of a chat", "The id of a chat was not given.", _OURS),
        _aside("USER_ID_EMPTY", "No id of a user", "The id of a user was not given.", _OURS),
        _aside("FIRST_ID_STRING", "A message id that is no number", "The id of a message is no number.", _OURS),
        _aside("LAST_ID_STRING", "A message id that is no number", "The id of a message is no number.", _OURS),
        _aside("SONET_CONTROLLER_WORKGROUP_EMPTY", "No id of a group", "The id of a group was not given.", _OURS),
    ),
)
