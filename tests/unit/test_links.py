"""Every link inside the documents leads to a file and a heading that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```.*?^\1```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")


def documents() -> list[Path]:
    return [
        *ROOT.glob("*.md"),
        *(one for name in ("docs", "deploy", "bench", "box-module") for one in (ROOT / name).rglob("*.md")),
    ]


def anchors(text: str) -> set[str]:
    """As GitHub names them."""
    titles = HEADING.findall(FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def broken(place: Path, text: str) -> Iterator[str]:
    for name, anchor in LINK.findall(text):
        if name.startswith("http"):
            continue
        there = place.parent / name if name else place
        if not there.exists():
            yield name
        elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text("utf-8") if name else text):
            yield f"{name}#{anchor}"


def test_every_link_leads_somewhere() -> None:
    assert len(documents()) > 20
    assert not {str(one): bad for one in documents() if (bad := list(broken(one, one.read_text("utf-8"))))}


def test_a_broken_link_is_found() -> None:
    text = "# One two\n[a](#one-two) [b](#three) [c](nowhere.md) [d](https://example.com/x)\n```\n# three\n```\n"
    assert list(broken(ROOT / "README.md", text)) == ["#three", "nowhere.md"]
