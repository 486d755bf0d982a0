"""A portal that redirects: it is followed where its secret may go, and people are told."""

from __future__ import annotations

import pytest
from tests.bitrix.support import SECRET, Response, Scripted
from tests.cli.command import Scene, box

from b24sim.company.company import Company
from b24sim.company.plan import Plan
from b24sim.portal import Portal
from b24sim.serve import serve


def test_a_redirect_is_told_in_the_log_and_in_status(scene: Scene) -> None:
    with serve(Portal(Company(Plan(users=3))), moved=True) as cloud, box() as target:
        scene.source, scene.target = cloud.old_webhook(), target.webhook()
        scene.run("run", "--entity", "users")
        new = cloud.url.partition("//")[2]
        old = cloud.old_webhook().split("/")[2]
        assert scene.run("status", "--json").json["moved"] == {"source": new}
        assert f"The source redirects to {new}. Set that address in source.webhook." in scene.run("status").out
        assert f"the source redirects from {old} to {new}" in (scene.folder / "b24migrate.log").read_text()
        scene.source = cloud.webhook()
        assert "moved" not in scene.run("status", "--json").json


@pytest.mark.parametrize("command", ["doctor", "run", "analyze"])
def test_a_redirect_to_another_domain_is_one_clear_sentence(scene: Scene, command: str) -> None:
    there = (("Location", f"https://thief.example.org/rest/1/{SECRET}/server.time"),)
    with Scripted(Response(b"", 302, headers=there)) as old, box() as target:
        scene.source, scene.target = old.webhook, target.webhook()
        result = scene.run(command)
    assert result.code == 3, result.all
    assert "redirects to thief.example.org, which is outside its own domain" in result.all
    assert "source.redirect_hosts" in result.all
    assert SECRET not in result.all
