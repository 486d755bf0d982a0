"""Pipelines belong to one type: a client that mixes them up is told."""

from tests.import_contract.client import Client


def test_a_deal_cannot_be_in_a_pipeline_of_a_smart_process(box: Client) -> None:
    smart = box.smart_type()
    theirs = box.make("crm_categories", "a", entityTypeId=smart, name="Urgent")
    ours = box.make("crm_categories", "b", entityTypeId="2", name="Retail")
    assert box.fault("crm_deals", "d", title="Deal", categoryId=theirs) == ("PARENT_NOT_FOUND", "categoryId")
    assert box.fault("crm_spitems", "s", entityTypeId=smart, categoryId=ours) == ("PARENT_NOT_FOUND", "categoryId")
    assert box.fault("crm_spitems", "s", entityTypeId=smart, categoryId="0") == ("PARENT_NOT_FOUND", "categoryId")
    assert box.make("crm_deals", "d", title="Deal", categoryId=ours)
    assert box.make("crm_deals", "e", title="Deal", categoryId="0")
    assert box.make("crm_spitems", "s", entityTypeId=smart, categoryId=theirs)


def test_stages_of_a_smart_process_are_in_its_own_pipeline(box: Client) -> None:
    smart = box.smart_type()
    ours = box.make("crm_categories", "b", entityTypeId="2", name="Retail")
    stage = {"ENTITY_ID": f"DYNAMIC_{smart}_STAGE_{ours}", "STATUS_ID": f"DT{smart}_{ours}:NEW", "NAME": "New"}
    assert box.fault("crm_stages", "s", **stage) == ("PARENT_NOT_FOUND", "ENTITY_ID")


def test_a_contact_may_be_in_the_category_that_needs_no_record(box: Client) -> None:
    assert box.make("crm_contacts", "c", name="Ann", categoryId="0")
    own = box.make("crm_categories", "k", entityTypeId="3", name="Contacts")
    assert box.make("crm_contacts", "d", name="Ann", categoryId=own)
    assert box.fault("crm_companies", "e", title="Firm", categoryId=own) == ("PARENT_NOT_FOUND", "categoryId")
