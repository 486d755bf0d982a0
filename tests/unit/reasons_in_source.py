"""The keys of the sentences with which targets and streams say why they do not keep a field, found by reading them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from b24migrate import entities, targets

ROOTS = (Path(next(iter(targets.__path__))), Path(next(iter(entities.__path__))))
REASON = 3  # its place among the arguments of a Rule
REASONS = ROOTS[0] / "rest" / "writer.py"  # those that several files use


def reasons() -> Iterator[tuple[str, str]]:
    """Place, and the key of the reason; empty if it is no message. What is only known when it runs is left out."""
    for file in sorted(path for root in ROOTS for path in root.rglob("*.py")):
        module = ast.parse(file.read_text("utf-8"))
        known = _constants(ast.parse(REASONS.read_text("utf-8"))) | _constants(module)
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule":
                reason = node.args[REASON] if len(node.args) > REASON else None
                if isinstance(reason, ast.Name):
                    reason = known.get(reason.id)
                if reason is not None:
                    yield f"{file.name}:{node.lineno}", _key(reason)


def _constants(module: ast.Module) -> dict[str, ast.expr]:
    return {
        node.targets[0].id: node.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _key(node: ast.expr) -> str:
    """Of `say("reason.x")`; something that is called or looked up is no text at all."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
        return str(node.args[0].value) if isinstance(node.args[0], ast.Constant) else ""
    return "" if isinstance(node, ast.Constant | ast.JoinedStr) else "reason.elsewhere"
