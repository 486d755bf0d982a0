"""Whatever people write into their names and texts, the report stays a report."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.test_certificate import edit
from tests.engine.test_verify import verify_everything
from tests.engine.world import World, small, world
from tests.report.report_reader import Report, report

from b24migrate.report.csv_tables import is_formula

SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&lt;!--{{ 7*7 }}{% raw %}</style></title></svg>"
TURNED = "invoice\u202egnp.exe\u2066\u200e\u061c\x07\x00\u2028end"
LONG = "Ы" * 1_000_000
FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1")
ELEMENTS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "section",
        "header",
        "h1",
        "h2",
        "h3",
        "div",
        "p",
        "dl",
        "dt",
        "dd",
        "ul",
        "ol",
        "li",
        "nav",
        "a",
        "main",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "bdi",
        "small",
        "br",
        "time",
        "span",
        "figure",
        "figcaption",
        "svg",
        "desc",
        "rect",
        "text",
        "line",
        "polyline",
        "footer",
    ]
)
ATTRIBUTES = frozenset(
    [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "href",
        "scope",
        "colspan",
        "datetime",
        "viewbox",
        "role",
        "aria-labelledby",
        "aria-label",
        "aria-hidden",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "width",
        "height",
        "points",
        "text-anchor",
        "data-stream",
        "data-table",
    ]
)


@pytest.fixture(scope="module", params=["en", "ru"])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Report]]:
    folder = tmp_path_factory.mktemp("hostile")
    with world(folder, small(users=24, groups=12, foreign_chats=0.5)) as made:
        people, groups = made.cloud.portal.company.users.ids, made.cloud.portal.company.groups.ids
        for person, text in zip(people[2:], (SCRIPT, TURNED, LONG, *FORMULAS), strict=False):
            made.change("users", id=person, fields={"NAME": "", "SECOND_NAME": "", "LAST_NAME": text})
        made.change("users", id=people[-1], fields={"NAME": SCRIPT, "LAST_NAME": TURNED})
        made.run(run={"user_coverage": 0.0})
        for group, text in zip(groups, (SCRIPT, TURNED, LONG, *FORMULAS), strict=False):
            made.change("groups", id=group, fields={"NAME": text, "DESCRIPTION": text})
        verify_everything(made)
        failed = (SCRIPT + LONG, f"{SCRIPT}{TURNED}")
        edit(made, "UPDATE Users SET LastError = ?, LastErrorCode = ? WHERE Status = 'IMPORT_ERR'", *failed)
        edit(made, "UPDATE GroupMembers SET LastError = ?, LastErrorCode = ? WHERE Status = 'IMPORT_ERR'", *failed)
        edit(made, "UPDATE SetAside SET Reason = ?, Name = ?", SCRIPT + LONG, f"{TURNED}{SCRIPT}")
        edit(made, "UPDATE Runs SET Message = ?, RunId = ?", f"{TURNED}{SCRIPT}", SCRIPT)
        notes = '["' + SCRIPT.replace('"', '\\"') + '", "' + LONG + '"]'
        edit(made, "UPDATE EntitiesState SET Notes = ?", notes)
        yield made, report(made, language=request.param)


def test_no_element_and_no_attribute_comes_from_data(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    elements = [one for one in found.page.walk() if one.tag]
    assert {one.tag for one in elements} <= ELEMENTS
    assert {name for one in elements for name in one.attributes} <= ATTRIBUTES
    assert len(found.page.all("html")) == len(found.page.all("style")) == len(found.page.all("body")) == 1
    for one in elements:
        for value in one.attributes.values():
            assert "alert" not in (value or ""), one
    assert "alert(1)" in found.page.text  # as a text it is there


def test_nothing_is_asked_of_anybody(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    links = [one.attributes["href"] or "" for one in found.page.walk() if "href" in one.attributes]
    assert links
    assert all(link.startswith("#") or (link.endswith(".csv") and "/" not in link) for link in links)
    (style,) = found.page.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text
    policies = [one.attributes for one in found.page.all("meta") if "http-equiv" in one.attributes]
    assert [one["http-equiv"] for one in policies] == ["Content-Security-Policy"]
    assert str(policies[0]["content"]).startswith("default-src 'none'; style-src 'sha256-")


def test_every_link_inside_the_page_leads_somewhere(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    elements = found.page.walk()
    names = [one.attributes["id"] for one in elements if "id" in one.attributes]
    assert len(names) == len(set(names))
    inner = {str(one.attributes["href"])[1:] for one in elements if str(one.attributes.get("href", "")).startswith("#")}
    assert inner <= set(names)
    assert inner


def test_what_turns_the_direction_or_hides_is_written_out(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    for path in found.folder.iterdir():
        text = path.read_text("utf-8-sig")
        assert not set(text) & set("\u202e\u2066\u200e\u061c\x07\x00\u2028"), path.name
        assert "\ufeff" not in text
    assert "\\u202e" in found.html
    assert "\\u202e" in (found.folder / "failed.csv").read_text("utf-8-sig")


def test_user_texts_are_isolated(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    cells = [cell for row in found.by_id("rows-failed").all("tbody")[0].all("tr") for cell in row.children]
    assert cells
    for row in found.by_id("rows-failed").all("tbody")[0].all("tr"):
        assert all(cell.all("bdi") for cell in row.children[1:])


def test_a_long_text_is_cut_and_says_its_length(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    assert len(found.html) < 2_000_000
    assert "1,000," in found.section("lists")
    longest = max(len(cell) for row in _raw(found.folder / "failed.csv") for cell in row)
    assert 30_000 < longest < 32_767


def test_no_cell_is_a_formula(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    numeric = {"drift", "source", "read"}
    for path in found.folder.glob("*.csv"):
        head, *rows = _raw(path)
        for row in rows:
            for name, cell in zip(head, row, strict=True):
                if name in numeric:
                    assert cell == "" or int(cell) is not None
                else:
                    assert not is_formula(cell), (path.name, name, cell[:50])
    titles = [row["title"] for row in found.rows("failed")]
    for one in FORMULAS:
        text = one.replace("\r", "\n")
        assert any(title.startswith(f"'{text}") for title in titles), one


def test_tables_keep_their_shape(hostile: tuple[World, Report]) -> None:
    _, found = hostile
    for path in found.folder.glob("*.csv"):
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")
        head, *rows = _raw(path)
        assert all(len(row) == len(head) for row in rows)
        assert len(rows) == found.written.rows[path.name]


def _raw(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, strict=True))
