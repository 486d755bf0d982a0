"""A call that dies anywhere is made good by the one that repeats it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.import_contract.client import ENTITY_OF, NOON, Client, Unanswered, item
from tests.import_contract.servers import Php

POINTS = (
    *("after-intent", "after-create", "after-map", "after-update", "after-seal", "after-delete", "after-append"),
    "before-answer",
)

ALL = [*ENTITY_OF, "files"]
"""Records of which streams are written apart from their keys, as most are by some kernel or other."""

Call = Callable[[], Any]


def history(box: Client, perform: Callable[[Call], Any]) -> object:
    """Something of every kind: records that are written with their key in one go and others, what the box had before,
    changes, files, deletions. Ids are found out by asking, as nobody can rely on an answer."""

    def send(stream: str, *items: dict[str, object]) -> None:
        perform(partial(box.batch, stream, *items))

    def known(stream: str, key: str) -> str:
        (found,) = perform(partial(box.picked, stream, key))
        return str(found["id"])

    send("departments", item("d1", NAME="Root"), item("d2", NAME="Sales", PARENT="1"))
    send("users", *(item(f"u{n}", NAME="Anna", EMAIL=f"u{n}@example.org") for n in range(3)))
    owner = known("users", "u1")
    send("groups", *(item(f"g{n}", NAME="Sales", OWNER_ID=owner) for n in range(3)))
    send("chats", item("c1", type="chat", owner=owner), item("c2", type="open"))
    chat = known("chats", "c1")
    send("chat_messages", *(item(f"m{n}", chat_id=chat, author_id=owner, date=NOON, text=f"{n}") for n in range(4)))
    send("users", item("u1", NAME="Eva", EMAIL="u1@example.org"), item("u2", NAME="Eva", EMAIL="u2@example.org"))
    send("groups", item("g1", NAME="Sold", OWNER_ID=owner))
    send("crm_stages", item("s1", ENTITY_ID="DEAL_STAGE", STATUS_ID="NEW", NAME="Fresh"))
    send("crm_types", item("t1", title="Claims"), item("t2", title="Claims"))
    send("crm_categories", item("k1", entityTypeId=known("crm_types", "t1"), name="Main"))
    perform(partial(box.upload, "f1", b"twenty bytes of text"))
    perform(partial(box.upload, "f2", b""))
    file = perform(partial(box.call, "import.files.put", key="f1", offset=-1))["id"]
    send("chat_messages", item("m9", chat_id=chat, author_id="0", date=NOON, files=[file]))
    perform(partial(box.delete, "chat_messages", "m0", "m1"))
    perform(partial(box.delete, "groups", "g0", "g2"))
    perform(partial(box.delete, "departments", "d1"))
    return box.snapshot()


@pytest.mark.parametrize("settings", [{}, {"apart": ALL}], ids=["some apart", "all apart"])
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("point", POINTS)
def test_a_call_that_dies_is_made_good_by_the_one_that_repeats_it(
    php: Php, point: str, times: int, settings: dict[str, Any]
) -> None:
    box, deaths = Client(php), 0
    box.reset(**settings)
    undisturbed = history(box, lambda call: call())
    box.reset(**settings)

    def until_it_answers(call: Call) -> Any:
        nonlocal deaths
        php.die(point, times)
        while True:
            try:
                return call()
            except Unanswered:
                deaths += 1

    assert history(box, until_it_answers) == undisturbed
    assert deaths > 0
