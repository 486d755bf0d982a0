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


def test_the_way_from_the_full_pass_to_late_writers(firm: Scene, source: Running) -> None:
    said = firm.run("cutover")
    assert (said.code, said.err) == (0, "")
    assert "Next: b24migrate run\n" in said.out
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
        said = firm.run("cutover", step)
        assert (said.code, why in said.err, "Run `b24migrate cutover " in said.err) == (3, True, True)

    said = firm.run("cutover", "rehearse", "--json")
    assert said.code == said.json["exit_code"] == 0
    assert {one["stream"] for one in said.json["cutover"]["forecast"]["streams"]} >= {"users", "groups"}
    said = firm.run("cutover")
    assert "A freeze now would last" in said.out
    assert "Next: b24migrate cutover freeze\n" in said.out
    assert "Переход на коробочную версию" in firm.run("--lang", "ru", "cutover").out

    said = firm.run("cutover", "freeze")  # no terminal: it cannot ask
    assert (said.code, "Not confirmed" in said.err) == (3, True)
    assert steps(firm)["freeze"] == "open"
    assert firm.run("cutover", "freeze", "--yes", "--by", "Anna").code == 0
    assert firm.run("cutover", "freeze", "--undo").code == 0
    assert steps(firm)["freeze"] == "open"
    assert firm.run("cutover", "freeze", "--yes", "--by", "Anna").code == 0
    said = firm.run("status")
    assert "Cutover: freeze done" in said.out
    assert "Next: b24migrate cutover finish" in said.out
    assert firm.run("status", "--json").json["cutover"]["by"] == "Anna"

    said = firm.run("cutover", "finish", "--out", "proof.jsonl")
    assert said.code == 0
    assert "found nothing. As of " in said.out
    said = firm.run("certificate", "check", "proof.jsonl")
    assert (said.code, "As of " in said.out) == (0, True)
    assert firm.run("certificate", "check", "proof.jsonl", "--json").json["as_of"]
    assert firm.run("cutover", "live").code == 3
    assert firm.run("cutover", "live", "--yes").code == 0
    refused = firm.run("cutover", "freeze", "--undo")
    assert (refused.code, "The box has been live since" in refused.err) == (3, True)

    assert "No late changes" in firm.run("sync", "--report-only").out
    portal = source.portal
    (group, *_) = portal.company.groups.ids
    change(
        portal.company,
        portal.clock.now(),
        {"stream": "groups", "op": "update", "id": group, "fields": {"NAME": "Late"}},
    )
    (late,) = firm.run("sync", "--report-only", "--json").json["late_writers"]
    assert (late["stream"], late["records"]) == ("groups", 1)
    said = firm.run("cutover")
    assert "Late changes in the source" in said.out
    assert "Next: b24migrate sync --report-only\n" in said.out


@pytest.mark.slow
def test_the_way_on_the_store_in_azure(firm: Scene, azure_store: str) -> None:
    """Each step is a command of its own: what it needs of the steps before is in the store."""
    firm.more = f'{ENTITIES}[store]\nurl = "{azure_store}"\n'
    assert firm.run("run").code == 0
    for step in (("rehearse",), ("freeze", "--yes"), ("finish", "--out", "proof.jsonl"), ("live", "--yes")):
        said = firm.run("cutover", *step)
        assert said.code == 0, said.all
    assert set(steps(firm).values()) == {"done"}
    assert firm.run("certificate", "check", "proof.jsonl").code == 0
    assert "No late changes" in firm.run("sync", "--report-only").out
