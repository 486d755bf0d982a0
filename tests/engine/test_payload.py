"""What of a record counts as a change, how a stream stages what it read, and what is sent of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine.world import World

from b24migrate.engine.phases.comparison import is_beyond
from b24migrate.engine.phases.compose import Composer
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.payload import payload_hash
from b24migrate.engine.phases.pull_through import pull_records
from b24migrate.engine.phases.send import Sender
from b24migrate.engine.phases.stage import find_files, split_staged_before
from b24migrate.entities import catalog
from b24migrate.insight.status.facts import FactReader
from b24migrate.model.records import Record, SetAside, Status
from b24migrate.model.source_records import SourceRecord

Json = Any
STREAMS = catalog().streams
PHOTO = "https://portal.example/upload/main/{}/photo.png"


def hash_of(stream: str, **payload: Json) -> str:
    hash_one = payload_hash(STREAMS[stream])
    assert hash_one is not None
    return hash_one("1", payload)


def test_what_is_sent_counts_as_a_change_and_nothing_else() -> None:
    before = hash_of("users", NAME="Anna", LAST_LOGIN="2026-01-01")
    assert hash_of("users", NAME="Anna", LAST_LOGIN="2026-02-02") == before
    assert hash_of("users", NAME="Olga", LAST_LOGIN="2026-01-01") != before
    assert hash_of("users", NAME="Anna", UF_USR_1="new") != before  # a custom field


def test_another_picture_counts_as_a_change_and_another_link_to_it_does_not() -> None:
    before = hash_of("users", NAME="Anna", PERSONAL_PHOTO=PHOTO.format("abc"))
    assert hash_of("users", NAME="Anna", PERSONAL_PHOTO=PHOTO.format("def")) != before
    assert hash_of("users", NAME="Anna", PERSONAL_PHOTO=PHOTO.format("abc") + "?token=7") == before
    assert hash_of("users", NAME="Anna") != before


def test_only_fields_beyond_the_contract_may_be_missing_on_the_target() -> None:
    deals = STREAMS["crm_deals"]
    assert [is_beyond(name, deals, ()) for name in ("utmSource", "parentId128", "parentId")] == [True] * 3
    assert [is_beyond(name, deals, ()) for name in ("title", "utmSourceOther", "other")] == [False] * 3
    assert not is_beyond("utmSource", deals, ("crm_leads",))  # the version of the contract that names it


def test_a_record_that_was_staged_before_there_was_a_rule_stays_staged(talk: World) -> None:
    with talk.app() as app:
        groups = app.context.streams["groups"]
        key = next(iter(talk.records("Groups")))
        known, new = (SetAside("", one, "excluded", "by a rule") for one in (key, "999"))
        refused = SetAside("", key, "impossible", "of another kind")
        other = SetAside("chats", key, "excluded", "of another stream")
        aside, rows = split_staged_before(app.context, groups, [known, new, refused, other])
        payload = app.context.store.get(groups.table, [key])[key].payload
    assert aside == [new._replace(stream="groups"), refused._replace(stream="groups"), other]
    assert [(row.source_id, row.payload) for row in rows] == [(key, payload)]


def test_a_file_counts_as_fetched_only_when_it_is_here(talk: World) -> None:
    with talk.app() as app:
        users, reader = app.context.streams["users"], FactReader(app.context)
        before = reader.read()
        found = SourceRecord("1", {"PERSONAL_PHOTO": PHOTO.format("new")}, {})
        find_files(app.context, users, [found])
        now = reader.read()
    assert (sum(now.files.values()), now.fetched) == (sum(before.files.values()) + 1, before.fetched)


@pytest.mark.parametrize("count", [1, 2])
def test_a_record_that_cannot_be_fetched_says_why(talk: World, count: int) -> None:
    with talk.app() as app:
        groups, asked = app.context.streams["groups"], {str(9000 + one) for one in range(count)}
        talk.strike_cloud({"method": "*", "kind": "error", "code": "ERROR_CORE"})
        found, failed = pull_records(app.context, groups, asked)
        assert (found, set(failed)) == ([], asked)
        talk.strike_cloud()
        assert pull_records(app.context, groups, asked) == ([], {})


# ---------------------------------------------------------------- calls


def calls(context: RunContext, records: Sequence[Record]) -> list[list[str]]:
    users = context.streams["users"]
    composer = Composer(context, users)
    sender = Sender(context, users, "users-set")
    return [[one.record.row_key for one in call] for call in sender._calls([composer.compose_item(r) for r in records])]


def test_a_record_whose_call_failed_twice_goes_alone(talk: World) -> None:
    with talk.app() as app:
        found = list(app.context.store.get(STREAMS["users"].table, list(talk.records("Users"))[:5]).values())
        keys = [one.row_key for one in found]
        assert calls(app.context, found) == [keys]
        for attempts, wanted in ((1, [keys]), (2, [keys[:2], keys[2:3], keys[3:]])):
            failed = [one._replace(attempts=attempts) if place == 2 else one for place, one in enumerate(found)]
            assert calls(app.context, failed) == wanted


def test_when_time_is_up_the_sender_says_where_it_left_off(small: World) -> None:
    assert small.run("users", phases=("get",)).exit_code == 0
    with small.app() as app:
        context = app.context.with_options(longest_job_s=0.0)
        users = context.streams["users"]
        found = context.store.get(users.table, list(small.records("Users"))[:3]).values()
        records = [one._replace(attempts=2) for one in found]  # each goes alone
        context.start_job()
        hurried = Sender(context, users, "users-set", may_leave_off=True)
        assert hurried.send(records)
        assert hurried.has_left_some
        assert hurried.left_off_at is not None
        assert hurried.left_off_at.row_key == records[0].row_key
        patient = Sender(context, users, "users-set")
        assert patient.send(records[1:])
        assert not patient.has_left_some
    assert len(small.imported("users")) == 3


def test_a_record_on_which_our_own_code_breaks_is_tried_again(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Json, **__: Json) -> Json:
        raise RuntimeError

    assert small.run("users", phases=("get",)).exit_code == 0
    with small.app() as app:
        users = app.context.streams["users"]
        key = next(iter(small.records("Users")))
        record = app.context.store.get(users.table, [key])[key]
        monkeypatch.setattr(app.context.target, "send", broken)
        Sender(app.context, users, "users-set").send([record])
    found = small.records("Users")[key]
    assert (found["Status"], found["Attempts"]) == (Status.ERROR_RETRY, 1)
