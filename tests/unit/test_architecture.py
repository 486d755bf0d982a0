"""docs/architecture.md says what is so: its drawing is the linter's contract, and the files that it names exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from b24migrate.app import App
from b24migrate.engine.phases.context import Facts, Options, RunContext
from b24migrate.engine.run import Runner

PROJECT = Path(__file__).parents[2]
DOCUMENT = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
SOURCE = PROJECT / "src" / "b24migrate"
MOST_HOPS = 15
MOST_LINES = 400


def section(title: str) -> str:
    return DOCUMENT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def drawn() -> list[set[str]]:
    """The layers of the drawing, from the top: the names before the gap."""
    drawing = section("Packages").split("```")[1].strip("\n")
    return [set(re.split(r"\s{2,}", line)[0].split(" · ")) for line in drawing.splitlines()]


def contract() -> list[set[str]]:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    (found,) = [
        one for one in settings["tool"]["importlinter"]["contracts"] if one["name"] == "Packages import downwards"
    ]
    return [{name.strip().removeprefix("b24migrate.") for name in layer.split("|")} for layer in found["layers"]]


def test_the_drawing_is_the_contract() -> None:
    assert drawn() == contract()


def test_every_package_is_drawn() -> None:
    packages = {place.name for place in SOURCE.iterdir() if (place / "__init__.py").is_file()}
    modules = {place.stem for place in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert packages | modules == set().union(*drawn())


def test_a_record_takes_few_hops() -> None:
    hops = re.findall(r"^\d+\. ", section("One record, from `run` to the box"), re.MULTILINE)
    assert 5 < len(hops) <= MOST_HOPS


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:\w+/)+\w+\.(?:py|toml)|app\.py)`", DOCUMENT)) - {"deploy/azure/function_app.py"}
    assert named
    assert not [name for name in sorted(named) if not (SOURCE / name).is_file()]


# ---------------------------------------------------------------- the context of a run


def assigned(tree: ast.AST, names: set[str]) -> Iterator[int]:
    """The lines that assign one of these attributes of a context, in any way that Python knows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del) and node.attr in names:
            holder = node.value
            name = holder.attr if isinstance(holder, ast.Attribute) else getattr(holder, "id", "")
            if name.lstrip("_") in ("context", "options", "facts"):
                yield node.lineno
        elif isinstance(node, ast.Attribute) and node.attr == "__setattr__":
            yield node.lineno


def test_nobody_assigns_to_the_context_of_a_run() -> None:
    names = {one.name for kind in (RunContext, Options) for one in fields(kind)} | set(Facts._fields)
    places = [*SOURCE.rglob("*.py"), *(PROJECT / "tests" / "engine").rglob("*.py")]
    found = [f"{place}:{line}" for place in places for line in assigned(ast.parse(place.read_text("utf-8")), names)]
    assert not found
    assert list(assigned(ast.parse("work._context.options = other"), names)) == [1]  # it would be noticed


@pytest.mark.parametrize("kind", [RunContext, Options, Runner, App])
def test_a_run_is_made_of_what_does_not_change(kind: type) -> None:
    made: object = object.__new__(kind)
    for one in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(made, one.name, None)


def test_no_file_of_tests_is_long() -> None:
    lines = {file: len(file.read_text("utf-8").splitlines()) for file in (PROJECT / "tests").rglob("*.py")}
    assert len(lines) > 100
    assert not {str(file): count for file, count in lines.items() if count > MOST_LINES}
