"""Tokens into statements: the part of the grammar that our files use. Anything else is an error, not a guess."""

from __future__ import annotations

from collections.abc import Sequence as Several
from pathlib import Path

from tests.deploy.bicep import syntax
from tests.deploy.bicep.syntax import Expression, File, Statement
from tests.deploy.bicep.tokens import Broken, Token, tokens

TYPES = ("string", "int", "bool", "array", "object")
OPERATORS = (("||", "??"), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
WORDS = {"true": True, "false": False, "null": None}


def read(path: Path) -> File:
    return parse(path.read_text("utf-8"))


def parse(source: str) -> File:
    parser = Parser(tokens(source))
    statements = []
    while parser.skip_newlines().kind != "end":
        statements.append(parser.statement())
    return File(tuple(statements))


class Parser:
    def __init__(self, found: Several[Token]) -> None:
        self.found = found
        self.at = 0

    @property
    def next(self) -> Token:
        return self.found[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += token.kind != "end"
        return token

    def took(self, *marks: str) -> str:
        """The mark that comes next, if it is one of these."""
        return self.take().text if self.next.kind in ("mark", "name") and self.next.text in marks else ""

    def want(self, text: str) -> Token:
        if self.next.text != text or self.next.kind == "text":
            raise Broken(f"line {self.next.line}: {text} is missing before {self.next.text!r}")
        return self.take()

    def name(self) -> str:
        if self.next.kind != "name":
            raise Broken(f"line {self.next.line}: a name is missing before {self.next.text!r}")
        return self.take().text

    def skip_newlines(self) -> Token:
        while self.next.kind == "newline":
            self.take()
        return self.next

    def end_of_line(self) -> None:
        if self.next.kind not in ("newline", "end"):
            raise Broken(f"line {self.next.line}: {self.next.text!r} is too much")

    def statement(self) -> Statement:
        decorators = []
        while self.took("@"):
            decorators.append(self.call(self.name()))
            self.skip_newlines()
        line, kind = self.next.line, self.name()
        if kind == "targetScope":
            self.want("=")
            made = Statement(kind, "", line, self.expression())
        elif kind in ("param", "output"):
            made = self.typed(kind, line, tuple(decorators))
        elif kind == "var":
            name = self.name()
            self.want("=")
            made = Statement(kind, name, line, self.expression(), decorators=tuple(decorators))
        elif kind in ("resource", "module"):
            name, path = self.name(), self.text().plain
            existing = bool(self.took("existing"))
            self.want("=")
            made = Statement(kind, name, line, self.declared(), str(path), existing, tuple(decorators))
        else:
            raise Broken(f"line {line}: {kind!r} begins no statement")
        self.end_of_line()
        return made

    def typed(self, kind: str, line: int, decorators: tuple[syntax.Call, ...]) -> Statement:
        name, type_ = self.name(), self.name()
        if type_ not in TYPES:
            raise Broken(f"line {line}: {type_} is no type; these are: {', '.join(TYPES)}")
        value = self.expression() if self.took("=") else None
        return Statement(kind, name, line, value, type_, decorators=decorators)

    def declared(self) -> Expression:
        if self.next.text == "if":
            return self.given()
        if self.next.text == "[":
            return self.sequence()
        return self.mapping()

    def given(self) -> syntax.Given:
        self.want("if")
        self.want("(")
        condition = self.expression()
        self.want(")")
        return syntax.Given(condition, self.mapping())

    def expression(self) -> Expression:
        if self.next.kind == "name" and self.found[self.at + 1].text == "=>":
            name = self.name()
            self.want("=>")
            return syntax.Function((name,), self.expression())
        condition = self.operation(0)
        if not self.took("?"):
            return condition
        self.skip_newlines()
        yes = self.expression()
        self.skip_newlines()
        self.want(":")
        self.skip_newlines()
        return syntax.Operation("?", (condition, yes, self.expression()))

    def operation(self, level: int) -> Expression:
        if level == len(OPERATORS):
            return self.unary()
        left = self.operation(level + 1)
        while sign := self.took(*OPERATORS[level]):
            left = syntax.Operation(sign, (left, self.operation(level + 1)))
        return left

    def unary(self) -> Expression:
        if sign := self.took("!", "-"):
            return syntax.Operation(sign, (self.unary(),))
        return self.reached(self.primary())

    def reached(self, of: Expression) -> Expression:
        while True:
            if self.took(".", ".?"):
                line = self.next.line
                of = syntax.Member(of, self.name(), line)
            elif self.took("["):
                of = syntax.Element(of, self.expression())
                self.want("]")
            elif self.next.text == "!" and self.found[self.at + 1].text == ".":
                self.take()  # "it is there": says nothing of its own
            else:
                return of

    def primary(self) -> Expression:
        token = self.next
        if token.kind == "text":
            return self.text()
        if token.kind == "number":
            return syntax.Literal(int(self.take().text))
        if token.text == "{":
            return self.mapping()
        if token.text == "[":
            return self.sequence()
        if self.took("("):
            inner = self.expression()
            self.want(")")
            return inner
        name = self.name()
        if name in WORDS:
            return syntax.Literal(WORDS[name])
        return self.call(name) if self.next.text == "(" else syntax.Name(name, token.line)

    def call(self, name: str) -> syntax.Call:
        line = self.want("(").line
        arguments = []
        while self.skip_newlines().text != ")":
            arguments.append(self.expression())
            self.skip_newlines()
            if not self.took(","):
                break
        self.want(")")
        return syntax.Call(name, tuple(arguments), line)

    def mapping(self) -> syntax.Mapping:
        line = self.want("{").line
        entries: list[tuple[syntax.Text, Expression]] = []
        while self.skip_newlines().text != "}":
            key = self.text() if self.next.kind == "text" else syntax.Text((self.name(),))
            self.want(":")
            if key.plain is not None and any(key == known for known, _ in entries):
                raise Broken(f"line {self.next.line}: {key.plain} is said twice")
            entries.append((key, self.expression()))
            self.separated("}")
        self.want("}")
        return syntax.Mapping(tuple(entries), line)

    def sequence(self) -> Expression:
        self.want("[")
        if self.skip_newlines().text == "for":
            loop = self.loop()
            self.skip_newlines()
            self.want("]")
            return loop
        items = []
        while self.skip_newlines().text != "]":
            items.append(self.expression())
            self.separated("]")
        self.want("]")
        return syntax.Sequence(tuple(items))

    def loop(self) -> syntax.Loop:
        self.want("for")
        if self.took("("):
            names = [self.name()]
            self.want(",")
            names.append(self.name())
            self.want(")")
        else:
            names = [self.name()]
        self.want("in")
        over = self.expression()
        self.want(":")
        body = self.given() if self.next.text == "if" else self.expression()
        return syntax.Loop(tuple(names), over, body)

    def separated(self, close: str) -> None:
        if not self.took(",") and self.next.kind != "newline" and self.next.text != close:
            raise Broken(f"line {self.next.line}: a comma or a new line is missing before {self.next.text!r}")

    def text(self) -> syntax.Text:
        token = self.take()
        if token.kind != "text":
            raise Broken(f"line {token.line}: a text is missing before {token.text!r}")
        return syntax.Text(tuple(part if isinstance(part, str) else Parser(part).whole() for part in token.parts))

    def whole(self) -> Expression:
        made = self.expression()
        self.end_of_line()
        return made
