"""A store is moved: everything arrives, and nothing is doubled."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from tests import azurite
from tests.stores.samples import FILES, GROUPS, NOON, TABLES, Time, at
from tests.stores.test_copy import ROWS, TEXT, full_row

from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.model.records import Job, Json, Span, Status
from b24migrate.ports import COPIES, FINDINGS, ID_MAP, REGISTERS, RUNS, Register, RegisterRow
from b24migrate.stores import open_store
from b24migrate.stores.copy import Moved, Side, move

ADDRESSES: dict[str, Callable[[], str]] = {"sqlite": lambda: "sqlite:///copy.db", "azure": azurite.url}


class Hasty(Time):
    """Between any two looks at it so much time passes that everything is told."""

    def monotonic(self) -> float:
        self.passed_s += 10
        return self.passed_s

    def now(self) -> datetime:
        return NOON


@contextmanager
def side(url: str, folder: Path) -> Iterator[Side]:
    opened = open_store(url, TABLES, Time(), base=folder)
    try:
        yield Side(url, *opened)
    finally:
        opened.store.close()


# Azurite takes seconds for what SQLite does in a moment: what is decided before a store is asked is tried on one.
ON_BOTH = {"test_everything_arrives", "test_a_copy_is_copied_further", "test_work_on_the_origin_meanwhile_is_found_out"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "address" in metafunc.fixturenames:
        chosen = list(ADDRESSES) if metafunc.function.__name__ in ON_BOTH else ["sqlite"]
        metafunc.parametrize("address", chosen, indirect=True)


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    return ADDRESSES[request.param]()


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[Side]:
    with side("sqlite:///origin.db", tmp_path) as made:
        yield made


@pytest.fixture
def to(tmp_path: Path, address: str) -> Iterator[Side]:
    with side(address, tmp_path) as made:
        yield made


def moved(origin: Side, to: Side, say: Callable[[str], None] = lambda _: None) -> Moved:
    return move(origin, to, TABLES, files=FILES, clock=Hasty(), say=say)


def put_file(one: Side, key: str, content: bytes, status: Status = Status.NEW, sha256: str = "") -> None:
    fields = {"name": "a.txt", "sha256": sha256 or hashlib.sha256(content).hexdigest(), "location": key}
    one.store.restore(FILES, [full_row(key, Status=status.value, Payload=msgspec.json.encode(fields))])
    with one.files.writer(key) as out:
        out.write(content)


def furnish(one: Side) -> None:
    """A little of everything."""
    one.store.restore(GROUPS, [full_row(n, Status="IMPORT_OK" if n % 3 else "NEW") for n in range(1, 400)])
    one.store.write(ID_MAP, [RegisterRow(f"groups:{n}", {"TargetId": f"t{n}", "Digest": "d"}) for n in range(2050)])
    one.store.write(RUNS, [RegisterRow("run-1", {"RunId": "run-1", "Plan": {"a": [1, None]}})])
    one.store.add({"seen:Groups:1": 399, "limit_wait:im.get": 0.1 + 0.2})
    one.queue.put([Job("groups-set", "send", {"n": 1}, 1, 2), Job("groups-set", "send", {"n": 2})])
    one.queue.put([Job("users-set", "send", {"n": 3})], visible_at=at(3600.5))
    one.queue.letter(Job("users-get", "read", {}), code="X", reason="жук", now=at(-60))
    put_file(one, "disk:1", b"hello")
    put_file(one, "disk:2", bytes(3_000_000))


def test_everything_arrives(origin: Side, to: Side) -> None:
    furnish(origin)
    done = moved(origin, to)
    assert done.equal, [line for line in done.lines if not line.equal]
    rows = {line.what: line.rows for line in done.lines if line.rows}
    assert rows == {
        "Groups": 399,
        "Files": 2,
        "IdMap": 2050,
        "Runs": 1,
        "counters": 2,
        "jobs": 3,
        "dead letters": 1,
        "bytes of files": 2,
    }
    assert to.store.export(GROUPS, Span(), 1000) == origin.store.export(GROUPS, Span(), 1000)
    assert to.store.counts(GROUPS) == origin.store.counts(GROUPS)
    assert to.store.counters() == origin.store.counters()
    assert to.queue.jobs() == origin.queue.jobs()
    assert to.queue.dead() == origin.queue.dead()
    assert to.queue.open("groups-set") == 2
    with to.files.open("disk:2") as content:
        assert content.read() == bytes(3_000_000)


def test_the_origin_stays_as_it_was(origin: Side, to: Side) -> None:
    furnish(origin)
    before = (origin.store.export(GROUPS, Span(), 1000), origin.store.counters(), origin.queue.jobs())
    moved(origin, to)
    assert before == (origin.store.export(GROUPS, Span(), 1000), origin.store.counters(), origin.queue.jobs())
    assert list(origin.store.all_rows(COPIES)) == []


def test_a_row_of_the_copy_can_be_swapped(origin: Side, to: Side) -> None:
    furnish(origin)
    moved(origin, to)
    row = to.store.read(RUNS, "run-1")
    assert row is not None
    assert to.store.swap(RUNS, row._replace(values={"RunId": "run-1", "State": "ended"}))
    assert not to.store.swap(RUNS, row._replace(values={"RunId": "run-1", "State": "lost"}))


def test_a_copy_is_copied_further(origin: Side, to: Side, tmp_path: Path) -> None:
    furnish(origin)
    moved(origin, to)
    with side("sqlite:///third.db", tmp_path) as third:
        assert moved(to, third).equal


def interrupted(at_line: int) -> Callable[[str], None]:
    lines = itertools.count(1)

    def say(_: str) -> None:
        if next(lines) == at_line:
            raise KeyboardInterrupt

    return say


@pytest.mark.parametrize("at_line", [1, 3, 5, 8, 12])
def test_an_interrupted_copy_is_continued_and_doubles_nothing(origin: Side, to: Side, at_line: int) -> None:
    furnish(origin)
    with pytest.raises(KeyboardInterrupt):
        moved(origin, to, interrupted(at_line))
    assert moved(origin, to).equal
    assert to.store.counters() == origin.store.counters()
    assert to.store.counts(GROUPS) == origin.store.counts(GROUPS)


def test_what_the_origin_finished_meanwhile_is_finished_in_the_copy(origin: Side, to: Side) -> None:
    furnish(origin)
    origin.store.write(FINDINGS, [RegisterRow("x", {"Note": "a"})])
    with pytest.raises(KeyboardInterrupt):
        moved(origin, to, interrupted(12))
    lease = origin.queue.claim("host:1:0", now=NOON, lease_s=60)
    assert lease is not None
    origin.queue.finish(lease, [Job("groups-set", "send", {"n": 9})])
    origin.queue.drop("users-get")
    origin.store.erase(FINDINGS, "")
    origin.store.add({"limit_wait:im.get": 0.7})
    origin.store.restore(GROUPS, [full_row(1, Status="IMPORT_ERR")])
    assert moved(origin, to).equal
    assert [one.job for one in to.queue.jobs()] == [one.job for one in origin.queue.jobs()]


def test_an_unfinished_copy_is_marked(origin: Side, to: Side) -> None:
    furnish(origin)
    with pytest.raises(KeyboardInterrupt):
        moved(origin, to, interrupted(3))
    with pytest.raises(BadConfiguration, match="unfinished copy") as refused:
        moved(to, origin)
    assert f"store copy {origin.address} {to.address}" in refused.value.hint
    moved(origin, to)
    (mark,) = to.store.all_rows(COPIES)
    assert (mark.values["State"], mark.values["Origin"]) == ("done", origin.address)


def test_a_complete_copy_is_not_written_over(origin: Side, to: Side) -> None:
    furnish(origin)
    moved(origin, to)
    with pytest.raises(BadConfiguration, match="complete copy"):
        moved(origin, to)


def test_a_copy_of_another_store_is_not_continued(origin: Side, to: Side) -> None:
    furnish(origin)
    with pytest.raises(KeyboardInterrupt):
        moved(origin, to, interrupted(3))
    origin.store.erase(RUNS, "")
    origin.store.write(RUNS, [RegisterRow("run-0", {"RunId": "run-0"})])  # as if made anew at the same place
    with pytest.raises(BadConfiguration, match="another store"):
        moved(origin, to)


def in_a_table(one: Side) -> None:
    one.store.restore(GROUPS, [full_row(1)])


def in_a_register(one: Side) -> None:
    one.store.write(ID_MAP, [RegisterRow("users:1", {"TargetId": "1"})])


def in_the_queue(one: Side) -> None:
    one.queue.put([Job("users-get", "read")])


def in_the_letters(one: Side) -> None:
    one.queue.letter(Job("users-get", "read"), code="X", reason="", now=NOON)


@pytest.mark.parametrize("something", [in_a_table, in_a_register, in_the_queue, in_the_letters])
def test_a_store_with_something_in_it_is_not_written_to(
    origin: Side, to: Side, something: Callable[[Side], None]
) -> None:
    furnish(origin)
    something(to)
    with pytest.raises(BadConfiguration, match="is not empty"):
        moved(origin, to)
    assert list(to.store.all_rows(COPIES)) == []


def test_a_store_that_is_worked_on_is_not_copied(origin: Side, to: Side) -> None:
    furnish(origin)
    lease = origin.queue.claim("host:1:0", now=NOON, lease_s=60)
    assert lease is not None
    with pytest.raises(Halted, match="1 jobs are running") as refused:
        moved(origin, to)
    assert "12:01:00 UTC" in refused.value.hint
    origin.queue.renew(lease, now=NOON - timedelta(seconds=90), lease_s=60)  # its worker is gone
    assert moved(origin, to).equal
    assert [one.job for one in to.queue.jobs()] == [one.job for one in origin.queue.jobs()]
    assert to.queue.claim("host:2:0", now=NOON, lease_s=60) is not None


def test_a_store_is_not_copied_onto_itself(origin: Side) -> None:
    with pytest.raises(BadConfiguration, match="itself"):
        moved(origin, origin)
    with pytest.raises(BadConfiguration, match="itself"):
        moved(origin, origin._replace(address="sqlite:///./origin.db"))


def test_work_on_the_origin_meanwhile_is_found_out(origin: Side, to: Side) -> None:
    furnish(origin)

    def say(line: str) -> None:
        if line.startswith("Copied IdMap"):
            origin.store.restore(GROUPS, [full_row(1, Status="IMPORT_ERR")])
            origin.store.write(ID_MAP, [RegisterRow("groups:x", {"TargetId": "t"})])

    done = moved(origin, to, say)
    assert [(line.what, line.note) for line in done.lines if not line.equal] == [
        ("Groups", "the contents differ"),
        ("IdMap", "2,051 rows there, 2,050 here"),
    ]
    assert moved(origin, to).equal


def test_a_file_that_is_damaged_or_gone_is_named(origin: Side, to: Side) -> None:
    put_file(origin, "disk:1", b"good")
    put_file(origin, "disk:2", b"bad", sha256="0" * 64)
    put_file(origin, "disk:3", b"gone")
    put_file(origin, "disk:4", b"gone and not needed", Status.IMPORT_OK)
    origin.files.delete("disk:3")
    origin.files.delete("disk:4")
    done = moved(origin, to)
    (wrong,) = [line for line in done.lines if not line.equal]
    assert (wrong.what, wrong.rows) == ("bytes of files", 1)
    assert wrong.note.endswith("disk:2, disk:3")
    assert to.files.size("disk:2") is None


def test_a_file_that_arrived_is_not_sent_again(origin: Side, to: Side) -> None:
    put_file(origin, "disk:1", b"once")
    put_file(to, "disk:2", b"half a file")
    to.store.write(COPIES, [RegisterRow("copy", {"Identity": origin.address, "State": "begun"})])
    put_file(origin, "disk:2", b"a whole file")
    with to.files.writer("disk:1") as out:
        out.write(b"once")
    origin.files.delete("disk:1")
    assert moved(origin, to).equal
    assert to.files.size("disk:2") == len(b"a whole file")


# ------------------------------------------------------------ whatever there is

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


KEY = st.text(st.characters(min_codepoint=33, max_codepoint=0x4FF, exclude_categories=["Cc"]), min_size=1, max_size=12)


REGISTER_ROWS = st.lists(
    st.sampled_from([one for one in REGISTERS if one is not COPIES]).flatmap(
        lambda one: st.tuples(
            st.just(one),
            KEY,
            st.dictionaries(st.sampled_from(one.columns), VALUE, max_size=4),
            st.sampled_from(["a", "b"]),
        )
    ),
    max_size=12,
)


JOBS = st.lists(
    st.builds(
        Job,
        st.sampled_from(["a-get", "b-set"]),
        st.sampled_from(["read", "send"]),
        st.dictionaries(TEXT, VALUE, max_size=2),
        st.integers(0, 3),
        st.integers(0, 9),
    ).flatmap(lambda job: st.tuples(st.just(job), st.none() | st.integers(-100, 100).map(lambda s: at(s + 0.125)))),
    max_size=8,
)


COUNTERS = st.dictionaries(KEY, st.floats(-1e6, 1e6) | st.integers(0, 2**40).map(float), max_size=6)


BYTES = st.lists(st.binary(max_size=200), max_size=4)


class Contents(NamedTuple):
    rows: list[dict[str, Json]]
    registers: list[tuple[Register, str, dict[str, Json], str]]
    jobs: list[tuple[Job, datetime | None]]
    counters: dict[str, float]
    files: list[bytes]

    def put_into(self, one: Side) -> None:
        one.store.restore(GROUPS, self.rows)
        for register, key, values, partition in self.registers:
            one.store.write(register, [RegisterRow(key, values, partition="" if register.partition else partition)])
        for job, due in self.jobs:
            one.queue.put([job], visible_at=due)
        one.store.add(self.counters)
        for number, content in enumerate(self.files):
            put_file(one, f"disk:{number}", content)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.builds(Contents, ROWS, REGISTER_ROWS, JOBS, COUNTERS, BYTES), st.none() | st.integers(1, 25))
def test_whatever_a_store_holds_arrives(
    tmp_path_factory: pytest.TempPathFactory, contents: Contents, stop: int | None
) -> None:
    folder = tmp_path_factory.mktemp("stores")
    with side("sqlite:///a.db", folder) as origin, side("sqlite:///b.db", folder) as to:
        contents.put_into(origin)
        try:
            done = moved(origin, to, interrupted(stop or 0))
        except KeyboardInterrupt:
            done = moved(origin, to)
        assert done.equal, [line for line in done.lines if not line.equal]
        for register in (one for one in REGISTERS if one is not COPIES):
            assert everything(to, register) == everything(origin, register)
        assert to.store.export(GROUPS, Span(), 100) == origin.store.export(GROUPS, Span(), 100)


def everything(one: Side, register: Register) -> dict[tuple[str, str], Mapping[str, Json]]:
    return {(row.partition, row.key): row.values for row in one.store.all_rows(register)}
