"""Codes with ids inside: what is an id in them becomes the target's, what is none stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from b24migrate.entities.codes import (
    STAGE_CODES,
    crm_code,
    dictionary,
    dictionary_entry,
    owner,
    pipeline,
    recipient,
    record_of,
    stage,
    stage_dictionary,
    type_id,
)
from b24migrate.model.fields import Resolve, Unresolved
from b24migrate.model.records import Json
from b24migrate.model.source_records import SourceRecord

TARGETS = {
    ("crm_deals", "12"): "9012",
    ("crm_contacts", "7"): "8007",
    ("crm_companies", "7"): "7007",
    ("crm_types", "156"): "300",
    ("crm_spitems", "156:3"): "6003",
    ("crm_categories", "2:9"): "41",
    ("crm_categories", "156:7"): "52",
    ("crm_categories", "31:3"): "33",
    ("users", "5"): "2005",
    ("groups", "4"): "4004",
    ("departments", "6"): "1006",
    (STAGE_CODES, "SOURCE:WEB"): "WEB_2",
}
NOBODY = SourceRecord("1", {}, {})


class Known:
    """A Resolve over a table."""

    def __call__(self, stream: str, source_id: str) -> str:
        if (stream, source_id) not in TARGETS:
            raise Unresolved(stream, source_id)
        return TARGETS[stream, source_id]

    def field(self, code: str) -> str | None:
        return code

    def missed(self, what: str) -> None:
        raise AssertionError(what)


known: Resolve = Known()


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("D_12", "D_9012"),
        ("C_7", "C_8007"),
        ("CO_7", "CO_7007"),
        ("T9c_3", "T12c_6003"),  # 0x9c is 156, 0x12c is 300
        ("T9C_3", "T12c_6003"),
        ("12", "12"),
        ("D_", "D_"),
        ("D_12_3", "D_12_3"),
        ("Договор", "Договор"),
    ],
)
def test_the_code_of_a_crm_record(code: str, wanted: str) -> None:
    assert crm_code(code, known) == wanted


@pytest.mark.parametrize(
    ("code", "stream", "source_id"),
    [
        ("D_99", "crm_deals", "99"),
        ("L_1", "crm_leads", "1"),
        ("Q_1", "crm_quotes", "1"),
        ("SI_1", "crm_invoices", "1"),
        ("I_1", "crm_old_invoices", "1"),
        ("T80_3", "crm_types", "128"),
        ("T9c_4", "crm_spitems", "156:4"),
    ],
)
def test_a_code_of_what_is_not_there_says_what_it_is(code: str, stream: str, source_id: str) -> None:
    with pytest.raises(Unresolved) as missing:
        crm_code(code, known)
    assert (missing.value.stream, missing.value.source_id) == (stream, source_id)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("UA", "UA"), ("U5", "U2005"), ("SG4", "SG4004"), ("SG4_K", "SG4004_K"), ("DR6", "DR1006"), ("D6", "D1006")],
)
def test_a_recipient(value: str, wanted: str) -> None:
    assert recipient(NOBODY, value, known) == wanted


def test_a_recipient_that_is_not_there() -> None:
    with pytest.raises(Unresolved):
        recipient(NOBODY, "U99", known)


@pytest.mark.parametrize(("number", "wanted"), [(2, "2"), (31, "31"), (156, "300")])
def test_types_that_every_portal_has_keep_their_numbers(number: int, wanted: str) -> None:
    assert type_id(number, known) == wanted


@pytest.mark.parametrize(("number", "source_id", "wanted"), [(2, "12", "9012"), (4, "7", "7007"), (156, "3", "6003")])
def test_a_record_by_its_type(number: int, source_id: str, wanted: str) -> None:
    assert record_of(number, source_id, known) == wanted


def test_an_owner_has_the_type_and_the_record_of_the_target() -> None:
    assert owner(156, "3", known) == {"ownerTypeId": 300, "ownerId": "6003"}
    assert owner(2, "12", known) == {"ownerTypeId": 2, "ownerId": "9012"}
    with pytest.raises(Unresolved, match="crm_leads 5"):
        owner(1, "5", known)


@pytest.mark.parametrize(
    ("number", "category", "wanted"),
    [(2, "9", "41"), (2, "0", "0"), (156, "7", "52")],
)
def test_a_pipeline(number: int, category: str, wanted: str) -> None:
    assert pipeline(number, category, known) == wanted


@pytest.mark.parametrize(("number", "category"), [(2, "5"), (156, "0"), (156, "9")])
def test_a_pipeline_that_is_gone_is_no_other(number: int, category: str) -> None:
    with pytest.raises(Unresolved):
        pipeline(number, category, known)


@pytest.mark.parametrize(
    ("entity_id", "there", "status", "code"),
    [
        ("DEAL_STAGE", "DEAL_STAGE", "NEW", "NEW"),
        ("DEAL_STAGE_9", "DEAL_STAGE_41", "C9:NEW", "C41:NEW"),
        ("DYNAMIC_156_STAGE_7", "DYNAMIC_300_STAGE_52", "DT156_7:NEW", "DT300_52:NEW"),
        ("SMART_INVOICE_STAGE_3", "SMART_INVOICE_STAGE_33", "DT31_3:P", "DT31_33:P"),
        ("SOURCE", "SOURCE", "WEB", "WEB"),
        ("INDUSTRY", "INDUSTRY", "C9:NEW", "C9:NEW"),
    ],
)
def test_a_stage_and_its_dictionary(entity_id: str, there: str, status: str, code: str) -> None:
    assert dictionary(entity_id, known) == there
    assert stage(entity_id, status, known) == code


def test_the_stages_of_a_pipeline_that_became_the_default_one_lose_their_prefix() -> None:
    def resolve(*_: str) -> str:
        return "0"

    assert dictionary("DEAL_STAGE_9", resolve) == "DEAL_STAGE"
    assert stage("DEAL_STAGE_9", "C9:UC_1", resolve) == "UC_1"


def test_the_stages_of_the_default_pipeline_get_a_prefix_where_it_became_another() -> None:
    def resolve(*_: str) -> str:
        return "41"

    assert dictionary("DEAL_STAGE", resolve) == "DEAL_STAGE_41"
    assert stage("DEAL_STAGE", "NEW", resolve) == "C41:NEW"


@pytest.mark.parametrize(
    ("number", "category", "wanted"),
    [
        (2, 0, "DEAL_STAGE"),
        (2, None, "DEAL_STAGE"),
        (2, "9", "DEAL_STAGE_9"),
        (156, 7, "DYNAMIC_156_STAGE_7"),
        (31, 3, "SMART_INVOICE_STAGE_3"),
    ],
)
def test_where_the_stages_of_a_pipeline_are(number: int, category: Json, wanted: str) -> None:
    assert stage_dictionary(number, category) == wanted


@pytest.mark.parametrize(("value", "wanted"), [("WEB", "WEB_2"), ("GONE", "GONE"), ("", None), (None, None)])
def test_an_entry_of_a_dictionary_that_the_target_knows_under_another_code(value: Json, wanted: Json) -> None:
    code: Callable[..., Json] = dictionary_entry("SOURCE")
    assert code(NOBODY, value, known) == wanted
