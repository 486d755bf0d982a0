"""Finds every error code and gate that the program itself can give, by reading it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import b24migrate

ROOT = Path(b24migrate.__file__).parent
CODE = re.compile(r"[A-Z][A-Z0-9_]{3,}|[a-z]+_[a-z_]+")
KEYWORDS = {"code", "error_code"}
DEFINITIONS = {"Field", "Stream"}  # there `code` is a field's, no error's
# position of the code in the arguments
PLACES = {"of_code": 0, "Failure": 0, "Fault": 0, "_refused": 1, "Settled": 3, "dead_letter_text": 2}
ANYWHERE = {"_fail", "_failed_outcome"}
GATES = {"GateUnmet", "Unmet"}


@cache
def codes() -> dict[str, str]:
    """Each with a place where it is used. Values known only at run time are `599` or `users`."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    names = {name: value for tree in trees.values() for name, value in _constants(tree)}
    found: dict[str, str] = {}
    for path, tree in trees.items():
        known = names | dict(_constants(tree))  # two modules may have a constant of one name
        calls_only = _describes(path)  # entities say in pairs what a reference leads to, and give no codes
        for node in ast.walk(tree):
            for one in _given(node) if isinstance(node, ast.Call) or not calls_only else ():
                for code in _texts(one, known):
                    found.setdefault(code, f"{path.relative_to(ROOT)}:{one.lineno}")
    return found


def _describes(path: Path) -> bool:
    return path.is_relative_to(ROOT / "entities") and not path.name.startswith("rest")


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            for value in _texts(node.value, {}) if isinstance(node.value, ast.Constant) else ():
                yield node.targets[0].id, value


def _given(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        wanted = KEYWORDS - {"code"} if called in DEFINITIONS else KEYWORDS
        yield from (one.value for one in node.keywords if one.arg in wanted)
        if called in ANYWHERE:
            yield from (one for one in node.args if isinstance(one, ast.Constant))
        if called in GATES:
            yield from node.args[:1]
        yield from node.args[PLACES[called] : PLACES[called] + 1] if called in PLACES else ()
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        if node.targets[0].id in ("code", "gate"):
            yield node.value
    elif isinstance(node, ast.Tuple) and len(node.elts) > 1 and _sentence(node.elts[1]):
        yield node.elts[0]


def _sentence(node: ast.expr) -> bool:
    """A message, or a text with words in it."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "say"
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and " " in node.value
    return isinstance(node, ast.JoinedStr) and " " in ast.unparse(node)


def _texts(node: ast.expr, names: dict[str, str]) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if CODE.fullmatch(text) or "." in text:
            yield text
        case ast.JoinedStr(values=parts):
            text = "".join(str(one.value) if isinstance(one, ast.Constant) else "…" for one in parts)
            if text.startswith("HTTP_") or "." in text:
                begins = text.partition("…")[0]
                yield text.replace("…", {"HTTP_": "599", "auth.": "target"}.get(begins, "users"))
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one, names)
            yield from _texts(other, names)
        case ast.BoolOp(values=several):
            for one in several:
                yield from _texts(one, names)
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in names:
            yield names[name]
