"""The mutations of a source file: each is a small mistake that a developer could make."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SMALL = 12  # a larger number, or a fraction, says how much or how long: pace and size, which no test promises
WORDS = frozenset({"say", "join", "repr", "cast", "TypeVar", "namedtuple"})  # calls that make words, or only types
CHECKS = frozenset({"strict"})  # of `zip`, which says what is so anyway
WORDY = frozenset({"__repr__", "__str__"})


@dataclass(frozen=True)
class Change:
    """One expression or statement of a file, replaced. `line` is where it begins, `text` what this line says."""

    file: Path
    line: int
    where: Sequence[int]  # lines that use it: a test that runs one of them should notice
    text: str
    before: str
    after: str
    source: str  # of the whole file, changed

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(PROJECT)}:{self.line}"

    def __str__(self) -> str:
        return f"{self.before} → {self.after}"


def changes_of(file: Path) -> list[Change]:
    source = file.read_text("utf-8")
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    raw, tree = source.encode(), ast.parse(source)
    found = []
    for node, after, where in _in_body(tree.body, _Uses(tree), top=True):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = " ".join(raw[begin:end].decode().split())
        changed = (raw[:begin] + after.encode() + raw[end:]).decode()
        found.append(Change(file, node.lineno, where, lines[node.lineno - 1].strip(), before, after, changed))
    return found


class _Uses:
    """Where functions use a name of the module, or of a class in it. What runs when the module is imported runs in no
    test's time."""

    def __init__(self, tree: ast.Module) -> None:
        self._lines: dict[str, set[int]] = {}
        inside = (one for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for one in function.body)
        for node in (node for statement in inside for node in ast.walk(statement)):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                self._lines.setdefault(_name(node), set()).add(node.lineno)

    def of(self, statement: ast.stmt) -> list[int]:
        names = (one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        return sorted(line for name in names for line in self._lines.get(name, ()))


Found = Iterator[tuple[ast.stmt | ast.expr, str, Sequence[int]]]


def _in_body(body: Sequence[ast.stmt], uses: _Uses, *, top: bool = False) -> Found:
    """All but what changes only words and types."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if node.name not in WORDY:
                inside = [one.lineno for one in node.body]
                for default in (*node.args.defaults, *(one for one in node.args.kw_defaults if one)):
                    yield from ((one, after, inside) for one, after in _in_expression(default))
                yield from _in_body(node.body, uses)
        elif isinstance(node, ast.ClassDef):
            if not any("Protocol" in ast.unparse(base) for base in node.bases):
                yield from _in_body(node.body, uses, top=True)
        elif isinstance(node, ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal | ast.Assert | ast.Pass):
            continue
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)) and not _is_doc(node):
            yield from _in_statement(node, uses, top=top)


def _in_statement(node: ast.stmt, uses: _Uses, *, top: bool) -> Found:
    if not top and _is_removable(node):
        yield node, "pass", [node.lineno]
    if isinstance(node, ast.Return) and not isinstance(node.value, ast.Constant | ast.Compare | ast.BoolOp | None):
        yield node, "return None", [node.lineno]
    if isinstance(node, ast.Raise):
        return  # its arguments are texts
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield from _in_body([child], uses, top=top)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _in_body(child.body, uses)
        elif not (isinstance(node, ast.AnnAssign) and child is node.annotation):
            expression = child.context_expr if isinstance(child, ast.withitem) else child
            if isinstance(expression, ast.expr):
                negated = _negated(expression) if isinstance(node, ast.If | ast.While) else iter(())
                for one, after in (*negated, *_in_expression(expression)):
                    yield one, after, uses.of(node) if top else [one.lineno, node.lineno]


def _in_expression(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and _name(node.func) in WORDS):
        return
    yield from _replacements(node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _in_expression(child)
        elif isinstance(child, ast.keyword) and child.arg not in CHECKS:
            yield from _in_expression(child.value)
        elif isinstance(child, ast.comprehension):
            yield from _in_expression(child.iter)
            for test in child.ifs:
                yield from _negated(test)
                yield from _in_expression(test)


def _is_removable(node: ast.stmt) -> bool:
    """A call for its effect, a value that others see, or a way out. A local name would only be missed by its next line."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and _name(node.value.func) not in WORDS
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(isinstance(one, ast.Attribute | ast.Subscript) for one in targets)
    return isinstance(node, ast.Raise | ast.Continue | ast.Break) or (
        isinstance(node, ast.Return) and node.value is None
    )


def _is_doc(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _negated(test: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield test, f"({ast.unparse(test.operand)})"
    elif not isinstance(test, ast.Compare | ast.Constant | ast.NamedExpr):
        yield test, f"not ({ast.unparse(test)})"


def _replacements(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        ops = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        yield node, f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})"
    elif isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield node, f"({ast.unparse(ast.BoolOp(other, node.values))})"
    elif isinstance(node, ast.IfExp):
        yield node, f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield node, f"({ast.unparse(ast.BinOp(node.left, ast.Add(), node.right))})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value <= SMALL:
        yield node, str(node.value + 1)
    elif isinstance(node, ast.Call):
        yield from _calls(node)


def _calls(node: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
        yield node, ast.unparse(ast.Call(ast.Name("max" if node.func.id == "min" else "min"), node.args, node.keywords))
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg not in CHECKS:
            rest = [one for one in node.keywords if one is not keyword]
            yield node, ast.unparse(ast.Call(node.func, node.args, rest))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
