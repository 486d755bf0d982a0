"""The report as a page of the dashboard: the same as `b24migrate report`, made once for all who look at it."""

from __future__ import annotations

import csv
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path

import pytest
from tests.web.dashboard import NOBODY, Desk, Reply, configured, dashboard, quietly

from b24migrate.engine import plan
from b24migrate.model.errors import Halted
from b24migrate.report import Site, write
from b24migrate.report.write import NAMES, PAGE
from b24migrate.web import report_cache

HTML = {"Accept": "text/html"}
PATIENCE_S = 120.0
MOMENT = re.compile(r"<time .*?</time>|UTC|\d\d:\d\d:\d\d")


def open_report(desk: Desk, path: str = "/report", **query: object) -> Reply:
    """As a browser does, which comes back while the report is being prepared."""
    until_s = time.monotonic() + PATIENCE_S
    while (reply := desk.get(path, HTML, **query)).status == 202:
        assert time.monotonic() < until_s
        assert reply.headers["refresh"]
        time.sleep(0.2)
    return reply


def body_of(page: str) -> str:
    """What a report says, without the way back and the times at which it was made."""
    text = page.partition("<body>")[2]
    text = re.sub(r'<nav class="way".*?</nav>', "", text, flags=re.DOTALL)
    return MOMENT.sub("", text.replace('href="/report/', 'href="')).strip()


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_page_is_the_report_of_the_command(moved: Desk, tmp_path: Path, language: str) -> None:
    reply = open_report(moved, lang=language)
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/html")
    config = moved.folder / "b24migrate.toml"
    assert quietly(config, "report", "--out", str(tmp_path / "out"), "--language", language) == 0
    written = (tmp_path / "out" / PAGE).read_text("utf-8")
    assert body_of(reply.text) == body_of(written)


def test_the_policy_of_the_dashboard_allows_all_that_the_page_needs(moved: Desk) -> None:
    reply = open_report(moved)
    assert reply.headers["content-security-policy"] == moved.get("/").headers["content-security-policy"]
    assert "<style" not in reply.text
    assert "style=" not in reply.text
    assert "<script" not in reply.text
    assert "http-equiv" not in reply.text
    (style,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', reply.text)
    sheet = moved.get(style)
    assert sheet.status == 200
    assert sheet.headers["content-type"].startswith("text/css")
    assert "@media print" in sheet.text


def test_its_tables_are_those_of_the_same_report(moved: Desk, tmp_path: Path) -> None:
    page = open_report(moved).text
    links = set(re.findall(r'href="(/report/[^"]+)"', page))
    assert links == {f"/report/{name}" for name in NAMES if name != PAGE}
    assert quietly(moved.folder / "b24migrate.toml", "report", "--out", str(tmp_path / "out")) == 0
    for link in sorted(links):
        reply = open_report(moved, link)
        assert reply.status == 200
        assert reply.headers["content-type"].startswith("text/csv")
        assert "attachment" in reply.headers["content-disposition"]
        name = link.rpartition("/")[2]
        written = (tmp_path / "out" / name).read_text("utf-8-sig")
        shown = reply.body.decode("utf-8-sig")
        if name != "timing.csv":
            assert list(csv.reader(StringIO(shown))) == list(csv.reader(StringIO(written))), name


def test_other_files_are_not_served(moved: Desk) -> None:
    open_report(moved)
    for name in ("report.html", "nothing.csv", "..%2Fb24migrate.toml", "streams.CSV"):
        assert moved.get(f"/report/{name}", HTML).status == 404, name


def test_it_is_shown_only_with_the_token(tmp_path: Path) -> None:
    with dashboard(configured(tmp_path, *NOBODY), stranger=True) as desk:
        assert desk.get("/report").status == 401
        assert desk.get("/report/links.csv").status == 401
        asked = desk.get("/report", HTML)
        assert (asked.status, asked.headers["location"]) == (303, "/login?next=%2Freport")


def test_the_menu_leads_to_it_and_it_leads_back(moved: Desk) -> None:
    for language, name in (("en", "Report"), ("ru", "Отчёт")):
        front = moved.get("/", HTML, lang=language).text
        assert f'<a href="/report">{name}</a>' in front
    assert 'href="/"' in open_report(moved).text
    assert 'href="?lang=ru"' in open_report(moved).text


def test_before_the_first_run_it_says_so(desk: Desk) -> None:
    reply = open_report(desk)
    assert reply.status == 200
    assert "Nothing has been migrated yet." in reply.text


def count_reports(monkeypatch: pytest.MonkeyPatch, held: threading.Event | None = None) -> list[str]:
    """The languages of the reports that are made from now on; each waits for `held`."""
    made: list[str] = []

    def make(app: object, request: write.Request) -> object:
        made.append(request.language)
        if held is not None:
            assert held.wait(PATIENCE_S)
        return write.make_report(app, request)  # type: ignore[arg-type]

    monkeypatch.setattr(report_cache, "make_report", make)
    return made


def test_many_viewers_share_one_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = count_reports(monkeypatch)
    with dashboard(configured(tmp_path, *NOBODY)) as desk, ThreadPoolExecutor(12) as viewers:
        answers = list(viewers.map(lambda _: open_report(desk).text, range(12)))
        assert len(set(answers)) == 1
        assert made == ["en"]
        open_report(desk, "/report/links.csv")
        assert made == ["en"]


def test_while_it_is_made_viewers_see_that_and_the_dashboard_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_cache, "PATIENCE_S", 0.05)
    held = threading.Event()
    made = count_reports(monkeypatch, held)
    with dashboard(configured(tmp_path, *NOBODY)) as desk, ThreadPoolExecutor(60) as viewers:
        try:
            for reply in viewers.map(lambda _: desk.get("/report", HTML), range(60)):
                assert reply.status == 202
                assert reply.headers["refresh"] == "2"
                assert "The report is being prepared" in reply.text
            table = desk.get("/report/links.csv", HTML)
            assert (table.status, table.headers["location"]) == (303, "/report")
            assert desk.get("/report", HTML, lang="ru").status == 202  # one report at a time
            assert desk.look("overview")["run"] is None
        finally:
            held.set()
        assert open_report(desk).status == 200
        assert open_report(desk, lang="ru").status == 200
        assert made == ["en", "ru"]


def test_a_report_is_made_again_when_the_run_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = count_reports(monkeypatch)
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        open_report(desk)
        with desk.context.app() as app:
            plan.begin(app.context.store, app.context.clock, plan.Plan(("users",), ("get",)))
        assert "Nothing has been migrated yet." not in open_report(desk).text
        assert made == ["en", "en"]


def test_an_old_report_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_cache, "LEAST_S", 0.0)
    monkeypatch.setattr(report_cache, "MAKING_SHARE", 1000.0)
    made = count_reports(monkeypatch)
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        open_report(desk)
        time.sleep(0.1)
        open_report(desk)
        assert made == ["en", "en"]


def refuse(*_: object) -> object:
    raise Halted("the store went away", code="STORE_BROKEN", hint="bring it back")


def wait_for_the_thread() -> None:
    for one in threading.enumerate():
        if one.name == "b24migrate-report":
            one.join(PATIENCE_S)


def test_a_refusal_is_shown_and_the_next_viewer_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        with monkeypatch.context() as patch:
            patch.setattr(report_cache, "make_report", refuse)
            reply = open_report(desk)
            assert reply.status == 503
            assert "the store went away" in reply.text
        assert open_report(desk).status == 200


def test_an_error_that_nobody_saw_is_not_shown_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its viewer left before; the next one comes an hour later."""
    monkeypatch.setattr(report_cache, "PATIENCE_S", 0.0)
    now = [0.0]
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        cache = report_cache.ReportCache(desk.context, Site(), lambda: now[0])
        with monkeypatch.context() as patch:
            patch.setattr(report_cache, "make_report", refuse)
            assert cache.look("en") is None
            wait_for_the_thread()
        now[0] = 3600.0
        assert cache.look("en") is None
        wait_for_the_thread()
        assert cache.look("en") is not None


def test_a_full_disk_is_a_refusal_not_a_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_cache, "make_report", fill)
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        reply = open_report(desk)
        assert reply.status == 503
        assert "No space left on device" in reply.text


def test_without_the_portals_secrets_it_is_still_made(tmp_path: Path) -> None:
    config = tmp_path / "b24migrate.toml"
    config.write_text('[source]\nwebhook = "env:NOT_THERE"\n[target]\nwebhook = "env:NOT_THERE_EITHER"\n', "utf-8")
    with dashboard(config) as desk:
        reply = open_report(desk)
        assert reply.status == 200
        assert ".invalid" not in reply.text


def test_nothing_is_left_when_the_dashboard_ends(tmp_path: Path) -> None:
    config = configured(tmp_path, *NOBODY)
    with dashboard(config) as desk:
        open_report(desk)
        (folder,) = tmp_path.glob(".b24migrate-dashboard-*")
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()
