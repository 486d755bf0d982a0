"""The command starts without the libraries that it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = {"azure", "msal", "requests", "opentelemetry", "starlette", "uvicorn", "fastapi", "jinja2", "cryptography"}
CONFIGURATION = """
[source]
webhook = "https://cloud.example/rest/1/s3cret/"
[target]
webhook = "https://box.example/rest/1/other/"
"""
LOADED = """
import sys
from b24migrate import cli
for command in sys.argv[1:]:
    code = cli.execute(command.split())
    print(command, code, *sys.modules, sep="|", file=sys.stderr)
"""
COMMANDS = ("--help", "--version", "status", "errors", "metrics", "find x")


def test_a_command_on_sqlite_imports_nothing_of_azure(tmp_path: Path) -> None:
    (tmp_path / "b24migrate.toml").write_text(CONFIGURATION, "utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, *COMMANDS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    imports = [line.split("|") for line in ended.stderr.splitlines()]
    assert [(command, code) for command, code, *_ in imports] == [(one, "0") for one in COMMANDS]
    for command, _, *modules in imports:
        assert not HEAVY & {name.partition(".")[0] for name in modules}, command
