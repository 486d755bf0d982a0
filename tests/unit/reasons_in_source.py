"""Every sentence with which a rest target says why it does not keep a field, found by reading its rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from b24migrate import target

ROOT = Path(next(iter(target.__path__)))
REASON = 3  # its place among the arguments of a Rule


def reasons() -> dict[str, str]:
    """Sentence -> the file that has it."""
    return {
        reason: file.name for file in sorted(ROOT.rglob("*.py")) for reason in _of(ast.parse(file.read_text("utf-8")))
    }


def _of(module: ast.Module) -> Iterator[str]:
    """A reason is written where the rule is, or is a constant of the file."""
    said = {
        node.targets[0].id: node.value.value
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule"):
            continue
        reason = node.args[REASON] if len(node.args) > REASON else None
        if isinstance(reason, ast.Constant):
            yield str(reason.value)
        elif isinstance(reason, ast.Name) and reason.id in said:
            yield said[reason.id]
