"""Many hands at the same few keys: sent, sent otherwise, taken back."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from tests.import_contract.client import JSON, Client, digest_of, item
from tests.import_contract.servers import Php

KEYS = ("k1", "k2", "k3", "4", "0")
VERSIONS: dict[str, Any] = {
    "groups": lambda key, version: {"NAME": f"{key} {version}", "OWNER_ID": "1"},
    "users": lambda key, version: {"NAME": f"v{version}", "EMAIL": f"{key}@example.org"},
    "chats": lambda key, version: {"type": "chat", "name": f"{key} {version}"},
    "crm_types": lambda key, version: {"title": key, "code": f"v{version}"},
}
CALLS = 48


@pytest.mark.parametrize("stream", VERSIONS)
def test_a_key_is_one_record_at_most_whose_fields_are_those_of_its_digest(php: Php, stream: str) -> None:
    box, random = Client(php), Random(stream)

    def one_hand(call: int) -> list[JSON]:
        keys = calls[call]
        if call % 4 == 3:
            return box.deletions(stream, keys)
        return box.batch(stream, *(item(key, **VERSIONS[stream](key, call % 3)) for key in keys))

    calls = [random.choices(KEYS, k=3) for _ in range(CALLS)]
    with ThreadPoolExecutor(8) as hands:
        answers = [answer for some in hands.map(one_hand, range(CALLS)) for answer in some]

    counts = Counter((answer["status"], answer["key"]) for answer in answers)
    assert not [answer for answer in answers if answer["status"] == "failed"]
    dump = php.dump(stream)
    alive = {record["key"] for record in dump}
    assert {key: counts["created", key] - counts["deleted", key] for key in KEYS} == {
        key: int(key in alive) for key in KEYS
    }
    assert all(record["digest"] == digest_of(record["fields"]) for record in dump)
    had_before = {"users": 1}.get(stream, 0)
    assert len(php.rows(stream)) == len(dump) + had_before
    assert php.snapshot()["intents"] == []
