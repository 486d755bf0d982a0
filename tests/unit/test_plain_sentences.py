"""What the program says to people is a message, never a plain text: found by reading the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import b24migrate

ROOT = Path(b24migrate.__file__).parent
ERRORS = {
    *("MigrationError", "Transient", "Limited", "Permanent", "Stop", "BadConfiguration"),
    *("GateUnmet", "Halted", "Unproven", "NoRun", "Paused", "Replaced", "Unmet"),
}
# whose arguments a person reads: all of them, or those at these places
SAYING = {
    "note": (1,),
    "Check": (0, 2, 3),
    "TargetCheck": (0, 2, 3),
    "SetAside": (3,),
    "Finding": (6,),
    "Problem": (1, 2),
}
NAMED = {"hint", "message", "reason", "fix", "note"}


def sentences() -> Iterator[str]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                for text in _spoken_arguments(name, node):
                    if _is_sentence(text):
                        yield f"{path.relative_to(ROOT)}:{text.lineno}: {ast.unparse(text)[:80]}"


def _spoken_arguments(name: str, call: ast.Call) -> Iterator[ast.expr]:
    if name in ERRORS:
        yield from call.args
    if name in SAYING:
        yield from (call.args[at] for at in SAYING[name] if at < len(call.args))
    if name in ERRORS | SAYING.keys():
        yield from (one.value for one in call.keywords if one.arg in NAMED)


def _is_sentence(node: ast.expr) -> bool:
    """Words with a space between them: names, codes and gates have none."""
    if isinstance(node, ast.IfExp):
        return _is_sentence(node.body) or _is_sentence(node.orelse)
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(one, ast.Constant) and " " in str(one.value).strip(" .:;") for one in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()


def test_no_error_note_or_check_is_a_plain_text() -> None:
    assert list(sentences()) == []
