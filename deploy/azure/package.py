"""Makes the package that is published: `python deploy/azure/package.py` writes dist/b24migrate-functions.zip."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
LOCK = PROJECT / "requirements-azure.lock"


def main(target: Path = PROJECT / "dist" / "b24migrate-functions.zip") -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for path in (*sorted(HERE.glob("*.py")), HERE / "host.json"):
            if path.name != Path(__file__).name:
                package.write(path, path.name)
        built = wheel(Path(folder))
        package.write(built, built.name)
        package.writestr("requirements.txt", requirements(LOCK.read_text("utf-8"), built))
    return target


def wheel(folder: Path) -> Path:
    """The project itself, built here: nothing of that name is ever asked for in a registry."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--wheel-dir", folder, PROJECT], check=True)  # noqa: S603
    return next(folder.glob("*.whl"))


def requirements(lock: str, built: Path) -> str:
    """For the build on Azure: pip takes nothing whose hash is not here, our own wheel included, and asks for nothing
    that is not here."""
    ours = hashlib.sha256(built.read_bytes()).hexdigest()
    return f"--require-hashes\n{lock}./{built.name} --hash=sha256:{ours}\n"


if __name__ == "__main__":
    print(main())  # noqa: T201
