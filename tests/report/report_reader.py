"""A report read back, past the code that wrote it."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.engine.world import World

from b24migrate.report import Request, Written, make_report
from b24migrate.report.tables import TABLES

VOID = frozenset({"meta", "br", "rect", "line", "polyline"})


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    texts: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything inside, in order is not promised: direct texts first."""
        return " ".join([*self.texts, *(one.text for one in self.children)]).strip()

    def all(self, tag: str) -> list[Element]:
        found = [self] if self.tag == tag else []
        return found + [one for child in self.children for one in child.all(tag)]

    def walk(self) -> list[Element]:
        return [self, *(one for child in self.children for one in child.walk())]


class Reader(HTMLParser):
    """Refuses what is not closed, or closed in another order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        element = Element(tag, dict(attrs))
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop().tag == tag, tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self._open[-1].texts.append(data.strip())

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


@dataclass
class Report:
    folder: Path
    written: Written

    @property
    def html(self) -> str:
        return (self.folder / "report.html").read_text("utf-8")

    @property
    def page(self) -> Element:
        reader = Reader()
        reader.feed(self.html)
        reader.close()
        assert reader._open == [reader.root]
        return reader.root

    def by_id(self, name: str) -> Element:
        (found,) = [one for one in self.page.walk() if one.attributes.get("id") == name]
        return found

    def section(self, name: str) -> str:
        return self.by_id(name).text

    def cells(self, table: str) -> list[list[str]]:
        """The rows of a table's body."""
        rows = [row for body in self.by_id(table).all("tbody") for row in body.all("tr")]
        return [[cell.text for cell in row.children] for row in rows]

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file, strict=True))

    def bytes(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}


def report(made: World, name: str = "report", *, language: str = "en", force: bool = False, **settings: Any) -> Report:
    out = made.folder / name
    with made.app(**settings) as app:
        written = make_report(app, Request(out, language, app.settings.redactor.redact, force))
    found = Report(out, written)
    assert {path.name for path in out.iterdir()} >= {"report.html", *(table.file for table in TABLES)}
    return found


def number(text: str) -> int | None:
    plain = text.replace(",", "").replace("\u00a0", "").replace("+", "")
    return None if plain == "–" else int(plain)
