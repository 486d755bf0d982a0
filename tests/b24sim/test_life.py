"""Days of work by a seed: the same ones again, what is told of them is what happened, and no date moves by mistake."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.b24sim.client import call, control, result

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.chats import CLOSED
from b24sim.company.crm_ids import DEAL
from b24sim.company.mutations import TRAPS
from b24sim.company.plan import DAY
from b24sim.dump import STREAMS, dump

Json = Any
PLAN = replace(
    Plan(seed=3, tasks=40, messages=200, requisites=20, recurring=6, products=12),
    leads=20,
    quotes=20,
    invoices=20,
    calls=12,
    crm_activities=40,
    crm_comments=30,
    log_entries=12,
    crm_notes=True,
)
URL = "http://portal.example"
# What moves by itself: counts, dates that no migration takes over, and names of others that are shown beside a task.
BESIDE = {"creator", "responsible", "accomplicesData", "auditorsData", "group"}
CRM_NOISE = {"updatedTime", "lastActivityTime"}
MORE = ("crm_leads", "crm_quotes", "crm_invoices")
MOVING = {
    "users": {"LAST_LOGIN", "IS_ONLINE", "TIMESTAMP_X", "LAST_ACTIVITY_DATE"},
    "groups": {"NUMBER_OF_MEMBERS", "NUMBER_OF_MODERATORS", "DATE_ACTIVITY"},
    "chats": {"message_count", "last_message_id", "last_id", "readed_list", "last_message_views"},
    "feed_posts": {"NUM_COMMENTS", "UPDATED"},
    "tasks": {"activityDate", "changedDate", "commentsCount", "forumTopicId", "forumId", *BESIDE},
    **dict.fromkeys(("crm_companies", "crm_contacts", "crm_deals", "crm_spitems", *MORE), CRM_NOISE),
}
COMPARED = [name for name in STREAMS if name not in ("files", "task_files", "user_fields", "task_fields")]
MIGRATED = [name for name in COMPARED if name != "crm_fields"]


def portal(plan: Plan = PLAN) -> Portal:
    made = Portal(Company(plan), clock=ManualClock(), webhooks=(1, 2))
    made.company.settle(URL)
    return made


def picture(made: Portal) -> dict[str, dict[str, Json]]:
    """Every record without what moves by itself."""
    return {name: {row["id"]: still(name, row["fields"]) for row in dump(made, name)} for name in COMPARED}


def still(stream: str, fields: Json) -> Json:
    plain = fields | (fields.get("hidden") or {})
    kept = {name: value for name, value in plain.items() if name not in {"hidden", *MOVING.get(stream, ())}}
    return json.loads(json.dumps(kept, default=str))


@pytest.fixture(scope="module")
def week() -> tuple[Portal, Json, Json]:
    """A portal after five busy days, how it was before, and what it told."""
    made = portal()
    before = picture(made)
    return made, before, made.mutate(seed=1, days=5, share=0.25)


def test_the_same_seed_gives_the_same_days() -> None:
    first, second, third = portal(), portal(), portal()
    changes = first.mutate(seed=7, days=2, share=0.2)
    assert second.mutate(seed=7, days=2, share=0.2) == changes
    assert picture(first) == picture(second)
    assert third.mutate(seed=8, days=2, share=0.2) != changes


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_what_is_told_of_a_day_is_what_happened(seed: int) -> None:
    made = portal()
    before = picture(made)
    assert_told(before, picture(made), made.mutate(seed=seed, share=0)["streams"])
    changes = made.mutate(seed=seed, share=0.3)
    assert_told(before, picture(made), changes["streams"])


def test_what_is_told_of_days_is_what_happened(week: tuple[Portal, Json, Json]) -> None:
    made, before, changes = week
    assert_told(before, picture(made), changes["streams"])


def assert_told(before: Json, after: Json, streams: Json) -> None:
    for name in COMPARED:
        changes = streams.get(name, {"created": [], "changed": [], "deleted": []})
        was, now = before[name], after[name]
        assert set(changes["created"]) == now.keys() - was.keys(), name
        assert set(changes["deleted"]) == was.keys() - now.keys(), name
        # Changed back is changed, too.
        assert {key for key in now.keys() & was.keys() if now[key] != was[key]} <= set(changes["changed"]), name
        assert set(changes["changed"]) <= now.keys() & was.keys(), name


def test_every_stream_and_every_trap_has_its_turn() -> None:
    streams: Counter[tuple[str, str]] = Counter()
    traps: set[str] = set()
    made = portal()
    for seed in range(7):
        changes = made.mutate(seed=seed, days=4, share=0.3)
        streams.update((name, done) for name, lists in changes["streams"].items() for done, ids in lists.items() if ids)
        traps |= {one["trap"] for one in changes["invisible"]}
        assert all(one["why"] == TRAPS[one["trap"]] for one in changes["invisible"])
        assert {one["stream"] for one in changes["noise"]} >= {"crm_deals"}
    assert traps == TRAPS.keys()
    for done in ("created", "changed", "deleted"):
        # A smart process is neither made nor removed from one day to the next.
        missing = {name for name in MIGRATED if not streams[name, done]}
        assert missing == (set() if done == "changed" else {"crm_types"}), done
    assert streams["chats", "hidden"]
    assert streams["feed_posts", "hidden"]


def test_the_share_says_how_much() -> None:
    made = portal(Plan(seed=3, deals=2_000, contacts=0, companies=0, smart_types=0))
    changes = made.mutate(seed=1, share=0.05, without=["option_deleted"])["streams"]["crm_deals"]
    noise = 0.5 * len(changes["changed"])  # entries of the timeline are no changes
    assert 60 < len(changes["changed"]) + noise < 140
    assert len(changes["deleted"]) in range(8, 13)
    assert len(changes["created"]) in range(45, 56)
    quiet = made.mutate(seed=2, share=0)
    assert (quiet["streams"], quiet["invisible"], quiet["noise"]) == ({}, [], [])


def test_traps_can_be_left_out() -> None:
    every = ["option_deleted", "hidden", "restored", "imported", "rows_same_sum", "message_erased", "task_restored"]
    changes = portal().mutate(seed=1, days=3, share=0.3, without=every)
    assert not {one["trap"] for one in changes["invisible"]} & set(every)
    with pytest.raises(ValueError, match="message_erased"):
        portal().mutate(seed=1, without=["nonsense"])


# ---------------------------------------------------------------- what a client sees of it


@pytest.fixture
def running() -> Iterator[Running]:
    with serve(Portal(Company(PLAN), clock=ManualClock())) as served:
        yield served


def ids(rows: Json, key: str = "id") -> set[str]:
    return {str(row[key]) for row in rows}


def test_dates_move_where_they_are_said_to(running: Running) -> None:
    company = running.portal.company
    since = company.moments.iso(running.portal.clock.now())
    changes = control(running, "mutate", {"days": 1, "seed": 7, "share": 0.3, "without": ["option_deleted"]})
    assert (changes["from"], running.portal.clock.now()) == (since, ManualClock().now() + DAY)
    blind = {(one["stream"], one["id"]) for one in changes["invisible"] if one["done"] != "deleted"}
    asked = {"entityTypeId": DEAL, "filter": {">=updatedTime": since}, "select": ["id"]}
    found = ids(result(running, "crm.item.list", asked)["items"])
    deals = changes["streams"]["crm_deals"]
    noise = {one["id"] for one in changes["noise"] if one["stream"] == "crm_deals"}
    assert {n for n in (*deals["created"], *deals["changed"]) if ("crm_deals", n) not in blind} <= found
    assert found <= {*deals["created"], *deals["changed"], *noise}
    unseen = {one["id"] for one in changes["invisible"] if one["trap"] == "imported" and one["stream"] == "crm_deals"}
    assert unseen
    assert not unseen & found
    tasks = changes["streams"]["tasks"]
    asked = {"filter": {">=CHANGED_DATE": since}, "select": ["ID"]}
    found = ids(result(running, "tasks.task.list", asked)["tasks"])
    assert {n for n in (*tasks["created"], *tasks["changed"]) if ("tasks", n) not in blind} <= found
    assert {one["id"] for one in changes["invisible"] if one["trap"] == "changed_date_set"}.isdisjoint(found)


def test_deletions_are_seen_in_counts_only(running: Running) -> None:
    deals = running.portal.company.crm.items[DEAL]
    highest = deals.ids[-1]
    asked = {"entityTypeId": DEAL, "filter": {">=id": 1, "<=id": highest}, "select": ["id"]}
    before = control_total(running, asked)
    changes = control(running, "mutate", {"days": 3, "seed": 6, "share": 0.3})["streams"]["crm_deals"]
    assert changes["deleted"]
    assert control_total(running, asked) == before - len(changes["deleted"])
    assert min(map(int, changes["created"])) > highest


def control_total(running: Running, asked: Json) -> int:
    return int(call(running, "crm.item.list", asked).json["total"])


def test_what_is_hidden_is_not_deleted(week: tuple[Portal, Json, Json]) -> None:
    made, _, changes = week
    hidden = changes["streams"]["chats"]["hidden"]
    for number in hidden:
        chat = made.company.chats[int(number)]
        assert chat.kind == CLOSED
        assert not made.company.readable(chat, 1)
    posts = [made.company.feed.posts[int(number)] for number in changes["streams"]["feed_posts"]["hidden"]]
    assert posts
    assert not any(post.rights & made.company.access_codes(1) for post in posts)


def test_on_a_running_clock_everything_happens_now() -> None:
    with serve(Portal(Company(PLAN))) as running:
        company = running.portal.company
        before = running.portal.clock.now() - 1
        changes = control(running, "mutate", {"days": 2, "seed": 5, "share": 0.2})
        times = [
            company.moments.parse(company.crm.items[DEAL].row(n)["updatedTime"]) or 0 for n in company.crm.items[DEAL]
        ]
        assert changes["streams"]["crm_deals"]["changed"]
        assert before <= max(times) <= running.portal.clock.now()


def test_a_wrong_wish_is_refused(running: Running) -> None:
    for wish in ({"days": 0}, {"days": 1, "share": 2}, {"days": 1, "without": ["x"]}, {"days": "many"}):
        assert control(running, "mutate", wish)["error"] == "ERROR_ARGUMENT"
