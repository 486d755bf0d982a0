"""disk.storage.*, disk.folder.* and disk.file.*: uploads are the caller's and of now, in places he may write to."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from b24sim.company.drive import COMMON, GROUP, USER, DriveFile, Folder, Storage
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import condition, split
from b24sim.methods.crm_structure import in_order, in_some_order
from b24sim.methods.disk import drive_shape, signature
from b24sim.native.messages import FOLDER
from b24sim.native.writing import created, file_sent, mapping, now_of
from b24sim.paging import page_by_offset, whole, yes
from b24sim.phpjson import encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

UNIQUE = "u"


def storage_list(context: Context, params: Params) -> Result:
    """One's own, those of one's groups, and the common one."""
    return _page(context, [_storage_row(context, one) for one in _storages(context)], params)


def storage_get(context: Context, params: Params) -> Result:
    number = parameter(params, "ID", 0)
    for storage in _storages(context):
        if storage.id == number:
            return Result(_storage_row(context, storage))
    raise not_found(number)


def storage_children(context: Context, params: Params) -> Result:
    number = parameter(params, "ID", 0)
    root = next((one.root for one in _storages(context) if one.id == number), 0)
    if not root:
        raise not_found(number)
    return _page(context, _children(context, root), params)


def folder_get(context: Context, params: Params) -> Result:
    return Result(_folder_row(context, folder_of(context, parameter(params, "ID", 0))))


def folder_children(context: Context, params: Params) -> Result:
    return _page(context, _children(context, _place(context, parameter(params, "ID", 0))), params)


def add_subfolder(context: Context, params: Params) -> Result:
    drive, parent = context.portal.company.drive, folder_of(context, parameter(params, "ID", 0))
    name = str(mapping(params, "DATA").get("NAME") or "")
    if not name:
        raise _no_name()
    if name in drive.inside(parent.id):
        raise _name_taken()
    folder = drive.add_folder(parent, name, context.caller.user, now_of(context))
    created(context, "folders", folder.id, f"{parent.id}/{name}")
    numbers: Row = {"ID": folder.id, "REAL_OBJECT_ID": folder.id, "DELETED_TYPE": 0, "DELETED_BY": None}
    return Result(_folder_row(context, folder) | numbers)


def upload_file(context: Context, params: Params) -> Result:
    """With the content at once, or without it for an address to send it to."""
    place, unique = _place(context, parameter(params, "ID", 0)), yes(params.get("GENERATEUNIQUENAME"))
    if params.get("FILECONTENT") in (None, "", []):
        return Result({"field": "file", "uploadUrl": _upload_link(context, place, unique)})
    sent = file_sent(params["FILECONTENT"])
    if sent is None:
        raise RestError("ERROR_COULD_NOT_SAVE_FILE", "Could not save file")
    name = str(mapping(params, "DATA").get("NAME") or "")
    if not name:
        raise _no_name()
    return Result(keep(context, place, name, sent[1], unique=unique))


def file_delete(context: Context, params: Params) -> Result:
    number, drive = parameter(params, "ID", 0), context.portal.company.drive
    if number not in drive.files:
        raise not_found(number)
    if drive.files[number].by != context.caller.user and not context.caller.admin:
        raise RestError("ACCESS_DENIED", "Access denied", 403)
    del drive.files[number]
    context.portal.native.deleted("files", number)
    return Result(True)


def file_copy(context: Context, params: Params) -> Result:
    """disk-file-copy-to.md. A name that is taken in the folder is refused (disk lib/rest/service/baseobject.php)."""
    number, place = parameter(params, "ID", 0), _place(context, parameter(params, "TARGETFOLDERID", 1))
    original = context.portal.company.drive.files.get(number)
    if original is None:
        raise not_found(number)
    data = original.file.stretch(0, original.file.size)
    return Result(keep(context, place, original.file.name, data, unique=False))


def file_move(context: Context, params: Params) -> Result:
    """disk-file-move-to.md; its number stays."""
    number, place = parameter(params, "ID", 0), _place(context, parameter(params, "TARGETFOLDERID", 1))
    drive = context.portal.company.drive
    if number not in drive.files:
        raise not_found(number)
    if drive.files[number].file.name in set(drive.inside(place)):
        raise _name_taken()
    drive.files[number].folder = place
    return Result(_file_row(context, drive.files[number]) | {"PARENT_ID": place})


def keep(context: Context, place: int, name: str, data: bytes, *, unique: bool) -> Row:
    """A new file; its number comes back as a number here, and as text everywhere else."""
    drive = context.portal.company.drive
    taken = set(drive.inside(place))
    if name in taken and not unique:
        raise _name_taken()
    fresh = _free_name(name, taken)
    uploaded = drive.add_file(place, fresh, data, by=context.caller.user, at=now_of(context))
    # What lies in the folder of a chat is there for a message.
    kind = "chat_files" if place - FOLDER in context.portal.company.chats else "files"
    created(context, kind, uploaded.file.id, f"{place}/{fresh}")
    row = _file_row(context, uploaded)
    numbers = {"ID": uploaded.file.id, "FILE_ID": uploaded.file.id + 30_000, "DELETED_TYPE": 0}
    return row | numbers | {"GLOBAL_CONTENT_VERSION": 1, "DELETED_BY": None}


def not_found(number: int) -> RestError:
    return RestError("ERROR_NOT_FOUND", f"Could not find entity with id `{number}`")


def _upload_link(context: Context, place: int, unique: bool) -> str:
    caller, mark = context.caller, UNIQUE if unique else ""
    token = quote(f"disk|{place}|{mark}|{signature(caller.secret, place)}", safe="")
    return f"{context.portal.company.portal_url}/rest/{caller.user}/{caller.secret}/upload.json?token={token}"


def _storages(context: Context) -> list[Storage]:
    company, user = context.portal.company, context.caller.user
    groups = [group.id for group in company.groups_of(user)]
    places = [(COMMON, "shared_files_s1"), (USER, user), *((GROUP, number) for number in groups)]
    return [company.drive.storage_of(kind, owner) for kind, owner in places]


def _storage_row(context: Context, storage: Storage) -> Row:
    return {
        "ID": str(storage.id), "NAME": _storage_name(context, storage), "CODE": None, "MODULE_ID": "disk",
        "ENTITY_TYPE": storage.kind, "ENTITY_ID": storage.owner, "ROOT_OBJECT_ID": str(storage.root),
    }  # fmt: skip


def _storage_name(context: Context, storage: Storage) -> str:
    company = context.portal.company
    if storage.kind == COMMON:
        return "Общий диск"
    owner = int(storage.owner)
    return company.name_of(owner) if storage.kind == USER else str(company.groups.row(owner)["NAME"])


def _place(context: Context, number: int) -> int:
    """A folder, or that of a chat one is in."""
    chat = context.portal.company.chats.get(number - FOLDER)
    if chat and context.caller.user in chat.members:
        return number
    return folder_of(context, number).id


def folder_of(context: Context, number: int) -> Folder:
    storages = {storage.id for storage in _storages(context)}
    folder = context.portal.company.drive.folders.get(number)
    if folder is None:
        raise not_found(number)
    if folder.storage not in storages:
        raise RestError("ACCESS_DENIED", "Access denied", 403)
    return folder


def _children(context: Context, place: int) -> list[Row]:
    drive = context.portal.company.drive
    folders = [_folder_row(context, one) for one in drive.folders.values() if one.parent == place]
    return folders + [_file_row(context, one) for one in drive.files.values() if one.folder == place]


def _folder_row(context: Context, folder: Folder) -> Row:
    at = context.portal.company.moments.iso(folder.at)
    return {
        "ID": str(folder.id), "NAME": folder.name, "CODE": None, "STORAGE_ID": str(folder.storage), "TYPE": "folder",
        "REAL_OBJECT_ID": str(folder.id), "PARENT_ID": str(folder.parent), "DELETED_TYPE": "0", "CREATE_TIME": at,
        "UPDATE_TIME": at, "DELETE_TIME": None, "CREATED_BY": str(folder.by), "UPDATED_BY": str(folder.by),
        "DELETED_BY": "0",
        "DETAIL_URL": f"{context.portal.company.portal_url}/company/personal/user/{folder.by}/disk/path/{folder.id}/",
    }  # fmt: skip


def _file_row(context: Context, uploaded: DriveFile) -> Row:
    return drive_shape(context, uploaded)


def _page(context: Context, rows: Iterable[Row], params: Params) -> Result:
    moments = context.portal.company.moments
    tests = [condition(*split(key), value, moments) for key, value in mapping(params, "FILTER").items()]
    found = [row for row in rows if all(test(row) for test in tests)]
    found = in_order(in_some_order(found, "ID"), params.get("ORDER"))
    return page_by_offset(range(len(found)), whole(params.get("START", 0)), lambda place: encode(found[place]))


def parameter(params: Params, name: str, place: int) -> int:
    number = whole(params.get(name))
    if not number:
        raise RestError("ERROR_ARGUMENT", f"Invalid value of parameter {{Parameter #{place}}}")
    return number


def _free_name(name: str, taken: set[Any]) -> str:
    """`a.txt`, `a (1).txt`, `a (2).txt`."""
    stem, dot, extension = name.rpartition(".")
    stem, tail = (stem, dot + extension) if stem else (name, "")
    copies = (f"{stem} ({number}){tail}" for number in range(1, len(taken) + 2))
    return next(one for one in (name, *copies) if one not in taken)


def _no_name() -> RestError:
    return RestError("DISK_BASE_SERVICE_22001", "Error: required parameter NAME (DISK_BASE_SERVICE_22001)")


def _name_taken() -> RestError:
    return RestError("DISK_OBJ_22000", "Файл с таким именем уже есть (DISK_OBJ_22000)")


METHODS = [
    Method("disk.storage.getlist", ("disk",), storage_list, upper=True),
    Method("disk.storage.get", ("disk",), storage_get, upper=True),
    Method("disk.storage.getchildren", ("disk",), storage_children, upper=True),
    Method("disk.folder.get", ("disk",), folder_get, upper=True),
    Method("disk.folder.getchildren", ("disk",), folder_children, upper=True),
    Method("disk.folder.addsubfolder", ("disk",), add_subfolder, upper=True),
    Method("disk.folder.uploadfile", ("disk",), upload_file, upper=True),
    Method("disk.file.copyto", ("disk",), file_copy, upper=True),
    Method("disk.file.moveto", ("disk",), file_move, upper=True),
    Method("disk.file.delete", ("disk",), file_delete, upper=True),
]
