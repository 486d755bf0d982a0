"""Files reach a box's Drive in one step or in two, and from there tasks and chats."""

import base64
import hashlib
from typing import Any

from tests.b24sim.client import call, control, result, send

from b24sim import Running

DATA = bytes(range(256)) * 3


def root(box: Running) -> int:
    storages = result(box, "disk.storage.getlist", {"filter": {"ENTITY_TYPE": "user"}})
    assert [storage["ENTITY_ID"] for storage in storages] == ["1"]
    return int(storages[0]["ROOT_OBJECT_ID"])


def uploaded(box: Running, folder: int, name: str = "отчёт.bin", **more: Any) -> Any:
    content = base64.b64encode(DATA).decode()
    body = {"id": folder, "data": {"NAME": name}, "fileContent": [name, content]} | more
    return result(box, "disk.folder.uploadfile", body)


def content_of(box: Running, number: int) -> bytes:
    link = result(box, "disk.file.get", {"id": number})["DOWNLOAD_URL"]
    return send(link, None, {"User-Agent": "t/1"}).body


def test_a_file_is_uploaded_in_one_step(box: Running) -> None:
    folder = result(box, "disk.folder.addsubfolder", {"id": root(box), "data": {"NAME": "Migration"}})["ID"]
    file = uploaded(box, int(folder))
    assert isinstance(file["ID"], int)
    assert (file["NAME"], file["PARENT_ID"], file["SIZE"]) == ("отчёт.bin", str(folder), str(len(DATA)))
    assert content_of(box, file["ID"]) == DATA
    record = control(box, "native?kind=files")["records"][0]
    assert record["fields"]["sha256"] == hashlib.sha256(DATA).hexdigest()


def test_a_name_is_taken_once_unless_another_may_be_found(box: Running) -> None:
    folder = root(box)
    uploaded(box, folder)
    again = {"id": folder, "data": {"NAME": "отчёт.bin"}, "fileContent": ["отчёт.bin", "QQ=="]}
    assert call(box, "disk.folder.uploadfile", again).json["error"] == "DISK_OBJ_22000"
    assert uploaded(box, folder, generateUniqueName=True)["NAME"] == "отчёт (1).bin"
    children = result(box, "disk.folder.getchildren", {"id": folder, "filter": {"NAME": "отчёт.bin"}})
    assert len(children) == 1


def test_a_large_file_goes_to_an_address_of_its_own(box: Running) -> None:
    step = result(box, "disk.folder.uploadfile", {"id": root(box)})
    head = f'--b\r\nContent-Disposition: form-data; name="{step["field"]}"; filename="скан.pdf"\r\n'
    body = head.encode() + b"Content-Type: application/pdf\r\n\r\n" + DATA + b"\r\n--b--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    file = send(step["uploadUrl"], body, kind).json["result"]
    assert (file["NAME"], content_of(box, file["ID"])) == ("скан.pdf", DATA)
    assert send(step["uploadUrl"].replace("disk%7C", "disk%7C9"), body, kind).status == 403


def test_uploads_suffer_misfortune_as_methods_do(box: Running) -> None:
    step = result(box, "disk.folder.uploadfile", {"id": root(box)})
    control(box, "faults", [{"method": "upload", "kind": "500", "at": [1]}])
    assert send(step["uploadUrl"], b"x", {"Content-Type": "text/plain"}).status == 500
    assert control(box, "native?kind=files")["records"] == []


def test_a_file_hangs_on_a_task_and_is_shown_in_a_chat(box: Running) -> None:
    file = uploaded(box, root(box))["ID"]
    fields = {"TITLE": "x", "RESPONSIBLE_ID": 1, "UF_TASK_WEBDAV_FILES": [f"n{file}", "n5"]}
    task = result(box, "tasks.task.add", {"fields": fields})["task"]["id"]
    select = {"taskId": task, "select": ["UF_TASK_WEBDAV_FILES"]}
    attachment = result(box, "tasks.task.get", select)["task"]["ufTaskWebdavFiles"]
    assert result(box, "disk.attachedObject.get", {"id": attachment[0]})["OBJECT_ID"] == str(file)
    comment = {"POST_MESSAGE": "see", "UF_FORUM_MESSAGE_DOC": [f"n{file}"]}
    result(box, "task.commentitem.add", {"TASKID": task, "FIELDS": comment})
    shown = result(box, "task.commentitem.getlist", {"TASKID": task})[0]["ATTACHED_OBJECTS"]
    assert [one["FILE_ID"] for one in shown.values()] == [str(file)]
    chat = result(box, "im.chat.add", {"TITLE": "Talk"})
    folder = result(box, "im.disk.folder.get", {"CHAT_ID": chat})["ID"]
    second = uploaded(box, folder, "b.bin")["ID"]
    made = result(box, "im.disk.file.commit", {"CHAT_ID": chat, "UPLOAD_ID": second, "MESSAGE": "look"})
    assert made["DISK_ID"] == [str(second)]
    page = result(box, "im.dialog.messages.get", {"DIALOG_ID": f"chat{chat}", "LAST_ID": 0})
    assert (page["messages"][0]["id"], page["files"][0]["name"]) == (made["MESSAGE_ID"], "b.bin")
    result(box, "im.disk.file.commit", {"CHAT_ID": chat, "FILE_ID": file})
    assert result(box, "disk.file.get", {"id": file})["PARENT_ID"] == str(root(box))


def test_a_deleted_file_is_gone(box: Running) -> None:
    file = uploaded(box, root(box))["ID"]
    assert result(box, "disk.file.delete", {"id": file}) is True
    assert call(box, "disk.file.get", {"id": file}).json["error"] == "ERROR_NOT_FOUND"


def test_the_drives_of_others_are_closed(box: Running) -> None:
    result(box, "user.add", {"EMAIL": "a@company.example", "UF_DEPARTMENT": [1]})
    kinds = {storage["ENTITY_TYPE"] for storage in result(box, "disk.storage.getlist")}
    assert kinds == {"common", "user"}
    assert call(box, "disk.folder.uploadfile", {"id": 5}).json["error"] == "ERROR_NOT_FOUND"
