"""Files: what they are, and links to their bytes."""

import hashlib
from urllib.parse import quote

from b24sim.company.attachments import Attachment
from b24sim.company.drive import DriveFile
from b24sim.company.files import File
from b24sim.company.plan import ANCHOR
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.dialogs import dialog
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

UF = "/bitrix/tools/disk/uf.php"


def file_get(context: Context, params: Params) -> Result:
    """Files have rights of their own: an administrator may be refused a file whose attachment is readable."""
    company, user = context.portal.company, context.caller.user
    number = whole(params.get("ID"))
    found, attachment = company.file(number), company.attachments.of_object(number)
    if number in company.drive.files:
        # Shown in a chat or not, it lies where it was put.
        uploaded = company.drive.files[number]
        shown = found is not None and company.readable(found[1], user)
        _demand(shown or uploaded.by == user or context.caller.admin)
        return Result(drive_shape(context, uploaded))
    if found is not None:
        file, chat, place = found
        _demand(company.readable(chat, user))
        row = company.correspondence.row(chat, place)
        return Result(_file_shape(context, file, 5000 + chat.id, row["author_id"], row["date"]))
    if attachment is None and (of_crm := company.crm.drive_file(number)) is not None:
        _demand(context.caller.admin)  # the Drive lets an administrator pass (kernel 25.100)
        return Result(_file_shape(context, of_crm, 3000, 1, company.moments.iso(ANCHOR)))
    if attachment is None:
        raise _not_found(number)
    may_read = company.attachments.readable(attachment, user, context.caller.admin)
    _demand(may_read and (not attachment.guarded or attachment.created_by == user))
    brought = file_of_attachment(context, attachment)
    created = company.moments.iso(attachment.created_at)
    return Result(_file_shape(context, brought, 4000 + attachment.created_by, attachment.created_by, created))


def attached_get(context: Context, params: Params) -> Result:
    """An attachment and the file behind it; the link carries the webhook's secret."""
    company, caller = context.portal.company, context.caller
    number = whole(params.get("ID"))
    attachment = company.attachments.find(number)
    if attachment is None:
        raise _not_found(number)
    _demand(company.attachments.readable(attachment, caller.user, caller.admin))
    file = file_of_attachment(context, attachment)
    return Result({
        "ID": str(number), "OBJECT_ID": str(attachment.object_id), "MODULE_ID": attachment.module,
        "ENTITY_TYPE": attachment.entity_type, "ENTITY_ID": str(attachment.entity_id),
        "CREATE_TIME": company.moments.iso(attachment.created_at), "CREATED_BY": str(attachment.created_by),
        "DOWNLOAD_URL": company.portal_url + attachment_link(context, number).replace("%5B", "[").replace("%5D", "]"),
        "NAME": file.name, "SIZE": str(file.size),
    })  # fmt: skip


def attachment_link(context: Context, number: int) -> str:
    """The relative link that forum comments show; it opens without a session."""
    auth = f"auth%5Baplogin%5D={context.caller.user}&auth%5Bap%5D={context.caller.secret}"
    return f"{UF}?attachedId={number}&{auth}&action=download&ncc=1"


def file_of_attachment(context: Context, attachment: Attachment) -> File:
    file = context.portal.company.drive_file(attachment.object_id)
    return file or File(attachment.object_id, "удалён.bin", 0)


def drive_shape(context: Context, uploaded: DriveFile) -> Row:
    """A file that a user uploaded, wherever it lies."""
    drive, at = context.portal.company.drive, context.portal.company.moments.iso(uploaded.at)
    shape = _file_shape(context, uploaded.file, uploaded.folder, uploaded.by, at)
    folder = drive.folders.get(uploaded.folder)
    return shape | ({"STORAGE_ID": str(folder.storage)} if folder else {})


def _file_shape(context: Context, file: File, folder: int, author: int, at: str) -> Row:
    portal_url, caller = context.portal.company.portal_url, context.caller
    token = quote(f"disk|{file.id}|{signature(caller.secret, file.id)}", safe="")
    return {
        "ID": str(file.id), "NAME": file.name, "CODE": None, "STORAGE_ID": "1357", "TYPE": "file",
        "PARENT_ID": str(folder),
        "DELETED_TYPE": "0", "GLOBAL_CONTENT_VERSION": "1", "FILE_ID": str(file.id + 30_000), "SIZE": str(file.size),
        "CREATE_TIME": at, "UPDATE_TIME": at, "DELETE_TIME": None, "CREATED_BY": str(author),
        "UPDATED_BY": str(author), "DELETED_BY": "0",
        "DOWNLOAD_URL": f"{portal_url}/rest/{caller.user}/{caller.secret}/download/?token={token}",
        "DETAIL_URL": f"{portal_url}/company/personal/user/{caller.user}/disk/file/{file.id}/",
    }  # fmt: skip


def _not_found(number: int) -> RestError:
    return RestError("ERROR_NOT_FOUND", f"Could not find entity with id '{number}'.")


def _demand(allowed: bool) -> None:
    if not allowed:
        raise RestError("ACCESS_DENIED", "Access denied", 403)


def file_download(context: Context, params: Params) -> Result:
    """A link that works once."""
    chat = dialog(context, {"DIALOG_ID": params.get("dialogId")})
    number = whole(params.get("fileId"))
    found = context.portal.company.file(number)
    if found is None or found[1] is not chat:
        raise RestError("FILE_NOT_FOUND", "File not found", 404)
    token = context.portal.one_time_token(number)
    return Result(
        {"downloadUrl": f"{context.portal.company.portal_url}/rest/download.json?token={quote(token, safe='')}"}
    )


def signature(secret: str, number: int) -> str:
    return hashlib.sha256(f"{secret}:{number}".encode()).hexdigest()[:24]


METHODS = [
    Method("disk.file.get", ("disk",), file_get, upper=True),
    Method("disk.attachedObject.get", ("disk",), attached_get, upper=True),
    Method("im.v2.File.download", ("im",), file_download),
]
