"""Times and ids in filters: which instant a portal compares with, and what it counts."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.b24sim.client import call, control, result

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.habits import INSTANT, SHIFTED, Habits
from b24sim.options import parser
from b24sim.portal_setup import portal_from

WEST, EAST, SERVER = "America/Bogota", "Asia/Tokyo", "Europe/Moscow"
BEHIND = timedelta(hours=-8)  # of Bogota to Moscow, all year round
DEAL = 2
RUBBISH = ("yesterday", "2026-13-45T00:00:00+03:00", "", "1794000000")


def portal(owner_zone: str = "", **habits: str) -> Portal:
    plan = Plan(seed=11, deals=120, tasks=60, owner_zone=owner_zone)
    return Portal(Company(plan), clock=ManualClock(), habits=Habits(**habits))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def west() -> Iterator[Running]:
    with serve(portal(WEST)) as running:
        yield running


@pytest.fixture
def home() -> Iterator[Running]:
    with serve(portal()) as running:
        yield running


def items(running: Running, condition: dict[str, Any], **how: Any) -> Any:
    asked = {"entityTypeId": DEAL, "select": ["id", "updatedTime"], "filter": condition} | how
    return call(running, "crm.item.list", asked).json


def newest_deal(running: Running) -> tuple[int, datetime]:
    row = items(running, {}, order={"updatedTime": "DESC"}, start=-1)["result"]["items"][0]
    return row["id"], datetime.fromisoformat(row["updatedTime"])


def changed(running: Running, method: str, condition: dict[str, Any]) -> int:
    """How many rows of a list pass."""
    asked: dict[str, Any] = {"FILTER": condition}
    if method == "crm.item.list":
        return int(items(running, condition)["total"])
    if method in ("tasks.task.list", "crm.type.list"):
        asked = {"filter": condition}
    return int(call(running, method, asked).json.get("total", 0))


def test_the_owner_may_live_in_another_zone_than_the_server(west: Running) -> None:
    profile, now = result(west, "profile"), datetime.fromisoformat(result(west, "server.time"))
    shift = timedelta(seconds=profile["TIME_ZONE_OFFSET"]) - (now.utcoffset() or timedelta())
    assert (profile["TIME_ZONE"], shift) == ("", BEHIND)  # he has set none himself


@pytest.mark.parametrize(
    ("zone", "dates", "shift"),
    [
        (WEST, SHIFTED, BEHIND),
        (EAST, SHIFTED, timedelta(hours=6)),
        (WEST, INSTANT, timedelta()),
        ("", SHIFTED, timedelta()),
    ],
)
def test_crm_items_are_compared_with_a_shifted_instant(zone: str, dates: str, shift: timedelta) -> None:
    with serve(portal(zone, crm_dates=dates)) as running:
        _, at = newest_deal(running)
        for sent_as in (at.isoformat(), at.astimezone().isoformat()):
            sent = datetime.fromisoformat(sent_as)
            # The boundary is what was sent less the shift.
            assert changed(running, "crm.item.list", {">=updatedTime": (sent + shift).isoformat()}) >= 1
            assert changed(running, "crm.item.list", {">updatedTime": (sent + shift).isoformat()}) == 0
            lost = changed(running, "crm.item.list", {">=updatedTime": sent.isoformat()}) == 0
            assert lost is (shift < timedelta())


def test_older_lists_and_tasks_take_an_instant(west: Running) -> None:
    _, at = newest_deal(west)
    for sign, count in ((">=", 1), (">", 0)):
        assert changed(west, "crm.deal.list", {f"{sign}DATE_MODIFY": at.isoformat()}) == count
    asked = {"order": {"CHANGED_DATE": "desc"}, "select": ["ID", "CHANGED_DATE"]}
    newest = datetime.fromisoformat(result(west, "tasks.task.list", asked)["tasks"][0]["changedDate"])
    assert newest.utcoffset() == timedelta(hours=-5)  # told in the owner's own zone
    assert changed(west, "tasks.task.list", {">=CHANGED_DATE": newest.isoformat()}) == 1
    assert changed(west, "tasks.task.list", {">CHANGED_DATE": newest.isoformat()}) == 0


def last_times(running: Running) -> dict[str, tuple[str, datetime]]:
    """Of each list that is said, or feared, to shift: the name of a time, and the latest one."""
    company = running.portal.company
    templates = list(map(company.workflows.templates.row, company.workflows.templates.ids))
    shown = [row["MODIFIED"] for row in templates if int(row["AUTO_EXECUTE"]) < 8]
    people = [company.users.row(number)["_TIMESTAMP_X"] for number in company.users_visible_to(1)]
    groups = [row["DATE_ACTIVITY"] for row in map(company.groups.row, company.groups) if row["VISIBLE"] == "Y"]
    types = [company.crm.types.row(number)["updatedTime"] for number in company.crm.types]
    return {
        "bizproc.workflow.template.list": ("MODIFIED", datetime.fromisoformat(max(shown))),
        "user.get": ("TIMESTAMP_X", datetime.fromisoformat(company.moments.iso(max(people)))),
        "sonet_group.get": ("DATE_ACTIVITY", datetime.fromisoformat(max(groups))),
        "crm.type.list": ("updatedTime", datetime.fromisoformat(max(types))),
    }


@pytest.mark.parametrize(("dates", "shift"), [(SHIFTED, BEHIND), (INSTANT, timedelta())])
def test_other_lists_may_shift_too(dates: str, shift: timedelta) -> None:
    with serve(portal(WEST, other_dates=dates)) as running:
        for method, (name, at) in last_times(running).items():
            assert changed(running, method, {f">={name}": (at + shift).isoformat()}) >= 1, method
            assert changed(running, method, {f">={name}": (at + shift + timedelta(seconds=1)).isoformat()}) == 0, method


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_what_is_no_time_matches_nothing(west: Running, rubbish: str) -> None:
    for method, (name, _) in last_times(west).items():
        assert changed(west, method, {f">={name}": rubbish}) == 0, method
    for method, name in (
        ("crm.item.list", "updatedTime"),
        ("crm.deal.list", "DATE_MODIFY"),
        ("tasks.task.list", "CHANGED_DATE"),
        ("tasks.task.list", "ACTIVITY_DATE"),
    ):
        assert changed(west, method, {f">={name}": rubbish}) == 0, method


def test_beside_the_change_of_a_task_its_activity_does_not_count(home: Running) -> None:
    now = home.portal.company.moments.iso(home.portal.clock.now())
    control(home, "mutate", {"stream": "task_comments", "op": "add", "where": "forum"})
    assert changed(home, "tasks.task.list", {">=ACTIVITY_DATE": now}) == 1
    assert changed(home, "tasks.task.list", {">=CHANGED_DATE": now}) == 0
    long_ago = {">=CHANGED_DATE": "2001-01-01T00:00:00+03:00"}
    everything = changed(home, "tasks.task.list", long_ago)
    assert everything == len(home.portal.company.tasks.table)
    assert changed(home, "tasks.task.list", long_ago | {">=ACTIVITY_DATE": now}) == everything


@pytest.mark.parametrize("method", ["crm.item.list", "crm.deal.list", "tasks.task.list"])
def test_a_range_of_ids_is_counted(home: Running, method: str) -> None:
    company, name = home.portal.company, "id" if method == "crm.item.list" else "ID"
    ids = company.tasks.table.ids if method == "tasks.task.list" else company.crm.items[DEAL].ids
    low, high = ids[7], ids[40]
    before = changed(home, method, {f">={name}": low, f"<={name}": high})
    hidden = [
        n for n in ids[7:41] if method == "crm.deal.list" and company.crm.items[DEAL].row(n)["isRecurring"] == "Y"
    ]
    assert before == 34 - len(hidden)
    gone = next(number for number in ids[8:40] if number not in hidden)
    stream = "tasks" if method == "tasks.task.list" else "crm_deals"
    control(home, "mutate", {"stream": stream, "op": "delete", "id": gone})
    assert changed(home, method, {f">={name}": low, f"<={name}": high}) == before - 1
    assert changed(home, method, {f">={name}": gone, f"<={name}": gone}) == 0


def test_nothing_is_counted_from_minus_one(home: Running) -> None:
    assert items(home, {">=id": 1}, start=0)["total"] == len(home.portal.company.crm.items[DEAL])
    assert items(home, {">=id": 1}, start=-1)["total"] == 0
    assert call(home, "crm.deal.list", {"FILTER": {">=ID": 1}, "START": -1}).json["total"] == 0


def test_the_zone_of_owners_is_an_option() -> None:
    options = parser().parse_args(["--owner-zone", WEST, "--other-dates", INSTANT])
    made = portal_from(options)
    assert (made.company.moments_of(1).name, made.company.moments.name) == (WEST, SERVER)
    assert made.habits.other_dates == INSTANT
