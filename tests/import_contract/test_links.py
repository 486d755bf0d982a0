"""What the box already has is linked, not doubled; addresses of users are never doubled either."""

import pytest
from tests.import_contract.client import Client, item


def test_a_department_without_parent_is_the_root_and_does_not_rename_it(box: Client) -> None:
    assert box.make("departments", "source:departments:7", NAME="Theirs") == "1"
    assert box.make("departments", "source:departments:8", NAME="Theirs too", PARENT=None) == "1"
    assert [row["NAME"] for row in box.rows("departments").values()] == ["Моя компания"]


def test_the_root_gets_its_head_in_the_second_pass_and_still_keeps_its_name(box: Client) -> None:
    box.make("departments", "source:departments:7", NAME="Theirs", PARENT=None, SORT=100)
    user = box.user()
    answer = box.send("departments", "source:departments:7", NAME="Theirs", PARENT=None, SORT=100, UF_HEAD=user)
    assert (answer["status"], answer["id"]) == ("updated", "1")
    root = box.rows("departments")["1"]
    assert (root["NAME"], root["UF_HEAD"], root["PARENT"]) == ("Моя компания", user, None)


def test_a_linked_record_takes_over_only_what_it_does_not_have(box: Client) -> None:
    user = box.user()
    box.make("departments", "source:departments:7", NAME="Theirs", SORT=1, UF_HEAD=user)
    root = box.rows("departments")["1"]
    assert (root["SORT"], root["UF_HEAD"]) == (500, user)


def test_a_bad_head_fails_even_for_the_root(box: Client) -> None:
    assert box.fault("departments", "source:departments:7", NAME="X", UF_HEAD="871") == ("USER_NOT_FOUND", "UF_HEAD")


def test_a_linked_key_is_unchanged_the_second_time(box: Client) -> None:
    box.make("departments", "source:departments:7", NAME="Theirs")
    assert box.send("departments", "source:departments:7", NAME="Theirs")["status"] == "unchanged"


def test_a_dry_run_links_nothing(raw: Client) -> None:
    before = raw.snapshot()
    (answer,) = raw.rehearse("departments", item("k", NAME="Theirs", PARENT=None))
    assert (answer["status"], answer["id"]) == ("created", None)
    assert raw.snapshot() == before


def test_a_type_with_the_same_title_is_linked(box: Client) -> None:
    first = box.smart_type("Contracts")
    assert box.make("crm_types", "other", title="Contracts", entityTypeId="192") == first
    assert box.make("crm_types", "third", title="Claims") != first
    assert len(box.rows("crm_types")) == 2


def test_a_type_whose_wish_is_taken_gets_another_id(box: Client) -> None:
    assert box.smart_type("Contracts") != box.smart_type("Claims")


def test_a_category_with_the_same_name_in_its_type_is_linked(box: Client) -> None:
    smart = box.smart_type()
    first = box.make("crm_categories", "a", entityTypeId="2", name="Retail")
    assert box.make("crm_categories", "b", entityTypeId="2", name="Retail") == first
    assert box.make("crm_categories", "c", entityTypeId=smart, name="Retail") != first


@pytest.mark.parametrize("fields", [{"name": "Общая"}, {"name": "Sales", "isDefault": True}])
def test_the_default_deal_pipeline_is_zero(box: Client, fields: dict[str, object]) -> None:
    assert box.make("crm_categories", "source:crm_categories:2:0", entityTypeId="2", **fields) == "0"
    assert box.rows("crm_categories")["0"]["name"] == "Общая"


@pytest.mark.parametrize("type_id", ["1", "2", "3", "4", "5", "6", "7", "31"])
def test_categories_of_the_static_types_need_no_type(box: Client, type_id: str) -> None:
    assert box.make("crm_categories", "k", entityTypeId=type_id, name="Second")


@pytest.mark.parametrize(("status", "name"), [("NEW", "Fresh"), ("MINE", "Новая")])
def test_a_stage_with_the_same_code_or_name_in_its_dictionary_is_linked(box: Client, status: str, name: str) -> None:
    before = box.rows("crm_stages")
    target_id = box.make("crm_stages", "k", ENTITY_ID="DEAL_STAGE", STATUS_ID=status, NAME=name, SORT=10)
    assert before[target_id]["STATUS_ID"] == "NEW"
    after = box.rows("crm_stages")
    # a pipeline may take its order from the source, or stages would stand among those of the box anyhow
    assert after[target_id]["SORT"] in {before[target_id]["SORT"], 10}
    assert after == {**before, target_id: {**before[target_id], "SORT": after[target_id]["SORT"]}}


def test_the_same_stage_in_another_dictionary_is_another_stage(box: Client) -> None:
    before = box.rows("crm_stages")
    target_id = box.make("crm_stages", "k", ENTITY_ID="INDUSTRY", STATUS_ID="NEW", NAME="Новая")
    assert target_id not in before


def test_stages_name_a_category_and_type_of_the_target(box: Client) -> None:
    smart = box.smart_type()
    deals = box.make("crm_categories", "a", entityTypeId="2", name="Retail")
    claims = box.make("crm_categories", "b", entityTypeId=smart, name="Main")
    stage = {"NAME": "Start", "SORT": 10, "SEMANTICS": None, "COLOR": "#fff"}
    dictionary = f"DYNAMIC_{smart}_STAGE_{claims}"
    box.make("crm_stages", "1", ENTITY_ID=f"DEAL_STAGE_{deals}", STATUS_ID=f"C{deals}:NEW", **stage)
    box.make("crm_stages", "2", ENTITY_ID=dictionary, STATUS_ID=f"DT{smart}_{claims}:NEW", **stage)
    assert box.make("crm_deals", "d", categoryId=deals, stageId=f"C{deals}:NEW")
    assert box.make("crm_spitems", "s", entityTypeId=smart, categoryId=claims, stageId=f"DT{smart}_{claims}:NEW")
    assert box.make("crm_spitems", "s2", entityTypeId=smart, stageId=f"DT{smart}_{claims}:NEW")
    assert box.fault("crm_deals", "d2", categoryId="0", stageId=f"C{deals}:NEW") == ("STAGE_NOT_FOUND", "stageId")
    assert box.delete("crm_stages", "1") == ["kept"]


def test_stages_of_a_source_category_are_refused(box: Client) -> None:
    deals = box.make("crm_categories", "a", entityTypeId="2", name="Retail")
    refusals = [
        box.fault("crm_stages", "1", ENTITY_ID="DEAL_STAGE_5", STATUS_ID="C5:NEW", NAME="x"),
        box.fault("crm_stages", "2", ENTITY_ID="DYNAMIC_180_STAGE_5", STATUS_ID="DT180_5:NEW", NAME="x"),
        box.fault("crm_stages", "3", ENTITY_ID=f"DEAL_STAGE_{deals}", STATUS_ID="C5:NEW", NAME="x"),
    ]
    assert refusals == [("PARENT_NOT_FOUND", "ENTITY_ID"), ("TYPE_NOT_FOUND", "ENTITY_ID"), ("VALIDATION", "STATUS_ID")]


def test_an_address_of_any_user_of_the_box_is_taken_whatever_its_case(box: Client) -> None:
    box.user(2)
    for number, email in enumerate(("U2@EXAMPLE.org", "Admin@Box.Example"), start=3):
        fault = box.fault("users", f"source:users:{number}", NAME="B", EMAIL=email)
        assert fault == ("DUPLICATE_EMAIL", "EMAIL")


def test_a_user_may_keep_its_own_address_and_take_a_free_one(box: Client) -> None:
    box.user(2)
    assert box.send("users", "source:users:2", NAME="Anna B", EMAIL="U2@example.org")["status"] == "updated"
    assert box.send("users", "source:users:2", NAME="Anna B", EMAIL="new@example.org")["status"] == "updated"
    assert box.make("users", "source:users:3", NAME="B", EMAIL="u2@example.org")


def test_two_users_with_one_address_in_one_call_are_one_and_a_failure(box: Client) -> None:
    items = [item(f"source:users:{number}", NAME="A", EMAIL="a@example.org") for number in (1, 2)]
    assert [answer["status"] for answer in box.batch("users", *items)] == ["created", "failed"]


def test_a_dry_run_knows_the_addresses_of_its_own_call(raw: Client) -> None:
    items = [item(f"source:users:{number}", NAME="A", EMAIL="a@example.org") for number in (1, 2)]
    assert [answer["status"] for answer in raw.rehearse("users", *items)] == ["created", "failed"]
