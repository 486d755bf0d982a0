"""Calls that come at the same time, to several processes of PHP."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import urllib3
from tests.php_box import PhpBox, php_box

HTTP = urllib3.PoolManager(maxsize=8, retries=False, timeout=20.0)
CALLERS = 8


@pytest.fixture(scope="module")
def box() -> Iterator[PhpBox]:
    with php_box() as started:
        yield started


def send(
    box: PhpBox, method: str, stream: str, items: Sequence[tuple[str, Mapping[str, object]]]
) -> list[dict[str, Any]]:
    sent = [
        {"key": key, "digest": hashlib.sha256(json.dumps(fields).encode()).hexdigest(), "fields": fields}
        for key, fields in items
    ]
    body = json.dumps({"stream": stream, "run": "r1", "items": sent})
    answer = HTTP.request("POST", box.webhook + method, body=body, headers={"Content-Type": "application/json"})
    return list(answer.json()["result"]["items"])


def test_one_address_is_given_to_one_of_many_who_ask_at_once(box: PhpBox) -> None:
    def one(caller: int) -> list[dict[str, Any]]:
        people = [(f"u:{caller}:{n}", {"NAME": "Anna", "EMAIL": f"shared{n}@example.org"}) for n in range(10)]
        return send(box, "import.users.batch", "users", people)

    with ThreadPoolExecutor(CALLERS) as callers:
        answers = [answer for part in callers.map(one, range(CALLERS)) for answer in part]
    told = Counter(answer["error"]["code"] if answer["error"] else answer["status"] for answer in answers)
    assert told == {"created": 10, "DUPLICATE_EMAIL": 10 * (CALLERS - 1)}


def test_one_smart_process_is_made_by_many_who_ask_for_its_title_at_once(box: PhpBox) -> None:
    def one(caller: int) -> set[str]:
        titles = [(f"t:{caller}:{n}", {"title": f"Process {n}"}) for n in range(5)]
        return {answer["id"] for answer in send(box, "import.crm.batch", "crm_types", titles)}

    with ThreadPoolExecutor(CALLERS) as callers:
        ids = set.union(*callers.map(one, range(CALLERS)))
    assert len(ids) == len(box.ask("rows", stream="crm_types")) == 5


def test_one_key_sent_by_many_at_once_is_one_record(box: PhpBox) -> None:
    groups = [(f"g:{n}", {"NAME": "Sales", "OWNER_ID": "1"}) for n in range(20)]
    with ThreadPoolExecutor(CALLERS) as callers:
        parts = list(callers.map(lambda _: send(box, "import.groups.batch", "groups", groups), range(CALLERS)))
    told = Counter(answer["status"] for part in parts for answer in part)
    assert told == {"created": 20, "unchanged": 20 * (CALLERS - 1)}
    assert len(box.ask("rows", stream="groups")) == 20
