"""What is done to an answer: one change, chosen by chance, that no honest portal would make.

Every change can be told from the truth by its shape. A portal that returns another plausible value cannot be detected,
and its value would be imported correctly.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Json = Any
TRIED_EVERY = 5
DEEP = 3_000  # levels: more than any decoder takes
NESTED = 200  # levels that a decoder takes, and a recursive function perhaps not
HUGE = (10**30, -(10**30), 1e308, -1)
ODD_TEXTS = ("\x00", "a\x00b", "\u202e\u2066", "\ufeff", "\U0010ffff", "../x", "..\\x", "﷽" * 50, "'\"><`${{7*7}}%s%n")
ODD_NUMBERS: tuple[Json, ...] = (None, "abc", [], {}, [1], 1e308, 10**30, -(10**30), True, "1e999", {"odd": 1})
ODD_RESULTS: tuple[Json, ...] = ("oops", 5, True, 1e308, 10**30, [[["odd"]]], {"odd": {"odd": [1]}})
ODD_ERRORS: tuple[Json, ...] = ([["odd"]], {"odd": 1}, [{}], {"code": {"odd": 1}, "message": [1]})
ODD_LOCATIONS = (
    "http://[::1",
    "http://[::1/x",
    "",
    "//",
    "http://:99999999/",
    "javascript:alert(1)",
    "/login/",
    "\x00",
)
# What a rule or a link to the target decides by stays: any other value of these fields is sent again when it is honest.
FOLLOWED = frozenset(
    {
        *("crm.item.list", "crm.item.get", "crm.item.productrow.list", "tasks.task.list", "im.dialog.messages.get"),
        *("log.blogpost.get", "catalog.product.list", "catalog.price.list", "crm.requisite.list"),
        *("crm.requisite.bankdetail.list", "crm.address.list", "crm.requisite.link.list", "crm.deal.recurring.list"),
        *("crm.activity.list", "crm.timeline.comment.list", "crm.timeline.comment.get", "crm.timeline.note.get"),
        *("crm.timeline.logmessage.list", "crm.timeline.logmessage.get", "voximplant.statistic.get"),
    }
)
# Of the others only these fields, which are refused when they are no text.
TEXTS = {
    "user.get": ("NAME", "LAST_NAME", "EMAIL", "WORK_POSITION"),
    "department.get": ("NAME",),
    "sonet_group.get": ("NAME", "DESCRIPTION"),
}
RULING = frozenset(
    {
        *("id", "ID", "isRecurring", "entityTypeId", "chat_id", "chatId", "params", "forumTopicId", "uf"),
        *("iblockId", "type", "PROVIDER_ID", "TYPE_ID", "OWNER_TYPE_ID", "OWNER_ID", "DESCRIPTION"),
        *("ENTITY_TYPE_ID", "ENTITY_ID"),
        "isReturnCustomer",  # a mark that the portal computes: it is sent with the record, and never because of itself
    }
)
BY_NUMBER = frozenset(  # read by ascending id
    {
        *("user.get", "crm.item.list", "tasks.task.list", "catalog.product.list", "catalog.price.list"),
        *("crm.requisite.list", "crm.requisite.bankdetail.list", "crm.activity.list", "voximplant.statistic.get"),
    }
)
OWN_ID = frozenset({"id", "ID", "createdById"})  # what a record has that is answered by itself


@dataclass(slots=True)
class Call:
    """The request, and its place in the answer."""

    method: str
    holder: Json
    key: str
    totals: Json  # where `total` and `next` are, and under which names
    total: str
    next: str

    @property
    def result(self) -> Json:
        return self.holder[self.key]

    def put(self, value: Json) -> None:
        self.holder[self.key] = value

    def lists(self) -> Iterator[tuple[Json, Json]]:
        """The lists of records in it: what holds each, and under which key."""
        if isinstance(self.result, list):
            yield self.holder, self.key
        elif isinstance(self.result, dict):
            for name, part in self.result.items():
                if isinstance(part, list) and all(isinstance(one, dict) for one in part):
                    yield self.result, name

    def rows(self) -> list[tuple[Json, Json]]:
        """The records in it: what holds each, and under which key or number."""
        listed = [
            (holder[key], place)
            for holder, key in self.lists()
            for place, row in enumerate(holder[key])
            if isinstance(row, dict)
        ]
        if isinstance(self.result, dict):
            inside = [(self.result, name) for name, part in self.result.items() if _is_record(part)]
            return listed + inside + ([(self.holder, self.key)] if _is_record(self.result) else [])
        return listed


def _is_record(value: Json) -> bool:
    return isinstance(value, dict) and not OWN_ID.isdisjoint(value)


def calls(method: str, answer: Json, commands: dict[str, str]) -> list[Call]:
    """The calls that an answer is for; of a batch each of its commands that were answered."""
    if not isinstance(answer, dict) or "result" not in answer:
        return []
    if method != "batch":
        return [Call(method, answer, "result", answer, "total", "next")]
    inside = answer["result"]
    results = inside.get("result") if isinstance(inside, dict) else None
    if not isinstance(results, dict):
        return []
    return [
        Call(
            commands.get(key, "").partition("?")[0].lower(),
            results,
            key,
            inside,
            f"result_total/{key}",
            f"result_next/{key}",
        )
        for key in results
    ]


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


class Mutator:
    """By chance, but the same for the same seed and the same answers. Ways are dealt like cards: none is forgotten."""

    def __init__(self, seed: int, rate: float, due: Sequence[str] = ()) -> None:
        """`due`: ways that have to occur. They are tried on every fifth answer until each has fitted one."""
        self._chance = random.Random(seed)
        self._rate = rate
        self._due = set(due)
        self._deck = list(due)
        self._answers = 0

    def strikes(self) -> bool:
        self._answers += 1
        return self._chance.random() < self._rate or bool(self._due and self._answers % TRIED_EVERY == 0)

    def done(self, kind: str) -> None:
        self._due.discard(kind)

    def choose(self, some: Sequence[str]) -> str:
        return self._chance.choice(some)

    def wire(self, *, file: bool) -> str:
        """The fault below HTTP; None if the next mutation changes the body."""
        while not self._deck:
            self._deck = [*self._chance.sample(DECK, len(DECK)), *self._due]
        if file:
            return self._chance.choice(WIRES)
        return self._deck.pop() if self._deck[-1] in WIRES else ""

    def body(self, method: str, answer: bytes, commands: dict[str, str]) -> tuple[str, bytes]:
        """The next applicable mutation and the changed answer; unchanged if none applies."""
        try:
            data = json.loads(answer)
        except ValueError:
            return "", answer
        for kind in [one for one in reversed(self._deck) if one in BODIES]:
            changed = copy.deepcopy(data)
            mine = calls(method, changed, commands)
            self._chance.shuffle(mine)
            for call in mine:
                raw = BODIES[kind](self._chance, call, changed)
                if raw is not None:
                    self._deck.remove(kind)
                    return kind, raw or json.dumps(changed).encode()
        self._deck = [one for one in self._deck if one in WIRES]  # those that fit nothing for now come back
        return "", answer


# ---------------------------------------------------------------- what can be done to a body
# Each returns None where it does not fit, b"" when it changed the answer in place, or the bytes to send.

Change = Callable[[random.Random, Call, Json], "bytes | None"]


def odd_time(chance: random.Random, _: Call, answer: Json) -> bytes | None:
    if not isinstance(answer.get("time"), dict):
        return None
    if chance.random() < 0.5:
        answer["time"] = chance.choice(ODD_NUMBERS)
    else:
        answer["time"][chance.choice(sorted(answer["time"]))] = chance.choice(ODD_NUMBERS)
    return b""


def odd_total(chance: random.Random, call: Call, _: Json) -> bytes | None:
    name = chance.choice((call.total, call.next))
    place, _, key = name.partition("/")
    holder = call.totals.get(place) if key else call.totals
    key = key or name
    if not isinstance(holder, dict) or key not in holder:
        return None
    holder[key] = chance.choice((*ODD_NUMBERS, 10**9))
    return b""


def odd_field(chance: random.Random, call: Call, _: Json) -> bytes | None:
    """An object where a text or a number belongs."""
    rows = call.rows()
    if not rows or not (call.method in FOLLOWED or call.method in TEXTS):
        return None
    where, place = chance.choice(rows)
    row = where[place]
    names = [one for one in (TEXTS.get(call.method) or row) if one in row and one not in RULING]
    if not names:
        return None
    row[chance.choice(names)] = chance.choice(({"odd": [1]}, [{"odd": 1}], [[[1]]], json.loads(nested(NESTED))))
    return b""


def odd_scalar(chance: random.Random, call: Call, _: Json) -> bytes | None:
    """An empty value, a number or an unexpected text, in records that are sent again when they change."""
    rows = call.rows() if call.method in FOLLOWED else []
    if not rows:
        return None
    where, place = chance.choice(rows)
    row = where[place]
    names = sorted(set(row) - RULING)
    if not names:
        return None
    row[chance.choice(names)] = chance.choice((None, *HUGE, *ODD_TEXTS))
    return b""


def missing_key(chance: random.Random, call: Call, _: Json) -> bytes | None:
    rows = call.rows()
    if not rows:
        return None
    where, place = chance.choice(rows)
    row = where[place]
    ids = [one for one in ("id", "ID", "FIELD_NAME", "key", "code") if one in row]
    others = sorted(set(row) - RULING) if call.method in FOLLOWED else []
    if not ids and not others:
        return None
    del row[chance.choice([*ids[:1], *others])]
    return b""


def odd_id(chance: random.Random, call: Call, _: Json) -> bytes | None:
    rows = call.rows()
    if not rows:
        return None
    where, place = chance.choice(rows)
    row = where[place]
    name = next((one for one in ("id", "ID", "key") if one in row), None)
    if name is None:
        return None
    texts = ("../x", "x\x00", -1, 10**30) if call.method in BY_NUMBER else ()
    row[name] = chance.choice((None, {"odd": 1}, [1], 1.5, False, *texts))
    return b""


def odd_row(chance: random.Random, call: Call, _: Json) -> bytes | None:
    rows = call.rows()
    if not rows:
        return None
    where, place = chance.choice(rows)
    where[place] = chance.choice(("oops", 5, None, [[1]], {}, {"odd": 1}))
    return b""


def repeated(chance: random.Random, call: Call, _: Json) -> bytes | None:
    lists = [holder[key] for holder, key in call.lists() if holder[key]]
    if not lists:
        return None
    some = chance.choice(lists)
    some.insert(chance.randrange(len(some) + 1), copy.deepcopy(chance.choice(some)))
    return b""


def reordered(chance: random.Random, call: Call, _: Json) -> bytes | None:
    lists = [holder[key] for holder, key in call.lists() if len(holder[key]) > 1]
    if not lists:
        return None
    chance.shuffle(chance.choice(lists))
    return b""


def odd_result(chance: random.Random, call: Call, _: Json) -> bytes | None:
    call.put(chance.choice(ODD_RESULTS))
    return b""


def odd_error(chance: random.Random, _: Call, answer: Json) -> bytes | None:
    answer.pop("result", None)
    answer["error"] = chance.choice(ODD_ERRORS)
    answer["error_description"] = chance.choice(ODD_NUMBERS)
    return b""


def no_result(_: random.Random, __: Call, answer: Json) -> bytes | None:
    del answer["result"]
    return b""


def too_deep(chance: random.Random, call: Call, answer: Json) -> bytes | None:
    """Deeper than PHP writes and than anybody reads: an answer, or one value in it."""
    rows = call.rows() if call.method in FOLLOWED else []
    values = [(where[place], name) for where, place in rows for name in sorted(set(where[place]) - RULING)]
    if values and chance.random() < 0.5:
        row, name = chance.choice(values)
        row[name] = "DEEP"
    else:
        call.put("DEEP")
    return json.dumps(answer).replace('"DEEP"', nested(DEEP), 1).encode()


def half_letters(chance: random.Random, call: Call, answer: Json) -> bytes | None:
    """Halves of characters and bytes that are not UTF-8, in fields that are not used."""
    if not isinstance(answer.get("time"), dict):
        return None
    answer["time"]["odd"] = "HALF"
    return (
        json.dumps(answer).encode().replace(b'"HALF"', chance.choice((rb'"\ud800"', b'"\xff\xfe"', rb'"\udc00x"')), 1)
    )


def cut_short(chance: random.Random, call: Call, answer: Json) -> bytes | None:
    whole = json.dumps(answer).encode()
    return whole[: chance.randrange(1, len(whole))] if len(whole) > 2 else None


def no_json(chance: random.Random, _: Call, __: Json) -> bytes | None:
    return chance.choice((b"null", b"[]", b"5", b'"x"', b"\x00", b"<html></html>", b"{", b"\xff\xfe", b" "))


BODIES: dict[str, Change] = {
    one.__name__: one
    for one in (
        *(odd_time, odd_total, odd_field, odd_scalar, missing_key, odd_id, odd_row, repeated, reordered),
        *(odd_result, odd_error, no_result, too_deep, half_letters, cut_short, no_json),
    )
}
WIRES = ("endless", "wrong_length", "odd_redirect", "half_sent")  # what is done below HTTP, to files as well
KINDS = (*BODIES, *WIRES)
DECK = (*KINDS, *("odd_field", "odd_scalar", "missing_key", "odd_id") * 2)  # records are what it is about
