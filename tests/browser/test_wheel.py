"""What is installed has the pages, their files and their words."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.browser.desk import ROOT

PLACES = ("hosts/web/templates", "hosts/web/static", "hosts/words/en", "hosts/words/ru")


def test_the_built_package_has_every_template_script_style_and_word(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    wanted = {
        str(file.relative_to(source))
        for place in PLACES
        for file in (source / "b24migrate" / place).iterdir()
        if file.is_file() and file.suffix != ".pyc"
    }
    assert len(wanted) > 50
    assert wanted - inside == set()
