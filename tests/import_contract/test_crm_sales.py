"""Leads, quotes and invoices, and what other records name of them."""

import pytest
from tests.import_contract.client import JSON, NOON, Client

NOBODY = "871"
ROW = {"productName": "Bolt", "price": 5, "quantity": 2, "discountTypeId": 1, "discountSum": 0.5, "productId": None}


@pytest.mark.parametrize(
    ("stream", "fields"),
    [
        ("crm_leads", {"title": "Lead", "stageId": "JUNK", "dateClosed": NOON, "isReturnCustomer": False}),
        ("crm_leads", {"name": "Anna", "birthdate": "1980-01-31", "post": "Boss", "utmSource": "x", "fm": []}),
        ("crm_quotes", {"title": "Quote", "quoteNumber": "7", "stageId": "APPROVED", "actualDate": "2024-03-01"}),
        ("crm_quotes", {"content": "text", "terms": None, "closedate": "2024-03-01", "productRows": [ROW]}),
        ("crm_invoices", {"title": "Invoice", "accountNumber": "7/1", "begindate": "2024-03-01", "opportunity": 10.5}),
    ],
)
def test_records_are_read_back_and_taken_back(box: Client, stream: str, fields: JSON) -> None:
    made = box.make(stream, "k", **fields)
    assert box.rows(stream)[made] == fields
    assert box.send(stream, "k", **fields)["status"] == "unchanged"
    assert box.delete(stream, "k") == ["deleted"]


@pytest.mark.parametrize(
    ("stream", "wrong", "code"),
    [
        ("crm_leads", {"stageId": "WON"}, "STAGE_NOT_FOUND"),
        ("crm_leads", {"companyId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_leads", {"contactIds": [NOBODY]}, "PARENT_NOT_FOUND"),
        ("crm_leads", {"dateClosed": "2024-03-01"}, "VALIDATION"),
        ("crm_leads", {"assignedById": NOBODY}, "USER_NOT_FOUND"),
        ("crm_quotes", {"stageId": "NEW"}, "STAGE_NOT_FOUND"),
        ("crm_quotes", {"dealId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_quotes", {"leadId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_quotes", {"storageElementIds": [NOBODY]}, "FILE_NOT_FOUND"),
        ("crm_quotes", {"quoteNumber": 7}, "VALIDATION"),
        ("crm_quotes", {"actualDate": NOON}, "VALIDATION"),
        ("crm_invoices", {"categoryId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_invoices", {"stageId": "DT31_5:N"}, "STAGE_NOT_FOUND"),
        ("crm_invoices", {"parentId2": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_invoices", {"parentId7": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_deals", {"leadId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_deals", {"quoteId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_deals", {"productRows": [ROW | {"productId": NOBODY}]}, "PARENT_NOT_FOUND"),
        ("crm_deals", {"productRows": [ROW | {"discountTypeId": "1"}]}, "VALIDATION"),
        ("crm_contacts", {"leadId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_companies", {"leadId": NOBODY}, "PARENT_NOT_FOUND"),
    ],
)
def test_what_is_wrong_is_refused_by_name(box: Client, stream: str, wrong: JSON, code: str) -> None:
    assert box.fault(stream, "k", title="x", **wrong) == (code, next(iter(wrong)))


def test_a_link_that_comes_later_is_an_ordinary_update(box: Client) -> None:
    deal = box.make("crm_deals", "d", title="Deal", leadId=None)
    lead = box.make("crm_leads", "l", title="Lead")
    quote = box.make("crm_quotes", "q", title="Quote", dealId=deal, leadId=lead)
    answer = box.send("crm_deals", "d", title="Deal", leadId=lead, quoteId=quote)
    assert (answer["status"], answer["id"]) == ("updated", deal)
    invoice = box.make("crm_invoices", "i", title="Invoice", parentId2=deal, parentId7=quote)
    links = [f"L_{lead}", f"Q_{quote}", f"SI_{invoice}"]
    assert box.make("tasks", "t", title="T", createdBy="1", responsibleId="1", ufCrmTask=links)
    assert box.delete("crm_leads", "l") == ["kept"]
    assert box.delete("crm_quotes", "q") == ["kept"]


def test_an_invoice_is_in_a_pipeline_of_invoices(box: Client) -> None:
    pipeline = box.make("crm_categories", "c", entityTypeId="31", name="Invoices")
    stage = {"ENTITY_ID": f"SMART_INVOICE_STAGE_{pipeline}", "STATUS_ID": f"DT31_{pipeline}:N", "NAME": "New"}
    box.make("crm_stages", "s", **stage)
    assert box.make("crm_invoices", "i", title="x", categoryId=pipeline, stageId=stage["STATUS_ID"])
    deals = box.make("crm_categories", "d", entityTypeId="2", name="Deals")
    assert box.fault("crm_invoices", "j", title="x", categoryId=deals) == ("PARENT_NOT_FOUND", "categoryId")


def test_products_of_rows_are_those_of_the_catalogue(box: Client) -> None:
    bolt = box.make("crm_products", "p", kind="product", name="Bolt")
    rows = [ROW | {"productId": bolt}]
    deal = box.make("crm_deals", "d", title="x", productRows=rows)
    assert box.rows("crm_deals")[deal]["productRows"] == rows
    assert box.delete("crm_products", "p") == ["kept"]
