"""An answer without the key that the documentation promises is an error: taken for an empty list, all of it would be
lost without a word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.world import World

from b24sim.context import Method
from b24sim.result import Result

# which method is opened by key, and whose get asks it
LISTS = [
    ("tasks.task.list", "tasks"),
    ("im.recent.list", "chats"),
    ("im.dialog.messages.get", "chats"),
    ("log.blogcomment.user.get", "feed"),
    ("crm.type.list", "crm_structure"),
    ("crm.category.list", "crm_structure"),
    ("crm.item.list", "crm_companies"),
]


def answering(made: World, name: str, result: object) -> None:
    """The cloud answers this method so, from now on."""
    methods = made.cloud.portal.methods
    find = methods.find

    def found(wanted: str) -> Method | None:
        known = find(wanted)
        return replace(known, call=lambda *_: Result(result)) if known and wanted == name else known

    methods.find = found  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize("result", [{"unexpected": []}, [], None], ids=("another key", "an empty map", "nothing"))
@pytest.mark.parametrize(("method", "entity"), LISTS)
def test_a_list_under_another_key_is_no_empty_list(whole: World, method: str, entity: str, result: object) -> None:
    answering(whole, method, result)
    ended = whole.run(entity, phases=("get",))
    assert ended.exit_code == 4
    assert {letter[2] for letter in whole.letters()} == {"STRANGE_RESULT"}
    assert f"{method}: the answer has no" in ended.message


@pytest.mark.parametrize(
    ("method", "entity"),
    [
        ("userfieldconfig.list", "crm_spitems"),
        ("crm.item.productrow.list", "crm_deals"),
        ("socialnetwork.api.workgroup.list", "groups"),
    ],
)
def test_what_belongs_to_a_record_is_not_taken_for_nothing_either(whole: World, method: str, entity: str) -> None:
    answering(whole, method, {"unexpected": []})
    ended = whole.run(entity, phases=("custom-fields-get", "get"))
    assert f"{method}: the answer has no" in " ".join([ended.message, *whole.entity(entity).notes])
