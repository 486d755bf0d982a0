"""user.*, user.userfield.list and department.get."""

from typing import Any

from tests.b24sim.client import call, control, result

from b24sim import Company, Plan, Running

FAST = {"sort": "ID", "order": "ASC", "start": -1, "ADMIN_MODE": True}


def by_keyset(running: Running) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        page = result(running, "user.get", FAST | {"FILTER": {">ID": rows[-1]["ID"] if rows else 0}})
        rows += page
        if len(page) < 50:
            return rows


def test_keyset_pages_give_everybody_once(cloud: Running) -> None:
    ids = [int(row["ID"]) for row in by_keyset(cloud)]
    assert ids == sorted(set(ids))
    assert ids == cloud.portal.company.users.ids


def test_offset_pages_give_everybody_once_even_without_an_order(cloud: Running) -> None:
    found: list[str] = []
    start: int | None = 0
    while start is not None:
        reply = call(cloud, "user.get", {"start": start, "ADMIN_MODE": 1}).json
        found += [row["ID"] for row in reply["result"]]
        start = reply.get("next")
        assert reply["total"] == 230
    assert len(found) == len(set(found)) == 230
    assert found != sorted(found, key=int)


def test_the_fast_mode_counts_nothing_and_an_empty_answer_has_no_total(cloud: Running) -> None:
    reply = call(cloud, "user.get", FAST).json
    assert reply["total"] == 0
    assert "next" not in reply
    empty = call(cloud, "user.get", {"FILTER": {">ID": 10**9}}).json
    assert empty["result"] == []
    assert "total" not in empty


def test_without_admin_mode_people_without_a_department_are_missing(cloud: Running) -> None:
    everybody = call(cloud, "user.get", {"ADMIN_MODE": True}).json["total"]
    known = call(cloud, "user.get").json["total"]
    assert known < everybody
    assert call(cloud, "user.get", {"ADMIN_MODE": True}, user=5).json["total"] < everybody


def test_what_counts_as_dismissed(cloud: Running) -> None:
    def total(value: Any) -> int:
        return int(call(cloud, "user.get", {"FILTER": {"ACTIVE": value}, "ADMIN_MODE": True}).json["total"])

    assert total(False) == total("N") < total(True) == total("Y")
    assert total("false") == total(True)
    assert total(False) + total(True) == 230


def test_top_level_parameters_filter_when_there_is_no_filter(cloud: Running) -> None:
    row = result(cloud, "user.get", {"id": 7})[0]
    assert result(cloud, "user.get", {"EMAIL": row["EMAIL"].upper()})[0]["ID"] == "7"
    assert len(result(cloud, "user.get", {"FILTER": {"NO_SUCH": 1}})) == 50


def test_filter_operators(cloud: Running) -> None:
    def ids(conditions: dict[str, Any]) -> list[int]:
        rows = result(cloud, "user.get", {"FILTER": conditions, "sort": "ID", "order": "ASC", "ADMIN_MODE": 1})
        return [int(row["ID"]) for row in rows]

    assert ids({">=ID": 5, "<=ID": 7}) == [5, 6, 7]
    assert ids({"@ID": [3, 9], "!ID": 9}) == [3]
    assert ids({"ID": [3, 9]}) == [3, 9]
    assert ids({"%EMAIL": "USER7.", "<ID": 20}) == [7]
    assert ids({"=%EMAIL": "user7.%", "<ID": 20}) == [7]
    assert 7 not in ids({"!%EMAIL": "user7.", "<ID": 20})
    assert ids({">ID": ["a", "b"], "<ID": 4}) == [2, 3]


def test_changed_users_can_be_asked_for_though_the_time_is_unreadable(small: Running) -> None:
    now = result(small, "server.time")
    assert result(small, "user.get", {"FILTER": {">=TIMESTAMP_X": now}}) == []
    control(small, "mutate", {"stream": "users", "op": "update", "id": 4, "fields": {"EMAIL": "new@company.example"}})
    rows = result(small, "user.get", {"FILTER": {">=TIMESTAMP_X": now}})
    assert [(row["ID"], row["EMAIL"], row["TIMESTAMP_X"]) for row in rows] == [("4", "new@company.example", {})]
    assert result(small, "user.get", {"FILTER": {">TIMESTAMP_X": "rubbish"}}) == []


def test_dates_are_midnights_in_utc(cloud: Running) -> None:
    for row in by_keyset(cloud):
        assert row["DATE_REGISTER"].endswith("T03:00:00+03:00")


def test_null_columns_are_left_out(cloud: Running) -> None:
    rows = by_keyset(cloud)
    assert any("SECOND_NAME" not in row for row in rows)
    assert any("PERSONAL_PHOTO" not in row for row in rows)
    assert any("PERSONAL_PHOTO" in row for row in rows)


def test_select_takes_masks(cloud: Running) -> None:
    row = result(cloud, "user.get", {"FILTER": {"ID": 7}, "select": ["ID", "UF_USR_*"]})[0]
    assert set(row) > {"ID"}
    assert all(name == "ID" or name.startswith("UF_USR_") for name in row)


def test_a_small_scope_shows_less(small: Running) -> None:
    small.portal.scopes = ("user_brief",)
    assert "EMAIL" not in result(small, "user.get")[0]
    small.portal.scopes = ("user_basic",)
    assert "EMAIL" in result(small, "user.get")[0]


def test_the_current_user_has_readable_times(cloud: Running) -> None:
    me = result(cloud, "user.current", user=5)
    assert me["ID"] == "5"
    assert me["TIMESTAMP_X"][2] == "."
    assert me["LAST_ACTIVITY_DATE"][4] == "-"
    assert "EMAIL" in result(cloud, "user.fields")


def test_search_finds_by_name(cloud: Running) -> None:
    name = result(cloud, "user.get", {"ID": 7})[0]["LAST_NAME"]
    assert "7" in [row["ID"] for row in result(cloud, "user.search", {"FIND": name})]
    assert result(cloud, "user.search", {"LAST_NAME": "нетакого"}) == []


def test_custom_fields_are_for_administrators(cloud: Running) -> None:
    reply = call(cloud, "user.userfield.list").json
    assert reply["total"] == len(reply["result"]) == 6
    kinds = {row["USER_TYPE_ID"]: row for row in reply["result"]}
    assert kinds["enumeration"]["MULTIPLE"] == "Y"
    assert len(kinds["enumeration"]["LIST"]) == 4
    assert kinds["employee"]["SETTINGS"] == []
    assert "EDIT_FORM_LABEL" not in kinds["string"]
    labelled = result(cloud, "user.userfield.list", {"filter": {"LANG": "ru", "USER_TYPE_ID": "date"}})
    assert [row["EDIT_FORM_LABEL"] for row in labelled] == ["Дата приёма"]
    refused = call(cloud, "user.userfield.list", user=5)
    assert (refused.status, refused.json["error"]) == (400, "")


def test_departments_page_by_page_with_the_old_cores_habits(cloud: Running) -> None:
    first = call(cloud, "department.get").json
    assert (first["total"], first["next"], len(first["result"])) == (60, 50, 50)
    assert [row["ID"] for row in first["result"] if "PARENT" not in row] in ([], ["1"])
    second = call(cloud, "department.get", {"START": 50}).json
    assert len(second["result"]) == 10
    assert "next" not in second
    assert call(cloud, "department.get", {"start": 77}).json["result"] == second["result"]
    beyond = call(cloud, "department.get", {"start": 100}).json
    assert (beyond["result"], beyond["next"]) == (first["result"], 50)


def test_departments_filter_exactly(cloud: Running) -> None:
    children = result(cloud, "department.get", {"PARENT": 1})
    assert children
    assert {row["PARENT"] for row in children} == {"1"}
    assert result(cloud, "department.get", {"FILTER": {"ID": 4}})[0]["ID"] == "4"
    assert result(cloud, "department.get", {"SORT": "NAME"}) == []
    names = [row["NAME"] for row in result(cloud, "department.get", {"sort": "NAME", "order": "DESC"})]
    assert names == sorted(names, reverse=True)


def test_some_parents_have_higher_ids_than_their_children(cloud: Running) -> None:
    rows = [cloud.portal.company.departments.row(number) for number in cloud.portal.company.departments]
    assert any(int(row.get("PARENT", 0)) > int(row["ID"]) for row in rows)
    assert any("UF_HEAD" not in row for row in rows)


def unimportable(company: Company) -> int:
    rows = [company.users.row(number) for number in company.users]
    mails = [row["EMAIL"].casefold() for row in rows]
    return (
        sum(not row["NAME"] or not row["EMAIL"] for row in rows)
        + len(mails)
        - len({mail for mail in mails if mail})
        - mails.count("")
    )


def test_few_users_cannot_be_imported_unless_asked_for() -> None:
    assert unimportable(Company(Plan(users=60))) == 0
    assert unimportable(Company(Plan(users=1000))) == 15
    assert unimportable(Company(Plan(users=60, bad_users=7))) == 7
