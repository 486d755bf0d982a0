"""What the module for the box serves beyond the contract: what it cannot keep, its self-test, the end of a migration."""

import pytest
from tests.import_contract.client import Client, Refused, Unanswered, item
from tests.import_contract.product import Product
from tests.import_contract.servers import Php
from urllib3.exceptions import HTTPError

from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.ports import Tried

NO_KEYWORDS = "This box has no place for the keywords of a group."


@pytest.fixture
def box(php: Php) -> Product:
    made = Product(php)
    made.reset()
    return made


def test_a_box_that_keeps_everything_says_so(box: Product) -> None:
    assert box.target.fidelity() == []


def test_what_the_box_cannot_keep_is_said_beforehand_and_named_with_every_item(php: Php, box: Product) -> None:
    php.lose({"groups": {"KEYWORDS": NO_KEYWORDS}})
    assert box.target.fidelity() == [Rule("groups", "KEYWORDS", Keeping.LOST, NO_KEYWORDS)]
    answer = box.send("groups", "source:groups:1", NAME="Sales", OWNER_ID="1", KEYWORDS="a, b")
    assert (answer["status"], answer["ignored"]) == ("created", ["KEYWORDS"])
    assert box.rows("groups")[answer["id"]] == {"NAME": "Sales", "OWNER_ID": "1"}


def test_what_the_box_cannot_keep_is_judged_all_the_same(php: Php, box: Product) -> None:
    php.lose({"groups": {"KEYWORDS": NO_KEYWORDS}})
    assert box.fault("groups", "k", NAME="Sales", OWNER_ID="1", KEYWORDS=5) == ("VALIDATION", "KEYWORDS")


def test_what_the_box_could_not_keep_is_no_change_by_somebody(php: Php, box: Product) -> None:
    php.lose({"groups": {"KEYWORDS": NO_KEYWORDS}})
    box.make("groups", "source:groups:1", NAME="Sales", OWNER_ID="1", KEYWORDS="a, b")
    assert box.delete("groups", "source:groups:1") == ["deleted"]


def test_what_the_box_changes_by_itself_is_no_change_by_somebody(php: Php, box: Product) -> None:
    target_id = box.make("groups", "g", NAME="Sales", OWNER_ID="1", DATE_ACTIVITY="2024-03-01T09:00:00Z")
    php.edit("groups", target_id, {"DATE_ACTIVITY": "2026-11-15T09:00:00Z"})
    assert box.delete("groups", "g") == ["deleted"]


def test_the_self_test_tries_every_stream_and_leaves_nothing(php: Php, box: Product) -> None:
    before = php.rows_of_all()
    answer = Client(php).call("import.selftest")
    assert [check for check in answer["checks"] if not check["ok"]] == []
    assert {check["name"].split(" ")[0] for check in answer["checks"]} >= {"crm_deals", "files", "mails", "cleanup"}
    assert php.rows_of_all() == before


def test_the_end_of_a_migration_goes_stretch_by_stretch(box: Product) -> None:
    box.batch("chats", *(item(f"source:chat:{number}", type="chat") for number in range(100)))
    box.batch("chats", *(item(f"source:chat:{number}", type="open") for number in range(100, 130)))
    first = box.target.finalize("", run="r")
    assert first is not None
    assert box.target.finalize(first, run="r") is None


def test_what_the_self_test_finds_out_is_told_before_a_run(php: Php, box: Product) -> None:
    php.bend({"crm_deals": {"closedate": "2026-11-16"}})
    tried = box.target.selftest()
    assert tried is not None
    assert [one for one in tried if not one.ok] == [
        Tried("crm_deals.closedate", ok=False, detail='sent "2020-03-04", the box has "2026-11-16"')
    ]
    (rule,) = box.target.fidelity()
    assert (rule.stream, rule.field, rule.keeping) == ("crm_deals", "closedate", Keeping.APPROXIMATED)


@pytest.mark.parametrize(
    "at", ["after-append", "after-intent", "after-create", "after-map", "after-seal", "after-delete"]
)
def test_a_self_test_that_dies_leaves_nothing_to_the_next(php: Php, box: Product, at: str) -> None:
    before = php.snapshot()
    php.die(at, times=1)
    with pytest.raises((Refused, Unanswered, HTTPError)):
        Client(php).call("import.selftest")
    answer = Client(php).call("import.selftest")
    assert [check for check in answer["checks"] if not check["ok"]] == []
    assert php.snapshot() == before
