"""What a Bicep file consists of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Literal:
    value: bool | int | None


@dataclass(frozen=True)
class Text:
    parts: tuple[str | Expression, ...]

    @property
    def plain(self) -> str | None:
        return "".join(str(part) for part in self.parts) if all(isinstance(part, str) for part in self.parts) else None


@dataclass(frozen=True)
class Name:
    name: str
    line: int


@dataclass(frozen=True)
class Member:
    of: Expression
    name: str
    line: int


@dataclass(frozen=True)
class Element:
    of: Expression
    index: Expression


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[Expression, ...]
    line: int


@dataclass(frozen=True)
class Operation:
    sign: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Mapping:
    entries: tuple[tuple[Text, Expression], ...]
    line: int

    def get(self, key: str) -> Expression | None:
        return next((value for name, value in self.entries if name.plain == key), None)


@dataclass(frozen=True)
class Sequence:
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Loop:
    names: tuple[str, ...]
    over: Expression
    body: Expression


@dataclass(frozen=True)
class Given:
    """`if (condition) { … }`"""

    condition: Expression
    body: Expression


@dataclass(frozen=True)
class Function:
    """`item => …`"""

    names: tuple[str, ...]
    body: Expression


Expression = Literal | Text | Name | Member | Element | Call | Operation | Mapping | Sequence | Loop | Given | Function


@dataclass(frozen=True)
class Statement:
    kind: str  # targetScope, param, var, resource, module, output
    name: str
    line: int
    value: Expression | None
    type: str = ""  # of a param or an output; of a resource with its version; the path of a module
    existing: bool = False
    decorators: tuple[Call, ...] = ()

    def decorator(self, name: str) -> Call | None:
        return next((one for one in self.decorators if one.name == name), None)

    @property
    def body(self) -> Mapping | None:
        """What is declared, without the loop and the condition around it."""
        value = self.value
        while isinstance(value, Loop | Given):
            value = value.body
        return value if isinstance(value, Mapping) else None


@dataclass(frozen=True)
class File:
    statements: tuple[Statement, ...] = field(default_factory=tuple)

    def all(self, *kinds: str) -> Iterator[Statement]:
        return (one for one in self.statements if one.kind in kinds)

    def named(self, kind: str) -> dict[str, Statement]:
        return {one.name: one for one in self.all(kind)}


def parts_of(expression: Expression | None) -> Iterator[Expression]:
    """The expression and everything in it."""
    if expression is None:
        return
    yield expression
    for inner in children(expression):
        yield from parts_of(inner)


def children(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Text(parts):
            yield from (part for part in parts if not isinstance(part, str))
        case Member(of):
            yield of
        case Element(of, index):
            yield from (of, index)
        case Call(_, arguments):
            yield from arguments
        case Operation(_, operands):
            yield from operands
        case Mapping(entries):
            for key, value in entries:
                yield from (key, value)
        case Sequence(items):
            yield from items
        case Loop(_, over, body):
            yield from (over, body)
        case Given(condition, body):
            yield from (condition, body)
        case Function(_, body):
            yield body
        case _:
            pass
