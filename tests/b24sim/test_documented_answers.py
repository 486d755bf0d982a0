"""Answers have the keys and types that the vendor's documentation shows (facts from its samples, August 2026).

The tables in `documented/` name the page of every method and the shape of its sample. What differs on purpose stands
there under `differs`, with the reason: a difference without one fails, and so does a reason without a difference.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.b24sim.answer_shape import differences, pattern
from tests.b24sim.client import call
from tests.b24sim.documented_calls import CALLS
from tests.b24sim.documented_writes import Writer, write_everything

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.methods import all_methods
from b24sim.methods.feed import FeedHabits
from b24sim.native import native_methods
from b24sim.native.applications import LocalApplication

TABLES = Path(__file__).parent / "documented"
DOCUMENTED: dict[str, dict[str, Any]] = {
    name: entry for path in sorted(TABLES.glob("*.json")) for name, entry in json.loads(path.read_text("utf-8")).items()
}


@pytest.fixture(scope="module")
def various() -> Iterator[tuple[Portal, Running]]:
    """A company with something of everything."""
    plan = Plan(
        users=40,
        departments=9,
        groups=20,
        chats=40,
        messages=900,
        files=60,
        seed=3,
        bots=1,
        tasks=60,
        products=60,
        requisites=30,
        calls=20,
        crm_activities=60,
        crm_comments=40,
        log_entries=20,
        crm_notes=True,
        recurring=5,
    )
    plan = replace(plan, leads=20, quotes=20, invoices=10)
    habits = FeedHabits(lower_keys=True)  # as the documentation spells them
    portal = Portal(Company(plan), webhooks=(1,), clock=ManualClock(), feed_habits=habits)
    with serve(portal) as running:
        yield portal, running


def test_every_method_has_its_page_or_a_reason_why_it_has_none() -> None:
    served = {method.name for method in [*all_methods(listing_chats=True), *native_methods()]}
    found = {entry.get("method", name) for name, entry in DOCUMENTED.items()}
    assert served == found
    assert all(entry.get("page") or entry.get("no page") for entry in DOCUMENTED.values())


def test_every_method_of_a_cloud_portal_is_called() -> None:
    reads = {method.name for method in all_methods()} - WRITES_OF_APPLICATIONS
    assert reads == {DOCUMENTED[name].get("method", name) for name in CALLS}


WRITES_OF_APPLICATIONS = {f"bizproc.workflow.template.{act}" for act in ("add", "update", "delete")}


@pytest.mark.parametrize("name", CALLS)
def test_answers_as_documented(various: tuple[Portal, Running], name: str) -> None:
    portal, running = various
    entry = DOCUMENTED[name]
    answers = [answer_of(running, entry.get("method", name), params) for params in CALLS[name](portal)]
    assert answers
    if "page" in entry:
        compare(entry, answers)


def test_writes_are_answered_as_documented() -> None:
    company = Company(Plan(3, 1, 0, 0, 0, 0, bad_users=0, box=True))
    box = Portal(company, role="box", webhooks=(1,), clock=ManualClock(), application=LocalApplication())
    with serve(box) as running:
        writer = Writer(running)
        write_everything(writer)
    called = {name: answers for name, answers in writer.answers.items() if "page" in DOCUMENTED[name]}
    documented = {method.name for method in native_methods() if "page" in DOCUMENTED[method.name]}
    assert documented <= called.keys()
    for name in sorted(documented):
        compare(DOCUMENTED[name], called[name])


def answer_of(running: Running, method: str, params: Any) -> Any:
    answer = call(running, method, params).json
    assert "error" not in answer, (method, params, answer)
    del answer["time"]
    return answer


def compare(entry: dict[str, Any], answers: list[Any]) -> None:
    found = {one for answer in answers for one in differences(entry["answer"], answer)}
    reasons = [pattern(text) for text in entry.get("differs", {})]
    assert sorted(one for one in found if not any(reason.fullmatch(one) for reason in reasons)) == []
    assert [reason.pattern for reason in reasons if not any(map(reason.fullmatch, found))] == []


PAGED = ("user.get", "department.get", "tasks.task.list", "crm.type.list", "userfieldconfig.list")


@pytest.mark.parametrize("name", ["sonet_group.user.get", "im.chat.user.list", "crm.status.list", "crm.category.list"])
def test_an_order_that_no_page_names_is_another_each_time(various: tuple[Portal, Running], name: str) -> None:
    portal, running = various
    wish = max(CALLS[name](portal), key=lambda params: len(str(answer_of(running, name, params))))
    answers = [json.dumps(answer_of(running, name, wish)) for _ in range(10)]
    assert len(set(answers)) > 1
    assert len({"".join(sorted(answer)) for answer in answers}) == 1


@pytest.mark.parametrize("name", PAGED)
def test_pages_without_an_order_are_not_by_id(various: tuple[Portal, Running], name: str) -> None:
    portal, running = various
    rows = answer_of(running, name, next(iter(CALLS[name](portal))))["result"]
    rows = next(iter(rows.values())) if isinstance(rows, dict) else rows
    ids = [int(row.get("ID") or row["id"]) for row in rows]
    assert len(ids) < 3 or ids not in (sorted(ids), sorted(ids, reverse=True))
