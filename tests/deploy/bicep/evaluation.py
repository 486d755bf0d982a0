"""What a deployment with given parameters would ask Azure for, as far as it is known before Azure answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deploy.bicep import syntax
from tests.deploy.bicep.parser import read
from tests.deploy.bicep.syntax import Expression, File, Statement

Value = Any  # JSON, and Later inside


@dataclass(frozen=True)
class Later:
    """Known only when Azure has answered."""

    what: str

    def __str__(self) -> str:
        return f"⟨{self.what}⟩"


@dataclass(frozen=True)
class Resource:
    file: str
    line: int
    type: str
    version: str
    body: dict[str, Value]
    scope: str = ""  # the resource that it is given for


class Deployment:
    """One file with its parameters; `resources` are those of its modules too."""

    def __init__(self, path: Path, given: dict[str, Value]) -> None:
        self.path = path
        self.file: File = read(path)
        self.resources: list[Resource] = []
        self.known: dict[str, Value] = dict(given)
        self.declared = {one.name: one for one in self.file.statements if one.name and one.kind != "output"}
        for one in self.file.all("resource", "module"):
            self.value_of(one.name)
        self.outputs = {one.name: self.evaluate(one.value, {}) for one in self.file.all("output")}

    def value_of(self, name: str) -> Value:
        if name not in self.known:
            one = self.declared.get(name)
            self.known[name] = Later(name) if one is None else self.declare(one)
        return self.known[name]

    def declare(self, one: Statement) -> Value:
        if one.kind == "module":
            return self.expand(one.value, {}, lambda body, local: self.module(one, body, local))
        if one.kind == "resource":
            return self.expand(one.value, {}, lambda body, local: self.resource(one, body, local))
        return Later(one.name) if one.value is None else self.evaluate(one.value, {})

    def expand(
        self,
        value: Expression | None,
        local: dict[str, Value],
        make: Callable[[syntax.Mapping, dict[str, Value]], Value],
    ) -> Value:
        if isinstance(value, syntax.Given):
            there = self.evaluate(value.condition, local)
            return self.expand(value.body, local, make) if there else None
        if isinstance(value, syntax.Loop):
            return [self.expand(value.body, inner, make) for inner in self.turns(value, local)]
        if not isinstance(value, syntax.Mapping):
            raise TypeError(f"{self.path.name}: declares nothing: {value}")
        return make(value, local)

    def turns(self, loop: syntax.Loop, local: dict[str, Value]) -> Iterator[dict[str, Value]]:
        over = self.evaluate(loop.over, local)
        items = over if isinstance(over, list) else [Later(loop.names[0])]
        for index, item in enumerate(items):
            yield {**local, **dict(zip(loop.names, (item, index), strict=False))}

    def module(self, one: Statement, body: syntax.Mapping, local: dict[str, Value]) -> Value:
        given = self.evaluate(body.get("params") or syntax.Mapping((), one.line), local)
        inner = Deployment(self.path.parent / one.type, given)
        self.resources += inner.resources
        return {"outputs": inner.outputs}

    def resource(self, one: Statement, body: syntax.Mapping, local: dict[str, Value]) -> Value:
        said = {key.plain or "": self.evaluate(value, local) for key, value in body.entries}
        type_, _, version = one.type.partition("@")
        if not one.existing:
            own = {key: value for key, value in said.items() if key not in ("parent", "scope", "dependsOn")}
            scope = said.get("scope")
            place = str(scope["id"]) if isinstance(scope, dict) else ""
            self.resources.append(Resource(self.path.name, one.line, type_, version, own, place))
        return {
            "id": f"/{type_}/{said.get('name')}",
            "name": said.get("name"),
            "properties": Later(f"{one.name}.properties"),
        }

    def evaluate(self, expression: Expression | None, local: dict[str, Value]) -> Value:
        match expression:
            case syntax.Literal(value):
                return value
            case syntax.Text(parts):
                return "".join(part if isinstance(part, str) else _said(self.evaluate(part, local)) for part in parts)
            case syntax.Name(name):
                return local[name] if name in local else self.value_of(name)
            case syntax.Member(of, name):
                return _member(self.evaluate(of, local), name)
            case syntax.Element(of, index):
                return _element(self.evaluate(of, local), self.evaluate(index, local))
            case syntax.Call(name, arguments):
                return self.call(name, arguments, local)
            case syntax.Operation(sign, operands):
                return self.operate(sign, operands, local)
            case syntax.Mapping(entries):
                return {self.evaluate(key, local): self.evaluate(value, local) for key, value in entries}
            case syntax.Sequence(items):
                return [self.evaluate(item, local) for item in items]
            case syntax.Loop():
                return [self.evaluate(expression.body, inner) for inner in self.turns(expression, local)]
            case _:
                return Later(type(expression).__name__)

    def call(self, name: str, arguments: tuple[Expression, ...], local: dict[str, Value]) -> Value:
        if name == "map" and isinstance(arguments[1], syntax.Function):
            function, over = arguments[1], self.evaluate(arguments[0], local)
            if isinstance(over, Later):
                return over
            return [self.evaluate(function.body, {**local, function.names[0]: item}) for item in over]
        values = [self.evaluate(one, local) for one in arguments]
        if name in FUNCTIONS and not any(isinstance(value, Later) for value in values):
            return FUNCTIONS[name](*values)
        return ALWAYS.get(name, Later(f"{name}()"))

    def operate(self, sign: str, operands: tuple[Expression, ...], local: dict[str, Value]) -> Value:
        first = self.evaluate(operands[0], local)
        if isinstance(first, Later):
            return Later(sign)
        if sign == "?":
            return self.evaluate(operands[1] if first else operands[2], local)
        rest = [self.evaluate(one, local) for one in operands[1:]]
        if any(isinstance(one, Later) for one in rest):
            return Later(sign)
        return OPERATIONS[sign](first, *rest) if sign in OPERATIONS else Later(sign)


def _said(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _member(of: Value, name: str) -> Value:
    if isinstance(of, dict):
        return of.get(name)
    return Later(f"{of.what}.{name}") if isinstance(of, Later) else None


def _element(of: Value, index: Value) -> Value:
    if isinstance(of, list) and isinstance(index, int):
        return of[index]
    return of.get(index) if isinstance(of, dict) else Later("element")


def _union(*objects: Value) -> Value:
    if isinstance(objects[0], list):
        return list(dict.fromkeys(item for one in objects for item in one))
    made: dict[str, Value] = {}
    for one in objects:
        made.update(copy.deepcopy(one))
    return made


OPERATIONS: dict[str, Callable[..., Value]] = {
    "!": lambda a: not a,
    "-": lambda a, b=None: -a if b is None else a - b,
    "+": lambda a, b: a + b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: a and b,
    "||": lambda a, b: a or b,
}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "empty": lambda value: not value,
    "contains": lambda whole, part: part in whole,
    "take": lambda value, count: value[:count],
    "toLower": lambda text: text.lower(),
    "join": lambda items, between: between.join(items),
    "items": lambda mapping: [{"key": key, "value": mapping[key]} for key in sorted(mapping)],
    "union": _union,
    "subscriptionResourceId": lambda type_, name: f"/subscriptions/s/providers/{type_}/{name}",
    "guid": lambda *parts: "guid:" + "|".join(map(str, parts)),
}
# As long as the real one.
ALWAYS: dict[str, Value] = {
    "uniqueString": "abcdefghijklm",
    "environment": {"suffixes": {"storage": "core.windows.net"}},
}
