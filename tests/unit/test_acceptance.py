"""What somebody has accepted stays accepted when its sentence gets other words."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.stores.samples import TABLES, Time

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.fidelity import model
from b24migrate.messages import Message, say
from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.stores import open_store

WORDED = Rule("users", "DATE_REGISTER", Keeping.LOST, "The box takes the day of the move for the day of registration.")
SAID = Rule("users", "DATE_REGISTER", Keeping.LOST, say("reason.rest_registered"))
OTHER = Rule("users", "XML_ID", Keeping.LOST, say("reason.rest_person_stamp"))


@pytest.fixture
def here() -> Iterator[RunContext]:
    """Of a work only what acceptance looks at."""
    options = SimpleNamespace(absent=frozenset(), target_url="https://box.example")
    store = open_store("sqlite://:memory:", TABLES, Time()).store
    yield cast(RunContext, SimpleNamespace(store=store, options=options, clock=Time()))
    store.close()


def accepted(one: RunContext) -> frozenset[str]:
    return model.load_accepted(one).rules


def test_a_rule_is_known_by_the_key_of_its_reason() -> None:
    reworded = Rule(SAID.stream, SAID.field, SAID.keeping, Message.of("Other words.", "reason.rest_registered", {}))
    assert reworded.digest == SAID.digest != WORDED.digest
    assert SAID.digest != OTHER.digest


def test_what_an_earlier_version_had_accepted_need_not_be_accepted_again(here: RunContext) -> None:
    model.accept(here, [WORDED], "anna@desk")
    model.keep_accepted(here, [WORDED], [SAID, OTHER])
    assert SAID.digest in accepted(here)
    assert OTHER.digest not in accepted(here)
    last: Any = model.load_accepted(here).last
    assert last.by == "anna@desk"


def test_what_nobody_had_accepted_stays_open(here: RunContext) -> None:
    model.keep_accepted(here, [WORDED], [SAID])
    assert accepted(here) == frozenset()
    model.accept(here, [OTHER], "anna@desk")
    model.keep_accepted(here, [WORDED], [SAID])
    assert SAID.digest not in accepted(here)
