"""The resources that a deployment with given parameters requests, as far as they are known before Azure answers."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deploy.bicep.tree import Statement, children, entries, field, plain, read, text
from tree_sitter import Node

Value = Any  # JSON, and Later inside
Local = dict[str, Value]  # names of loops and functions
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


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
        self.file = read(path)
        self.resources: list[Resource] = []
        self.known: dict[str, Value] = dict(given)
        self.declared = {one.name: one for one in self.file.statements if one.kind != "output"}
        for one in self.file.all("resource", "module"):
            self.value_of(one.name)
        self.outputs = {one.name: self.evaluate(one.value, {}) for one in self.file.all("output") if one.value}

    def value_of(self, name: str) -> Value:
        if name not in self.known:
            one = self.declared.get(name)
            self.known[name] = Later(name) if one is None or one.value is None else self.declare(one, one.value)
        return self.known[name]

    def declare(self, one: Statement, value: Node) -> Value:
        if one.kind in ("param", "var"):
            return self.evaluate(value, {})
        return self.expand(value, {}, self.module if one.kind == "module" else self.resource, one)

    def expand(
        self, value: Node, local: Local, make: Callable[[Statement, Local, Local], Value], one: Statement
    ) -> Value:
        if value.type == "if_statement":
            condition, body = children(value)
            return self.expand(body, local, make, one) if self.evaluate(condition, local) else None
        if value.type == "for_statement":
            return [self.expand(children(value)[-1], inner, make, one) for inner in self.turns(value, local)]
        return make(one, {plain(key): inner for key, inner in entries(value)}, local)

    def turns(self, loop: Node, local: Local) -> Iterator[Local]:
        variables, over, _ = children(loop)
        names = [text(one) for one in children(variables) or [variables]]
        items = self.evaluate(over, local)
        for index, item in enumerate(items if isinstance(items, list) else [Later(names[0])]):
            yield {**local, **dict(zip(names, (item, index), strict=False))}

    def module(self, one: Statement, body: Local, local: Local) -> Value:
        inner = Deployment(
            self.path.parent / one.type, self.evaluate(body["params"], local) if "params" in body else {}
        )
        self.resources += inner.resources
        return {"outputs": inner.outputs}

    def resource(self, one: Statement, body: Local, local: Local) -> Value:
        values = {key: self.evaluate(value, local) for key, value in body.items()}
        type_, _, version = one.type.partition("@")
        if not one.existing:
            own = {key: value for key, value in values.items() if key not in ("parent", "scope", "dependsOn")}
            scope = values.get("scope")
            place = str(scope["id"]) if isinstance(scope, dict) else ""
            self.resources.append(Resource(self.path.name, one.line, type_, version, own, place))
        later = Later(f"{one.name}.properties")
        return {"id": f"/{type_}/{values.get('name')}", "name": values.get("name"), "properties": later}

    def evaluate(self, node: Node, local: Local) -> Value:
        match node.type:
            case "string":
                return "".join(self.piece(one, local) for one in children(node))
            case "number" | "boolean" | "null":
                return json.loads(text(node))
            case "identifier":
                return local[text(node)] if text(node) in local else self.value_of(text(node))
            case "parenthesized_expression" | "interpolation":
                return self.evaluate(children(node)[0], local)
            case "member_expression":
                return _member(self.evaluate(field(node, "object"), local), text(field(node, "property")))
            case "subscript_expression":
                return _element(self.evaluate(field(node, "object"), local), self.evaluate(field(node, "index"), local))
            case "call_expression":
                return self.call(text(field(node, "function")), children(field(node, "arguments")), local)
            case "ternary_expression" | "binary_expression" | "unary_expression":
                return self.operate(node, children(node), local)
            case "object":
                return {self.key(key, local): self.evaluate(value, local) for key, value in entries(node)}
            case "array":
                return [self.evaluate(one, local) for one in children(node)]
            case "for_statement":
                return [self.evaluate(children(node)[-1], inner) for inner in self.turns(node, local)]
        raise TypeError(f"{self.path.name}: nothing here evaluates a {node.type}")

    def key(self, node: Node, local: Local) -> str:
        return str(self.evaluate(node, local)) if node.type == "string" else text(node)

    def piece(self, node: Node, local: Local) -> str:
        if node.type == "interpolation":
            value = self.evaluate(node, local)
            return str(value).lower() if isinstance(value, bool) else str(value)
        return ESCAPES.get(text(node)[1:], text(node)[1:]) if node.type == "escape_sequence" else text(node)

    def call(self, name: str, arguments: list[Node], local: Local) -> Value:
        if name == "map":
            over = self.evaluate(arguments[0], local)
            variable, body = children(arguments[1])
            return (
                over
                if isinstance(over, Later)
                else [self.evaluate(body, {**local, text(variable): one}) for one in over]
            )
        values = [self.evaluate(one, local) for one in arguments]
        if name in FUNCTIONS and not any(isinstance(value, Later) for value in values):
            return FUNCTIONS[name](*values)
        return ALWAYS.get(name, Later(f"{name}()"))

    def operate(self, node: Node, operands: list[Node], local: Local) -> Value:
        first = self.evaluate(operands[0], local)
        if node.type == "ternary_expression" and not isinstance(first, Later):
            return self.evaluate(operands[1] if first else operands[2], local)
        sign = "" if node.type == "ternary_expression" else text(field(node, "operator"))
        values = [first, *(self.evaluate(one, local) for one in operands[1:] if sign)]
        return Later(sign) if any(isinstance(one, Later) for one in values) else OPERATIONS[sign](*values)


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
