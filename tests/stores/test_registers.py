"""The registers and the counters."""

from __future__ import annotations

import pytest

from b24migrate.model.records import Json
from b24migrate.ports import (
    CHECKPOINTS,
    CUSTOM_FIELDS,
    ENTITIES_STATE,
    FINDINGS,
    PAGE_LOG,
    REGISTERS,
    RUNS,
    SET_ASIDE,
    Register,
    RegisterRow,
    Store,
)


@pytest.mark.parametrize("register", REGISTERS, ids=lambda register: register.name)
def test_every_register_gives_back_what_was_written(store: Store, register: Register) -> None:
    values = {column: f"value of {column}" for column in register.columns}
    store.write(register, [RegisterRow("k", values)])
    row = store.read(register, "k")
    assert row is not None
    assert (row.key, row.values, row.partition) == ("k", values, register.partition)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "text",
        "[1]",
        "null",
        'Ж"\\',
        0,
        1,
        -7,
        2**40,
        2**70,
        1.5,
        True,
        False,
        None,
        [],
        {},
        [1, "a", None],
        {"a": {"b": [True]}},
    ],
    ids=repr,
)
def test_every_value_comes_back_as_it_was(store: Store, value: Json) -> None:
    store.write(RUNS, [RegisterRow("k", {"Plan": value})])
    row = store.read(RUNS, "k")
    assert row is not None
    assert row.values.get("Plan") == value
    assert type(row.values.get("Plan")) is type(value)


def test_a_row_that_is_not_there_is_none(store: Store) -> None:
    assert store.read(RUNS, "k") is None


def test_columns_that_are_not_given_become_null(store: Store) -> None:
    store.write(RUNS, [RegisterRow("k", {"State": "running", "ExitCode": 0})])
    store.write(RUNS, [RegisterRow("k", {"State": "done"})])
    row = store.read(RUNS, "k")
    assert row is not None
    assert (row.values.get("State"), row.values.get("ExitCode")) == ("done", None)


def test_a_column_that_the_register_has_not_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="Colour"):
        store.write(RUNS, [RegisterRow("k", {"Colour": "red"})])


def test_rows_come_in_order_of_key_by_prefix(store: Store) -> None:
    store.write(PAGE_LOG, [RegisterRow(key, {}) for key in ("chats:2", "chats:1", "chats_x:1", "users:1", "chat")])
    assert [row.key for row in store.rows(PAGE_LOG, "chats:")] == ["chats:1", "chats:2"]
    assert store.count(PAGE_LOG, "chats:") == 2
    assert store.count(PAGE_LOG, "nothing:") == 0
    assert [row.key for row in store.rows(PAGE_LOG)] == ["chat", "chats:1", "chats:2", "chats_x:1", "users:1"]


def test_a_long_register_is_leafed_through_page_by_page(store: Store) -> None:
    """Ids of any kind: each row once, none left out, none of another prefix."""
    ids = ("1", "10", "2", "a/b", "a:b", "ё", "\U0001f600", "x" * 500, "x" * 500 + "y", "'q'", "%", "Z", "")
    keys = {f"users:{one}" for one in ids}
    store.write(FINDINGS, [RegisterRow(key, {"Stream": key}) for key in (*keys, "user", "users", "users_x:1")])
    for size in (1, 2, 5, 13, 50):
        found: list[str] = []
        while page := store.some_rows(FINDINGS, "users:", found[-1] if found else "", size):
            assert len(page) <= size
            assert all(row.values["Stream"] == row.key for row in page)
            found += [row.key for row in page]
        assert len(found) == len(keys)
        assert set(found) == keys
    assert len(store.some_rows(FINDINGS, "", "", 50)) == len(keys) + 3
    assert store.some_rows(FINDINGS, "nothing:", "", 5) == []
    assert store.some_rows(FINDINGS, "", "~", 50) == store.some_rows(FINDINGS, "", "~", 50)


def test_rows_are_found_by_their_keys(store: Store) -> None:
    ids = [*map(str, range(1, 1300)), "a:b", "a/b", "ё", "'q'", "%", "x" * 500, "12:7", "12:x"]
    store.write(FINDINGS, [RegisterRow(f"users:{one}", {"Stream": one}) for one in ids])
    store.write(FINDINGS, [RegisterRow("users:2", {"Stream": "elsewhere"}, partition="other")])
    for wanted in (ids, ["2"], ids[5:1000:97], ids[-8:], ["2", "5000", "nobody", "9:9"], []):
        found = store.rows_of(FINDINGS, [f"users:{one}" for one in wanted])
        assert {key: row.values["Stream"] for key, row in found.items()} == {
            f"users:{one}": one for one in wanted if one in ids
        }


def test_a_column_is_summed_over_a_prefix(store: Store) -> None:
    rows = [RegisterRow(f"chats:{n}", {"Pass": 1, "Reported": n, "Retrieved": 0}) for n in (1, 2, 3)]
    store.write(CHECKPOINTS, [*rows, RegisterRow("users", {"Pass": 1, "Reported": 40, "Retrieved": 0})])
    assert store.total(CHECKPOINTS, "chats:", "Reported") == 6
    assert store.total(CHECKPOINTS, "nothing:", "Reported") is None


def test_partitions_keep_rows_with_one_key_apart(store: Store) -> None:
    store.write(
        CUSTOM_FIELDS, [RegisterRow("UF_A", {"Type": entity}, partition=entity) for entity in ("tasks", "users")]
    )
    store.write(CUSTOM_FIELDS, [RegisterRow("UF_B", {}, partition="users")])
    row = store.read(CUSTOM_FIELDS, "UF_A", partition="tasks")
    assert row is not None
    assert (row.values["Type"], row.partition) == ("tasks", "tasks")
    assert [row.key for row in store.rows(CUSTOM_FIELDS, partition="users")] == ["UF_A", "UF_B"]
    assert [(row.key, row.partition) for row in store.rows(CUSTOM_FIELDS)] == [
        ("UF_A", "tasks"),
        ("UF_A", "users"),
        ("UF_B", "users"),
    ]
    store.erase(CUSTOM_FIELDS, "", partition="users")
    assert [row.partition for row in store.rows(CUSTOM_FIELDS)] == ["tasks"]


def test_versions_grow_with_every_write(store: Store) -> None:
    versions = []
    for state in ("a", "b", "c"):
        store.write(RUNS, [RegisterRow("k", {"State": state})])
        row = store.read(RUNS, "k")
        assert row is not None
        versions.append(row.version)
    assert versions == sorted(set(versions))
    assert versions[0] > 0


def test_a_swap_writes_only_over_the_version_it_read(store: Store) -> None:
    first = RegisterRow("groups", {"Phases": {"get": "running"}})
    assert store.swap(ENTITIES_STATE, first)
    assert not store.swap(ENTITIES_STATE, first)
    row = store.read(ENTITIES_STATE, "groups")
    assert row is not None
    assert store.swap(ENTITIES_STATE, row._replace(values={"Phases": {"get": "done"}}))
    assert not store.swap(ENTITIES_STATE, row._replace(values={"Phases": {"get": "lost"}}))
    row = store.read(ENTITIES_STATE, "groups")
    assert row is not None
    assert row.values["Phases"] == {"get": "done"}


def test_a_swap_of_a_row_that_is_gone_is_refused(store: Store) -> None:
    assert not store.swap(RUNS, RegisterRow("k", {}, version=3))
    assert store.read(RUNS, "k") is None


def test_a_write_makes_a_swap_stale(store: Store) -> None:
    store.write(RUNS, [RegisterRow("k", {"State": "a"})])
    row = store.read(RUNS, "k")
    assert row is not None
    store.write(RUNS, [RegisterRow("k", {"State": "b"})])
    assert not store.swap(RUNS, row)


def test_erasing_takes_what_begins_with_the_prefix(store: Store) -> None:
    store.write(SET_ASIDE, [RegisterRow(key, {"Why": "excluded"}) for key in ("chats:1", "chats:2", "users:1")])
    store.erase(SET_ASIDE, "chats:")
    assert [row.key for row in store.rows(SET_ASIDE)] == ["users:1"]


def test_discarding_takes_exactly_these_rows(store: Store) -> None:
    store.write(SET_ASIDE, [RegisterRow(key, {"Why": "excluded"}) for key in ("chats:1", "chats:12", "chats:2")])
    store.discard(SET_ASIDE, ["chats:1", "chats:3"])
    store.discard(SET_ASIDE, [])
    assert [row.key for row in store.rows(SET_ASIDE)] == ["chats:12", "chats:2"]


def test_counters_add_up_from_nothing(store: Store) -> None:
    store.add({"a:x": 2, "a:y": 0.5, "b": 1})
    store.add({"a:x": 3, "b": -1})
    store.add({})
    assert store.counters("a:") == {"a:x": 5, "a:y": 0.5}
    assert store.counters().get("b", 0) == 0
    assert store.counters("none") == {}


def test_a_store_describes_itself(store: Store) -> None:
    about = store.describe()
    assert about["kind"]
    assert about["place"]
    assert about["bytes"] is None or about["bytes"] > 0
    assert "free_bytes" in about
