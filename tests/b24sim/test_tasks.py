"""tasks.task.* and the company's tasks."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from tests.b24sim.client import batch, call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.tasks_fields import CUSTOM, camel

Json = dict[str, Any]
ZONES = ("", "Asia/Yekaterinburg")


@pytest.fixture(scope="session")
def busy() -> Iterator[Running]:
    """A company with 240 tasks; tests leave it as it is."""
    plan = Plan(users=60, groups=12, chats=30, messages=600, files=30, tasks=240, seed=3)
    with serve(Portal(Company(plan), webhooks=(1, 2, 5), clock=ManualClock())) as running:
        yield running


def everything(running: Running, select: list[str], user: int = 1) -> list[Json]:
    rows: list[Json] = []
    while True:
        asked = {"order": {"ID": "asc"}, "filter": {">ID": rows[-1]["id"] if rows else 0}, "select": select}
        page = call(running, "tasks.task.list?start=-1", asked, user).json
        assert (page["total"], "next" in page) == (0, False)
        rows += page["result"]["tasks"]
        if len(page["result"]["tasks"]) < 50:
            return rows


def test_classic_pages_and_the_cursor_give_the_same_tasks(busy: Running) -> None:
    ids: list[str] = []
    start: int | None = 0
    while start is not None:
        page = call(busy, "tasks.task.list", {"start": start, "select": ["ID"]}).json
        ids += [row["id"] for row in page["result"]["tasks"]]
        assert page["total"] == 240
        start = page.get("next")
    assert ids != sorted(ids, key=int)
    assert ids != sorted(ids, key=int, reverse=True)
    assert sorted(ids, key=int) == [row["id"] for row in everything(busy, ["ID"])]
    assert call(busy, "tasks.task.list", {"start": 500}).json["result"]["tasks"] == []


def test_names_in_lower_case_are_no_names(busy: Running) -> None:
    asked = {"order": {"ID": "asc"}, "filter": {">id": 20_300}, "select": ["id", "title", "ID"], "start": -1}
    rows = result(busy, "tasks.task.list", asked)["tasks"]
    assert int(rows[0]["id"]) < 20_300
    assert rows[0].keys() == {"id", "group"}
    refusal = call(busy, "tasks.task.list", {"order": {"nonsense": "asc"}})
    assert (refusal.status, refusal.json["error"]) == (400, "0")


def test_only_what_is_selected_is_told(busy: Running) -> None:
    first = result(busy, "tasks.task.list", {"start": -1})["tasks"][0]
    assert {"chatId", "accomplices", "auditorsData", "subStatus", "group"} <= first.keys()
    assert not {"tags", "ufCrmTask", "ufTaskWebdavFiles"} & first.keys()
    trio = result(busy, "tasks.task.list", {"select": ["ID", "UF_CRM_TASK"]})["tasks"][0]
    assert trio.keys() == {"id", "group", "ufCrmTask", "ufTaskWebdavFiles", "ufMailMessage"}
    custom = result(busy, "tasks.task.list", {"select": ["*", "UF_*", CUSTOM[1]]})["tasks"][0]
    assert {name for name in custom if name.startswith("uf")} == {"ufAuto127801401239"}
    assert camel("UF_TASK_IS_VIP_2") == "ufTaskIsVip2"


def test_scalars_are_strings_and_empty_maps_are_lists(busy: Running) -> None:
    rows = everything(busy, ["*", "TAGS", "UF_CRM_TASK", *CUSTOM])
    assert all(isinstance(row["id"], str) and isinstance(row["groupId"], str) for row in rows)
    assert {type(row["chatId"]) for row in rows} == {int, type(None)}
    for name in ("tags", "group", "auditorsData"):
        assert {type(row[name]) for row in rows} == {list, dict}
    assert all(row["tags"] == [] or {"id", "title"} == next(iter(row["tags"].values())).keys() for row in rows)
    assert {row["parentId"] for row in rows} >= {None, "0"}
    assert {row["status"] for row in rows} == {"2", "3", "4", "5", "6", "7"}
    assert any(row["subStatus"] == "-1" for row in rows)
    spelled = [row["ufTaskWebdavFiles"] for row in rows]
    assert False in spelled
    assert [] in spelled
    assert {type(files[0]) for files in spelled if files} == {int, str}
    links = [link for row in rows for link in row["ufCrmTask"] or []]
    assert {link.partition("_")[0] for link in links} >= {"D", "C", "CO", "L", "SI", "T9c"}
    assert any(link.startswith("D_") and link.endswith("0") for link in links)


def test_the_tree_of_tasks_is_not_always_a_tree(busy: Running) -> None:
    rows = {row["id"]: row["parentId"] for row in everything(busy, ["ID", "PARENT_ID"])}
    below = {child: parent for child, parent in rows.items() if parent not in (None, "0")}
    assert any(int(parent) > int(child) for child, parent in below.items() if parent in rows)
    assert any(parent not in rows for parent in below.values())
    assert any(below.get(parent) == child and parent != child for child, parent in below.items())
    assert any(parent == child for child, parent in below.items())
    groups = {row["groupId"] for row in everything(busy, ["ID", "GROUP_ID"])}
    assert any(int(group) not in busy.portal.company.groups for group in groups - {"0"})
    people = {int(row["responsibleId"]) for row in everything(busy, ["ID", "RESPONSIBLE_ID"])}
    assert any(user not in busy.portal.company.users for user in people)
    assert any(not busy.portal.company.is_active(user) for user in people if user in busy.portal.company.users)


def test_filters_for_a_delta(busy: Running) -> None:
    rows = everything(busy, ["ID", "CHANGED_DATE", "STATUS"])
    middle = sorted(datetime.fromisoformat(row["changedDate"]) for row in rows)[120].astimezone(UTC).isoformat()
    fresh = call(busy, "tasks.task.list", {"filter": {">=CHANGED_DATE": middle}}).json
    assert fresh["total"] == 120
    closed = call(busy, "tasks.task.list", {"filter": {"REAL_STATUS": 5}}).json["total"]
    assert closed == sum(row["status"] == "5" for row in rows)
    late = call(busy, "tasks.task.list", {"filter": {"STATUS": -1}, "select": ["STATUS"]}).json["result"]["tasks"]
    assert {row["subStatus"] for row in late} == {"-1"}
    parent = next(row for row in everything(busy, ["PARENT_ID"]) if row["parentId"] not in (None, "0"))["parentId"]
    assert call(busy, "tasks.task.list", {"filter": {"PARENT_ID": parent}}).json["total"] >= 1
    tagged = call(busy, "tasks.task.list", {"filter": {"TAG": "urgent"}, "select": ["TAGS"]}).json["result"]["tasks"]
    assert all("urgent" in {tag["title"] for tag in row["tags"].values()} for row in tagged)
    assert tagged


def test_one_task_with_everything_and_a_missing_one(busy: Running) -> None:
    company = busy.portal.company
    number = next(n for n in company.tasks.table if company.tasks.checklist(n))
    task = result(busy, "tasks.task.get", {"taskId": number})["task"]
    items = company.tasks.checklist(number)
    assert set(task["checklist"]) == {str(item["ID"]) for item in items}
    roots = [item for item in items if not item["PARENT_ID"]]
    assert len(task["checkListTree"]["descendants"]) == len(roots)
    assert "ufCrmTask" not in task
    for missing in (1, 20_003):
        reply = call(busy, "tasks.task.get", {"taskId": missing})
        assert (reply.status, reply.json["result"]) == (200, [])
    assert call(busy, "tasks.task.get").json["error"] == 100


def test_others_see_their_own_tasks_only(busy: Running) -> None:
    mine = everything(busy, ["CREATED_BY", "RESPONSIBLE_ID", "ACCOMPLICES", "AUDITORS"], user=5)
    assert 0 < len(mine) < 240
    assert all("5" in {row["createdBy"], row["responsibleId"], *row["accomplices"], *row["auditors"]} for row in mine)
    found = {row["id"] for row in mine}
    hidden = next(number for number in busy.portal.company.tasks.table if str(number) not in found)
    assert result(busy, "tasks.task.get", {"taskId": hidden}, user=5) == []


def test_times_are_told_in_the_callers_own_zone() -> None:
    company = Company(Plan(users=60, tasks=10, seed=5))
    near, far = (next(n for n in company.users if company.users.row(n)["TIME_ZONE"] == zone) for zone in ZONES)
    with serve(Portal(company, webhooks=(near, far), admins=(near, far), clock=ManualClock())) as running:
        here, there = (result(running, "tasks.task.list", {}, user)["tasks"][0] for user in (near, far))
        assert (here["createdDate"][-6:], there["createdDate"][-6:]) == ("+03:00", "+05:00")
        assert datetime.fromisoformat(here["createdDate"]) == datetime.fromisoformat(there["createdDate"])


def test_fields_are_described_by_the_names_one_asks_with(busy: Running) -> None:
    described = result(busy, "tasks.task.getFields")["fields"]
    assert {"ID", "CHANGED_DATE", "UF_CRM_TASK", *CUSTOM} <= described.keys()
    assert described[CUSTOM[1]] == {"title": "Бюджет", "type": "double"}


def test_texts_name_records_of_the_portal(busy: Running) -> None:
    texts = "\n".join(row["description"] for row in everything(busy, ["DESCRIPTION"]))
    for part in ("[USER=", "[DISK FILE ID=n2", "[DISK FILE ID=1", f"{busy.url}/company/personal/user/", "/tasks/task/view/2",
                 "/workgroups/group/", "/crm/deal/details/", "😀"):  # fmt: skip
        assert part in texts
    assert len(texts) > 70_000


def test_files_of_tasks_can_be_fetched(busy: Running) -> None:
    agent = {"User-Agent": "test/1"}
    outcomes, objects = set(), []
    for row in everything(busy, ["UF_TASK_WEBDAV_FILES"]):
        for number in row["ufTaskWebdavFiles"] or []:
            about = result(busy, "disk.attachedObject.get", {"id": str(number).lstrip("n")})
            assert (about["ENTITY_ID"], about["MODULE_ID"]) == (row["id"], "tasks")
            file = call(busy, "disk.file.get", {"id": about["OBJECT_ID"]}).json
            outcomes.add(file.get("error", "fine"))
            objects.append(about["OBJECT_ID"])
            assert len(send(about["DOWNLOAD_URL"], headers=agent).body) == int(about["SIZE"])
    assert outcomes == {"fine", "ACCESS_DENIED"}
    assert len(set(objects)) < len(objects)
    assert any(int(number) < 1_000_000 for number in objects)


def test_a_batch_pages_through_tasks(busy: Running) -> None:
    query = "order[ID]=asc&filter[>ID]=$result[a][tasks][49][id]&select[]=ID&start=-1"
    answer = batch(busy, {"a": "tasks.task.list?order[ID]=asc&select[]=ID&start=-1",
                          "b": f"tasks.task.list?{quote(query, safe='=&$')}"})  # fmt: skip
    first, second = (answer["result"][key]["tasks"] for key in "ab")
    assert [row["id"] for row in first + second] == [row["id"] for row in everything(busy, ["ID"])][:100]


def test_a_company_with_tasks_is_otherwise_the_same() -> None:
    without, with_tasks = Portal(Company(Plan(seed=5))), Portal(Company(Plan(seed=5, tasks=60)))
    from b24sim.dump import counts, dump

    for stream in ("users", "groups", "group_members", "files", "feed_posts"):
        assert dump(without, stream) == dump(with_tasks, stream)
    chats = {record["id"]: record for record in dump(with_tasks, "chats")}
    assert all(chats[record["id"]] == record for record in dump(without, "chats"))
    assert counts(without)["tasks"] == 0
    assert all(int(number) >= 500_000 for number in chats.keys() - {record["id"] for record in dump(without, "chats")})


def test_the_same_seed_grows_the_same_tasks(busy: Running) -> None:
    from b24sim.dump import counts, dump

    first, second = (Portal(Company(Plan(seed=4, tasks=90))) for _ in range(2))
    figures = counts(first)
    for stream in ("tasks", "task_checklists", "task_comments"):
        records = dump(first, stream)
        assert records == dump(second, stream)
        assert len(records) == figures[stream] == len({record["id"] for record in records})
    assert control(busy, "company")["counts"]["tasks"] == 240
