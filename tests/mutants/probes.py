"""Probes in the functions of some modules, which say what has run. Each is one store into an array, where a tracer would be
called for every call of a process."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

RAN = "__ran__"  # the array, among the names of each module
Part = ast.stmt | ast.ExceptHandler | ast.match_case


@dataclass
class Probes:
    """`ran[number]` is 1 when the lines `lines[number]` of a file have run since it was last 0."""

    wanted: Callable[[Path], bool]
    ran: bytearray = field(default_factory=bytearray)
    lines: list[tuple[Path, Sequence[int]]] = field(default_factory=list)

    def install(self) -> None:
        """Modules that are imported from now on have probes."""
        sys.meta_path.insert(0, _Finder(self))

    def take(self) -> set[int]:
        """Those that have run since the last call."""
        found = {number for number, ran in enumerate(self.ran) if ran}
        self.ran[:] = bytes(len(self.ran))
        return found

    def compile(self, file: Path) -> CodeType:
        tree = ast.parse(file.read_text("utf-8"))
        for function in [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]:
            function.body = self._with_probes(function.body, file)
        return compile(ast.fix_missing_locations(tree), str(file), "exec", dont_inherit=True)

    def _with_probes(self, body: Sequence[ast.stmt], file: Path) -> list[ast.stmt]:
        """One at the beginning, and one after each statement that may leave: what follows may not run."""
        made: list[ast.stmt] = []
        lines: list[int] | None = None
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                made.append(statement)
                continue
            if lines is None:
                lines = []
                made.append(self._probe(file, lines, statement))
            inner = _bodies(statement)
            first = min((one.lineno for some in inner for one in some), default=(statement.end_lineno or 0) + 1)
            lines += range(statement.lineno, max(first, statement.lineno + 1))
            for some in inner:
                some[:] = self._with_probes(some, file)
            made.append(statement)
            if inner:
                lines = None
        return made

    def _probe(self, file: Path, lines: Sequence[int], before: ast.stmt) -> ast.stmt:
        (made,) = ast.parse(f"{RAN}[{len(self.lines)}] = 1").body
        self.lines.append((file, lines))
        self.ran.append(0)
        for node in ast.walk(made):
            if isinstance(node, ast.stmt | ast.expr):
                node.lineno = node.end_lineno = before.lineno
                node.col_offset = node.end_col_offset = before.col_offset
        return made


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Of an `if`, a loop, a `with`, a `try` or a `match`."""
    parts: list[Part] = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    found = (getattr(part, name, None) for part in parts for name in ("body", "orelse", "finalbody"))
    return [one for one in found if one]


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, probes: Probes) -> None:
        super().__init__(name, path)
        self._probes = probes

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 (as the import system calls it)
        return self._probes.compile(Path(self.path))

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, RAN, self._probes.ran)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def __init__(self, probes: Probes) -> None:
        self._probes = probes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target)
        if found is None or not found.origin or not self._probes.wanted(Path(found.origin)):
            return None
        found.loader = _Loader(fullname, found.origin, self._probes)
        return found
