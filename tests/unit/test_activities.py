"""Which workflow templates may run code: by an allow-list, in any spelling, at any depth."""

from __future__ import annotations

from typing import Any

import pytest

from b24migrate.entities.workflows.streams import OFF, doubts
from b24migrate.messages import render
from b24migrate.model.activities import (
    EVALUATED,
    MOST,
    STANDARD,
    activity_names,
    find_forbidden,
    find_watched,
    is_allowed,
)
from b24sim import Company
from b24sim.company.plan import Plan

CODE = "$GLOBALS['USER']->Authorize(1);"


def one(kind: Any, properties: Any = None, *children: Any) -> dict[str, Any]:
    return {"Type": kind, "Name": "A1", "Properties": properties or {}, "Children": list(children)}


def branch(condition: str) -> dict[str, Any]:
    return one("IfElseActivity", {}, one("IfElseBranchActivity", {"Title": "Да", condition: CODE}))


def nested(depth: int) -> list[Any]:
    tree = one("CodeActivity", {"ExecuteCode": CODE})
    for _ in range(depth):
        tree = one("SequenceActivity", {}, tree)
    return [tree]


REFUSED = {
    "code": ([one("CodeActivity", {"ExecuteCode": CODE})], ["CodeActivity"]),
    "any case": ([one("SequenceActivity", {}, one("cOdEaCtIvItY"))], ["cOdEaCtIvItY"]),
    "with the prefix that the kernel takes off": ([one("CBPCodeActivity")], ["CBPCodeActivity"]),
    "with a space": ([one("CodeActivity ")], ["CodeActivity "]),
    "of a vendor": ([one("AcmeSyncActivity")], ["AcmeSyncActivity"]),
    "of another module": ([one("ControllerRemoteIBlockActivity")], ["ControllerRemoteIBlockActivity"]),
    "very deep": (nested(5_000), ["CodeActivity"]),
    "a list with gaps": ({"3": one("SequenceActivity", {}) | {"Children": {"1": one("CodeActivity")}}}, ["CodeActivity"]),
    "a condition": ([branch("codecondition")], ["codecondition"]),
    "a condition with the prefix": ([branch("CBPCodeCondition")], ["CBPCodeCondition"]),
    "a condition of a vendor": ([branch("acmecheck")], ["acmecheck"]),
    "the condition of a loop": ([one("WhileActivity", {"CodeCondition": CODE})], ["CodeCondition"]),
    "inside properties": ([one("SetFieldActivity", {"Inner": [one("CodeActivity")]})], ["CodeActivity"]),
    "inside properties, spelled otherwise": ([one("SetFieldActivity", {"x": {"TYPE": "codeactivity"}})], ["codeactivity"]),
    "two": ([one("CodeActivity"), one("AcmeActivity"), one("CodeActivity")], ["CodeActivity", "AcmeActivity"]),
    "without a type": ([{"Name": "A", "Properties": {"ExecuteCode": CODE}}], ["(no type)"]),
    "no activity": ([one("SequenceActivity", {}, "x")], ["(unreadable)"]),
    "packed": ("eJxLtDK0qi4GAAA=", ["(unreadable)"]),
    "of an application that cannot be": ([one("rest_../x")], ["rest_../x"]),
    "of an application, in letters that look like it": ([one("re\u017ft_1")], ["re\u017ft_1"]),
    "standard, in letters that look like it": ([one("Tas\u212a2Activity")], ["Tas\u212a2Activity"]),
    "inside properties, with a character that PHP takes off": (
        [one("SetFieldActivity", {"codecondition\0": CODE})],
        ["codecondition\0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("template", "found"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_standard_is_found_by_its_name(template: Any, found: list[str]) -> None:
    assert activity_names(find_forbidden({"TEMPLATE": template})) == found


def test_the_code_is_shown_with_its_place() -> None:
    (found,) = find_forbidden({"TEMPLATE": [one("SequenceActivity", {}, one("CodeActivity", {"ExecuteCode": CODE}))]})
    assert found == ("TEMPLATE/0/Children/0", "CodeActivity", CODE)
    (found,) = find_forbidden({"TEMPLATE": [branch("codecondition")]})
    assert found == ("TEMPLATE/0/Children/0/Properties/codecondition", "codecondition", CODE)


def test_code_outside_the_tree_is_found_too() -> None:
    assert activity_names(find_forbidden({"TEMPLATE": [], "CONSTANTS": {"a": {"Default": one("CodeActivity")}}})) == [
        "CodeActivity"
    ]


@pytest.mark.parametrize("template", [None, "", [], {}, [one("sequentialworkflowACTIVITY")], [one("rest_4f1c3a9d7e")]])
def test_what_is_standard_or_of_an_application_passes(template: Any) -> None:
    assert find_forbidden({"TEMPLATE": template}) == []


def test_expressions_and_fields_that_are_called_like_activities_pass() -> None:
    asked = {"RequestedInformation": [{"Name": "a", "Type": "string", "Default": "{{=round(1.5)}}"}], "Type": "text"}
    conditions = {"fieldcondition": [["ID", "=", "1", "0"]], "mixedcondition": [], "Title": "x", "EditorComment": ""}
    tree = [one("RequestInformationActivity", asked), one("IfElseBranchActivity", conditions)]
    fields = {"TEMPLATE": tree, "VARIABLES": {"a": {"Name": "CodeActivity", "Type": "user"}}}
    assert find_forbidden(fields) == []


def test_a_template_full_of_code_costs_little() -> None:
    found = find_forbidden({"TEMPLATE": [one("CodeActivity", {"ExecuteCode": "x" * 100_000})] * 10_000})
    assert len(found) == MOST
    assert sum(len(part.code) for part in found) < 4_000_000


@pytest.mark.parametrize("before", [MOST, 10 * MOST])
def test_many_parts_that_are_allowed_hide_none_that_is_not(before: int) -> None:
    found = find_forbidden({"TEMPLATE": [*[one("AcmeActivity")] * before, one("CodeActivity", {"ExecuteCode": CODE})]})
    assert activity_names(found) == ["AcmeActivity", "CodeActivity"]


def test_a_template_of_endless_names_cannot_be_allowed() -> None:
    found = find_forbidden({"TEMPLATE": [one(f"Acme{number}Activity") for number in range(20 * MOST)]})
    assert found[-1].name == "(unreadable)"
    assert len(found) < 20 * MOST


def test_what_sends_data_outside_is_to_be_looked_at() -> None:
    tree = [one("SequenceActivity", {}, one("WebHookActivity"), one("rest_1c"), one("LogActivity"))]
    assert list(find_watched(tree)) == [("0/Children/0", "WebHookActivity"), ("0/Children/1", "rest_1c")]


def test_only_names_are_allowed() -> None:
    allowed = frozenset({"codeactivity", "(unreadable)", "(no type)"})
    assert is_allowed("CODEActivity", allowed)
    assert not is_allowed("AcmeActivity", allowed)
    assert not is_allowed("(unreadable)", allowed)
    assert not is_allowed("(no type)", allowed)


def test_nothing_that_evaluates_code_is_on_the_list() -> None:
    assert STANDARD.isdisjoint(EVALUATED)
    assert all(name == name.lower() and name.isalnum() for name in STANDARD)


def test_large_simulated_companies_have_code_and_every_other_template_is_standard() -> None:
    company = Company(Plan(users=50)).workflows
    found = {
        place: activity_names(find_forbidden(company.templates.row(company.id_at(place))))
        for place in range(len(company.templates))
    }
    refused = {place: names for place, names in found.items() if names}
    assert sorted(refused) == sorted(company.code_places)
    assert sorted(name for names in refused.values() for name in names) == [
        *("AcmeSyncActivity", "CodeActivity", "codeACTIVITY", "codecondition"),
    ]
    assert Company(Plan(users=49)).workflows.code_places == {}
    assert len(Company(Plan(users=10, code_templates=2)).workflows.code_places) == 2


def test_what_is_said_of_them_has_its_russian_twin() -> None:
    tree = [one("WebHookActivity"), one("rest_1c"), one("CodeActivity")]
    texts = [*(what for _, what in doubts(tree)), OFF]
    assert len(texts) == 4
    assert not [sentence for sentence in texts if render(sentence, "ru") == sentence]
