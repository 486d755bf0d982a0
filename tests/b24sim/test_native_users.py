"""A box adds users and departments by its own methods: never silently, never in the past."""

import base64
from typing import Any

import pytest
from tests.b24sim.client import call, control, result, send

from b24sim import Company, ManualClock, Portal, Running, serve

PERSON = {"EMAIL": "o@company.example", "NAME": "Oleg", "LAST_NAME": "Orlov", "UF_DEPARTMENT": [1], "XML_ID": "src:7"}


def added(box: Running, **more: Any) -> int:
    return int(result(box, "user.add", PERSON | more))


def test_a_user_is_found_by_his_stamp_and_an_invitation_went_out(box: Running) -> None:
    number = added(box, DATE_REGISTER="2019-01-02", PERSONAL_BIRTHDAY="1990-05-01", ACTIVE="N")
    row = result(box, "user.get", {"FILTER": {"XML_ID": "src:7"}, "ADMIN_MODE": True})[0]
    assert (row["ID"], row["ACTIVE"], row["UF_DEPARTMENT"]) == (str(number), False, [1])
    assert row["PERSONAL_BIRTHDAY"].startswith("1990-05-01")
    assert row["DATE_REGISTER"][:10] == result(box, "server.time")[:10]
    page = control(box, "native?kind=users")
    assert page["noise"] == {"invitation": 1}
    assert page["outbox"][0]["to"] == "o@company.example"
    assert [(r["stamp"], r["made"]) for r in page["records"]] == [("src:7", 1)]
    assert (page["counts"], page["repeated"]) == ({"users": 1}, [])


def test_an_address_is_taken_once_in_any_case(box: Running) -> None:
    added(box)
    reply = call(box, "user.add", PERSON | {"EMAIL": "O@Company.example"})
    assert (reply.status, reply.json["error"]) == (400, "ERROR_ARGUMENT")
    for wrong, words in (({"EMAIL": "no"}, "wrong_email"), ({"UF_DEPARTMENT": []}, "no_extranet_field")):
        reply = call(box, "user.add", PERSON | {"EMAIL": "n@company.example"} | wrong)
        assert reply.json["error_description"] == words


def test_a_lesser_scope_is_refused_with_status_200() -> None:
    portal = Portal(Company.empty_box(), role="box", clock=ManualClock(), scopes=("user_basic",))
    with serve(portal) as running:
        reply = call(running, "user.add", PERSON)
        assert (reply.status, reply.json["error"]) == (200, "insufficient_scope")


def test_an_update_changes_only_what_it_names(box: Running) -> None:
    number = added(box, WORK_POSITION="Engineer")
    assert result(box, "user.update", {"ID": number, "ACTIVE": "N", "UF_DEPARTMENT": [1]}) is True
    row = result(box, "user.get", {"ID": number, "ADMIN_MODE": True})[0]
    assert (row["ACTIVE"], row["WORK_POSITION"], row["XML_ID"]) == (False, "Engineer", "src:7")
    assert call(box, "user.update", {"ID": 99, "NAME": "x"}).json["error"] == "ERROR_CORE"


def test_a_photo_is_shown_as_it_was_sent_and_taken_away_by_an_empty_value(box: Running) -> None:
    number = added(box, PERSONAL_PHOTO=["me.png", base64.b64encode(b"picture").decode()])
    link = result(box, "user.get", {"ID": number})[0]["PERSONAL_PHOTO"]
    assert send(link, None, {"User-Agent": "t/1"}).body == b"picture"
    result(box, "user.update", {"ID": number, "PERSONAL_PHOTO": ""})
    assert "PERSONAL_PHOTO" not in result(box, "user.get", {"ID": number})[0]


def test_custom_fields_of_users_get_their_prefix_and_hold_values(box: Running) -> None:
    options = [{"VALUE": "Junior", "XML_ID": "j"}, {"VALUE": "Senior"}]
    fields = {"FIELD_NAME": "level", "USER_TYPE_ID": "enumeration", "MULTIPLE": "Y", "LIST": options}
    assert result(box, "user.userfield.add", {"fields": fields}) > 0
    row = result(box, "user.userfield.list")[0]
    assert (row["FIELD_NAME"], [o["VALUE"] for o in row["LIST"]]) == ("UF_USR_LEVEL", ["Junior", "Senior"])
    assert row["LIST"][0]["XML_ID"] == "j"
    number = added(box, UF_USR_LEVEL=[row["LIST"][1]["ID"]], UF_UNKNOWN="x")
    shown = result(box, "user.get", {"ID": number})[0]
    assert shown["UF_USR_LEVEL"] == [int(row["LIST"][1]["ID"])]
    assert "UF_UNKNOWN" not in shown
    assert call(box, "user.userfield.add", {"fields": fields}).json["error"] == ""


def test_departments_hang_on_the_one_root(box: Running) -> None:
    result(box, "department.add", {"NAME": "Sales", "PARENT": 1, "SORT": 70, "UF_HEAD": 1})
    row = result(box, "department.get", {"NAME": "Sales"})[0]
    sales = int(row["ID"])
    assert row == {"ID": str(sales), "NAME": "Sales", "SORT": 70, "PARENT": "1", "UF_HEAD": "1"}
    assert call(box, "department.add", {"NAME": "Second root"}).json["error"] == "ERROR_CORE"
    assert result(box, "department.update", {"ID": sales, "NAME": "Trade"}) is True
    assert result(box, "department.delete", {"ID": sales}) is True
    assert [row["ID"] for row in result(box, "department.get")] == ["1"]


def test_an_import_does_not_take_away_what_was_written(box: Running) -> None:
    number = added(box)
    result(box, "import.info")
    assert result(box, "user.get", {"ID": number})[0]["NAME"] == "Oleg"


def test_what_a_box_can_do_is_told_honestly(box: Running, cloud: Running) -> None:
    assert result(box, "method.get", {"name": "user.add"}) == {"isExisting": True, "isAvailable": True}
    assert result(cloud, "method.get", {"name": "user.add"})["isExisting"] is False
    listed = set(result(box, "methods"))
    assert {"user.add", "crm.status.add", "disk.folder.uploadfile"} <= listed
    # What controllers serve is not listed, although it is there.
    assert not {"crm.item.import", "tasks.task.add", "userfieldconfig.add"} & listed
    assert result(box, "method.get", {"name": "crm.item.import"})["isAvailable"] is True
    assert "import" in result(box, "scope")
    old = Portal(role="box", clock=ManualClock(), without=("crm.item.*",), module=False)
    with serve(old) as running:
        assert result(running, "method.get", {"name": "crm.item.batchimport"})["isExisting"] is False
        assert result(running, "method.get", {"name": "import.info"})["isExisting"] is False
        assert "import" not in {*result(running, "scope"), *result(running, "scope", {"full": True})}
        assert call(running, "import.info").status == 404
        assert result(running, "user.add", PERSON) > 0


def test_to_a_box_only_the_letter_or_a_real_no_means_dismissed(box: Running) -> None:
    number = added(box)
    for value, active in (("N", False), ("false", True), (False, False), ("Y", True), (0, False)):
        result(box, "user.update", {"ID": number, "ACTIVE": value})
        assert result(box, "user.get", {"ID": number, "ADMIN_MODE": True})[0]["ACTIVE"] is active, value


def test_somebody_from_outside_is_asked_into_a_group_that_exists(box: Running) -> None:
    outside = {"EMAIL": "x@other.example", "EXTRANET": "Y"}
    group = result(box, "sonet_group.create", {"NAME": "Open"})
    assert call(box, "user.add", outside | {"SONET_GROUP_ID": [99]}).json["error"] == "ERROR_ARGUMENT"
    result(box, "user.add", outside | {"SONET_GROUP_ID": [group]})
    assert control(box, "native")["noise"]["request to join"] == 1


def test_a_file_of_a_user_is_sent_in_a_wrapping_of_its_own(box: Running) -> None:
    result(box, "user.userfield.add", {"fields": {"FIELD_NAME": "SCAN", "USER_TYPE_ID": "file"}})
    pair = ["a.pdf", base64.b64encode(b"bytes").decode()]
    number = added(box, UF_USR_SCAN=pair)
    assert result(box, "user.get", {"ID": number})[0]["UF_USR_SCAN"] == ""
    result(box, "user.update", {"ID": number, "UF_USR_SCAN": {"fileData": pair}})
    assert result(box, "user.get", {"ID": number})[0]["UF_USR_SCAN"]["id"] > 0


def test_options_that_a_list_has_already_are_not_doubled(box: Running) -> None:
    fields = {"FIELD_NAME": "LEVEL", "USER_TYPE_ID": "enumeration", "LIST": [{"VALUE": "Junior"}, {"VALUE": "Gone"}]}
    number = result(box, "user.userfield.add", {"fields": fields})
    first, second = result(box, "user.userfield.list")[0]["LIST"]
    wish = [first | {"VALUE": "Novice"}, second | {"DEL": "Y"}, {"VALUE": "Senior"}]
    result(box, "user.userfield.update", {"id": number, "fields": {"LIST": wish}})
    there = result(box, "user.userfield.list")[0]["LIST"]
    assert [option["VALUE"] for option in there] == ["Novice", "Senior"]
    assert there[0]["ID"] == first["ID"]


@pytest.mark.parametrize("method", ["user.userfield.add", "crm.deal.userfield.add", "task.item.userfield.add"])
@pytest.mark.parametrize("code", ["уровень", "A-B", "A" * 50])
def test_a_code_is_latin_and_no_longer_than_fifty_characters(box: Running, method: str, code: str) -> None:
    reply = call(box, method, {"fields": {"FIELD_NAME": code, "USER_TYPE_ID": "string"}})
    assert (reply.status, reply.json["error"]) == (400, "")


def test_a_department_that_is_changed_without_its_sort_loses_it(box: Running) -> None:
    result(box, "department.add", {"NAME": "Sales", "PARENT": 1, "SORT": 70})
    sales = int(result(box, "department.get", {"NAME": "Sales"})[0]["ID"])
    result(box, "department.update", {"ID": sales, "NAME": "Trade", "SORT": 70})
    assert result(box, "department.get", {"ID": sales})[0]["SORT"] == 70
    result(box, "department.update", {"ID": sales, "NAME": "Trade"})
    assert result(box, "department.get", {"ID": sales})[0]["SORT"] == 500
