"""Files: what they are, and links to their bytes."""

import hashlib
from urllib.parse import quote

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.dialogs import dialog
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result


def file_get(context: Context, params: Params) -> Result:
    company, caller = context.portal.company, context.caller
    number = whole(params.get("ID"))
    found = company.file(number)
    if found is None:
        raise RestError("ERROR_NOT_FOUND", "Could not find entity with id '" + str(number) + "'.")
    file, chat, place = found
    if not company.readable(chat, caller.user):
        raise RestError("ACCESS_DENIED", "Access denied", 403)
    row = company.correspondence.row(chat, place)
    token = quote(f"disk|{number}|{signature(caller.secret, number)}", safe="")
    return Result({
        "ID": str(number), "NAME": file.name, "CODE": None, "STORAGE_ID": "1357", "TYPE": "file",
        "PARENT_ID": str(5000 + chat.id),
        "DELETED_TYPE": "0", "GLOBAL_CONTENT_VERSION": "1", "FILE_ID": str(number + 30_000), "SIZE": str(file.size),
        "CREATE_TIME": row["date"], "UPDATE_TIME": row["date"], "DELETE_TIME": None,
        "CREATED_BY": str(row["author_id"]),
        "UPDATED_BY": str(row["author_id"]), "DELETED_BY": "0",
        "DOWNLOAD_URL": f"{company.portal_url}/rest/{caller.user}/{caller.secret}/download/?token={token}",
        "DETAIL_URL": f"{company.portal_url}/company/personal/user/{caller.user}/disk/file/{number}/",
    })  # fmt: skip


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
    Method("im.v2.File.download", ("im",), file_download),
]
