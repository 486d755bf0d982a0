"""Bicep files as tree-sitter reads them: their statements, and what the checks ask of a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_bicep
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bicep.language()))
_KINDS = {f"{word}_declaration": word for word in ("resource", "module", "output")}
_KINDS |= {"parameter_declaration": "param", "variable_declaration": "var"}


class Broken(Exception):
    """The file cannot be parsed; with the place."""


@dataclass(frozen=True)
class Statement:
    kind: str  # param, var, resource, module, output
    node: Node
    decorators: tuple[Node, ...]  # their calls

    @property
    def name(self) -> str:
        return text(children(self.node)[0])

    @property
    def line(self) -> int:
        return line(self.node)

    @property
    def type(self) -> str:
        """Of a param or an output; of a resource with its version; the path of a module."""
        second = children(self.node)[1]
        return plain(second) if second.type == "string" else text(second) if second.type == "type" else ""

    @property
    def value(self) -> Node | None:
        rest = children(self.node)[1 if self.kind == "var" else 2 :]
        return rest[0] if rest else None

    @property
    def existing(self) -> bool:
        return any(one.type == "existing" for one in self.node.children)

    @property
    def body(self) -> dict[str, Node]:
        """The declaration without the loop and the condition around it."""
        value = self.value
        while value is not None and value.type in ("for_statement", "if_statement"):
            value = children(value)[-1]
        return {plain(key): inner for key, inner in entries(value)} if value is not None else {}

    def nodes(self) -> Iterator[Node]:
        return walk(self.value) if self.value is not None else iter(())


@dataclass(frozen=True)
class File:
    statements: tuple[Statement, ...]

    def all(self, *kinds: str) -> Iterator[Statement]:
        return (one for one in self.statements if one.kind in kinds)

    def named(self, kind: str) -> dict[str, Statement]:
        return {one.name: one for one in self.all(kind)}


def read(path: Path) -> File:
    root = _PARSER.parse(path.read_bytes()).root_node
    for node in walk(root) if root.has_error else ():
        if node.is_error or node.is_missing or (node.has_error and not node.named_children):
            raise Broken(f"line {line(node)}: {text(node)[:40]!r} is not Bicep")
    statements: list[Statement] = []
    decorators: tuple[Node, ...] = ()
    for node in children(root):
        if node.type == "decorators":
            decorators = tuple(children(one)[0] for one in children(node))
        elif node.type in _KINDS:
            statements.append(Statement(_KINDS[node.type], node, decorators))
            decorators = ()
    return File(tuple(statements))


def children(node: Node) -> list[Node]:
    return [one for one in node.named_children if one.type != "comment"]


def walk(node: Node) -> Iterator[Node]:
    """The node and everything in it, with what the grammar did not understand."""
    yield node
    for one in node.children if node.has_error else children(node):
        yield from walk(one)


def entries(node: Node) -> list[tuple[Node, Node]]:
    """Keys and values of an object."""
    pairs = [children(one) for one in children(node) if one.type == "object_property"]
    return [(pair[0], pair[1]) for pair in pairs]


def text(node: Node) -> str:
    return (node.text or b"").decode()


def plain(node: Node) -> str:
    """A string without its interpolated parts; for a name the name itself."""
    return (
        "".join(text(one) for one in children(node) if one.type == "string_content")
        if node.type == "string"
        else text(node)
    )


def line(node: Node) -> int:
    return node.start_point[0] + 1


def field(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None, f"line {line(node)}: a {node.type} without {name}"
    return found
