"""Children of parents: every one of them once, in order, and no parent spoils another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bitrix.ledger import Ledger
from tests.bitrix.support import Kit

from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import Limited, Transient
from b24migrate.model.readings import Backward, JoinedList, Parents, PerParent, Progress, Slices, Whole
from b24migrate.model.records import Args, Json, Page
from b24migrate.model.source_records import SourceRecord
from b24sim.faults import Faults
from b24sim.serve import Running, serve


def join(row: Args, files: Mapping[str, Json]) -> Args | None:
    ids = row["params"]["FILE_ID"] if row["params"] else []
    return {"files": [files[str(one)] for one in ids]} if ids else None


def backward(uncounted: Callable[[SourceRecord], bool] = lambda _: False) -> PerParent:
    return PerParent(
        of="chats",
        method="im.dialog.messages.get",
        params=lambda chat: {"DIALOG_ID": chat.id},
        paging=Backward(),
        items=("messages",),
        parents=Parents(expected=lambda chat: chat.extras.get("count"), uncounted=uncounted),
        joined=JoinedList("files", join),
    )


SLICES = PerParent(
    of="chats",
    method="im.chat.message.list",
    params=lambda chat: {"CHAT_ID": chat.id},
    paging=Slices(),
    items=("messages",),
    joined=JoinedList("files", join),
)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Ledger, Running]]:
    ledger = Ledger(webhooks=(1, 2))
    with serve(ledger) as running:
        yield ledger, running


@pytest.fixture
def ledger(served: tuple[Ledger, Running]) -> Ledger:
    fresh(served[0], {})
    return served[0]


@pytest.fixture
def source(served: tuple[Ledger, Running]) -> BitrixSource:
    return made(served[1])


def made(running: Running) -> BitrixSource:
    return BitrixSource(Kit([running.webhook(1), running.webhook(2)]).portal)


def fresh(ledger: Ledger, messages: dict[str, list[int]]) -> None:
    ledger.messages = messages
    ledger.forbidden, ledger.poison, ledger.faults = set(), set(), Faults()
    ledger.order, ledger.short, ledger.extra, ledger.stuck = "newest", False, "", False
    ledger.mapped, ledger.highest_cursor, ledger.calls = False, 10**18, 0
    ledger.stats.reset()


def parents(ledger: Ledger, *, known: bool = True) -> dict[str, SourceRecord]:
    return {
        key: SourceRecord(key, {}, {"count": len(ids)} if known else {}) for key, ids in {**ledger.messages}.items()
    }


def read_all(
    source: BitrixSource, reading: PerParent, known: Mapping[str, SourceRecord], *, gently: bool = False, floor: int = 0
) -> list[Page]:
    progress = [Progress(parent, floor=floor) for parent in known.values()]
    pages: list[Page] = []
    while progress:
        pages.append(source.children(reading, progress, gently=gently))
        left = [*pages[-1].next, *pages[-1].last]
        reached = [{name: one[name] for name in one if name in Progress._fields} for one in left]
        progress = [Progress(known[one["id"]], **more) for one, more in zip(left, reached, strict=True)]
        assert len(pages) < 300
    return pages


def rows_of(pages: Sequence[Page]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for page in pages:
        for row in page.rows:
            parent, _, child = row.source_id.partition(":")
            found.setdefault(parent, []).append(int(child))
    return found


def without_empty(messages: Mapping[str, list[int]]) -> dict[str, list[int]]:
    return {key: ids for key, ids in messages.items() if ids}


chats = st.dictionaries(
    st.integers(1, 99).map(str), st.integers(0, 330).map(lambda count: list(range(5, 5 + 3 * count, 3))), max_size=30
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    messages=chats,
    known=st.booleans(),
    order=st.sampled_from(["newest", "oldest", "mixed"]),
    odd=st.sampled_from(["", "short", "oldest", "mapped", "no high cursor"]),
    gently=st.booleans(),
    off=st.integers(-70, 70),
)
def test_every_message_of_every_chat_is_read_once(
    *,
    served: tuple[Ledger, Running],
    messages: dict[str, list[int]],
    known: bool,
    order: str,
    odd: str,
    gently: bool,
    off: int,
) -> None:
    ledger, running = served
    fresh(ledger, messages)
    ledger.order, ledger.short, ledger.mapped = order, odd == "short", odd == "mapped"
    ledger.extra = "oldest" if odd == "oldest" else ""
    ledger.highest_cursor = 10**9 if odd == "no high cursor" else 10**18
    asked = {
        key: SourceRecord(key, {}, {"count": max(1, len(ids) + off)} if known else {}) for key, ids in messages.items()
    }
    pages = read_all(made(running), backward(), asked, gently=gently)
    found = {key: sorted(set(ids)) for key, ids in rows_of(pages).items()}
    assert found == without_empty(messages)
    finished = {key: counts for page in pages for key, counts in page.parents.items()}
    assert finished == {key: (None, len(ids)) for key, ids in messages.items()}
    if odd != "oldest":
        assert sum(map(len, rows_of(pages).values())) == sum(map(len, messages.values()))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    messages=chats,
    order=st.sampled_from(["newest", "oldest", "mixed"]),
    odd=st.sampled_from(["", "short", "mapped", "no high cursor"]),
    floor=st.integers(1, 1100),
)
def test_a_walk_to_a_floor_reads_everything_above_it(
    *, served: tuple[Ledger, Running], messages: dict[str, list[int]], order: str, odd: str, floor: int
) -> None:
    ledger, running = served
    fresh(ledger, messages)
    ledger.order, ledger.short, ledger.mapped = order, odd == "short", odd == "mapped"
    ledger.highest_cursor = 10**9 if odd == "no high cursor" else 10**18
    pages = read_all(made(running), backward(), parents(ledger), floor=floor)
    found = rows_of(pages)
    for key, ids in messages.items():
        assert {one for one in ids if one >= floor} <= set(found.get(key, ()))
        assert len([one for one in found.get(key, ()) if one < floor]) <= 50
    assert {key for page in pages for key in page.parents} == messages.keys()
    assert not any(page.trusted for page in pages)


def test_pages_of_many_chats_share_a_request(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {str(key): list(range(1, 121)) for key in range(12)})
    pages = read_all(source, backward(), parents(ledger))
    assert {key: sorted(ids) for key, ids in rows_of(pages).items()} == ledger.messages
    assert ledger.calls == 12 * 4  # with the empty one that is the end
    assert ledger.stats.http_requests == 1


def test_files_beside_the_messages_are_joined(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {"7": [1, 2]})
    rows = {row.source_id: row for row in read_all(source, backward(), parents(ledger))[0].rows}
    assert rows["7:1"].extras == {"files": [{"id": 1, "name": "f1"}]}
    assert rows["7:2"].extras is None


def test_a_chat_that_may_not_be_read_does_not_keep_the_others(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {str(key): list(range(1, 60)) for key in range(5)})
    ledger.forbidden = {"3"}
    pages = read_all(source, backward(), parents(ledger))
    assert set(rows_of(pages)) == {"0", "1", "2", "4"}
    aside = [one for page in pages for one in page.aside]
    assert [(one.source_id, one.why) for one in aside] == [("3", "impossible")]
    assert any("3" in alarm for page in pages for alarm in page.alarms)
    assert len({key for page in pages for key in page.parents}) == 5


def test_unread_messages_on_every_page_do_not_hide_the_end(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {"1": list(range(1, 301)), "2": [1, 2, 3]})
    ledger.extra = "newest"
    pages = read_all(source, backward(), parents(ledger))
    assert {key: sorted(ids) for key, ids in rows_of(pages).items()} == ledger.messages


@pytest.mark.parametrize("gently", [False, True])
def test_a_page_that_brings_nothing_new_is_an_error_and_not_the_end(
    ledger: Ledger, source: BitrixSource, gently: bool
) -> None:
    fresh(ledger, {"1": list(range(1, 301))})
    ledger.stuck = True
    with pytest.raises(Transient) as caught:
        read_all(source, backward(), parents(ledger), gently=gently)
    assert (caught.value.code, caught.value.own) == ("PAGE_REPEATED", True)


def test_a_counter_that_is_too_low_hides_no_message(ledger: Ledger, source: BitrixSource) -> None:
    """Also where a page in the middle ends just where the counter says that the chat does."""
    fresh(ledger, {str(key): list(range(1, 131)) for key in range(60)})
    ledger.short = True
    known = {
        key: SourceRecord(key, {}, {"count": count})
        for key in ledger.messages
        for count in [47, 48, 49][int(key) % 3 :]
    }
    pages = read_all(source, backward(), known)
    assert {key: sorted(ids) for key, ids in rows_of(pages).items()} == ledger.messages


def test_once_short_pages_have_proven_to_be_the_last_a_right_count_saves_the_empty_page(
    ledger: Ledger, source: BitrixSource
) -> None:
    fresh(ledger, {str(key): list(range(1, 121)) for key in range(100)})
    pages = read_all(source, backward(), parents(ledger))
    assert {key: sorted(ids) for key, ids in rows_of(pages).items()} == ledger.messages
    assert ledger.calls < 100 * 3 + 40


def test_without_a_count_a_small_page_is_the_end_once_such_pages_have_proven_to_be(
    ledger: Ledger, source: BitrixSource
) -> None:
    """But not the largest page there is, nor one that is half full, nor those that are to be proven."""
    few = {str(chat): list(range(9, 9 + chat % 5 + 1)) for chat in range(1, 61)}
    fresh(ledger, {**few, "70": list(range(9, 20)), "71": list(range(9, 9 + 30)), "72": [9]})
    reading = backward(uncounted=lambda chat: chat.id != "72")
    pages = read_all(source, reading, parents(ledger, known=False))
    assert {key: sorted(ids) for key, ids in rows_of(pages).items()} == ledger.messages
    trusted = [parent for page in pages for parent in page.trusted]
    assert len(trusted) > 20
    assert not {"71", "72"} & set(trusted)
    ledger.stats.reset()
    fresh(ledger, few)
    read_all(source, reading, parents(ledger, known=False))
    assert ledger.stats.inner["im.dialog.messages.get"] == len(few)


def test_a_walk_of_unknown_length_uses_the_room_of_its_requests(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {"1": list(range(9, 509))})
    pages = read_all(source, backward(), parents(ledger, known=False))
    assert sorted(rows_of(pages)["1"]) == ledger.messages["1"]
    assert len(pages) <= 4


def test_chats_that_were_believed_to_be_whole_are_told_and_so_is_a_gap(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {str(key): list(range(1, 11)) for key in range(50)})
    pages = read_all(source, backward(), parents(ledger))
    believed = {one for page in pages for one in page.trusted}
    assert 0 < len(believed) < 50
    assert not any(page.gap for page in pages)
    ledger.messages, ledger.short = {"99": list(range(1, 131))}, True
    pages = read_all(source, backward(), {"99": SourceRecord("99", {}, {})})
    assert pages[-1].gap
    assert not any(page.trusted for page in pages)


def test_a_parent_that_keeps_failing_does_not_hold_up_those_behind_it(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {str(key): [1000 + key] for key in range(60)})
    ledger.poison = {1000 + key for key in range(50)}
    known = parents(ledger)
    page = source.children(backward(), [Progress(one) for one in known.values()])
    assert [one["id"] for one in page.apart] == [str(key) for key in range(len(page.apart))]
    assert page.apart
    assert {one["id"] for one in page.next} == {str(key) for key in range(len(page.apart), 60)}


def test_one_page_is_enough_when_only_one_is_wanted(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {"1": list(range(1, 200)), "2": [5]})
    page = source.children(backward(), [Progress(one) for one in parents(ledger).values()], one_page=True)
    assert {key: len(ids) for key, ids in rows_of([page]).items()} == {"1": 50, "2": 1}
    assert page.next == []
    assert set(page.parents) == {"1", "2"}


@pytest.mark.parametrize("known", [True, False])
def test_messages_by_offset_are_all_read(ledger: Ledger, source: BitrixSource, known: bool) -> None:
    fresh(ledger, {str(key): list(range(1, 1 + 37 * key)) for key in range(12)})
    pages = read_all(source, SLICES, parents(ledger, known=known))
    assert rows_of(pages) == without_empty(ledger.messages)
    assert {key: counts for page in pages for key, counts in page.parents.items()} == {
        key: (len(ids), len(ids)) for key, ids in ledger.messages.items()
    }


def test_each_parent_is_asked_through_its_own_webhook(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {"1": [1], "2": [2]})
    known = {key: SourceRecord(key, {}, {"count": 1, "via": int(key) - 1}) for key in ledger.messages}
    assert rows_of(read_all(source, backward(), known)) == ledger.messages
    assert ledger.stats.methods["batch"] == 2
    assert source.owners == ["1", "2"]


def test_a_poisonous_page_ends_up_alone_and_the_others_are_read(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {str(key): [10 * key + 1, 10 * key + 2] for key in range(4)})
    ledger.poison = {12}
    known = parents(ledger)
    page = source.children(backward(), [Progress(one) for one in known.values()], gently=True)
    assert set(rows_of([page])) == {"0", "2", "3"}
    assert page.last[-1] == {"id": "1", "after": 0, "got": 0}
    with pytest.raises(Transient) as caught:
        source.children(backward(), [Progress(known["1"])], gently=True)
    assert caught.value.own


def test_a_limit_is_raised_only_when_nothing_was_read(ledger: Ledger, source: BitrixSource) -> None:
    fresh(ledger, {"1": [1], "2": [2]})
    ledger.faults = Faults([{"method": "im.dialog.messages.get", "kind": "operating_limit", "at": [3]}])
    known = parents(ledger)
    page = source.children(backward(), [Progress(one) for one in known.values()])
    assert rows_of([page]) == {"1": [1]}
    with pytest.raises(Limited):
        source.children(backward(), [Progress(known["2"])])


def test_members_come_whole(ledger: Ledger, source: BitrixSource) -> None:
    reading = PerParent("groups", "sonet_group.user.get", lambda group: {"ID": group.id}, Whole(), id="USER_ID")
    groups = [str(one) for one in sorted(ledger.company.groups.ids)]
    page = source.children(reading, [Progress(SourceRecord(one, {}, {})) for one in (*groups, "9999")])
    assert set(page.parents) == {*groups, "9999"}
    assert {row.source_id.partition(":")[0] for row in page.rows} == set(groups)
    assert [one.source_id for one in page.aside] == ["9999"]
