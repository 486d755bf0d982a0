"""Days of work, conflicts and the cutover: no secret in anything that is said or written, and nothing for other users.

The source shows the webhook's address in every record type, and somebody has written it into records of the box, too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import SOURCE_SECRET, TARGET_SECRET, Scene, box, cloud
from tests.cli.test_private import exposed
from tests.cli.test_secrets import cells, clean

from b24migrate import app
from b24migrate.clock import SystemClock
from b24sim.company.changes import change
from b24sim.dump import dump
from b24sim.serve import Running

FEW = (
    *("--tasks=4", "--companies=3", "--contacts=3", "--deals=5", "--posts=0", "--templates=0", "--smart-types=0"),
    *("--leads=3", "--quotes=3", "--invoices=3", "--products=3", "--requisites=3", "--recurring=1", "--calls=3"),
    *("--crm-activities=8", "--crm-comments=5", "--log-entries=3", "--crm-notes"),
)
TEXTS = {
    **dict.fromkeys(("crm_leads", "crm_quotes", "crm_invoices", "crm_deals"), "title"),
    "crm_activities": "SUBJECT",
    "crm_comments": "COMMENT",
    "crm_logs": "title",
    "crm_notes": "text",
    "crm_products": "name",
    "crm_requisites": "NAME",
    "crm_calls": "COMMENT",
    "crm_addresses": "CITY",
}
FORMULA = '=cmd|"/c"!A0'


@pytest.fixture(autouse=True)
def everybody(hurried: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The widest umask there is; the clock of the machine, since the steps of the cutover compare times."""
    monkeypatch.setattr(app, "SystemClock", SystemClock)
    monkeypatch.setenv("B24MIGRATE_SOURCE__REQUESTS_PER_SECOND", "0")
    before = os.umask(0)
    yield
    os.umask(before)


def plant(source: Running, text: str) -> dict[str, str]:
    """In the first record of each."""
    company, now = source.portal.company, source.portal.clock.now()
    found: dict[str, str] = {}
    for stream, name in TEXTS.items():
        number = str(dump(source.portal, stream)[0]["id"])
        found[stream] = number
        wish = number if stream in ("crm_addresses", "crm_notes") else int(number.rpartition(":")[2])
        change(company, now, {"stream": stream, "op": "update", "id": wish, "fields": {name: text}})
    return found


def edit_on_box(target: Running, stream: str, number: str) -> None:
    imports = target.portal.imports
    held = {str(one["key"]): str(one["id"]) for one in imports.dump(stream)}
    imports.edit(stream, held[f"source:{stream}:{number}"], {TEXTS[stream]: f"{FORMULA} {target.webhook()} \x1b[31m"})


def test_a_cutover_tells_no_secret_and_writes_nothing_for_others(scene: Scene) -> None:
    folder = scene.folder / "work"
    with cloud(*FEW) as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        scene.more = (
            f'[run]\nentities = []\nconflicts = "ask"\nuser_coverage = 0\n[mapping]\nplaceholder_user = "1"\n'
            f'[store]\nurl = "sqlite:///{folder}/store/b24migrate.db"\n'
        )
        scene.config.touch(0o600)
        planted = plant(source, f"{FORMULA} {source.webhook()} \x1b[31m")
        assert scene.run("run").code in (0, 5)
        for stream in ("crm_deals", "crm_leads", "crm_activities", "crm_comments"):
            edit_on_box(target, stream, planted[stream])
        plant(source, f"{FORMULA} again {source.webhook()} \x1b[31m")
        table = folder / "conflicts.csv"
        commands = (
            *(
                ["sync"],
                ["conflicts"],
                ["conflicts", "--json"],
                ["conflicts", "--csv", str(table)],
                ["sync", "--explain"],
            ),
            *(["errors"], ["errors", "--json"], ["find", "rest"], ["find", source.webhook()], ["status", "--json"]),
            *(["show", stream, number] for stream, number in planted.items()),
            *(["show", stream, number, "--json"] for stream, number in planted.items()),
        )
        for command in commands:
            assert scene.run(*command).code in (0, 2, 5), command
        assert "crm_deals" in table.read_text("utf-8-sig")
        assert not any(line.startswith("=") or ",=" in line or ',"=' in line for line in table.read_text().splitlines())
        table.write_text(table.read_text("utf-8-sig").replace(",,2", ",source,2"))
        assert scene.run("conflicts", "decide", "--from", str(table)).code == 0
        for more in ([], ["--json"]):
            assert (
                scene.run("conflicts", "decide", "source", "crm_deals", f"{source.webhook()}\x1b[31m", *more).code == 0
            )
        steps = (
            *(["run"], ["cutover", "rehearse"], ["cutover"], ["cutover", "--json"], ["cutover", "freeze", "--yes"]),
            *(["cutover", "finish", "--out", str(folder / "proof.jsonl"), "--json"], ["cutover", "live", "--yes"]),
            *(
                ["sync", "--report-only"],
                ["sync", "--report-only", "--json"],
                ["report", "--out", str(folder / "report")],
            ),
            *(["certificate", "--out", str(folder / "certificate.jsonl")], ["metrics"], ["places"], ["fidelity"]),
        )
        for command in steps:
            assert scene.run(*command).code in (0, 3, 5), command
    for text in scene.heard:
        clean(text, text[:300])
        assert "\x1b[31m" not in text
    for path in (one for one in folder.rglob("*") if one.is_file()):
        raw = path.read_bytes()
        assert SOURCE_SECRET.encode() not in raw, path
        assert TARGET_SECRET.encode() not in raw, path
    clean("\n".join(cells(folder / "store" / "b24migrate.db")), "store")
    assert exposed(folder) == []
    assert {one.name for one in folder.rglob("*")} >= {"conflicts.csv", "report.html"}


def test_the_certificate_of_a_cutover_is_private(scene: Scene, tmp_path: Path) -> None:
    with cloud("--chats=0", "--messages=0", "--files=0") as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        scene.more = '[run]\nentities = ["users", "groups"]\n'
        for command in (["run"], ["cutover", "rehearse"], ["cutover", "freeze", "--yes"]):
            assert scene.run(*command).code == 0
        assert scene.run("cutover", "finish", "--out", str(tmp_path / "proof.jsonl")).code == 0
    assert (tmp_path / "proof.jsonl").stat().st_mode & 0o777 == 0o600
    assert exposed(tmp_path) == []
