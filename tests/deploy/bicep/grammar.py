"""A second opinion on the syntax, by somebody else's grammar. Run by scripts/check-bicep, which installs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def errors(node: Any) -> Iterator[Any]:
    if node.is_error or node.is_missing:
        yield node
    for child in node.children:
        yield from errors(child)


def main(folder: Path) -> int:
    import tree_sitter  # type: ignore[import-not-found]
    import tree_sitter_bicep  # type: ignore[import-not-found]

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bicep.language()))
    found = 0
    for path in sorted(folder.rglob("*.bicep")):
        for node in errors(parser.parse(path.read_bytes()).root_node):
            print(f"{path.name}:{node.start_point[0] + 1}: the grammar does not know this")
            found = 1
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
