"""Templates of workflows: trees in which ids of everything are buried, looked for by what each part is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.chaos.oracle.ids import Ids, utc
from tests.chaos.oracle.source import DEAL, Fields, Json, Source
from tests.chaos.oracle.texts import rewritten

TREES = ("DOCUMENT_TYPE", "TEMPLATE", "PARAMETERS", "VARIABLES", "CONSTANTS")
OF_EVERY_PORTAL = ("UF_CRM_TASK",)


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    return {"workflow_templates": {number: _template(row, ids) for number, row in source["workflow_templates"].items()}}


def _template(row: Fields, ids: Ids) -> Fields:
    smart = re.fullmatch(r"DYNAMIC_(\d+)", row["DOCUMENT_TYPE"])
    own_stages = "STATUS" if row["DOCUMENT_TYPE"] == "LEAD" else "DEAL_STAGE"
    tree = _Tree(ids, kind=int(smart[1]) if smart else DEAL, own_stages=own_stages)
    made = {name: tree.rewritten(row[name]) for name in TREES}
    return {
        **made,
        **{name: row[name] for name in ("MODULE_ID", "ENTITY", "NAME", "DESCRIPTION")},
        "USER_ID": ids.user(row["USER_ID"]),
        "MODIFIED": utc(row["MODIFIED"]),
        # A template with unresolved IDs must not start automatically.
        "AUTO_EXECUTE": 0 if tree.missed else int(row["AUTO_EXECUTE"]),
    }


Found = re.Match[str]


@dataclass
class _Tree:
    ids: Ids
    kind: int  # the type of the CRM records that the present part is about
    own_stages: str  # the dictionary of stages without a prefix; a smart process has none
    missed: bool = False

    def rewritten(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            # The parts of a condition: which field, how, what, and how it goes on.
            field = value[0] if len(value) == 4 and isinstance(value[0], str) else ""
            return [self._under(field, one) if at == 2 else self.rewritten(one) for at, one in enumerate(value)]
        return self._branches(value) if isinstance(value, dict) else value

    def _branches(self, value: Fields) -> Fields:
        if str(value.get("Type", "")).startswith(("rest_", "WebHookActivity")):
            self.missed = True  # of an application: nobody knows what its properties mean; or an address to be checked
        outer, self.kind = self.kind, int(value.get("DynamicTypeId") or self.kind)
        made = {self._text(name): self._under(name, part) for name, part in value.items()}
        self.kind = outer
        return made

    def _under(self, name: str, value: Json) -> Json:
        ids = self.ids
        owners: dict[str, Callable[[Json], str | None]] = {
            "TemplateId": lambda one: ids.record("workflow_templates", one),
            "DynamicTypeId": ids.type,
            "entityTypeId": ids.type,
            "GROUP_ID": lambda one: ids.record("groups", one),
            "CATEGORY_ID": lambda one: ids.category(self.kind, one),
            "IBLOCK_ID": lambda _: None,
            "AuthUserId": ids.user,
        }
        if name == "STAGE_ID" and isinstance(value, str) and re.fullmatch(r"[A-Z0-9_]+", value):
            return self._known(None if self.kind != DEAL else ids.stage(self.own_stages, value)) or value
        options = {one["code"]: one["there"] for fields in ids.customs.values() for one in fields if one["there"]}
        if name in options and isinstance(value, list):
            return [self._under(name, one) for one in value]
        if isinstance(value, list | dict) or not str(value).isdecimal() or name not in {*owners, *options}:
            return self.rewritten(value)
        found = self._known(options[name].get(str(value)) if name in options else owners[name](value))
        if found is None:
            return value
        return int(found) if isinstance(value, int) else found

    def _known(self, found: str | None) -> str | None:
        self.missed |= found is None
        return found

    def _text(self, text: str) -> str:
        ids = self.ids
        text = str(rewritten(ids, text))
        whole: dict[str, Callable[[Found], str | None]] = {
            r"user_(\d+)": lambda n: _joined("user_", ids.user(n[1])),
            r"group_(d|dr|hr|hrr)(\d+)": lambda n: _joined(f"group_{n[1]}", ids.record("departments", n[2])),
            r"(group_sg|SG)(\d+)(_\w+)": lambda n: _joined(n[1], ids.record("groups", n[2]), n[3]),
            r"C(\d+):\w+": lambda n: ids.stage(f"DEAL_STAGE_{n[1]}", n[0]),
            r"DT(\d+)_(\d+):\w+": lambda n: ids.stage(f"DYNAMIC_{n[1]}_STAGE_{n[2]}", n[0]),
            r"(DYNAMIC_|PARENT_ID_)(\d+)": lambda n: _joined(n[1], ids.type(n[2])),
            r"(iblock|STORAGE)_\d+": lambda _: None,
            r"(D|C|CO|T[0-9a-f]+)_\d+": lambda n: ids.crm_code(n[0]),
        }
        for pattern, there in whole.items():
            if found := re.fullmatch(pattern, text):
                return self._known(there(found)) or text
        return re.sub(r"\bUF_[A-Z0-9_]+", lambda found: self._field(found[0]), text)

    def _field(self, code: str) -> str:
        if code in OF_EVERY_PORTAL:
            return code
        there = (one["target"] for fields in self.ids.customs.values() for one in fields if one["code"] == code)
        return self._known(next(there, None)) or code


def _joined(before: str, found: str | None, after: str = "") -> str | None:
    return None if found is None else f"{before}{found}{after}"
