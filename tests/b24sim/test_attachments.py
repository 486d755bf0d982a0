"""Files that hang on records: disk.attachedObject.get and the links it gives."""

from collections.abc import Iterator

import pytest
from tests.b24sim.client import call, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.attachments import Attachment, Family, attachment_id, own_object
from b24sim.company.changes import change

AGENT = {"User-Agent": "test/1"}


@pytest.fixture
def drive() -> Iterator[Running]:
    """A company whose posts 0 to 9 each have a file, some of them on somebody's own Drive."""
    company = Company(Plan(seed=5))

    def make(ordinal: int, number: int) -> Attachment | None:
        if ordinal >= 10:
            return None
        return Attachment(number, own_object(number), "blog", "blog_post", ordinal, 3, guarded=ordinal % 2 == 1)

    company.attachments.family(Family.POST, make, lambda _attachment, user, admin: admin or user == 3)
    with serve(Portal(company, webhooks=(1, 2, 3), clock=ManualClock())) as running:
        yield running


def test_an_attachment_leads_to_its_file_and_its_bytes(drive: Running) -> None:
    number = attachment_id(Family.POST, 2)
    about = result(drive, "disk.attachedObject.get", {"id": number})
    assert (about["ID"], about["MODULE_ID"], about["ENTITY_ID"]) == (str(number), "blog", "2")
    file = result(drive, "disk.file.get", {"id": about["OBJECT_ID"]})
    assert (file["NAME"], file["SIZE"]) == (about["NAME"], about["SIZE"])
    assert file["ID"] != about["ID"]
    bytes_of_both = {send(link, headers=AGENT).body for link in (about["DOWNLOAD_URL"], file["DOWNLOAD_URL"])}
    assert [len(content) for content in bytes_of_both] == [int(about["SIZE"])]


def test_a_link_without_the_secret_gives_the_login_page(drive: Running) -> None:
    link = result(drive, "disk.attachedObject.get", {"id": attachment_id(Family.POST, 2)})["DOWNLOAD_URL"]
    assert f"auth[ap]={drive.portal.webhooks[1]}" in link
    for wrong in (link.replace("auth[ap]=", "auth[ap]=x"), link.partition("&")[0]):
        reply = send(wrong, headers=AGENT)
        assert (reply.status, reply.body[:9]) == (200, b"<!DOCTYPE")


def test_a_file_on_somebodys_own_drive_opens_only_as_an_attachment(drive: Running) -> None:
    about = result(drive, "disk.attachedObject.get", {"id": attachment_id(Family.POST, 1)})
    refusal = call(drive, "disk.file.get", {"id": about["OBJECT_ID"]})
    assert (refusal.status, refusal.json["error"]) == (403, "ACCESS_DENIED")
    assert len(send(about["DOWNLOAD_URL"], headers=AGENT).body) == int(about["SIZE"])
    assert result(drive, "disk.file.get", {"id": about["OBJECT_ID"]}, user=3)["SIZE"] == about["SIZE"]


def test_who_does_not_see_the_record_does_not_get_its_file(drive: Running) -> None:
    number = attachment_id(Family.POST, 2)
    assert call(drive, "disk.attachedObject.get", {"id": number}, user=2).json["error"] == "ACCESS_DENIED"
    link = result(drive, "disk.attachedObject.get", {"id": number})["DOWNLOAD_URL"]
    stolen = link.replace("aplogin]=1", "aplogin]=2").replace(drive.portal.webhooks[1], drive.portal.webhooks[2])
    assert send(stolen, headers=AGENT).body.startswith(b"<!DOCTYPE")


def test_files_attached_later_and_files_of_chats_are_found_too(drive: Running) -> None:
    attachments = drive.portal.company.attachments
    fresh = attachments.attach("tasks", "tasks_task", 7, by=2)
    assert result(drive, "disk.attachedObject.get", {"id": fresh.id})["CREATED_BY"] == "2"
    correspondence = drive.portal.company.correspondence
    sent = next(50_000 + n for n in range(correspondence.messages) if correspondence.has_file(n))
    again = attachments.attach("tasks", "tasks_task", 8, file=sent)
    about = result(drive, "disk.attachedObject.get", {"id": again.id})
    assert about["OBJECT_ID"] == str(sent)
    assert len(send(about["DOWNLOAD_URL"], headers=AGENT).body) == int(about["SIZE"])
    for unknown in (1, 999, attachment_id(Family.POST, 10), attachment_id(Family.TASK, 0)):
        assert call(drive, "disk.attachedObject.get", {"id": unknown}).json["error"] == "ERROR_NOT_FOUND"


def test_a_file_that_a_post_shares_with_a_task_outlasts_the_task() -> None:
    company = Company(Plan(seed=5, tasks=20, posts=80))
    number, author, task = next(
        (made.id, made.created_by, first.entity_id)
        for place in range(company.feed.count)
        for made in map(company.attachments.find, company.feed_files.of_post(place))
        if made and (first := company.attachments.of_object(made.object_id)) and first.module == "tasks"
    )
    with serve(Portal(company, webhooks=(1, author), clock=ManualClock())) as running:
        before = result(running, "disk.attachedObject.get", {"id": number}, author)
        change(company, running.portal.clock.now(), {"stream": "tasks", "op": "delete", "id": task})
        after = result(running, "disk.attachedObject.get", {"id": number}, author)
        assert (after["NAME"], after["SIZE"]) == (before["NAME"], before["SIZE"])
        assert len(send(after["DOWNLOAD_URL"], headers=AGENT).body) == int(before["SIZE"])


def test_the_file_that_tasks_share_outlasts_the_first_of_them() -> None:
    company = Company(Plan(seed=5, tasks=60))
    first = company.attachments.find(attachment_id(Family.TASK, 0))
    assert first
    shared = (
        made.id
        for ordinal in range(1, 60 * 4)
        if (made := company.attachments.find(attachment_id(Family.TASK, ordinal))) and made.object_id == first.object_id
    )
    with serve(Portal(company, clock=ManualClock())) as running:
        number = next(shared)
        before = result(running, "disk.attachedObject.get", {"id": number})
        change(company, running.portal.clock.now(), {"stream": "tasks", "op": "delete", "id": first.entity_id})
        after = result(running, "disk.attachedObject.get", {"id": number})
    assert (after["NAME"], after["SIZE"]) == (before["NAME"], before["SIZE"])
