"""Completion in the shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.command import Scene

from b24migrate import cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_for_each_shell(scene: Scene, shell: str) -> None:
    result = scene.run("completion", shell)
    assert result.code == 0
    assert f"_B24MIGRATE_COMPLETE=complete_{shell}" in result.out
    if found := shutil.which(shell):
        assert subprocess.run([found, "-n", "-c", result.out], check=False, capture_output=True).returncode == 0


def test_another_shell_is_refused(scene: Scene) -> None:
    assert scene.run("completion", "cmd").code == 2


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("ver", {"verify"}),
        ("run --entity crm_d", {"crm_deals"}),
        ("run --entity crm-d", {"crm-deals"}),
        ("get gr", {"groups"}),
        ("do feed-", {f"feed-{phase}" for phase in ("custom-fields-get", "custom-fields-set", "get", "set", "verify")}),
        ("errors DUPLICATE", {"DUPLICATE_EMAIL"}),
        ("errors --stream chat_m", {"chat_messages"}),
        ("show chat_m", {"chat_messages"}),
        ("find --stream gr", {"groups", "group_members"}),
        ("retry --code POI", {"POISON"}),
        ("completion f", {"fish"}),
    ],
)
def test_names_complete(
    typed: str, wanted: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_B24MIGRATE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"b24migrate {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    assert cli.execute([]) == 0
    assert set(capsys.readouterr().out.split()) == wanted


def test_asking_needs_no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["completion", "bash"]) == 0
    assert not list(tmp_path.iterdir())
