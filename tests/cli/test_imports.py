"""The command starts without the libraries that it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
code = cli.execute(sys.argv[1:])
print(code, *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("command", ["--help", "--version", "status", "errors", "metrics", "find x"])
def test_a_command_on_sqlite_imports_nothing_of_azure(tmp_path: Path, command: str) -> None:
    (tmp_path / "b24migrate.toml").write_text(CONFIGURATION, "utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, *command.split()], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    code, *modules = ended.stderr.split()
    assert code == "0"
    assert not HEAVY & {name.partition(".")[0] for name in modules}
