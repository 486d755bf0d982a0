"""A box makes groups by its own methods: members join now, as members, and roles follow."""

import json
from typing import Any

import pytest
from tests.b24sim.client import call, control, result

from b24sim import Running


@pytest.fixture
def staff(box: Running) -> list[int]:
    mails = ("a@company.example", "b@company.example")
    return [int(result(box, "user.add", {"EMAIL": mail, "UF_DEPARTMENT": [1], "NAME": mail[0]})) for mail in mails]


def group(box: Running, **fields: Any) -> int:
    return int(result(box, "sonet_group.create", {"NAME": "Team"} | fields))


def test_a_group_is_made_now_for_the_owner_an_administrator_names(box: Running, staff: list[int]) -> None:
    number = group(box, OWNER_ID=staff[0], PROJECT="Y", PROJECT_DATE_START="2021-01-01", DATE_CREATE="2020-01-01")
    row = result(box, "sonet_group.get", {"FILTER": {"ID": number}})[0]
    assert (row["OWNER_ID"], row["PROJECT"], row["NUMBER_OF_MEMBERS"]) == (str(staff[0]), "Y", "1")
    assert row["DATE_CREATE"] == result(box, "server.time")
    answer = result(box, "socialnetwork.api.workgroup.get", {"params": {"groupId": number}})
    assert (answer["TYPE"], answer["PROJECT_DATE_START"][:10], answer["CHAT_ID"] > 0) == ("project", "01.01.2021", True)
    chat = result(box, "im.chat.get", {"ENTITY_TYPE": "SONET_GROUP", "ENTITY_ID": str(number)})
    assert chat == {"ID": answer["CHAT_ID"]}


def test_a_date_in_the_sites_own_format_slips_through(box: Running) -> None:
    number = group(box, DATE_CREATE="01.02.2020 10:20:30")
    row = result(box, "sonet_group.get", {"FILTER": {"ID": number}})[0]
    assert row["DATE_CREATE"] == "2020-02-01T10:20:30+03:00"


def test_members_join_once_and_roles_follow(box: Running, staff: list[int]) -> None:
    number, (first, second) = group(box), staff
    body = {"GROUP_ID": number, "USER_ID": [first, second, 99]}
    assert result(box, "sonet_group.user.add", body) == [str(first), str(second)]
    assert result(box, "sonet_group.user.add", body) == []
    role = {"GROUP_ID": number, "USER_ID": [first, 1], "ROLE": "E"}
    assert result(box, "sonet_group.user.update", role) == [str(first)]
    assert result(box, "sonet_group.user.update", role) == []
    assert result(box, "sonet_group.setowner", {"GROUP_ID": number, "USER_ID": second}) is True
    roles = {row["USER_ID"]: row["ROLE"] for row in result(box, "sonet_group.user.get", {"ID": number})}
    assert roles == {"1": "K", str(first): "E", str(second): "A"}
    assert result(box, "sonet_group.user.delete", {"GROUP_ID": number, "USER_ID": [1, second]}) == ["1"]
    members = control(box, "native?kind=group_members")["records"]
    assert [record["made"] for record in members] == [1, 1]
    assert members[0]["fields"]["ROLE"] == "E"
    assert "invitation" in control(box, "native")["noise"]


def test_a_group_is_changed_and_deleted(box: Running) -> None:
    number = group(box)
    assert result(box, "sonet_group.update", {"GROUP_ID": number, "NAME": "Other", "CLOSED": "Y"}) == number
    row = result(box, "sonet_group.get", {"FILTER": {"ID": number}})[0]
    assert (row["NAME"], row["CLOSED"]) == ("Other", "Y")
    assert result(box, "sonet_group.delete", {"GROUP_ID": number}) is True
    assert result(box, "sonet_group.get") == []
    assert call(box, "sonet_group.update", {"GROUP_ID": number}).json["error"] == ""
    assert call(box, "sonet_group.create", {"name": "lower case counts for nothing"}).json["error"] == ""


def test_a_task_outside_the_dates_of_its_project_is_refused(box: Running) -> None:
    dates = {"PROJECT_DATE_START": "2021-01-01", "PROJECT_DATE_FINISH": "2021-12-31"}
    number = group(box, PROJECT="Y", **dates)
    fields = {"TITLE": "x", "RESPONSIBLE_ID": 1, "GROUP_ID": number, "DEADLINE": "2022-05-01T10:00:00+03:00"}
    assert call(box, "tasks.task.add", {"fields": fields}).json["error"] == "ERROR_CORE"
    inside = fields | {"DEADLINE": "2021-05-01T10:00:00+03:00"}
    task = result(box, "tasks.task.add", {"fields": inside})["task"]
    assert task["groupId"] == str(number)
    result(box, "sonet_group.update", {"GROUP_ID": number, "PROJECT_DATE_FINISH": "2021-02-01"})
    assert result(box, "tasks.task.update", {"taskId": task["id"], "fields": {"TITLE": "y"}})["task"]["title"] == "y"
    late = {"taskId": task["id"], "fields": {"DEADLINE": "2021-06-01T10:00:00+03:00"}}
    assert call(box, "tasks.task.update", late).json["error"] == "ERROR_CORE"


def test_a_group_has_a_subject_that_exists(box: Running) -> None:
    assert call(box, "sonet_group.create", {"NAME": "Team", "SUBJECT_ID": 9}).json["error"] == ""
    (subject,) = result(box, "sonet_group_subject.get")
    number = group(box, SUBJECT_ID=subject["ID"])
    assert result(box, "sonet_group.get", {"FILTER": {"ID": number}})[0]["SUBJECT_NAME"] == subject["NAME"]


def test_the_first_from_outside_makes_it_a_group_of_both(box: Running, staff: list[int]) -> None:
    number = group(box)
    guest = {"EMAIL": "g@other.example", "EXTRANET": "Y", "SONET_GROUP_ID": [number]}
    outside = int(result(box, "user.add", guest))
    for user, extranet in ((staff[0], "N"), (outside, "Y")):
        result(box, "sonet_group.user.add", {"GROUP_ID": number, "USER_ID": [user]})
        assert result(box, "sonet_group.get", {"FILTER": {"ID": number}})[0]["IS_EXTRANET"] == extranet


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("tasks.task.add", {"fields": {"TITLE": "x", "RESPONSIBLE_ID": 1, "GROUP_ID": "«group»"}}),
        ("log.blogpost.add", {"POST_MESSAGE": "x", "DEST": ["SG«group»"]}),
    ],
)
def test_what_is_done_in_a_group_counts_as_its_activity(box: Running, method: str, body: Any) -> None:
    number = group(box, DATE_ACTIVITY="01.02.2020 10:20:30")
    result(box, method, json.loads(json.dumps(body).replace("\\u00abgroup\\u00bb", str(number))))
    row = result(box, "sonet_group.get", {"FILTER": {"ID": number}})[0]
    assert row["DATE_ACTIVITY"] == result(box, "server.time")
