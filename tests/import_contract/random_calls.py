"""Random calls: references that may lead nowhere, wrong types, repeated keys.

`«groups/k1»` stands for the id that a server gave to the record with that key."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

from tests.import_contract.client import ENTITY_OF, NOON, digest_of

JSON = dict[str, Any]
Call = tuple[str, JSON]
ODD: list[Any] = [
    *(None, "", "0", "00", "1", 1, 0, -1, 1.0, 1.5, True, False, 10**17, 1e300, "1e1", "10", " 1", "x\0y", "Ж\u2028😀"),
    *([], {}, ["1"], [None], {"0": "1"}, {"a": 1}, ["UA"], [{"ID": "1"}], [{"price": 1}]),
    *("2024-02-30", "2024-03-01", "2024-03-01T24:00:00Z", NOON, "2024-03-01T09:00:00+00:00"),
    *("«users/k1»", "«groups/k1»", "SG«groups/k1»", "D_«crm_deals/k1»", "ADMIN@box.example "),
]
WORDS = ["A", "B", "0", "10", "1e1", "Ж", ""]
"""Names that are the same number, or nothing, to those who do not look closely."""
STEP = {"Type": "SequenceActivity", "Properties": [{}]}  # a server may refuse activities that are not standard


class RandomCalls:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def next(self) -> Call:
        kinds = [self._batch, self._list, self._delete, self._fields, self._match, self._put]
        (make,) = self._random.choices(kinds, [60, 10, 10, 8, 4, 8])
        return make()

    def _batch(self) -> Call:
        stream = self._random.choice(list(FIELDS))
        items = [self._item(stream) for _ in range(self._random.choice([1, 1, 2, 3, 5]))]
        if self._chance(0.04):
            self._random.choice(items)[self._random.choice(["digest", "fields", "key"])] = self._random.choice(ODD)
        body = {"stream": stream, "dry_run": self._chance(0.25), "items": items}
        return f"import.{ENTITY_OF[stream]}.batch", self._spoiled(body, 0.03)

    def _item(self, stream: str) -> JSON:
        fields = FIELDS[stream](self)
        if self._chance(0.25):
            sound = [name for name in fields if name != "TEMPLATE"]  # a server may refuse what holds no activities
            fields[self._random.choice([*sound, *sound, "NOPE", "0", "12"])] = self._random.choice(ODD)
        if self._chance(0.1):
            del fields[self._random.choice(list(fields))]
        key = self._random.choice(["k1", "k2", "k3", "k4", "k5", "7", "007"])
        return {"key": key if self._chance(0.03) else f"{stream}:{key}", "digest": digest_of(fields), "fields": fields}

    def _list(self) -> Call:
        stream = self._random.choice(list(FIELDS))
        keys = self._random.choice([None, None, [f"{stream}:k1", "k2", "7", f"{stream}:7"]])
        return f"import.{ENTITY_OF[stream]}.list", {
            "stream": stream,
            "limit": self._random.choice([1, 2, 500, 501]),
            "keys": keys,
        }

    def _delete(self) -> Call:
        stream = self._random.choice(list(FIELDS))
        keys = [f"{stream}:k{self._random.randint(1, 5)}" for _ in range(self._random.choice([1, 3]))]
        body = {"stream": stream, "keys": keys, "dry_run": self._chance(0.4)}
        return f"import.{ENTITY_OF[stream]}.delete", self._spoiled(body, 0.05)

    def _fields(self) -> Call:
        stream = self._random.choice(["crm_deals", "crm_deals", "crm_spitems", "users"])
        options = {str(number): self._option(number) for number in self._random.choices(range(4), k=3)}
        code = self._random.choice(["UF_CRM_1", "UF_CRM_2", "UF_CRM_9_1", "UF_DEPARTMENT", "uf"])
        kind = self._random.choice(["enumeration", "integer", "string", "hologram"])
        field = {"code": code, "type": kind, "multiple": self._chance(0.5), "options": list(options.values())}
        smart = self.ref("crm_types") if stream == "crm_spitems" else None
        body = {"stream": stream, "type": smart, "fields": [self._spoiled(field, 0.1)]}
        return f"import.{ENTITY_OF[stream]}.fields", body

    def _option(self, number: int) -> JSON:
        """Of a field that exists: no two of its list values have the same XML_ID."""
        name = str(number)
        return {"id": name, "value": self.of("0", "A", "10", "1e1"), "xml_id": self.of("", name, f"x{name}")}

    def _match(self) -> Call:
        return "import.users.match", {"emails": ["a@x.org", "A@X.ORG ", "", "10", "1e1", "admin@BOX.example"]}

    def _put(self) -> Call:
        data = self._random.choice([b"", b"hello", b"hello world"])
        start = self._random.choice([0, 0, 3, 5, -1, -2, 99]) if data else 0
        chunk = data[max(start, 0) : self._random.choice([3, 5, 99])]
        body = {
            "key": f"files:k{self._random.randint(1, 4)}",
            "name": self._random.choice(["a", "10", "1e1"]),
            "size": len(data),
            "sha256": sha256(self._random.choice([data, data, data, b"another"])).hexdigest(),
            "offset": start,
            "content": b64encode(chunk).decode(),
        }
        return "import.files.put", self._spoiled(body, 0.1)

    def _spoiled(self, body: JSON, chance: float) -> JSON:
        if self._chance(chance):
            body[self._random.choice(list(body))] = self._random.choice(ODD)
        return body

    def _chance(self, chance: float) -> bool:
        return self._random.random() < chance

    # ------------------------------------------------------------ values

    def of(self, *values: Any) -> Any:
        return self._random.choice(values)

    def word(self) -> str:
        return self._random.choice(WORDS)

    def ref(self, stream: str) -> str:
        return f"«{stream}/k{self._random.randint(1, 4)}»"

    def user(self) -> str:
        return self._random.choice(["1", "1", self.ref("users"), "77"])


FIELDS: dict[str, Callable[[RandomCalls], JSON]] = {
    "departments": lambda any_: {
        "NAME": any_.word(),
        "PARENT": any_.of(None, "1", any_.ref("departments")),
        "SORT": any_.of(1, 500),
        "UF_HEAD": any_.of(None, any_.user()),
    },
    "users": lambda any_: {
        "NAME": any_.word(),
        "EMAIL": any_.of("a@x.org", "A@X.org", "b@x.org", "admin@box.example", "10", "1e1"),
        "UF_DEPARTMENT": any_.of([], ["1"], [any_.ref("departments")]),
        "PERSONAL_PHOTO": any_.of(None, any_.ref("files")),
    },
    "groups": lambda any_: {"NAME": any_.word(), "OWNER_ID": any_.user(), "DATE_CREATE": NOON, "KEYWORDS": any_.word()},
    "group_members": lambda any_: {
        "GROUP_ID": any_.ref("groups"),
        "USER_ID": any_.user(),
        "ROLE": any_.of("A", "E", "K", "X"),
    },
    "chats": lambda any_: {
        "type": "chat",
        "name": any_.word(),
        "owner": any_.user(),
        "entity_type": any_.of(None, "SONET_GROUP", "X"),
        "entity_id": any_.of(None, any_.ref("groups"), "5"),
    },
    "chat_messages": lambda any_: {
        "chat_id": any_.ref("chats"),
        "author_id": any_.of("0", any_.user()),
        "date": NOON,
        "text": any_.word(),
        "params": any_.of({}, {"a": 1}, {"0": 1}, [], {"LIKE": [1]}, {"1": {"0": []}}),
        "reactions": any_.of({}, {"LIKE": 1}, {"LIKE": 1.0}, []),
        "files": any_.of([], [any_.ref("files")]),
    },
    "feed_posts": lambda any_: {
        "TITLE": any_.word(),
        "AUTHOR_ID": any_.user(),
        "DATE_PUBLISH": NOON,
        "DEST": [any_.of("UA", "U1", "SG" + any_.ref("groups"), "DR1", "DR", "UA1")],
    },
    "tasks": lambda any_: {
        "title": any_.word(),
        "createdBy": any_.user(),
        "responsibleId": any_.user(),
        "parentId": any_.of(None, any_.ref("tasks")),
        "ufCrmTask": any_.of([], ["D_" + any_.ref("crm_deals")], ["X_1"]),
        "timeEstimate": any_.of(0, 1.0),
    },
    "workflow_templates": lambda any_: {
        "MODULE_ID": "crm",
        "ENTITY": "E",
        "DOCUMENT_TYPE": "D",
        "NAME": any_.word(),
        "TEMPLATE": any_.of({}, [], {"0": STEP}, [STEP | {"a": 1.0}], "x"),
    },
    "crm_types": lambda any_: {"title": any_.word(), "code": any_.of(None, "A", "B"), "isStagesEnabled": True},
    "crm_categories": lambda any_: {
        "entityTypeId": any_.of("2", any_.ref("crm_types"), "31", "9"),
        "name": any_.of("Общая", "P", "10", "1e1"),
        "isDefault": any_.of(True, False),
    },
    "crm_stages": lambda any_: {
        "ENTITY_ID": any_.of("DEAL_STAGE", "DEAL_STAGE_" + any_.ref("crm_categories")),
        "STATUS_ID": any_.of("NEW", "10", "1e1", "C" + any_.ref("crm_categories") + ":N"),
        "NAME": any_.of("Новая", "Y", "10", "1e1", "0"),
    },
    "crm_deals": lambda any_: {
        "title": any_.word(),
        "categoryId": any_.of(None, "0", any_.ref("crm_categories")),
        "stageId": any_.of(None, "NEW", "10", "X"),
        "opportunity": any_.of(0, 1.0, 1.5),
        "UF_CRM_1": any_.of(None, "71001", "x", ["71001"]),
    },
    "crm_spitems": lambda any_: {
        "entityTypeId": any_.ref("crm_types"),
        "title": any_.word(),
        "parentId2": any_.of(None, any_.ref("crm_deals")),
        "UF_CRM_9_1": "x",
    },
}
