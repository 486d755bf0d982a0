"""The cutover on the command line: the checklist, the steps, and what they say in the wrong order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.cli.command import Scene, box, cloud

from b24migrate import app
from b24migrate.clock import SystemClock
from b24sim.company.changes import change
from b24sim.serve import Running

ENTITIES = '[run]\nentities = ["users", "groups"]\n'


@pytest.fixture(autouse=True)
def one_clock(hurried: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the machine: a fast one begins again with each command, and the steps compare times."""
    monkeypatch.setattr(app, "SystemClock", SystemClock)
    monkeypatch.setenv("B24MIGRATE_SOURCE__REQUESTS_PER_SECOND", "0")


@pytest.fixture
def source() -> Iterator[Running]:
    with cloud("--chats", "0", "--messages", "0", "--files", "0") as running:
        yield running


@pytest.fixture
def firm(scene: Scene, source: Running) -> Iterator[Scene]:
    with box() as target:
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), ENTITIES
        yield scene


def steps(scene: Scene) -> dict[str, str]:
    return {one["name"]: one["state"] for one in scene.run("cutover", "--json").json["cutover"]["steps"]}


def rename(source: Running, group: int, name: str) -> None:
    portal, wish = source.portal, {"stream": "groups", "op": "update", "id": group, "fields": {"NAME": name}}
    change(portal.company, portal.clock.now(), wish)


def test_the_way_from_the_full_pass_to_late_writers(firm: Scene, source: Running) -> None:
    result = firm.run("cutover")
    assert (result.code, result.err) == (0, "")
    assert "Next: b24migrate run\n" in result.out
    refused = firm.run("cutover", "rehearse")
    assert refused.code == 3
    assert "No full pass is complete yet for: Users, Groups." in refused.err
    assert "cutover" not in firm.run("status", "--json").json

    assert firm.run("run").code == 0
    for step, why in (
        ("freeze", "is not rehearsed yet"),
        ("finish", "freeze is not complete"),
        ("live", "step finish is"),
    ):
        result = firm.run("cutover", step)
        assert (result.code, why in result.err, "Run `b24migrate cutover " in result.err) == (3, True, True)

    result = firm.run("cutover", "rehearse", "--json")
    assert result.code == result.json["exit_code"] == 0
    assert {one["stream"] for one in result.json["cutover"]["forecast"]["streams"]} >= {"users", "groups"}
    result = firm.run("cutover")
    assert "A freeze now would last" in result.out
    assert "Next: b24migrate cutover freeze\n" in result.out
    assert "Переход на коробочную версию" in firm.run("--lang", "ru", "cutover").out

    result = firm.run("cutover", "freeze")  # no terminal: it cannot ask
    assert (result.code, "Not confirmed" in result.err) == (3, True)
    assert steps(firm)["freeze"] == "open"
    assert firm.run("cutover", "freeze", "--yes", "--by", "Anna").code == 0
    assert firm.run("cutover", "freeze", "--undo").code == 0
    assert steps(firm)["freeze"] == "open"
    assert firm.run("cutover", "freeze", "--yes", "--by", "Anna").code == 0
    (first, *_) = source.portal.company.groups.ids
    rename(source, first, "In the freeze")
    assert firm.run("cutover", "freeze", "--yes", "--by", "Anna").code == 5
    assert "Written in the source after" in firm.run("cutover").out
    result = firm.run("status")
    assert "Cutover: freeze done" in result.out
    assert "Next: b24migrate cutover finish" in result.out
    assert firm.run("status", "--json").json["cutover"]["by"] == "Anna"

    result = firm.run("cutover", "finish", "--out", "proof.jsonl")
    assert result.code == 0
    assert "found nothing. As of " in result.out
    result = firm.run("certificate", "check", "proof.jsonl")
    assert (result.code, "As of " in result.out) == (0, True)
    assert firm.run("certificate", "check", "proof.jsonl", "--json").json["as_of"]
    assert firm.run("cutover", "live").code == 3
    assert firm.run("cutover", "live", "--yes").code == 0
    refused = firm.run("cutover", "freeze", "--undo")
    assert (refused.code, "The box has been live since" in refused.err) == (3, True)

    assert "No late changes" in firm.run("sync", "--report-only").out
    rename(source, first, "Late")
    (late,) = firm.run("sync", "--report-only", "--json").json["late_writers"]
    assert (late["stream"], late["records"]) == ("groups", 1)
    result = firm.run("cutover")
    assert "Late changes in the source" in result.out
    assert "Written in the source after" not in result.out  # of the freeze: the time is that of going live now
    assert "Next: b24migrate sync --report-only\n" in result.out


@pytest.mark.slow
def test_the_way_on_the_store_in_azure(firm: Scene, azure_store: str) -> None:
    """Each step is a command of its own: what it needs of the steps before is in the store."""
    firm.more = f'[run]\nentities = ["users"]\n[store]\nurl = "{azure_store}"\n'  # each question takes a while
    assert firm.run("run").code == 0
    for step in (("rehearse",), ("freeze", "--yes"), ("finish", "--out", "proof.jsonl"), ("live", "--yes")):
        result = firm.run("cutover", *step)
        assert result.code == 0, result.all
    assert set(steps(firm).values()) == {"done"}
    assert firm.run("certificate", "check", "proof.jsonl").code == 0
    assert "No late changes" in firm.run("sync", "--report-only").out
