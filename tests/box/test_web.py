"""No file of the module prints or does anything when a browser opens it; a rule that denies all of them is shipped."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
import urllib3

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "box-module" / "b24migrate.import"
FILES = sorted(str(file.relative_to(MODULE)) for file in MODULE.rglob("*.php"))
# They only set a variable; the kernel includes them from many places, and its tools read them as text.
HARMLESS = re.compile(r"<\?php\s+(\$(MESS\['\w+'\]|arModuleVersion) = [^;]+;\s*)+")
GUARDS = ("defined('B_PROLOG_INCLUDED') || exit;", "PHP_SAPI === 'cli' || exit;", "if (PHP_SAPI !== 'cli') {")
START_S = 10.0


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """As a careless web server would serve it: every error is printed."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    options = ["-d", "display_errors=1", "-d", "html_errors=0", "-d", "error_reporting=-1", "-d", "log_errors=0"]
    command = ["php", *options, "-S", f"127.0.0.1:{port}", "-t", str(MODULE)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_a_browser_opens_prints_nothing(site: str, file: str) -> None:
    answer = urllib3.request("GET", f"{site}/{file}", retries=False, timeout=20.0)
    assert answer.status != 404
    assert answer.data == b""


def test_every_file_is_there() -> None:
    assert len(FILES) > 70
    assert {"install.php", "include.php", "install/index.php", "install/unstep.php", "cli/Setup.php"} <= set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_a_file_begins_with_its_guard_or_does_nothing(file: str) -> None:
    text = (MODULE / file).read_text("utf-8")
    if HARMLESS.fullmatch(text):
        return
    code = [
        line for line in text.splitlines() if line and not re.match(r"<\?php|declare|namespace|use |//|/\*| \*", line)
    ]
    assert code[0] in (*GUARDS, "if (!defined('B_PROLOG_INCLUDED') || B_PROLOG_INCLUDED !== true) {"), code[0]


def test_the_web_server_is_told_to_deny_the_folder() -> None:
    rule = (MODULE / ".htaccess").read_text("utf-8")
    assert "Require all denied" in rule
    assert "Deny from all" in rule  # of older servers
    for page in ("box.md", "box.ru.md"):
        assert "location ^~ /local/modules/" in (ROOT / "docs" / page).read_text("utf-8")
