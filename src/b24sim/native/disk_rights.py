"""Access rights on the Drive: an administrator has no more rights there than others."""

from b24sim.company.drive import COMMON, GROUP, USER, Folder
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.disk import folder_of, parameter
from b24sim.native.messages import FOLDER
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result

LEVELS = {"disk_access_read", "disk_access_add", "disk_access_edit", "disk_access_full"}


def share_to_user(context: Context, params: Params) -> Result:
    """The user is notified."""
    folder = folder_of(context, parameter(params, "ID", 0))
    user = parameter(params, "USERID", 1)
    if params.get("TASKNAME") not in LEVELS or user not in context.portal.company.users:
        raise RestError("ACCESS_DENIED", "Access denied", 403)
    context.portal.company.drive.shared.setdefault(folder.id, set()).add(user)
    context.portal.native.tell("notification", user, f"folder {folder.id}")
    return Result(True)


def may_open(context: Context, file: int, user: int) -> bool:
    """Where a file lies decides, and with whom any folder above it is shared."""
    company = context.portal.company
    uploaded = company.drive.files.get(file)
    if uploaded is None:
        return True
    chat = company.chats.get(uploaded.folder - FOLDER)
    if chat:
        return user in chat.members
    return _opens(context, company.drive.folders[uploaded.folder], user)


def _opens(context: Context, folder: Folder, user: int) -> bool:
    company = context.portal.company
    drive = company.drive
    above: Folder | None = folder
    while above:
        if user in drive.shared.get(above.id, ()):
            return True
        above = drive.folders.get(above.parent)
    storage = next(one for one in drive.storages.values() if one.id == folder.storage)
    if storage.kind == GROUP:
        return user in company.groups_by_id[whole(storage.owner)].roles
    return storage.kind == COMMON or (storage.kind == USER and storage.owner == str(user))


METHODS = [Method("disk.folder.sharetouser", ("disk",), share_to_user, upper=True)]
