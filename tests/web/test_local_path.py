"""Where a login leads: to a path of this server that is read in one way only. tests/browser does it in Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

ASK = "import { localPath } from './local-path.mjs'; console.log(JSON.stringify(%s.map((way) => localPath(way, '%s'))))"
ORIGIN = "http://127.0.0.1:8724"
OWN = ("/", "/errors", "/search?q=%D0%BE%D0%B2%D0%B0", "/records/users/1%3A2", "/findings?stream=users&after=%2F%2Fx")
OTHERS = (
    "/.//evil.example/",
    "/..//evil.example/",
    "/a/..//evil.example/",
    "/%2e//evil.example/",
    "//evil.example/",
    "///evil.example/",
    "/\\evil.example/",
    "\\\\evil.example/",
    "/\t/evil.example/",
    "/\n/evil.example/",
    " //evil.example/",
    "https://evil.example/",
    "http://127.0.0.1:8724@evil.example/",
    "http://127.0.0.1:8724/errors",
    "javascript:alert(1)",
    "data:text/html,x",
    "errors",
    "?q=1",
    "",
)


def test_a_login_leads_to_no_other_host(tmp_path: Path) -> None:
    script = files("b24migrate.web") / "static" / "local-path.js"
    (tmp_path / "local-path.mjs").write_text(script.read_text("utf-8"), "utf-8")
    node = shutil.which("node")
    assert node is not None, "Node.js is missing: make azurite"
    command = [node, "--input-type=module", "-e", ASK % (json.dumps([*OWN, *OTHERS]), ORIGIN)]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert json.loads(output) == [*OWN, *["/"] * len(OTHERS)]
