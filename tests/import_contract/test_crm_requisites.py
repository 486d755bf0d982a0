"""Company details: templates are linked; requisites, bank details, addresses and links belong to records."""

import pytest
from tests.import_contract.client import JSON, NOON, Client

NOBODY = "871"
PRESET = {"NAME": "Organization", "COUNTRY_ID": 1}
FIELD = {"FIELD_NAME": "RQ_INN", "FIELD_TITLE": "INN", "SORT": 10, "IN_SHORT_LIST": True}


def requisite(box: Client) -> JSON:
    company = box.make("crm_companies", "company", title="Ltd")
    preset = box.make("crm_requisite_presets", "preset", **PRESET)
    return {"ENTITY_TYPE_ID": 4, "ENTITY_ID": company, "PRESET_ID": preset}


def good_fields(box: Client, stream: str) -> JSON:
    if stream == "crm_requisite_presets":
        return dict(PRESET)
    fields = requisite(box)
    if stream == "crm_requisites":
        return fields
    made = box.make("crm_requisites", "requisite", **fields)
    deal = box.make("crm_deals", "deal", title="Deal")
    found: dict[str, JSON] = {
        "crm_bank_details": {"ENTITY_ID": made},
        "crm_addresses": {"ENTITY_TYPE_ID": 8, "ENTITY_ID": made, "TYPE_ID": 1},
        "crm_requisite_links": {"ENTITY_TYPE_ID": 2, "ENTITY_ID": deal},
    }
    return found[stream]


REQUIRED = {
    "crm_requisite_presets": ("NAME", "COUNTRY_ID"),
    "crm_requisites": ("ENTITY_TYPE_ID", "ENTITY_ID", "PRESET_ID"),
    "crm_bank_details": ("ENTITY_ID",),
    "crm_addresses": ("ENTITY_TYPE_ID", "ENTITY_ID", "TYPE_ID"),
    "crm_requisite_links": ("ENTITY_TYPE_ID", "ENTITY_ID"),
}


@pytest.mark.parametrize("stream", REQUIRED)
def test_the_required_fields_are_enough_and_each_must_be_there(box: Client, stream: str) -> None:
    fields = good_fields(box, stream)
    for name in REQUIRED[stream]:
        assert box.fault(stream, "k", **{**fields, name: None}) == ("VALIDATION", name)
    made = box.make(stream, "k", **fields)
    assert box.rows(stream)[made] == fields
    assert box.delete(stream, "k") == ["deleted"]


@pytest.mark.parametrize(
    ("stream", "wrong", "code"),
    [
        ("crm_requisite_presets", {"fields": [{"FIELD_TITLE": "x"}]}, "VALIDATION"),
        ("crm_requisite_presets", {"fields": [FIELD | {"IN_SHORT_LIST": "Y"}]}, "VALIDATION"),
        ("crm_requisites", {"ENTITY_ID": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_requisites", {"ENTITY_TYPE_ID": 2}, "VALIDATION"),
        ("crm_requisites", {"ENTITY_TYPE_ID": "4"}, "VALIDATION"),
        ("crm_requisites", {"PRESET_ID": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_requisites", {"CREATED_BY_ID": NOBODY}, "USER_NOT_FOUND"),
        ("crm_requisites", {"RQ_INN": 7701234567}, "VALIDATION"),
        ("crm_bank_details", {"ENTITY_ID": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_addresses", {"ENTITY_ID": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_addresses", {"ENTITY_TYPE_ID": 4}, "VALIDATION"),
        ("crm_addresses", {"ANCHOR_ID": NOBODY, "ANCHOR_TYPE_ID": 4}, "PARENT_NOT_FOUND"),
        ("crm_requisite_links", {"ENTITY_ID": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_requisite_links", {"ENTITY_TYPE_ID": 4}, "VALIDATION"),
        ("crm_requisite_links", {"REQUISITE_ID": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_requisite_links", {"MC_BANK_DETAIL_ID": NOBODY}, "PARENT_NOT_FOUND"),
    ],
)
def test_what_is_wrong_is_refused_by_name(box: Client, stream: str, wrong: JSON, code: str) -> None:
    fields = good_fields(box, stream) | wrong
    assert box.fault(stream, "k", **fields) == (code, next(iter(wrong)))


def test_a_template_is_linked_by_its_code_or_by_country_and_name(box: Client) -> None:
    first = box.make("crm_requisite_presets", "a", **PRESET, XML_ID="#ORG#", fields=[FIELD])
    assert box.make("crm_requisite_presets", "b", NAME="Other", COUNTRY_ID=6, XML_ID="#ORG#") == first
    assert box.make("crm_requisite_presets", "c", **PRESET) == first
    assert box.make("crm_requisite_presets", "d", **{**PRESET, "COUNTRY_ID": 6}) != first
    assert box.rows("crm_requisite_presets")[first]["fields"] == [FIELD]


def test_requisites_are_read_back_and_kept_while_others_have_them(box: Client) -> None:
    fields = requisite(box) | {"NAME": "Ltd", "RQ_INN": "7701234567", "ADDRESS_ONLY": False, "DATE_CREATE": NOON}
    made = box.make("crm_requisites", "r", **fields)
    details = {"ENTITY_ID": made, "RQ_BIK": "044525225", "COMMENTS": None, "MODIFY_BY_ID": "1"}
    bank = box.make("crm_bank_details", "b", **details)
    (back,) = box.picked("crm_bank_details", "b")
    assert back["fields"] == details
    deal = box.make("crm_deals", "d", title="Deal")
    link = {"ENTITY_TYPE_ID": 2, "ENTITY_ID": deal, "REQUISITE_ID": made, "BANK_DETAIL_ID": bank}
    box.make("crm_requisite_links", "l", **link)
    assert box.delete("crm_requisites", "r") == ["kept"]
    assert box.delete("crm_bank_details", "b") == ["kept"]
    for stream, key in (("crm_requisite_links", "l"), ("crm_bank_details", "b"), ("crm_requisites", "r")):
        assert box.delete(stream, key) == ["deleted"]
