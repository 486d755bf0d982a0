"""Companies: sizes, seeds and the unpleasant cases."""

import pytest

from b24sim import Company, Plan, Portal
from b24sim.company.other_chats import FIRST_CHAT_ID
from b24sim.dump import counts, dump


@pytest.mark.parametrize("records", [30, 100, 1_000, 5_000, 100_000])
def test_a_company_has_as_many_records_as_asked_for(records: int) -> None:
    """Chats of other kinds come on top."""
    company = Company.sized(records)
    figures = counts(Portal(company))
    counted = ("users", "departments", "groups", "group_members", "chats", "chat_messages")
    on_top = sum(1 + len(chat) for chat in company.chats.values() if chat.id >= FIRST_CHAT_ID)
    assert sum(figures[stream] for stream in counted) == records + on_top
    assert all(figures[stream] for stream in counted)


def test_the_same_seed_grows_the_same_company() -> None:
    first, second, other = (Portal(Company.sized(500, seed=seed)) for seed in (4, 4, 5))
    for stream in ("users", "groups", "group_members", "chats", "chat_messages", "files"):
        assert dump(first, stream) == dump(second, stream)
    assert dump(first, "users") != dump(other, "users")


def test_a_million_messages_are_there_at_once() -> None:
    company = Company.sized(1_000_000)
    longest = max(company.chats.values(), key=len)
    assert len(longest) > 50_000
    assert company.correspondence.row(longest, 50_000)["chat_id"] == longest.id
    planned = [chat for chat in company.chats.values() if chat.id < FIRST_CHAT_ID]
    assert sum(map(len, planned)) == company.plan.messages


def test_explicit_numbers_are_kept() -> None:
    plan = Plan(users=33, departments=4, groups=3, chats=7, messages=91, files=13)
    figures = counts(Portal(Company(plan)))
    assert (figures["users"], figures["departments"], figures["groups"]) == (33, 4, 3)
    assert (figures["chats"], figures["chat_messages"], figures["files"]) == (7, 91, 13)
    assert len(dump(Portal(Company(plan)), "files")) == 13


def test_pages_and_single_messages_are_the_same_bytes() -> None:
    company = Company(Plan(messages=900, files=90))
    for chat in company.chats.values():
        places = range(len(chat))
        assert company.correspondence.page(chat, places) == [
            company.correspondence.encoded(chat, place) for place in places
        ]


def test_all_kinds_of_people_and_groups_occur() -> None:
    company = Company(Plan(users=400, groups=60))
    users = [company.users.row(number) for number in company.users]
    assert {row["USER_TYPE"] for row in users} == {"employee", "extranet"}
    assert {row["ACTIVE"] for row in users} == {True, False}
    groups = company.groups_by_id.values()
    assert {group.kind for group in groups} == {"group", "project", "scrum", "collab"}
    assert any(not company.is_active(group.owner) for group in groups)
    ids = company.users.ids
    assert ids != list(range(1, 401))
