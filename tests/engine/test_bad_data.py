"""Data that no portal should have and some do: each piece ends in a sentence that a person understands, alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.engine.every_stream import CATALOG, Snapshot, everything, look
from tests.engine.world import World

from b24migrate.model.streams import Stream
from b24sim import downloads
from b24sim.company.crm_fields import CHOICE
from b24sim.company.crm_ids import DEAL
from b24sim.company.crm_structure import GONE_PIPELINE

LONG = "Длинный текст. " * 75_000  # 2 MB in UTF-8
LARGEST_CALL = 1_500_000
GONE_OPTION = "99999"


@dataclass(frozen=True)
class Spoilt:
    """What was done to the company before it was migrated, and what became of it."""

    made: World
    after: Snapshot
    circle: tuple[str, str]
    items: tuple[str, str]
    deal: str
    choice: str
    long: str
    template: str
    file: str

    def row(self, stream: str, row_key: str) -> tuple[Any, ...]:
        row = self.after.staged[stream][row_key]
        return row["Status"], row["LastErrorCode"], row["LastError"]

    def fields(self, stream: str, row_key: str) -> dict[str, Any]:
        found = self.after.box[stream][CATALOG.streams[stream].key_of(row_key)]["fields"]
        assert isinstance(found, dict)
        return found

    def notes(self, entity: str) -> tuple[str, ...]:
        return self.made.entity(entity).notes


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spoilt]:
    with everything(tmp_path_factory.mktemp("spoilt")) as made, pytest.MonkeyPatch.context() as patch:
        company = made.cloud.portal.company
        first, second, *_, third = company.tasks.table
        made.change("tasks", id=first, fields={"PARENT_ID": str(second)})
        made.change("tasks", id=second, fields={"PARENT_ID": str(first)})
        lower, upper = made.change("task_checklists", "add", task=third, count=2)
        made.change("task_checklists", task=third, id=lower, fields={"PARENT_ID": upper})
        made.change("task_checklists", task=third, id=upper, fields={"PARENT_ID": lower})
        lost, chosen, talkative = list(company.crm.items[DEAL])[:3]
        made.change("crm_deals", id=lost, fields={"categoryId": GONE_PIPELINE, "stageId": f"C{GONE_PIPELINE}:NEW"})
        field = company.crm.items[DEAL].fields[CHOICE].code
        made.change("crm_deals", id=chosen, fields={field: int(GONE_OPTION)})
        made.change("crm_deals", id=talkative, fields={"comments": LONG})
        (template,) = made.change(
            "workflow_templates", "add", fields={"TEMPLATE": [application()], "AUTO_EXECUTE": "1"}
        )
        file = grown(made, patch)
        box = made.box.portal.imports
        box._limits = replace(box._limits, body_bytes=LARGEST_CALL)
        assert made.run().exit_code == 5
        pairs = (str(first), str(second)), (f"{third}:{lower}", f"{third}:{upper}")
        yield Spoilt(made, look(made), *pairs, str(lost), str(chosen), str(talkative), str(template), file)


def application() -> dict[str, Any]:
    """A workflow with an activity that an application brought along."""
    step = {"Type": "rest_1c0ffee", "Name": "A1", "Properties": {"who": "user_1", "Title": "В 1С"}, "Children": []}
    return {"Type": "SequentialWorkflowActivity", "Name": "T", "Properties": {"Title": ""}, "Children": [step]}


def grown(made: World, patch: pytest.MonkeyPatch) -> str:
    """A file in a chat that somebody adds to after it was listed."""
    company = made.cloud.portal.company
    rows = (company.correspondence.row(chat, at) for chat in company.chats.values() for at in range(len(chat)))
    number = next(file for row in rows for file in (row["params"] or {}).get("FILE_ID", []))
    as_it_was = downloads.Served

    def served(file: int, size: int, stretch: Callable[[int, int], bytes], *more: Any) -> downloads.Served:
        if file != number:
            return as_it_was(file, size, stretch, *more)
        longer = stretch(0, size) + b"more"
        return as_it_was(file, len(longer), lambda start, end: longer[start:end], *more)

    patch.setattr(downloads, "Served", served)
    return f"disk:{number}"


def test_tasks_that_are_one_anothers_parents_lose_one_link(spoilt: Spoilt) -> None:
    first, second = spoilt.circle
    note = f"tasks {first} → {second} → {first}: circular link in parentId; {first} imported without it"
    assert note in spoilt.notes("tasks")
    assert spoilt.fields("tasks", first)["parentId"] is None
    assert spoilt.fields("tasks", second)["parentId"] == spoilt.after.staged["tasks"][first]["TargetId"]


def test_items_of_a_checklist_that_lie_under_one_another_say_so(spoilt: Spoilt) -> None:
    lower, upper = spoilt.items
    waited = "timed out waiting for PARENT_ID {}"
    assert spoilt.row("task_checklists", lower) == ("IMPORT_ERR", "REFERENCE_MISSING", waited.format(upper))
    assert spoilt.row("task_checklists", upper) == ("IMPORT_ERR", "REFERENCE_MISSING", waited.format(lower))


def test_a_deal_in_a_pipeline_that_is_gone_says_which(spoilt: Spoilt) -> None:
    sentence = f"categoryId links to crm_categories 2:{GONE_PIPELINE}, which is not in the source"
    assert spoilt.row("crm_deals", spoilt.deal) == ("IMPORT_ERR", "REFERENCE_MISSING", sentence)


def test_an_option_that_is_gone_is_noted_and_left_out(spoilt: Spoilt) -> None:
    code = spoilt.made.cloud.portal.company.crm.items[DEAL].fields[CHOICE].code
    note = f"custom field {code}: some values are no longer among its options, for example {GONE_OPTION}"
    assert note in spoilt.notes("crm_deals")
    assert spoilt.row("crm_deals", spoilt.choice)[0] == "IMPORT_OK"
    assert spoilt.fields("crm_deals", spoilt.choice).get(code) is None


def test_a_text_that_no_call_can_carry_is_too_large(spoilt: Spoilt) -> None:
    sentence = "the record is larger than one call to the target may be"
    assert spoilt.row("crm_deals", spoilt.long) == ("IMPORT_ERR", "TOO_LARGE", sentence)


def test_an_activity_of_an_application_is_told_by_its_place(spoilt: Spoilt) -> None:
    query = "SELECT Place, What FROM Unresolved WHERE SourceId = ?"
    sentence = "activity rest_1c0ffee must be installed on the box and checked"
    assert spoilt.made.sql(query, spoilt.template) == [("TEMPLATE/0/Children/0", sentence)]
    assert spoilt.fields("workflow_templates", spoilt.template)["AUTO_EXECUTE"] == 0


def test_a_file_that_grew_while_it_was_fetched_is_left_and_noted(spoilt: Spoilt) -> None:
    (note,) = [one for one in spoilt.notes("chats") if spoilt.file in one]
    assert note.startswith(f"file {spoilt.file} (")
    assert " is not migrated: " in note
    assert " bytes were downloaded instead of " in note
    assert f"source:file:{spoilt.file}" not in spoilt.made.imported("files")


@pytest.mark.parametrize("stream", CATALOG.streams.values(), ids=lambda one: one.name)
def test_the_neighbours_are_fine(spoilt: Spoilt, stream: Stream) -> None:
    """Except those that need a record which is not there; they say so."""
    spoilt_ones = {"crm_deals": {spoilt.deal, spoilt.long}, "task_checklists": {*spoilt.items}}
    for key, row in spoilt.after.staged[stream.name].items():
        if key not in spoilt_ones.get(stream.name, set()) and row["Status"] != "IMPORT_OK":
            assert row["LastErrorCode"] == "REFERENCE_MISSING"
            assert "was not imported" in row["LastError"]
    assert sum(row["Status"] == "IMPORT_OK" for row in spoilt.after.staged[stream.name].values()) > 0
    assert spoilt.after.found(stream.name) == []


def test_a_long_text_arrives_whole_where_a_call_can_carry_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    with everything(tmp_path_factory.mktemp("long")) as made:
        group = made.cloud.portal.company.groups.ids[0]
        made.change("groups", id=group, fields={"DESCRIPTION": LONG})
        assert made.run("users", "groups").exit_code == 0
        assert made.imported("groups")[f"source:groups:{group}"]["fields"]["DESCRIPTION"] == LONG
