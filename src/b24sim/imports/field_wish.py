"""A custom field as a client asks for it, and the answers it can get."""

from collections.abc import Mapping
from dataclasses import dataclass

from b24sim.imports import arguments
from b24sim.imports.kinds import ItemFault


@dataclass(frozen=True)
class Wish:
    code: str
    type: str
    multiple: bool
    options: tuple[Mapping[str, object], ...]

    @classmethod
    def read(cls, spec: Mapping[str, object]) -> "Wish":
        options = tuple(arguments.objects(spec, "options")) if spec.get("options") is not None else ()
        for option in options:
            arguments.text(option, "id")
            arguments.text(option, "value")
        return cls(
            arguments.text(spec, "code"), arguments.text(spec, "type"), arguments.flag(spec, "multiple"), options
        )

    def answer(self, target: str, status: str, options: Mapping[str, str]) -> dict[str, object]:
        return {"code": self.code, "target": target, "status": status, "options": dict(options), "error": None}

    def refusal(self, fault: ItemFault) -> dict[str, object]:
        error = {"code": fault.code, "message": fault.message}
        return {"code": self.code, "target": None, "status": "failed", "options": {}, "error": error}
