"""sonet_group.* and socialnetwork.api.workgroup.*."""

from typing import Any

from tests.b24sim.client import call, result

from b24sim import Running

ALL = {"IS_ADMIN": "Y", "ORDER": {"ID": "ASC"}}


def everything(running: Running) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        page = result(running, "sonet_group.get", ALL | {"FILTER": {">ID": rows[-1]["ID"] if rows else 0}, "start": -1})
        rows += page
        if len(page) < 50:
            return rows


def test_keyset_pages_give_every_group(cloud: Running) -> None:
    rows = everything(cloud)
    assert [int(row["ID"]) for row in rows] == cloud.portal.company.groups.ids
    assert {"Y", "N"} == {row["VISIBLE"] for row in rows} == {row["CLOSED"] for row in rows}
    assert any(row["DESCRIPTION"] is None for row in rows)
    assert {"Y", "N"} == {row["IS_EXTRANET"] for row in rows}
    assert all(isinstance(value, (str, type(None))) for row in rows for value in row.values())


def test_offsets_are_rounded_and_out_of_range_starts_over(cloud: Running) -> None:
    first = call(cloud, "sonet_group.get", ALL).json
    assert (first["total"], first["next"]) == (70, 50)
    second = call(cloud, "sonet_group.get", ALL | {"start": 63}).json
    assert len(second["result"]) == 20
    assert call(cloud, "sonet_group.get", ALL | {"start": 5000}).json["result"] == first["result"]
    assert call(cloud, "sonet_group.get", ALL | {"start": -1}).json["total"] == 0


def test_newest_first_by_default_and_names_only_in_upper_case(cloud: Running) -> None:
    rows = result(cloud, "sonet_group.get", {"order": {"ID": "ASC"}, "filter": {"ID": 2}})
    assert len(rows) == 50
    assert int(rows[0]["ID"]) > int(rows[1]["ID"])


def test_secret_groups_need_the_administrators_word(cloud: Running) -> None:
    everybody = call(cloud, "sonet_group.get", {"IS_ADMIN": "Y"}).json["total"]
    assert call(cloud, "sonet_group.get").json["total"] < everybody
    assert call(cloud, "sonet_group.get", {"IS_ADMIN": "Y"}, user=5).json["total"] < everybody


def test_filters_on_dates_and_names(cloud: Running) -> None:
    rows = everything(cloud)
    mark = sorted(row["DATE_UPDATE"] for row in rows)[35]
    found = result(cloud, "sonet_group.get", ALL | {"FILTER": {">=DATE_UPDATE": mark}})
    assert {row["ID"] for row in found} == {row["ID"] for row in rows if row["DATE_UPDATE"] >= mark}
    assert result(cloud, "sonet_group.get", ALL | {"GROUP_ID": rows[3]["ID"]}) == [rows[3]]


def test_members_are_active_ones_only(cloud: Running) -> None:
    company = cloud.portal.company
    hidden = 0
    for number in company.groups:
        shown = result(cloud, "sonet_group.user.get", {"ID": number})
        roles = {int(row["USER_ID"]): row["ROLE"] for row in shown}
        truth = company.groups_by_id[number].roles
        assert roles == {user: role for user, role in truth.items() if company.is_active(user)}
        hidden += len(truth) - len(roles)
    assert hidden
    assert any(not company.is_active(group.owner) for group in company.groups_by_id.values())


def test_members_refusals(cloud: Running) -> None:
    for params in ({}, {"ID": 999999}, {"GROUP_ID": 2}):
        reply = call(cloud, "sonet_group.user.get", params)
        assert (reply.status, reply.json["error"]) == (400, "")


def test_the_controller_list_gives_only_what_is_selected(cloud: Running) -> None:
    reply = call(cloud, "socialnetwork.api.workgroup.list", {"params": {"IS_ADMIN": "Y"}}).json
    assert all(set(row) == {"id"} for row in reply["result"]["workgroups"])
    # Groups of the extranet site are missing here.
    assert reply["total"] < len(cloud.portal.company.groups)
    params = {
        "select": ["TYPE", "SCRUM_MASTER_ID", "PROJECT_DATE_START"],
        "params": {"IS_ADMIN": "Y", "shouldSelectDialogId": "Y"},
    }
    fast = call(cloud, "socialnetwork.api.workgroup.list", params | {"order": {"ID": "ASC"}, "start": -1}).json
    assert "total" not in fast
    rows = fast["result"]["workgroups"]
    assert {row["type"] for row in rows} == {"group", "project", "scrum", "collab"}
    assert any(row["dialogId"].startswith("chat") for row in rows)


def test_the_controller_get_shows_everybody_and_unreadable_dates(cloud: Running) -> None:
    group = next(iter(cloud.portal.company.groups_by_id.values()))
    answer = result(
        cloud, "socialnetwork.api.workgroup.get", {"params": {"groupId": group.id, "select": ["TAGS", "PRIVACY_TYPE"]}}
    )
    assert answer["ID"] == group.id
    assert sorted(answer["MEMBERS"]) == sorted(group.roles)
    assert answer["DATE_CREATE"][2] == "."
    assert answer["PRIVACY_CODE"] in {"open", "closed", "secret"}
    refused = call(cloud, "socialnetwork.api.workgroup.get", {"params": {"groupId": 99999}})
    assert refused.json["error"] == "SONET_CONTROLLER_WORKGROUP_NOT_FOUND"


def test_own_groups(cloud: Running) -> None:
    mine = result(cloud, "sonet_group.user.groups", user=5)
    assert {int(row["GROUP_ID"]) for row in mine} == {group.id for group in cloud.portal.company.groups_of(5)}
