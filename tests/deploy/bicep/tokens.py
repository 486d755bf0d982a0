"""Text of a Bicep file into tokens. Newlines are tokens: they end properties and statements."""

from __future__ import annotations

import re
from dataclasses import dataclass


class Broken(Exception):
    """The file cannot be read; says where."""


@dataclass(frozen=True)
class Token:
    kind: str  # name, number, text, mark, newline, end
    text: str
    line: int
    parts: tuple[str | tuple[Token, ...], ...] = ()  # of a text: what it says, and what is put in


PATTERN = re.compile(
    r"(?P<space>[ \t]+|//[^\n]*|/\*.*?\*/)|(?P<newline>\r?\n)|(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)"
    r"|(?P<mark>=>|==|!=|<=|>=|=~|!~|&&|\|\||\?\?|\.\?|[{}()\[\]:,.=?!<>+\-*/%@|])",
    re.DOTALL,
)
ESCAPES = {"\\": "\\", "'": "'", "n": "\n", "r": "\r", "t": "\t", "$": "$"}
PAIRS = {")": "(", "]": "[", "}": "{"}


def tokens(source: str) -> list[Token]:
    found, at = _run(source, 0, 1, inside=False)
    if at != len(source):
        raise Broken(f"line {_line(source, at)}: a }} that nothing opened")
    return found


def _run(source: str, at: int, line: int, *, inside: bool) -> tuple[list[Token], int]:
    """Up to the end, or inside a text up to the bracket that closes what is put in."""
    found: list[Token] = []
    open_brackets: list[Token] = []
    while at < len(source):
        line = _line(source, at)
        if source.startswith("'", at):
            token, at = _text(source, at, line)
            found.append(token)
            continue
        match = PATTERN.match(source, at)
        if match is None:
            raise Broken(f"line {line}: {source[at]!r} is no part of the language")
        kind, word = str(match.lastgroup), match.group()
        if word == "}" and inside and not open_brackets:
            break
        if kind == "mark":
            _balance(word, line, open_brackets)
        if kind != "space":
            found.append(Token(kind, word, line))
        at = match.end()
    if open_brackets:
        raise Broken(f"line {open_brackets[-1].line}: {open_brackets[-1].text} is never closed")
    found.append(Token("end", "", line))
    return found, at


def _balance(word: str, line: int, open_brackets: list[Token]) -> None:
    if word in PAIRS.values():
        open_brackets.append(Token("mark", word, line))
    elif word in PAIRS and (not open_brackets or open_brackets.pop().text != PAIRS[word]):
        raise Broken(f"line {line}: {word} closes nothing")


def _text(source: str, at: int, line: int) -> tuple[Token, int]:
    start, said = at, ""
    parts: list[str | tuple[Token, ...]] = []
    at += 1
    while at < len(source) and source[at] not in "'\n":
        if source[at] == "\\":
            if source[at + 1 : at + 2] not in ESCAPES:
                raise Broken(f"line {line}: {source[at : at + 2]} is no escape")
            said += ESCAPES[source[at + 1]]
            at += 2
        elif source.startswith("${", at):
            inner, at = _run(source, at + 2, line, inside=True)
            parts += [said, tuple(inner)]
            said, at = "", at + 1
        else:
            said += source[at]
            at += 1
    if source[at : at + 1] != "'":
        raise Broken(f"line {line}: a text is never closed")
    return Token("text", source[start : at + 1], line, (*parts, said)), at + 1


def _line(source: str, at: int) -> int:
    return source.count("\n", 0, at) + 1
