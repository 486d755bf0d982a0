"""A secret appears nowhere, whatever goes wrong."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.command import SOURCE_SECRET, TARGET_SECRET, Scene, box, cloud

from b24migrate.model.events import JobFailed, Noted, RecordFailed
from b24migrate.model.records import Job
from b24migrate.monitor.logs import log, mask_email
from b24sim.company.changes import change
from b24sim.serve import Running

STORM = json.dumps(
    [
        {"method": "*", "kind": "500", "probability": 0.03},
        {"method": "*", "kind": "reset", "probability": 0.02},
        {"method": "*", "kind": "html200", "probability": 0.02},
        {"method": "sonet_group.get", "kind": "error", "code": "ERROR_CORE", "at": [2]},
    ]
)
ITEMS = json.dumps(
    [
        {"method": "import.groups.batch", "item": {"key": "source:groups:*", "code": "VALIDATION"}, "count": 1},
        {"method": "import.groups.batch", "item": {"key": "*", "code": "INTERNAL", "retry": True}, "every": 7},
        {"method": "import.*", "kind": "502html", "probability": 0.03},
        {"method": "import.*", "kind": "lost", "probability": 0.02},
    ]
)


def test_no_output_log_store_or_file_holds_a_secret_after_a_storm(scene: Scene) -> None:
    few = ("--tasks", "6", "--deals", "8", "--contacts", "6", "--companies", "4", "--posts", "8", "--templates", "4")
    with cloud("--faults", STORM, "--webhooks", "1,2", *few) as source, box("--faults", ITEMS) as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        scene.more = "[run]\nentities = []\n"  # all of them: links to files of the CRM and of tasks hold the secret
        scene.source += f'"\nmore_webhooks = ["{source.webhook(2)}"]\n# "'
        plant_secret(source)
        scene.run("doctor")
        assert scene.run("run").code in (4, 5)
        for command in (
            ["run", "--json"],
            ["status"],
            ["status", "--json"],
            ["errors"],
            ["errors", "--json"],
            ["metrics"],
            ["places"],
            ["custom-fields", "diff"],
        ):
            scene.run(*command)
        scene.run("retry")
        scene.run("users", "export", "map.csv")
    for text in scene.heard:
        clean(text, "output")
    scene.config.unlink()
    for path in scene.folder.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            assert SOURCE_SECRET.encode() not in raw, path
            assert TARGET_SECRET.encode() not in raw, path
    store = "\n".join(cells(scene.folder / "b24migrate.db"))
    clean(store, "store")
    assert "{{webhook:" in store, "the portal did show it"


def plant_secret(source: Running) -> None:
    """The portal itself shows the secret: in a text, and in the address of a photo that is not there."""
    for wish in (
        {"stream": "groups", "op": "add", "fields": {"NAME": f"See {source.webhook()}", "OWNER_ID": "2"}},
        {"stream": "users", "op": "update", "id": 2, "fields": {"PERSONAL_PHOTO": f"{source.webhook()}photo.png"}},
    ):
        change(source.portal.company, source.portal.clock.now(), wish)


def cells(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def clean(text: str, where: str) -> None:
    assert SOURCE_SECRET not in text, where
    assert TARGET_SECRET not in text, where


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ursula@example.org is twice there", "u***@example.org is twice there"),
        ("a.b+c@mail.example.co.uk", "a***@mail.example.co.uk"),
        ("no address @ all", "no address @ all"),
    ],
)
def test_addresses_are_masked(text: str, wanted: str) -> None:
    assert mask_email(text) == wanted


def test_a_name_of_a_million_letters_is_looked_through_once() -> None:
    """A look that begins anew at each letter would take hours."""
    assert mask_email("Ж" * 1_000_000 + " ursula@example.org") == "Ж" * 1_000_000 + " u***@example.org"


def test_the_log_redacts_and_masks_every_text(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w+") as out:
        for readable in (False, True):
            write = log(out, run=lambda: "r", redact=lambda text: text.replace("SECRET", "xxx"), readable=readable)
            write(RecordFailed("users", "users", "5", "IMPORT_ERR", 3, "DUPLICATE_EMAIL", "ivan@x.example SECRET"))
            write(JobFailed(Job("crm-deals-custom-fields-get", "read"), "buried", "X", "boom SECRET", 3.0))
            write(Noted("warning", "SECRET of ivan@x.example", "users", (("where", "SECRET"),)))
    text = path.read_text()
    assert "SECRET" not in text
    assert "ivan@" not in text
    job = json.loads(text.splitlines()[1])
    assert (job["entity"], job["op"], job["status"], job["level"]) == (
        "crm_deals",
        "custom-fields-get",
        "buried",
        "error",
    )
