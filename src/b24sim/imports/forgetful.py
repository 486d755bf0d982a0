"""A box whose kernel does not keep some fields, as its module reports in `import.fidelity`."""

from collections.abc import Iterator, Mapping
from typing import Any

from b24sim.imports.box import Body, Imports, Result

_DETAIL = 'sent "b24migrate selftest", the box has null'
_DIFFERS = {"key": "differs", "values": {"sent": '"b24migrate selftest"', "kept": "null"}}


class Forgetful:
    """`losses`: `<stream>:<field>` -> why it is not kept; a field may end in `*`. Everything else is the box's own."""

    def __init__(self, box: Imports, losses: Mapping[str, str], *, said: Mapping[str, str] | None = None):
        self._box, self._losses = box, dict(losses)
        self._announced = self._losses if said is None else dict(said)  # its report may differ

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)

    def handle(self, method: str, body: Body, size: int | None = None) -> Result:
        if method == "import.fidelity":
            return {"items": [{"key": key, "reason": reason} for key, reason in self._announced.items()]}
        if method == "import.selftest":
            return self._run_selftest()
        result = self._box.handle(method, body, size)
        stream = str(body.get("stream"))
        if method.endswith(".batch"):
            ignored = {item["key"]: list(self._lost_fields(stream, item.get("fields"))) for item in _objects(body)}
            return {"items": [{**item, "ignored": ignored[item["key"]]} for item in _objects(result)]}
        if method.endswith(".list"):
            return {**result, "items": [self._without(stream, item) for item in _objects(result)]}
        return result

    def _run_selftest(self) -> Result:
        """Finds its losses and announces them from then on. Everything else stays unchanged."""
        self._announced = self._losses | self._announced
        found = [{"name": key.replace(":", "."), "ok": False, "detail": _DETAIL, **_DIFFERS} for key in self._losses]
        return {
            "checks": [
                *found,
                {"name": "mails", "ok": True, "detail": "none was started", "key": "silent", "values": {}},
            ]
        }

    def _without(self, stream: str, item: Mapping[str, Any]) -> dict[str, Any]:
        lost = set(self._lost_fields(stream, item["fields"]))
        return {**item, "fields": {name: value for name, value in item["fields"].items() if name not in lost}}

    def _lost_fields(self, stream: str, fields: object) -> Iterator[str]:
        for name in fields if isinstance(fields, Mapping) else ():
            for key in self._losses:
                of, _, field = key.partition(":")
                if of == stream and (name == field or (field.endswith("*") and name.startswith(field[:-1]))):
                    yield str(name)


def _objects(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [item for item in body.get("items") or () if isinstance(item, Mapping)]
