"""Makes the package that is published: `python deploy/azure/package.py` writes dist/b24migrate-functions.zip."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
PINNED = re.compile(r"^([A-Za-z0-9_.-]+==[^\s;\\]+)\s*(;[^\\]+)?")


def main(target: Path = PROJECT / "dist" / "b24migrate-functions.zip") -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for path in (*sorted(HERE.glob("*.py")), HERE / "host.json", HERE / "requirements.txt"):
            if path.name != Path(__file__).name:
                package.write(path, path.name)
        package.writestr("constraints.txt", constraints((PROJECT / "requirements.lock").read_text("utf-8")))
        built = wheel(Path(folder))
        package.write(built, built.name)
    return target


def wheel(folder: Path) -> Path:
    """The project itself, built here: nothing of that name is ever asked for in a registry."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--wheel-dir", folder, PROJECT], check=True)  # noqa: S603
    return next(folder.glob("*.whl"))


def constraints(lock: str) -> str:
    """The versions that were tested, for the build on Azure. No hashes: they would be demanded of our wheel too."""
    found = (PINNED.match(line) for line in lock.splitlines())
    return "".join(f"{match[1]} {match[2] or ''}".strip() + "\n" for match in found if match)


if __name__ == "__main__":
    print(main())  # noqa: T201
