"""A delta run is a process that may be killed at any request, to either portal, and is started again."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.cli.command import SMALL, Scene

from b24sim.app import App
from b24sim.company.changes import change
from b24sim.http import Receive, Scope, Send
from b24sim.options import parser
from b24sim.portal import Portal
from b24sim.portal_setup import portal_from
from b24sim.serve import Running, serve

Json = Any
PLAN = (*SMALL, "--companies", "4", "--contacts", "4", "--deals", "8", "--smart-types", "0", "--smart-items", "0")
ENTITIES = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "chats")
MORE = f"[run]\nentities = {list(ENTITIES)}\ndeletions_limit = 50\nuser_coverage = 0.5\n".replace("'", '"')
FIRST, STEP = 8, 3  # requests until a process dies, and how many more the next one has


class Reaper:
    """Kills a process at the n-th request that it sends, to whichever portal: before the portal acts, or after."""

    def __init__(self) -> None:
        self.process = 0
        self.left = 0
        self.early = False

    def watch(self, portal: Portal) -> App:
        reaper = self

        class Watched(App):
            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                reaper.left -= 1
                last = bool(reaper.process) and reaper.left == 0
                if last and reaper.early:
                    reaper.strike()
                await super().__call__(scope, receive, send)
                if last:
                    reaper.strike()

        return Watched(portal)

    def strike(self) -> None:
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            self.process = 0


@contextmanager
def served(reaper: Reaper, *options: str) -> Iterator[Running]:
    with serve(portal_from(parser().parse_args(options)), app=reaper.watch) as running:
        yield running


def write_and_delete(source: Portal, chat: int) -> dict[str, str]:
    """What people do between two runs; the names that records of the box must have afterwards."""
    company, now = source.company, source.clock.now()

    def wish(stream: str, op: str = "update", **more: Json) -> list[int]:
        return change(company, now, {"stream": stream, "op": op, **more})

    deals, groups = sorted(company.crm.items[2]), company.groups.ids
    wish("crm_deals", id=deals[0], fields={"title": "Changed"})
    wish("crm_deals", "delete", id=deals[1])
    (deal,) = wish("crm_deals", "add", fields={"title": "New"})
    wish("groups", id=groups[0], fields={"NAME": "Renamed"})
    wish("chat_messages", "add", chat=chat, fields={"text": "Said meanwhile"})
    return {f"crm_deals:{deals[0]}": "Changed", f"crm_deals:{deal}": "New", f"groups:{groups[0]}": "Renamed"}


@pytest.mark.slow
def test_killed_at_any_request_it_loses_and_doubles_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("B24MIGRATE_SOURCE__REQUESTS_PER_SECOND", "0")
    reaper = Reaper()
    with served(reaper, *PLAN) as source, served(reaper, "--role", "box") as target:
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), MORE
        assert scene.run("run").code in (0, 5)
        imports = target.portal.imports
        chat = int(str(imports.dump("chats")[0]["key"]).rpartition(":")[2])
        names = write_and_delete(source.portal, chat)
        before = {stream: len(imports.dump(stream)) for stream in ("crm_deals", "groups", "chat_messages")}
        died = 0
        while True:
            child = scene.process("sync")
            reaper.left, reaper.early, reaper.process = FIRST + STEP * died, bool(died % 2), child.pid
            out, err = child.communicate(timeout=600)
            reaper.process = 0
            if child.returncode != -signal.SIGKILL:
                break
            died += 1
        assert child.returncode in (0, 5), out + err
        assert died > 3
        after: dict[str, list[dict[str, Any]]] = {stream: imports.dump(stream) for stream in before}
        assert {stream: len(rows) for stream, rows in after.items()} == {
            "crm_deals": before["crm_deals"] + 1,
            "groups": before["groups"],
            "chat_messages": before["chat_messages"] + 1,
        }
        found = {row["key"].removeprefix("source:"): row for rows in after.values() for row in rows}
        assert {row["created_count"] for row in found.values() if not row["linked"]} == {1}
        told = {key: found[key]["fields"].get("title") or found[key]["fields"].get("NAME") for key in names}
        assert told == names
        said = Counter(row["fields"]["text"] for row in after["chat_messages"])
        assert said["Said meanwhile"] == 1
        streams = scene.run("status", "--json").json["entities"]["crm_deals"]["streams"]["crm_deals"]
        assert (streams["deleted"], streams["new"], streams["error_retry"]) == (1, 0, 0)
        assert "Nothing changed." in scene.run("sync", "--report-only").out
